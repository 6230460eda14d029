/* SPDX-License-Identifier: MIT */
/*
 * Time inside spans that contain others. Such a span is an opening and a closing event without duration; what it did
 * itself is in the gaps between the events inside, the closing one included:
 *
 *     omp parallel{   |gap| MPI_Barrier |gap| omp parallel}        both gaps are time of the region
 *
 * How long that was is recorded by callsite (JOB_EXCLUSIVE_NS), and is taken out of the gaps here.
 */
#include "findings/model.h"

static void add_time(struct report_model *m, const uint32_t *place, uint32_t terminal, uint64_t ns)
{
    m->gap_ns -= ns < m->gap_ns ? ns : m->gap_ns;
    if (m->job->terminals[terminal].kind != JOB_REGION) {
        m->sites[place[terminal]].time_ns += ns;
        return;
    }
    struct report_region *r = &m->regions[place[terminal]];
    r->time_ns += ns;
    r->nested_ns += ns;
}

/* Durations by team size are those of spans with nothing inside; the others share the time evenly. */
static void share_among_teams(struct report_region *r)
{
    uint64_t nested = 0;

    for (uint32_t k = 0; k < r->team_count; k++)
        nested += r->teams[k].nested;
    for (uint32_t k = 0; k < r->team_count; k++)
        r->teams[k].time_ns += report_scale((int64_t)r->nested_ns, r->teams[k].nested, nested);
}

void report_model_add_nested(struct report_model *m, const uint32_t *place)
{
    for (uint32_t i = 0; i < m->job->sum_count; i++)
        if (job_is_exclusive(m->job, &m->job->sums[i]))
            add_time(m, place, m->job->sums[i].terminal, m->job->sums[i].count.total);
    for (uint32_t i = 0; i < m->region_count; i++)
        share_among_teams(&m->regions[i]);
}
