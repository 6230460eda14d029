/* SPDX-License-Identifier: MIT */
/*
 * What the program asks of its own near future: when a region that it named ends, when this rank stands still next.
 *
 * How long a call waits is what it is expected to take beyond the shortest of that call on all ranks (job/extremes.h):
 * that one waited for nobody, and what it took is transfer.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fpu.h"
#include "pythia.h"
#include "session/internal.h"

enum { AHEAD = 512 /* events that are looked at */ };

struct asking { struct session_stream *s; const struct job *j; base_fpu_t fpu; int error; };

/* False: nothing can be asked; end it either way. */
static bool foretold_begin(struct asking *a)
{
    struct session_stream *s = base_here.generation == session.generation ? base_here.stream : NULL;
    bool may = session_mode() == SESSION_PREDICT && s && s->oracle;

    *a = (struct asking){ .s = may ? s : NULL, .error = errno };
    if (!may || !stream_take(s))
        return false;
    a->fpu = base_fpu_hold();
    a->j = session.reference;
    if (a->j && !s->wanted) /* the first time */
        s->wanted = calloc((size_t)a->j->terminal_count + 1, 1);
    return a->j && s->wanted;
}

static int end(const struct asking *a, int status)
{
    if (a->s)
        stream_release(a->s);
    if (a->j)
        base_fpu_give_back(a->fpu);
    errno = a->error;
    return status;
}

/* ns since the last event, which is what answers count from. */
static double passed(const struct session_stream *s)
{
    return (double)(session_now(s) - s->last);
}

/* --- The end of a region --- */

/* The context of the innermost one that is open and has that name (NULL: any); 0: none is. */
static uint32_t open_context(const struct session_stream *s, const char *name)
{
    const struct session_named *n = s->named;

    for (uint32_t i = n ? n->count : 0; i--;)
        if (!name || !strcmp(n->context[n->open[i].context]->name, name))
            return n->open[i].context;
    return 0;
}

/* Its end, as the oracle calls it: by this run, else by the recording. */
static uint32_t end_of(const struct session_stream *s, uint32_t context, const struct job *j)
{
    const struct session_context *c = s->named->context[context];
    uint32_t own = s->keys.entries[c->entry].terminal[JOB_CLOSE];

    if (own != GRAMMAR_NONE)
        return s->keys.reference_terminal[own];
    for (uint32_t t = 0; t < j->terminal_count; t++)
        if (j->terminals[t].kind == JOB_NAMED && j->terminals[t].phase == JOB_CLOSE &&
            !strcmp(job_text(j, j->terminals[t].function), c->name))
            return t;
    return GRAMMAR_NONE;
}

static int find_terminal(const struct asking *a, uint32_t terminal, uint64_t *distance, struct oracle_answer *answer)
{
    if (terminal < a->j->terminal_count) {
        a->s->wanted[terminal] = 1;
        int status = oracle_next(a->s->oracle, a->s->wanted, a->j->terminal_count, 0, distance, answer);
        a->s->wanted[terminal] = 0;
        if (!status)
            return 0;
    }
    for (*distance = 1; *distance <= AHEAD; ++*distance) /* what only this run has shown */
        if (oracle_predict(a->s->oracle, *distance, answer) || answer->terminal == terminal)
            return answer->terminal != terminal;
    return 1;
}

static double left(double until, double since)
{
    return until < 0 ? -1 : until > since ? until - since : 0;
}

PYTHIA_API int pythia_region_remaining(const char *name, double *ns, double *low_ns, double *high_ns)
{
    struct asking a;
    struct oracle_answer answer;
    uint64_t distance;

    if (!foretold_begin(&a))
        return end(&a, 1);
    uint32_t context = open_context(a.s, name), terminal = context ? end_of(a.s, context, a.j) : GRAMMAR_NONE;
    if (terminal == GRAMMAR_NONE || find_terminal(&a, terminal, &distance, &answer))
        return end(&a, 1);
    oracle_bound(a.s->oracle, distance, &answer);
    double since = passed(a.s);
    if (answer.until < 0)
        return end(&a, 1);
    if (ns)
        *ns = left(answer.until, since);
    if (low_ns)
        *low_ns = left(answer.until_low, since);
    if (high_ns)
        *high_ns = left(answer.until_high, since);
    return end(&a, 0);
}

