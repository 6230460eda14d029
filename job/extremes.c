/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "job/schema.h"

void job_extremes_begin(struct job_extremes *e)
{
    memset(e, 0, sizeof *e);
    e->value[JOB_GAP_MIN] = e->value[JOB_DURATION_MIN] = UINT64_MAX;
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

void job_extremes_add_up(void *x, const void *y)
{
    struct job_extremes *into = x;
    const struct job_extremes *from = y;
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

int job_extremes_add(struct job *j, uint32_t rank, uint32_t terminal, const struct job_extremes *e)
{
    struct job_extremes own = *e;
    own.terminal = terminal;
    for (int k = 0; k < JOB_EXTREMES; k++)
        own.rank[k] = rank;
    return e->count ? job_rows_add(j, JOB_TABLE_EXTREMES, &own) : 0;
}

bool job_extremes_sane(const struct job *j, const void *row)
{
    const struct job_extremes *e = row;
    (void)j;
    uint64_t gaps = 0, durations = 0;
    for (int i = 0; i < JOB_BUCKETS; i++) {
        gaps += e->gaps[i];
        durations += e->durations[i];
    }
    for (int k = 0; k < JOB_EXTREMES; k++)
        if (e->turn[k] >= e->count)
            return false;
    return gaps == e->count && durations == e->count && e->value[JOB_GAP_MIN] <= e->value[JOB_GAP_MAX] &&
           e->value[JOB_DURATION_MIN] <= e->value[JOB_DURATION_MAX];
}

