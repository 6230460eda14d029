/* SPDX-License-Identifier: MIT */
/*
 * Where the time of a team goes: now and then each thread of a region notes when it begins and ends its share.
 *
 * Timed are the first executions of a region and then one in 64: that costs each thread two clock readings and a cache
 * line.
 * One region at a time is timed, that of the thread that acts. What waits at barriers inside counts as work.
 *
 * Threads: begin and end: the one that acts; each thread of the team notes its own.  Hook-safe: yes.
 */
#ifndef PYTHIA_OMP_SPLIT_H
#define PYTHIA_OMP_SPLIT_H

#include "job/regions.h"
#include "omp/hooks.h"

/* Whether the next execution after so many is timed. */
static inline bool omp_hook_split_due(uint64_t executions)
{
    enum { FIRST = 4, EVERY = 64 };
    return executions < FIRST || executions % EVERY == 0;
}
/* A region is about to be run, to be timed. */
void omp_hook_split_begin(struct omp_hook_region *r);
/* Run by thread `number` of `threads`: fn between two readings. */
void omp_hook_split_run(struct omp_hook_region *r, uint32_t number, uint32_t threads);
/* The region ran from `begin` to `end`: adds what was measured. */
void omp_hook_split_end(const struct omp_hook_region *r, uint64_t begin, uint64_t end, struct job_region *stats);

#endif