/* --- The next wait --- */

static bool may_wait(const struct job_terminal *t)
{
    return t->kind == JOB_CALL && t->phase == JOB_LEAF && t->blocking && t->call_kind != JOB_LIFE;
}

/* Of all ranks; NULL: not known. */
static const struct job_extremes *extremes_of(const struct job *j, uint32_t terminal)
{
    uint32_t i = BASE_ARRAY_PLACE(j->extremes.count, k, j->extremes.of[k].terminal < terminal);

    return i < j->extremes.count && j->extremes.of[i].terminal == terminal ? &j->extremes.of[i] : NULL;
}

/* Marks the calls that ever waited so long. How many. */
static uint32_t foretold_mark(const struct asking *a, uint64_t at_least, uint8_t value)
{
    uint32_t marked = 0;

    for (uint32_t i = 0; i < a->j->extremes.count; i++) {
        const struct job_extremes *e = &a->j->extremes.of[i];
        if (may_wait(&a->j->terminals[e->terminal]) &&
            e->value[JOB_DURATION_MAX] - e->value[JOB_DURATION_MIN] >= at_least) {
            a->s->wanted[e->terminal] = value;
            marked++;
        }
    }
    return marked;
}

static double wait_of(const struct asking *a, const struct oracle_answer *answer)
{
    const struct job_extremes *e = extremes_of(a->j, answer->terminal);

    return e && answer->duration >= 0 ? answer->duration - (double)e->value[JOB_DURATION_MIN] : -1;
}

/* The first of them that is expected to. */
static int find_wait(const struct asking *a, uint64_t at_least, uint64_t *distance, struct oracle_answer *answer)
{
    int status = oracle_next(a->s->oracle, a->s->wanted, a->j->terminal_count, 0, distance, answer);

    if (status) {
        *distance = 1;
        status = oracle_predict(a->s->oracle, 1, answer);
    }
    for (int step = 0; !status && step < AHEAD; step++) {
        if (answer->terminal < a->j->terminal_count && a->s->wanted[answer->terminal] &&
            wait_of(a, answer) >= (double)at_least)
            return 0;
        status = oracle_predict(a->s->oracle, ++*distance, answer);
    }
    return 1;
}

/* That it comes, and takes so long: 8 of 10 durations lie between the bounds, spread as normal ones. */
static double chance_of(const struct oracle_answer *answer, double wait, double at_least)
{
    const double tenths = 1.2816;
    double deviation = answer->duration_low >= 0 ? (answer->duration_high - answer->duration_low) / (2 * tenths)
                                                 : answer->duration_deviation;

    return deviation > 0 ? answer->probability * 0.5 * erfc((at_least - wait) / (deviation * M_SQRT2))
                         : answer->probability;
}

PYTHIA_API int pythia_next_wait(uint64_t at_least_ns, double *in_ns, double *for_ns, double *probability)
{
    struct asking a;
    struct oracle_answer answer;
    uint64_t distance;

    if (!foretold_begin(&a))
        return end(&a, 1);
    int status = !foretold_mark(&a, at_least_ns, 1) || find_wait(&a, at_least_ns, &distance, &answer);
    foretold_mark(&a, at_least_ns, 0);
    if (status || answer.until < 0)
        return end(&a, 1);
    oracle_bound(a.s->oracle, distance, &answer);
    double wait = wait_of(&a, &answer);
    if (in_ns)
        *in_ns = left(answer.until, passed(a.s));
    if (for_ns)
        *for_ns = wait > 0 ? wait : 0;
    if (probability)
        *probability = chance_of(&answer, wait, (double)at_least_ns);
    return end(&a, 0);
}
