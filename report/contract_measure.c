/* SPDX-License-Identifier: MIT */
/*
 * What contracts are about: counts and times of the calls, regions and loops of a run, beside those of each run of its
 * baseline. Each run of the baseline is compared with the new one (compare.h), which says what belongs together;
 * measures that are the same one of the new run, or have one name where it has none, become one.
 */
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clean.h"
#include "base/must.h"
#include "base/order.h"
#include "report/compare.h"
#include "report/contract.h"
#include "report/names.h"
#include "report/units.h"

enum { ABSENT = -1, NAME = 400, FUNCTION_WIDTH = 60, CALLER_WIDTH = 200 };
#define LEAST_SHARE 0.001 /* of the job's time, for a measure to be judged unasked … */
#define TELLING 8         /* … executions a stream */
#define LEAST_GAP 0.01    /* … computation before a call, which also has what is not the call's */

static const double exact[2] = { 0, 0 };

struct filling {
    struct report_measures *m;
    struct report_comparison *c;
    uint32_t run;      /* of the baseline, from 0 */
    double whole;      /* ns of all streams of the new run */
};

/* --- Names --- */

static void name_call(const struct report_comparison *c, const uint32_t terminal[2], char *text)
{
    int side = terminal[1] != GRAMMAR_NONE;
    struct report *r = c->report[side];

    if (terminal[side] == GRAMMAR_NONE)
        snprintf(text, NAME, "lost events");
    else
        snprintf(text, NAME, "%s at %s",
                 report_line(job_text(r->job, r->job->terminals[terminal[side]].function), FUNCTION_WIDTH),
                 report_where(r, terminal[side], CALLER_WIDTH));
}

/* --- The list --- */

/* One measure: of the new run's `order` where there is one, else of this name. */
static int by_identity(const void *a, const void *b)
{
    const struct report_measure *x = a, *y = b;

    return BASE_ORDER(x->about, y->about) ?: BASE_ORDER(x->order, y->order) ?: strcmp(x->part, y->part) ?:
           (x->order == GRAMMAR_NONE ? strcmp(x->where, y->where) : 0);
}

static struct report_measure *add(struct report_measures *m, const struct report_measure *like)
{
    struct report_measure *x = malloc(sizeof *x);

    *x = *like;
    x->where = strdup(like->where);
    x->base = malloc(m->runs * sizeof *x->base);
    for (uint32_t i = 0; i < m->runs; i++)
        x->base[i] = ABSENT;
    tsearch(x, &m->tree, by_identity);
    base_must(base_array_more(&m->at, m->count, sizeof *m->at));
    return m->at[m->count++] = x;
}

static struct report_measure *find(const struct report_measures *m, const struct report_measure *like)
{
    struct report_measure *const *found = tfind(like, &m->tree, by_identity);

    return found ? *found : NULL;
}

/* Puts the value that this run of the baseline has beside the new one, which `like` has. */
static void put(const struct filling *f, struct report_measure like, double base, const double error[2])
{
    struct report_measure *x = find(f->m, &like);

    if (!x)
        x = add(f->m, &like);
    x->base[f->run] = base;
    x->small &= like.small;
    x->error[0] = fmax(x->error[0], error[0]);
    x->error[1] = error[1];
    x->alone |= like.alone;
    x->rare |= like.rare;
}

/* --- Rows: calls and regions --- */

/* A call that may wait is as long as others make it. */
static bool waits(const struct filling *f, const struct report_row *r)
{
    return !r->region && r->terminal[1] != GRAMMAR_NONE && f->c->report[1]->job->terminals[r->terminal[1]].blocking;
}

static void put_time(const struct filling *f, const struct report_row *r, const struct report_shift *s,
                     const char *part, double least, char *name)
{
    struct report_measure like = {
        .about = r->region ? REPORT_ABOUT_REGION : REPORT_ABOUT_CALLSITE, .time = true, .part = part, .where = name,
        .order = r->terminal[1], .value = s->usual[1],
        .small = s->mean[1] * (double)r->count[1] < least * f->whole,
        .rare = r->count[1] < TELLING * r->streams[1],
        .alone = s == &r->own && waits(f, r),
    };

    put(f, like, s->usual[0], s->error);
}

static const char *part_of(const struct report_row *r, const struct report_comparison *c)
{
    int side = r->terminal[1] != GRAMMAR_NONE;
    const struct job *j = c->report[side]->job;
    bool receives;

    if (r->region || r->terminal[side] == GRAMMAR_NONE)
        return "callsites";
    if (report_model_moves_data(j, r->terminal[side], &receives))
        return "messages";
    return j->terminals[r->terminal[side]].call_kind == JOB_COLLECTIVE ? "collectives" : "callsites";
}

