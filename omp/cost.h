/* SPDX-License-Identifier: MIT */
/*
 * What teams cost on this machine, now: measured before the first region that may be given another size, in under 20 ms,
 * and again when the first one finds its workers asleep (so that nobody has to wait until they are).
 *
 *   one         a team of one, fork and join of an empty region
 *   team[k]     a team of size k, in ascending order; the last is N, the program's own
 *     hot         its workers still spin from the region before
 *     cold        its workers sleep
 *   end, make   what it costs to end a thread of the pool and to make one: libgomp does both when the size changes between
 *               two numbers above one; a team of one leaves the pool as it is
 *
 * Sizes that are worth something on their own: the processors that the process has, halves of them, its cores. What is
 * more than the processors is not measured (it takes long, and is not chosen): N then has costs below 0, not known.
 *
 * Workers spin for a while after a region (about 11 ms by default; not at all with OMP_WAIT_POLICY=passive; a few us where
 * a team has more threads than there are processors). How long is taken from the environment, as libgomp does.
 *
 * Threads: the one that enters regions, outside of any region.  Hook-safe: no (starts teams).
 */
#ifndef PYTHIA_OMP_COST_H
#define PYTHIA_OMP_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/stall.h"

enum { OMP_HOOK_TEAMS = 6 }; /* sizes above one, at most */

struct omp_hook_team_cost {
    uint32_t size;
    double hot, cold;  /* ns; < 0: not known */
    uint64_t spin;     /* ns after a region until its workers sleep: a gap beyond that is cold */
};

struct omp_hook_cost {
    uint32_t size;     /* N, 0: nothing was measured yet */
    uint32_t teams;    /* sizes in use */
    uint32_t usable;   /* of them, the first ones, no more than the processors; may be 0 */
    double one;        /* ns */
    double end, make;  /* ns a thread */
    double processors, cores; /* that this process has for itself, at least 1 (cores.h) */
    bool cold_known, guessed;
    struct omp_hook_stall stall; /* of teams on this machine, as met … */
    double share, wait; /* … or foreseen (crowd.h) */
    double gap;        /* ns since the last team; long ones count no more than some */
    struct omp_hook_team_cost team[OMP_HOOK_TEAMS];
};

/* The sizes for N on a machine, ascending, without measuring: fills size, teams, usable, processors, cores. */
void omp_hook_cost_sizes(struct omp_hook_cost *cost, unsigned size, double processors, double cores);
/* Measures, and leaves a pool of the largest usable size. On crowded processors, where that would take long and tell of the
   crowd, usual costs are taken instead (cost->guessed), and no pool is made; likewise where the program's threads must not
   `end` but would. */
enum omp_hook_cost_limits { OMP_HOOK_COST_CROWDED = 1, OMP_HOOK_COST_NO_END = 2 };
void omp_hook_cost_measure(struct omp_hook_cost *cost, unsigned size, unsigned limits);
/* Measures team k cold, when the workers sleep; they don't afterwards. The other sizes are scaled. */
void omp_hook_cost_measure_cold(struct omp_hook_cost *cost, uint32_t k);

/* ns for the pool to go from teams of one size to teams of another. */
double omp_hook_cost_change(const struct omp_hook_cost *cost, uint32_t from, uint32_t to);
/* ns that a team which takes `time` may lose to stalls now. */
double omp_hook_cost_stall(const struct omp_hook_cost *cost, double time);
/* Work that `size` threads do in the time in which one does 1. */
double omp_hook_cost_worth(const struct omp_hook_cost *cost, double size);

#endif
