/* SPDX-License-Identifier: MIT */
/*
 * What contracts are about: counts and times of the calls, regions and loops of a run, beside those of each run of its
 * baseline. Each run of the baseline is compared with the new one (compare.h), which says what belongs together;
 * measures that are the same one of the new run, or have one name where it has none, become one.
 */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "contracts/compare.h"
#include "contracts/contract.h"
#include "findings/named.h"

enum { ABSENT = -1, NAME = 400 };
static const int widths[2] = { 60, 200 };
#define LEAST_SHARE 0.001 /* of the job's time, for a measure to be judged unasked … */
#define TELLING 8         /* … executions a stream */

struct filling {
    struct contracts_measures *m;
    struct contracts_comparison *c;
    uint32_t run;      /* of the baseline, from 0 */
    double whole;      /* ns of all streams of the new run */
};

/* --- The list --- */

/* One measure: of the new run's `order` where there is one, else of this name. */
BASE_COMPARISON(by_identity, struct contracts_measure, BASE_UP(about) ?: BASE_UP(order) ?: strcmp(a->part, b->part) ?:
                (a->order == GRAMMAR_NONE ? strcmp(a->where, b->where) : 0))

static struct contracts_measure *add(struct contracts_measures *m, const struct contracts_measure *like)
{
    struct contracts_measure *x = malloc(sizeof *x);

    *x = *like;
    x->where = strdup(like->where);
    x->value = malloc((m->runs + 1) * sizeof *x->value);
    x->error = calloc(m->runs + 1, sizeof *x->error);
    x->made = calloc(m->runs + 1, sizeof *x->made);
    for (uint32_t i = 0; i <= m->runs; i++)
        x->value[i] = ABSENT;
    tsearch(x, &m->tree, by_identity);
    base_must(base_array_more(&m->at, m->count, sizeof *m->at));
    return m->at[m->count++] = x;
}

/* Puts the value that this run of the baseline has, and the new one's. Of a time its relative standard errors, by so
   many executions, too; of a count NULL. */
static struct contracts_measure *put(const struct filling *f, struct contracts_measure like, const double value[2],
                                     const double *error, const uint64_t *count)
{
    struct contracts_measure *const *found = tfind(&like, &f->m->tree, by_identity);
    struct contracts_measure *x = found ? *found : add(f->m, &like);
    const uint32_t run[2] = { f->run, f->m->runs };

    for (int side = 0; side < 2; side++) {
        x->value[run[side]] = value[side];
        x->error[run[side]] = error ? error[side] : 0;
        x->inside = fmax(x->inside, error ? error[side] * sqrt((double)count[side]) : 0);
    }
    x->minor &= like.minor;
    return x;
}

/* What computation is in a time of the new run (side 1), or of this run of the baseline; a copy of `part` is made. */
static void put_made(const struct filling *f, struct contracts_measure *x, int side,
                     const struct findings_inside_part *part, double ns)
{
    uint32_t run = side ? f->m->runs : f->run;

    free(x->made[run].part.function);
    x->made[run] = (struct contracts_made){ findings_inside_together(&part, 1), ns, x->error[run] };
}

/* --- Rows: calls and regions --- */

static void put_time(const struct filling *f, const struct contracts_row *r, const struct contracts_shift *s,
                     const char *part, char *name)
{
    bool follows = s == &r->own && contracts_waits(f->c->report[1]->job, r->terminal[1]);
    struct contracts_measure like = {
        .about = r->region ? CONTRACTS_ABOUT_REGION : CONTRACTS_ABOUT_CALLSITE, .part = part, .where = name,
        .order = r->terminal[1], .follows = follows,
        .minor = (follows && f->m->runs == 1) || s->mean[1] * (double)r->count[1] < LEAST_SHARE * f->whole ||
                 r->count[1] < TELLING * r->streams[1],
    };

    if (!(s->usual[0] > 0) || !(s->usual[1] > 0))
        return;
    struct contracts_measure *x = put(f, like, s->usual, s->error, r->count);
    for (int side = 0; side < 2 && !follows; side++)
        put_made(f, x, side, findings_inside_find(f->c->report[side], r->terminal[side], s == &r->gap), s->usual[side]);
}

