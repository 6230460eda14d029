/* SPDX-License-Identifier: MIT */
/*
 * Calls rank by rank, and how large the data of calls are: what each rank has at each callsite, of all its threads.
 *
 * Counts and bytes are exact. A rank's time is its own where the job keeps it (job/own.h: the places that matter) or
 * its class has no other rank; all others share what is left of the call's time, in proportion to their calls. The
 * shortest and the longest call are those of the class.
 *
 * Sizes are counted by power of two of the bytes that a call had on a rank. Where a place's values are known one by one
 * each counts in its own; else all count where their mean is, and are said to be estimated.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

struct findings_cell {
    double count, bytes, ns;
    double least_ns, most_ns; /* of one call; 0: never called */
    double shared_ns;         /* of ns, what is not the rank's own */
};

/* 0: nothing; k: from 2^(k - 1) bytes on, below 2^k. */
enum { FINDINGS_SIZES = 64 };
struct findings_sizes {
    uint32_t comm_size;             /* of calls on communicators of so many ranks … */
    const struct findings_site *site; /* … or, not NULL, at a callsite */
    double calls[FINDINGS_SIZES], bytes, estimated;
};

struct findings_by_rank {
    uint32_t ranks, sites;        /* records of the model; of a large job blocks of ranks, for which cells are sums */
    struct findings_cell *cell;   /* ranks x sites */
    uint32_t comms;
    struct findings_sizes *sizes; /* of communicators, ascending, then of each site */
};

struct findings_by_rank *findings_by_rank_create(struct report *r);
static inline const struct findings_cell *findings_cell(const struct findings_by_rank *b, uint32_t rank, uint32_t site)
{
    return &b->cell[(size_t)rank * b->sites + site];
}
/* The fewest bytes that are of a size. */
double findings_size_least(int size);
double findings_size_calls(const struct findings_sizes *s);

void findings_by_rank_destroy(struct findings_by_rank *b);
