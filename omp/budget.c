/* SPDX-License-Identifier: MIT */
#include "omp/budget.h"

static const double lent = 3000000; /* ns, before anything was earned */
static const double per_trials = 0.004, per_controls = 0.002; /* of the time */

void omp_hook_budget_start(struct omp_hook_budget *b, uint64_t now)
{
    *b = (struct omp_hook_budget){ .one = lent, .team = lent, .earned = now };
}

void omp_hook_budget_earn(struct omp_hook_budget *b, uint64_t now)
{
    if (now <= b->earned)
        return;
    double time = (double)(now - b->earned);
    b->one += per_trials * time;
    b->team += per_trials * time;
    b->control += per_controls * time;
    b->earned = now;
}
