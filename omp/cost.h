/* SPDX-License-Identifier: MIT */
/*
 * What a team costs on this machine, now: measured before the first region that may be lowered, and again when the first
 * one finds its workers asleep (so that nobody has to wait until they are).
 *
 *   one    a team of one, fork and join of an empty region
 *   hot    a team of N whose workers still spin from the region before
 *   cold   a team of N whose workers sleep
 *
 * Workers spin for a while after a region (about 11 ms by default; not at all with OMP_WAIT_POLICY=passive; a few us where
 * a team has more threads than there are processors). How long is taken from the environment, as libgomp does.
 *
 * Threads: the one that enters regions, outside of any region.  Hook-safe: no (starts teams).
 */
#ifndef PYTHIA_OMP_COST_H
#define PYTHIA_OMP_COST_H

#include <stdint.h>

struct omp_hook_cost {
    uint32_t size;      /* N that was measured, 0: nothing yet */
    double one;         /* ns */
    double hot, cold;   /* ns; cold is hot until it was measured, and never less */
    int cold_known;
    uint64_t spin;      /* ns after a region until its workers sleep: a gap beyond that is cold */
    double processors;  /* that this process has for itself, at least 1: its affinity mask over the ranks that share it */
};

/* Measures `one` and `hot` for teams of `size`, and makes the threads; takes under 20 ms. */
void omp_hook_cost_measure(struct omp_hook_cost *cost, unsigned size);
/* Measures `cold`, when the workers sleep; they don't afterwards. */
void omp_hook_cost_measure_cold(struct omp_hook_cost *cost);

#endif
