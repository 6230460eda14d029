/* SPDX-License-Identifier: MIT */
/*
 * What the boards of a job say together: how well it runs, how far it is, when it ends. NAN: not known. Threads: any.
 */
#pragma once

#include "watch/read.h"

#define WATCH_NOBODY_LAST UINT32_MAX
#define WATCH_EVEN 0.95

struct watch_numbers {
    /* Time outside MPI calls over all time, from the end of MPI_Init on: a report's MPI efficiency, for what threads do
       in regions is not seen; and its mean over the ranks' largest, load balance as a report has it. */
    struct watch_efficiency {
        double mpi, load_balance;
        uint32_t longest_rank; /* that is outside MPI for the largest part of its time … */
        double longest;        /* … which is this */
    } whole, lately;           /* since the run began; the last look */
    /* Who keeps the others waiting: longest_rank, where it is the same one since the run began and lately, and their
       load balance is below WATCH_EVEN both times; else WATCH_NOBODY_LAST. */
    uint32_t last_rank;
    /* Of a predicted run: of the rank that is least far; seconds, of the one that has most left. */
    double progress, eta;
    double eta_low, eta_high; /* 80 % of the ends should be between; as earlier ones that were foretold differ */
    bool beyond; /* a rank has done more than it did in the recording: the end is not known any more */
};

void watch_count(struct watch_numbers *n, struct watch_sight *const *sights, uint32_t count);

/* The value of which so many are smaller; sorts them. */
double watch_ranked(double *value, uint32_t count, uint32_t smaller);
