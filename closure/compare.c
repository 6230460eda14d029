/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "closure/closure.h"
#include "findings/names.h"
#include "job/turns.h"

/* A stream of one job while both are walked. */
struct side {
    const struct job *job;
    const struct job_class *c;
    struct grammar_flat *grammar;
    struct grammar_cursor at;
    uint32_t rank;
    int more;
};

static void open_side(struct side *s, const struct job *j, uint32_t rank)
{
    uint32_t class = job_stream_class(j, rank, 0);

    *s = (struct side){ .job = j, .rank = rank };
    if (class == GRAMMAR_NONE)
        return;
    s->c = &j->classes[class];
    s->grammar = job_member_grammar(s->c, rank, 0);
    s->more = grammar_cursor_open(&s->at, s->grammar);
}

static void close_side(struct side *s)
{
    if (!s->c)
        return;
    grammar_cursor_close(&s->at);
    job_member_free(s->grammar);
}

static const struct job_terminal *terminal(const struct side *s)
{
    return s->at.terminal < s->job->terminal_count ? &s->job->terminals[s->at.terminal] : NULL;
}

static int64_t value(const struct side *s, enum grammar_channel channel)
{
    int64_t v;
    int status = job_attr_value(s->job, s->c, s->at.node, channel, s->rank, 0, s->at.nth, &v);

    return status == 0 ? v : status == 1 ? INT64_MIN : INT64_MAX;
}

/* "MPI_Send to 4, 800 bytes, tag 3, on world" */
static void describe(const struct side *s, char *text, size_t size)
{
    const struct job_terminal *t = s->more ? terminal(s) : NULL;
    static const enum grammar_channel shown[] = { GRAMMAR_PEER, GRAMMAR_BYTES, GRAMMAR_INDEX };
    static const char *const name[] = { "peer", "bytes", "index" };
    size_t used;

    if (!s->more) {
        snprintf(text, size, "nothing");
        return;
    }
    used = (size_t)snprintf(text, size, "%s", findings_function_text(s->job, s->at.terminal));
    for (int k = 0; k < 3 && used < size; k++) {
        int64_t v = value(s, shown[k]);
        if (v == INT64_MIN)
            used += (size_t)snprintf(text + used, size - used, ", %s not kept", name[k]);
        else if (v != INT64_MAX)
            used += (size_t)snprintf(text + used, size - used, ", %s %" PRId64, name[k], v);
    }
    if (t && t->comm != GRAMMAR_NONE && used < size)
        snprintf(text + used, size - used, ", on %s", job_text(s->job, s->job->comms[t->comm].name));
}

static bool same_members(const struct side *a, uint32_t comm_a, const struct side *b, uint32_t comm_b)
{
    struct job_members m, n;
    bool one = job_comm_members(a->job, comm_a, a->rank, &m), other = job_comm_members(b->job, comm_b, b->rank, &n);

    if (one != other || (one && m.size != n.size))
        return false;
    for (uint32_t i = 0; one && i < m.size; i++)
        if (job_members_at(&m, i) != job_members_at(&n, i))
            return false;
    return true;
}

/* Which terminals of both are the same call: asked once. 0: not yet, 1: no, 2: yes. */
struct pairs { uint8_t *known; uint32_t of_b; };

static bool same_call(const struct side *a, const struct side *b, struct pairs *p)
{
    const struct job_terminal *t = terminal(a), *u = terminal(b);

    if (!t || !u)
        return !t && !u;
    uint8_t *known = &p->known[(size_t)a->at.terminal * p->of_b + b->at.terminal];
    if (!*known)
        *known = 1 + (t->kind == u->kind && t->phase == u->phase &&
                      (t->comm == GRAMMAR_NONE) == (u->comm == GRAMMAR_NONE) &&
                      !strcmp(job_text(a->job, t->function), job_text(b->job, u->function)) &&
                      (t->comm == GRAMMAR_NONE || !strcmp(job_text(a->job, a->job->comms[t->comm].name),
                                                          job_text(b->job, b->job->comms[u->comm].name))));
    return *known == 2;
}

