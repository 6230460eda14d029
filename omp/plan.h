/* SPDX-License-Identifier: MIT */
/*
 * Which size the pool of threads has, apart from one.
 *
 * Teams of one leave libgomp's pool as it is; any other change ends threads and makes new ones (100 us and more). So at any
 * time there is one size above one that regions may choose, and it is changed only when that pays over the coming regions:
 *
 *   best[j]     a region's expected time with the better of {1, size j}
 *   regret[j]   sum of best[pool] - best[j] over past regions, since it was last below 0: what having had j would have
 *               gained
 *
 * When regret[j] reaches a fraction of the price of changing, the oracle is asked for the coming regions, and the change
 * is made where they pay for it. Without an answer it is made once the regret alone has: at most twice the cost of knowing
 * the future (the ski-rental argument). A change raises the price of the next one; time lowers it again.
 *
 * Pure arithmetic.  Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_PLAN_H
#define PYTHIA_OMP_PLAN_H

#include <stdbool.h>

#include "omp/cost.h"

struct omp_hook_plan {
    const struct omp_hook_cost *cost;
    uint32_t pool;        /* index of the size, in cost->team */
    uint32_t since;       /* regions since the oracle was asked */
    double reluctance;    /* factor of the price, 1 and more */
    double regret[OMP_HOOK_TEAMS];
};

/* Starts with the largest size that has processors; with N where none has. */
void omp_hook_plan_start(struct omp_hook_plan *p, const struct omp_hook_cost *cost);
/* Whether there is anything to choose. */
bool omp_hook_plan_open(const struct omp_hook_plan *p);

/* Fills best[] for the event `distance` >= 1 after the region that is about to begin (all 0 for what is no region); false:
   not known. */
typedef bool omp_hook_plan_future(void *argument, uint32_t distance, double best[OMP_HOOK_TEAMS]);

/* A region is about to begin: notes its times, returns the pool's size for it and those after it. */
uint32_t omp_hook_plan_next(struct omp_hook_plan *p, const double best[OMP_HOOK_TEAMS], omp_hook_plan_future *future,
                            void *argument);

#endif
