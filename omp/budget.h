/* SPDX-License-Identifier: MIT */
/*
 * What a run may lose to learning: so many ns at first, and 1 % of its time from then on. Each kind has its own, so that
 * none starves another.
 *
 *   one       trials of one thread, whose worst is known
 *   team      trials of teams, which may stall
 *   control   regions run at the program's size: nothing but a better report is gained from them, so nothing is lent
 *
 * Pure arithmetic.  Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_BUDGET_H
#define PYTHIA_OMP_BUDGET_H

#include <stdint.h>

struct omp_hook_budget {
    double one, team, control;
    uint64_t earned; /* until then */
};

/* The program's first region that may be given another size. */
void omp_hook_budget_start(struct omp_hook_budget *b, uint64_t now);
/* It is now so late. */
void omp_hook_budget_earn(struct omp_hook_budget *b, uint64_t now);

#endif
