/* SPDX-License-Identifier: MIT */
/*
 * What a region costs in one place, with each size of team: from what was recorded, what this run showed, and the measured
 * costs of teams. Pure arithmetic: no clock, no OpenMP; team.h says how it is used.
 *
 *   time(n) = serial + work / worth(n) + cost of the team (hot or cold) + stalls
 *
 * A size that was seen has its own mean; others follow from the formula fitted to two or more that were seen. From a single
 * one it is taken that all of the work is divided: a bound for fewer threads, and for more the benefit of the doubt.
 *
 * Chosen is between one thread and the size k that the pool has now (plan.h says which): the smaller expected time, with a
 * margin that favours what ran last. The other of the two is tried (a trial) when its worst loss fits into the budget:
 * early, and never again once it was clearly slower, unless the chosen one's time has moved since. The program's own size is
 * run now and then besides (a control), ever more rarely: what a gain is measured against. All places of a region share
 * their patience.
 *
 * Invariants: a mean with neither count nor prior is meaningless; tried == 0 while nothing was tried.
 *
 * Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_MODEL_H
#define PYTHIA_OMP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "grammar/attr.h"
#include "grammar/stats.h"
#include "omp/budget.h"
#include "omp/cost.h"

/* A mean that forgets: of all observations at first, later of about the last 16. */
struct omp_hook_mean {
    double typical;  /* rare long ones left out: of teams these are stalls (stall.h), of one thread any program's */
    double least;
    uint32_t count;  /* observations of this run */
    uint32_t prior;  /* 1: started from the reference */
};

enum omp_hook_heat { OMP_HOOK_HOT, OMP_HOOK_COLD };

struct omp_hook_model {
    struct omp_hook_cost *cost; /* NULL: not started */
    bool lowering;     /* what was chosen last, trials aside */
    struct omp_hook_mean one;
    struct omp_hook_mean team[OMP_HOOK_TEAMS][2]; /* by size and enum omp_hook_heat */
    double bound;      /* upper bound of the work, < 0: not known */
    double recorded;   /* what N threads took when this was recorded, < 0: not known */
    double tried;      /* time of the chosen size at the last trial of the other one */
};

/* Executions since the last trial and the last control, and how many must pass before the next (0: not started). */
struct omp_hook_patience { uint32_t since, backoff, control_since, control_backoff; };

/* Starts from what the reference knows of the region here: durations by team size, and all of them (each may be NULL).
   `cost` must outlive the model. */
void omp_hook_model_start(struct omp_hook_model *m, struct omp_hook_cost *cost, const struct grammar_attr *by_size,
                          const struct grammar_stats *all);

struct omp_hook_choice {
    bool lower;       /* one thread */
    bool control;     /* the program's own size, N */
    bool trial;       /* what would not be chosen, in order to learn; a control is one too */
    double full, one; /* expected with size k and with one thread; < 0: not known */
    double hot;       /* like full, were the workers awake */
    double credit;    /* what the program's own size would have taken, in a run that had it all along: what a gain may be
                         counted from. No more than was recorded, nor, unless this run has seen it, than the machine's
                         costs explain; < 0: not known */
};

enum omp_hook_workers {
    OMP_HOOK_ASLEEP = 1,      /* now: the last team is long ago */
    OMP_HOOK_ASLEEP_ANYWAY = 2 /* they would be at the program's own sizes, too: the last region is long ago */
};

/* Chooses for the next execution, when the pool has size k. */
void omp_hook_model_choose(struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k, unsigned workers,
                           const struct omp_hook_budget *budget, struct omp_hook_choice *choice);

/* How a region was run: with one thread (lowered), or with team k. */
struct omp_hook_execution { bool lowered, cold, trial, control; };

/* It took that long, until `now`. Returns whether a choice to lower was taken back by it. */
bool omp_hook_model_learn(struct omp_hook_model *m, struct omp_hook_patience *p, uint32_t k,
                          const struct omp_hook_execution *e, uint64_t now, double took);

/* Expected time with team k, without trying any. < 0: not known. */
double omp_hook_model_expect(const struct omp_hook_model *m, uint32_t k, bool cold);
/* The same with one thread. */
double omp_hook_model_expect_one(const struct omp_hook_model *m);

#endif
