/* SPDX-License-Identifier: MIT */
#include "job/extremes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "job/check.h"
#include "job/job.h"
#include "pythia.h"

void job_extremes_begin(struct job_extremes *e)
{
    memset(e, 0, sizeof *e);
    e->value[JOB_GAP_MIN] = e->value[JOB_DURATION_MIN] = UINT64_MAX;
}

/* First row that is not before the terminal. */
static uint32_t place_of(const struct job_extremes_list *l, uint32_t terminal)
{
    return BASE_ARRAY_PLACE(l->count, i, l->of[i].terminal < terminal);
}

/* Whether extreme k of `b` comes in place of that of `a`. */
static bool beats(const struct job_extremes *b, const struct job_extremes *a, int k)
{
    if (a->value[k] != b->value[k])
        return k == JOB_GAP_MIN || k == JOB_DURATION_MIN ? b->value[k] < a->value[k] : b->value[k] > a->value[k];
    return b->rank[k] != a->rank[k] ? b->rank[k] < a->rank[k] : b->turn[k] < a->turn[k];
}

static bool knows(const struct job_extremes *e)
{
    return e->usual[JOB_USUAL_GAP] || e->usual[JOB_USUAL_DURATION];
}

void job_extremes_merge(struct job_extremes *into, const struct job_extremes *from)
{
    for (int k = 0; k < JOB_EXTREMES; k++)
        if (from->count && (!into->count || beats(from, into, k))) {
            into->value[k] = from->value[k];
            into->rank[k] = from->rank[k];
            into->turn[k] = from->turn[k];
        }
    bool known = (!into->count || knows(into)) && (!from->count || knows(from));
    into->count += from->count;
    for (int i = 0; i < JOB_BUCKETS; i++) {
        into->gaps[i] += from->gaps[i];
        into->durations[i] += from->durations[i];
    }
    for (int i = 0; i < JOB_USUALS; i++)
        into->usual[i] = known ? into->usual[i] + from->usual[i] : 0;
}

static int add(struct job_extremes_list *l, const struct job_extremes *e)
{
    uint32_t at = place_of(l, e->terminal);
    if (at < l->count && l->of[at].terminal == e->terminal) {
        job_extremes_merge(&l->of[at], e);
        return 0;
    }
    int error = base_array_room(&l->of, &l->room, (uint64_t)l->count + 1, sizeof *l->of);
    if (error)
        return error;
    memmove(&l->of[at + 1], &l->of[at], (l->count - at) * sizeof *l->of);
    l->of[at] = *e;
    l->count++;
    return 0;
}

int job_extremes_add(struct job *j, uint32_t rank, uint32_t terminal, const struct job_extremes *e)
{
    struct job_extremes own = *e;
    own.terminal = terminal;
    for (int k = 0; k < JOB_EXTREMES; k++)
        own.rank[k] = rank;
    return e->count ? add(&j->extremes, &own) : 0;
}

int job_extremes_join(const struct job *into, const struct job *from, const uint32_t *terminal_map,
                      struct job_extremes_list *out)
{
    uint64_t count = (uint64_t)into->extremes.count + from->extremes.count;
    memset(out, 0, sizeof *out);
    int error = base_array_room(&out->of, &out->room, count, sizeof *out->of);
    if (!error && into->extremes.count)
        memcpy(out->of, into->extremes.of, into->extremes.count * sizeof *out->of);
    out->count = error ? 0 : into->extremes.count;
    for (uint32_t i = 0; i < from->extremes.count && !error; i++) {
        struct job_extremes e = from->extremes.of[i];
        e.terminal = terminal_map[e.terminal];
        error = add(out, &e);
    }
    return error;
}

static bool sane(const struct job_extremes *e)
{
    uint64_t gaps = 0, durations = 0;
    for (int i = 0; i < JOB_BUCKETS; i++) {
        gaps += e->gaps[i];
        durations += e->durations[i];
    }
    for (int k = 0; k < JOB_EXTREMES; k++)
        if (e->turn[k] >= e->count)
            return false;
    return e->count && gaps == e->count && durations == e->count && e->value[JOB_GAP_MIN] <= e->value[JOB_GAP_MAX] &&
           e->value[JOB_DURATION_MIN] <= e->value[JOB_DURATION_MAX];
}

int job_extremes_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->extremes.count; i++) {
        const struct job_extremes *e = &j->extremes.of[i];
        if (e->terminal >= j->terminal_count || !sane(e))
            return job_refuse(why, size, "extremes %u: out of range", i);
        if (i && e[-1].terminal >= e->terminal)
            return job_refuse(why, size, "extremes %u: out of order", i);
    }
    return 0;
}