static void put_count(const struct filling *f, const struct report_row *r, const char *part, const uint64_t value[2],
                      char *name)
{
    struct report_measure like = { .about = REPORT_ABOUT_STRUCTURE,
                                   .part = part,
                                   .where = name,
                                   .order = r->terminal[1],
                                   .value = r->count[1] ? (double)value[1] : ABSENT };

    put(f, like, r->count[0] ? (double)value[0] : ABSENT, exact);
}

static void put_row(const struct filling *f, const struct report_row *r)
{
    char name[NAME];

    name_call(f->c, r->terminal, name);
    if (!report_row_by_timing(f->c, r) || !r->count[0] != !r->count[1])
        put_count(f, r, part_of(r, f->c), r->count, name);
    if ((r->bytes[0] || r->bytes[1]) && !report_row_by_timing(f->c, r))
        put_count(f, r, "bytes", r->bytes, name);
    if (!r->count[0] || !r->count[1])
        return;
    put_time(f, r, &r->own, "in", LEAST_SHARE, name);
    put_time(f, r, &r->gap, "before", LEAST_GAP, name);
}

/* --- Loops, the whole --- */

static void put_loop(const struct filling *f, const struct report_turns *l)
{
    char name[NAME + 32], call[NAME];
    uint32_t order = l->present[1] ? l->class_index[1] << 20 ^ l->node[1] : GRAMMAR_NONE;
    uint32_t ranks = f->c->report[1]->job->info.ranks;
    double turns[2], turn[2];

    name_call(f->c, l->terminal, call);
    snprintf(name, sizeof name, "loop of %" PRIu64 " events from %s", l->length[l->present[1]], call);
    for (int i = 0; i < 2; i++) {
        turns[i] = l->present[i] ? report_mean(l->turns[i], l->executions[i]) : ABSENT;
        turn[i] = l->present[i] && l->turns[i] ? l->usual[i] : ABSENT;
    }
    struct report_measure like = { .about = REPORT_ABOUT_STRUCTURE, .part = "turns", .where = name, .order = order,
                                   .value = turns[1] };
    if (!report_by_timing(f->c))
        put(f, like, turns[0], exact);
    if (turn[0] < 0 || turn[1] < 0)
        return;
    like.about = REPORT_ABOUT_LOOP;
    like.part = "turn";
    like.time = true;
    like.value = turn[1];
    like.small = l->time_ns[1] < LEAST_SHARE * f->whole;
    like.rare = l->turns[1] < TELLING * ranks;
    like.alone = ranks > 1; /* somewhere in it they wait */
    put(f, like, turn[0], l->error);
}

/* Classes are the same or not: 0 beside 0, else how many of them the other run has not. */
static void put_classes(const struct filling *f)
{
    if (report_by_timing(f->c))
        return;
    const struct report_shapes *s = &f->c->classes;
    char name[] = "";
    struct report_measure like = { .about = REPORT_ABOUT_STRUCTURE, .part = "classes", .where = name };

    put(f, like, s->count[0] + s->count[1] + s->moved, exact);
}

static void put_wall(const struct filling *f)
{
    char name[] = "";
    struct report_measure like = { .about = REPORT_ABOUT_WALL, .part = "run", .time = true, .where = name,
                                   .alone = true, .value = f->c->totals[0].ns[1] };

    put(f, like, f->c->totals[0].ns[0], exact);
}

static void fill(const struct filling *f)
{
    put_wall(f);
    put_classes(f);
    for (uint32_t i = 0; i < f->c->row_count; i++)
        put_row(f, &f->c->rows[i]);
    for (uint32_t i = 0; i < f->c->loop_count; i++)
        put_loop(f, &f->c->loops[i]);
}

/* Whether times and counts of the two can be held against each other at all. */
static bool comparable(struct report_measures *m, const struct report_comparison *c, uint32_t run)
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

void report_measure_all(struct report_measures *m, struct report *const *baseline, const char *const *files,
                        uint32_t runs, struct report *run, const char *file)
{
    *m = (struct report_measures){ .runs = runs, .comparable = true };
    for (uint32_t i = 0; m->comparable && i < runs; i++) {
        struct report_comparison *c = report_compare(baseline[i], files[i], run, file);
        struct filling f = { .m = m, .c = c, .run = i, .whole = (double)run->model->stream_wall_ns };
        if (comparable(m, c, i))
            fill(&f);
        report_comparison_destroy(c);
    }
}

static void keep(void *measure)
{
    (void)measure; /* the list frees it */
}

void report_measures_clear(struct report_measures *m)
{
    tdestroy(m->tree, keep);
    for (uint32_t i = 0; i < m->count; i++) {
        free(m->at[i]->where);
        free(m->at[i]->base);
        free(m->at[i]);
    }
    free(m->at);
    free(m->pace);
    *m = (struct report_measures){ 0 };
}