static const char *part_of(const struct contracts_row *r, const struct contracts_comparison *c)
{
    int side = r->terminal[1] != GRAMMAR_NONE;
    const struct job *j = c->report[side]->job;
    bool receives;

    if (r->region || r->terminal[side] == GRAMMAR_NONE)
        return "callsites";
    if (findings_model_moves_data(j, r->terminal[side], &receives))
        return "messages";
    return j->terminals[r->terminal[side]].call_kind == JOB_COLLECTIVE ? "collectives" : "callsites";
}

static void put_count(const struct filling *f, const struct contracts_row *r, const char *part, const uint64_t count[2],
                      char *name)
{
    struct contracts_measure like = { .part = part, .where = name, .order = r->terminal[1] };
    const double value[2] = { r->count[0] ? (double)count[0] : ABSENT, r->count[1] ? (double)count[1] : ABSENT };

    put(f, like, value, NULL, NULL);
}

static void put_row(const struct filling *f, const struct contracts_row *r)
{
    char name[NAME];

    snprintf(name, sizeof name, "%s", contracts_pair_text(f->c, r->terminal, 1, widths));
    if (!contracts_row_by_timing(f->c, r) || !r->count[0] != !r->count[1])
        put_count(f, r, part_of(r, f->c), r->count, name);
    if ((r->bytes[0] || r->bytes[1]) && !contracts_row_by_timing(f->c, r))
        put_count(f, r, "bytes", r->bytes, name);
    if (!r->count[0] || !r->count[1])
        return;
    put_time(f, r, &r->own, "in", name);
    put_time(f, r, &r->gap, "before", name);
}

/* --- Loops, the whole --- */

static void put_loop(const struct filling *f, const struct contracts_turns *l)
{
    char name[NAME + 32];
    const struct findings_loop *of = l->loop[1];
    double turns[2];

    snprintf(name, sizeof name, "loop of %.4g events from %s", l->events[of != NULL],
             contracts_pair_text(f->c, l->terminal, 1, widths));
    for (int i = 0; i < 2; i++)
        turns[i] = l->loop[i] ? contracts_loop_bound(l, i) : ABSENT;
    struct contracts_measure like = { .part = "turns", .where = name, .order = of ? l->number : GRAMMAR_NONE };
    if (l->loop[0] && of ? !contracts_by_timing(f->c) : contracts_loop_changed(f->c, l))
        put(f, like, turns, NULL, NULL);
    if (!l->loop[0] || !of || !(l->usual[0] > 0) || !(l->usual[1] > 0))
        return;
    like.about = CONTRACTS_ABOUT_LOOP;
    like.part = "turn";
    like.minor = of->ns < LEAST_SHARE * f->whole || of->turns.sum < TELLING * of->streams;
    struct contracts_measure *x = put(f, like, l->usual, l->error,
                                      (uint64_t[]){ l->loop[0]->turns.sum, of->turns.sum });
    for (int side = 0; side < 2; side++) {
        struct report *r = f->c->report[side];
        const struct findings_loops *all = f->c->own[side] ?: findings_loops_of(r);
        double ns;
        struct findings_inside_part part = findings_inside_loop(r, all, (int)(l->loop[side] - all->loop), true, &ns);
        put_made(f, x, side, &part, ns / (double)l->loop[side]->turns.sum);
        free(part.function);
    }
}

static void put_whole(const struct filling *f, enum contracts_about about, const char *part, double base, double value)
{
    char name[] = "";
    const double of[2] = { base, value };

    put(f, (struct contracts_measure){ .about = (uint8_t)about, .part = part, .where = name }, of, NULL, NULL);
}

/* Efficiencies as times are: what is worse is more. */
static void put_efficiencies(const struct filling *f)
{
    const struct findings_efficiency *a = &f->c->report[0]->model->efficiency, *b = &f->c->report[1]->model->efficiency;
    bool threads = a->threads > 1 && b->threads > 1;
    bool measured = a->measured && b->measured;
    const struct { enum contracts_about about; const char *name; bool known; double of[2];
    } each[] = {
        { CONTRACTS_ABOUT_PARALLEL, "parallel", measured, { a->parallel, b->parallel } },
        { CONTRACTS_ABOUT_LOAD_BALANCE, "load_balance", true, { a->load_balance, b->load_balance } },
        { CONTRACTS_ABOUT_SERIALISATION,
          "serialisation",
          a->split && b->split,
          { a->serialisation, b->serialisation } },
        { CONTRACTS_ABOUT_OPENMP, "openmp", measured && threads, { a->openmp, b->openmp } },
    };

    for (size_t i = 0; i < sizeof each / sizeof *each && a->known && b->known; i++)
        if (each[i].known && each[i].of[0] > 0 && each[i].of[1] > 0)
            put_whole(f, each[i].about, each[i].name, 1 / each[i].of[0], 1 / each[i].of[1]);
}

