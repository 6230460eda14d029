/* SPDX-License-Identifier: MIT */
/*
 * What the boards of a job say together: how well it runs, how far it is, when it ends. Threads: any.
 */
#ifndef PYTHIA_WATCH_NUMBERS_H
#define PYTHIA_WATCH_NUMBERS_H

#include "watch/read.h"

struct watch_numbers {
    /* Useful time outside MPI calls, over all time; and its mean over the ranks' largest. -1: not known. */
    struct watch_efficiency { double parallel, load_balance; } whole, lately; /* since the run began; the last look */
    /* Of a predicted run, as the rank says that has most left; seconds, -1: not known. */
    double progress, eta;
    double eta_low, eta_high; /* 80 % of the ends should be between; as earlier ones that were foretold differ */
};

/* `before` (may be NULL): the same boards at an earlier look, some may be NULL. */
void watch_count(struct watch_numbers *n, const struct watch_sight *const *sights,
                 const struct watch_sight *const *before, uint32_t count);

#endif