/* Which one of several was complete first is chance, and its place among them the program's own business. */
static bool is_place(const struct side *s)
{
    const struct job_terminal *t = terminal(s);
    const char *function = t ? job_text(s->job, t->function) : "";

    return !strcmp(function, "MPI_Waitany") || !strcmp(function, "MPI_Testany");
}

static bool same(const struct side *a, const struct side *b, struct pairs *p)
{
    static const enum grammar_channel compared[] = { GRAMMAR_PEER, GRAMMAR_BYTES, GRAMMAR_INDEX, GRAMMAR_SOURCE,
                                                     GRAMMAR_RECEIVED, GRAMMAR_SOURCE_TAG };
    if (!same_call(a, b, p))
        return false;
    for (size_t k = 0; k < sizeof compared / sizeof *compared; k++)
        if (value(a, compared[k]) != value(b, compared[k]) && !(compared[k] == GRAMMAR_INDEX && is_place(a)))
            return false;
    return true;
}

static void compare_rank(const struct job *a, const struct job *b, uint32_t rank, struct pairs *pairs,
                         struct closure_comparison *out)
{
    struct side x, y;
    uint64_t equal = 0, events = 0;

    open_side(&x, a, rank);
    open_side(&y, b, rank);
    for (; x.more || y.more; events++) {
        bool is = x.more && y.more && same(&x, &y, pairs);
        equal += is;
        if (!is && !out->first[0]) {
            char one[300], other[300];
            describe(&x, one, sizeof one);
            describe(&y, other, sizeof other);
            snprintf(out->first, sizeof out->first, "rank %u, event %" PRIu64 ": recorded %s; of the program %s", rank,
                     events, one, other);
        }
        x.more = x.more && grammar_cursor_next(&x.at);
        y.more = y.more && grammar_cursor_next(&y.at);
    }
    for (uint32_t c = 0; c < a->comm_count; c++)
        for (uint32_t d = 0; d < b->comm_count; d++)
            if (!strcmp(job_text(a, a->comms[c].name), job_text(b, b->comms[d].name)) &&
                !same_members(&x, c, &y, d)) {
                if (!out->first[0])
                    snprintf(out->first, sizeof out->first, "rank %u: other members of %s", rank,
                             job_text(a, a->comms[c].name));
                equal = equal == events && equal ? equal - 1 : equal;
            }
    out->events += events;
    out->equal += equal;
    out->exact += equal == events;
    close_side(&x);
    close_side(&y);
}

/* --- Times --- */

static void add_times(const struct job *j, int side, struct closure_comparison *out)
{
    for (uint32_t c = 0; c < j->class_count; c++)
        for (uint32_t k = 0; k < j->classes[c].grammar->node_count; k++) {
            uint32_t symbol = j->classes[c].grammar->nodes[k].symbol, i = 0;
            const struct grammar_stats *s = &j->classes[c].grammar->stats[k];
            if (symbol >= j->terminal_count || job_is_start(j, symbol))
                continue;
            const char *function = job_text(j, j->terminals[symbol].function);
            while (i < out->time_count && strcmp(out->times[i].function, function) != 0)
                i++;
            if (i == out->time_count)
                BASE_ADD(out->times, out->time_count, (struct closure_time){ .function = function });
            out->times[i].calls += side ? 0 : s->count;
            out->times[i].gap[side] += (double)s->gap.sum;
            out->times[i].duration[side] += (double)s->duration.sum;
        }
}

BASE_COMPARISON(by_name, struct closure_time, strcmp(a->function, b->function))

void closure_compare(const struct job *recorded, const struct job *proxy, struct closure_comparison *out)
{
    struct pairs pairs = { .of_b = proxy->terminal_count + 1 };

    *out = (struct closure_comparison){ .ranks = recorded->info.ranks };
    pairs.known = calloc((size_t)recorded->terminal_count + 1, pairs.of_b);
    for (uint32_t r = 0; r < recorded->info.ranks; r++)
        compare_rank(recorded, proxy, r, &pairs, out);
    add_times(recorded, 0, out);
    add_times(proxy, 1, out);
    BASE_SORT(out->times, out->time_count, by_name);
    out->wall_ns[0] = job_base_of(recorded).wall_ns;
    out->wall_ns[1] = job_base_of(proxy).wall_ns;
    free(pairs.known);
}
