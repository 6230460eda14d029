/* SPDX-License-Identifier: MIT */
#include "omp/split.h"

#include "base/clock.h"

enum { SHARES = 256, LINE = 64 };

/* A cache line each: threads write theirs at the same time. */
static struct share {
    _Alignas(LINE) uint64_t begin;
    uint64_t end;
} shares[SHARES];

void omp_hook_split_begin(struct omp_hook_region *r)
{
    r->shares = true;
    shares[0].end = 0;
}

void omp_hook_split_run(struct omp_hook_region *r, uint32_t number, uint32_t threads)
{
    if (number >= SHARES || threads < 2) {
        r->fn(r->data);
        return;
    }
    shares[number].begin = base_clock_now();
    r->fn(r->data);
    shares[number].end = base_clock_now();
}

void omp_hook_split_end(const struct omp_hook_region *r, uint64_t begin, uint64_t end, struct job_region *stats)
{
    uint64_t first = UINT64_MAX, last = 0, work = 0;
    uint32_t threads = r->team < SHARES ? r->team : SHARES;
    if (threads < 2 || shares[0].end == 0)
        return;
    for (uint32_t i = 0; i < threads; i++) {
        if (shares[i].begin < begin || shares[i].end > end || shares[i].end < shares[i].begin)
            return; /* clocks of different processors that are not quite the same, or a thread that did not come */
        first = shares[i].begin < first ? shares[i].begin : first;
        last = shares[i].end > last ? shares[i].end : last;
        work += shares[i].end - shares[i].begin;
    }
    stats->samples++;
    stats->fork_ns += first - begin;
    stats->join_ns += end - last;
    stats->work_ns += work / threads;
    stats->wait_ns += last - first - work / threads;
}
