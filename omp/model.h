/* SPDX-License-Identifier: MIT */
/*
 * What a region costs in one place, with one thread and with all: from what was recorded, what this run showed, and the
 * measured costs of teams. Pure arithmetic: no clock, no OpenMP; team.h says how it is used.
 *
 *   time(N) = work / min(N, processors) + cost of the team (hot or cold)
 *
 * A choice is checked now and then by running the other size (a trial): at once where one thread was never seen, else
 * ever more rarely while nothing changes. All places of a region share their patience, for they share what changes.
 *
 * Invariants: a mean with neither count nor prior is meaningless.
 *
 * Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_MODEL_H
#define PYTHIA_OMP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "grammar/attr.h"
#include "omp/cost.h"

/* A mean that forgets: of all observations at first, later of about the last 16. */
struct omp_hook_mean {
    double value;
    double typical;  /* the same without rare long ones */
    uint32_t count;  /* observations of this run */
    uint32_t prior;  /* 1: started from the reference */
};

enum omp_hook_size { OMP_HOOK_ONE, OMP_HOOK_HOT, OMP_HOOK_COLD, OMP_HOOK_SIZES };

struct omp_hook_model {
    uint32_t size;     /* N; 0: not started */
    bool lowering;     /* what was chosen last, trials aside */
    struct omp_hook_mean mean[OMP_HOOK_SIZES];
    double bound;      /* upper bound of the work, < 0: not known */
    double recorded;   /* what N threads took when this was recorded, < 0: not known */
    const struct omp_hook_cost *cost;
};

/* Executions since the last trial, and how many must pass before the next (0: not started). */
struct omp_hook_patience { uint32_t since, backoff; };

/* Starts from what the reference knows of the region here: durations by team size (may be NULL), else its mean duration
   (< 0: not known). `cost` must outlive the model. */
void omp_hook_model_start(struct omp_hook_model *m, uint32_t size, const struct omp_hook_cost *cost,
                          const struct grammar_attr *by_size, double duration);

struct omp_hook_choice {
    bool lower, trial;
    double full, one; /* expected; < 0: not known */
    double hot;       /* like full, were the workers awake */
    double credit;    /* what the program's own size would have taken, in a run that had it all along: what a gain may be
                         counted from. No more than was recorded, nor, unless this run has seen it, than the machine's
                         costs explain */
};

enum omp_hook_workers {
    OMP_HOOK_ASLEEP = 1,      /* now: the last team is long ago */
    OMP_HOOK_ASLEEP_ANYWAY = 2 /* they would be at the program's own sizes, too: the last region is long ago */
};

/* Chooses for the next execution. `budget`: what a trial may lose at worst. */
void omp_hook_model_choose(struct omp_hook_model *m, struct omp_hook_patience *p, unsigned workers, double budget,
                           struct omp_hook_choice *choice);

/* An execution took that long. Returns whether a choice to lower was taken back by it. */
bool omp_hook_model_learn(struct omp_hook_model *m, struct omp_hook_patience *p, bool lowered, bool cold, double took);

#endif
