/* SPDX-License-Identifier: MIT */
/*
 * What the thread that acts knows: between team.c (may a region's team be changed), choose.c (how) and learn.c (how it went).
 *
 * Threads: the one that acts (team.h).
 */
#ifndef PYTHIA_OMP_TEAM_STATE_H
#define PYTHIA_OMP_TEAM_STATE_H

#include "omp/context.h"
#include "omp/cost.h"
#include "omp/crowd.h"
#include "omp/plan.h"
#include "omp/referee.h"
#include "omp/site.h"
#include "omp/team.h"

/* The costs and the pool for programs that ask for N threads. */
struct omp_hook_machine {
    struct omp_hook_cost cost;
    struct omp_hook_plan plan;
};

enum { OMP_HOOK_MACHINES = 4 };

struct omp_hook_team_state {
    struct omp_hook_machine machines[OMP_HOOK_MACHINES]; /* cost.size 0: free */
    uint32_t alive;     /* threads in libgomp's pool: the size of the last team above one */
    uint32_t control;   /* regions still to run at the program's size */
    uint64_t last_team; /* ns, end of the last region of several threads */
    uint64_t last_end;  /* ns, end of the last region that was considered */
    struct omp_hook_budget budget;
    struct omp_hook_crowd crowd;
    struct omp_hook_referee referee;
    struct omp_hook_context *anchor; /* the referee's */
    double missed;      /* ns lost because the workers slept, since they were last woken */
    struct omp_hook_team_counts counts;
    bool pinned;        /* some region's threads have data of their own: none of them may end */
    bool by_level;      /* each level of regions has a setting of its own: libgomp has to know of each region */
    enum { OMP_HOOK_BEST, OMP_HOOK_ALWAYS_ONE, OMP_HOOK_IN_TURNS } wanted; /* PYTHIA_OMP_SIZES */
};
extern struct omp_hook_team_state omp_hook_team __attribute__((visibility("hidden")));

/* Whether it may be called without libgomp, with one thread. */
static inline bool omp_hook_team_may_be_direct(const struct omp_hook_region *r)
{
    return (r->traits & OMP_HOOK_PLAIN) && !r->site->tasks && !omp_hook_team.by_level;
}

/* Whether it has the program's own size. */
static inline bool omp_hook_team_is_own(const struct omp_hook_region *r)
{
    return !r->acts || (!r->lowered && r->cost->team[r->k].size == r->program);
}

#endif