/* What an entry takes. */
static void put_named(const struct filling *f)
{
    const struct findings_named_list *l = findings_named_of(f->c->report[1]);

    for (uint32_t i = 0; i < l->count; i++) {
        const struct findings_named *b = &l->of[i], *a = findings_named_find(f->c->report[0], b->name);
        char name[NAME];
        if (!a || a->ns <= 0 || b->ns <= 0)
            continue;
        snprintf(name, sizeof name, "%s", b->name);
        struct contracts_measure like = { .about = CONTRACTS_ABOUT_NAMED, .part = "in", .where = name,
                                          .order = GRAMMAR_NONE,
                                          .minor = b->ns < LEAST_SHARE * f->whole || b->entries < TELLING * b->ranks };
        put(f, like, (double[2]){ a->ns / (double)a->entries, b->ns / (double)b->entries }, NULL, NULL);
    }
}

static void fill(const struct filling *f)
{
    const struct contracts_shapes *s = &f->c->classes;

    put_whole(f, CONTRACTS_ABOUT_WALL, "run", f->c->totals[0].ns[0], f->c->totals[0].ns[1]);
    put_efficiencies(f);
    put_named(f);
    if (!contracts_by_timing(f->c)) /* they are the same or not: 0 beside 0, else how many of them the other has not */
        put_whole(f, CONTRACTS_ABOUT_STRUCTURE, "classes", s->count[0] + s->count[1] + s->moved, 0);
    for (uint32_t i = 0; i < f->c->row_count; i++)
        put_row(f, &f->c->rows[i]);
    for (uint32_t i = 0; i < f->c->loop_count; i++)
        put_loop(f, &f->c->loops[i]);
}

/* Whether times and counts of the two can be held against each other at all. */
static bool comparable(struct contracts_measures *m, const struct contracts_comparison *c, uint32_t run)
{
    const struct job_info *a = &c->report[0]->job->info, *b = &c->report[1]->job->info;

    if (a->ranks != b->ranks || a->threads != b->threads)
        snprintf(m->why, sizeof m->why, "run %u of the baseline has %u ranks x %u threads, the new one %u x %u",
                 run + 1, a->ranks, a->threads, b->ranks, b->threads);
    else if (a->missing || b->missing)
        snprintf(m->why, sizeof m->why, "%u rank(s) are missing", a->missing ? a->missing : b->missing);
    else if (c->gave_up)
        snprintf(m->why, sizeof m->why, "too many callsites to be told which belong together");
    else
        return true;
    return m->comparable = false;
}

void contracts_measure_all(struct contracts_measures *m, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file)
{
    *m = (struct contracts_measures){ .runs = runs, .comparable = true };
    for (uint32_t i = 0; m->comparable && i < runs; i++) {
        struct contracts_comparison *c = contracts_compare(baseline[i], files[i], run, file);
        struct filling f = { .m = m, .c = c, .run = i, .whole = (double)run->model->stream_wall_ns };
        if (comparable(m, c, i))
            fill(&f);
        if (c->other_arguments)
            m->other = "the arguments of the runs differ: times are not compared";
        contracts_comparison_destroy(c);
    }
}

static void keep(void *measure)
{
    (void)measure; /* the list frees it */
}

void contracts_measures_clear(struct contracts_measures *m)
{
    tdestroy(m->tree, keep);
    for (uint32_t i = 0; i < m->count; i++) {
        free(m->at[i]->where);
        free(m->at[i]->value);
        free(m->at[i]->error);
        for (uint32_t k = 0; k <= m->runs; k++)
            free(m->at[i]->made[k].part.function);
        free(m->at[i]->made);
        free(m->at[i]);
    }
    free(m->at);
    free(m->pace[0].value);
    free(m->pace[1].value);
    *m = (struct contracts_measures){ 0 };
}
