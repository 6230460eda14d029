/* SPDX-License-Identifier: MIT */
/*
 * Each rank's own times at the nodes that matter.
 *
 * A class has the times of all of its members together; here each member has its own: of the nodes (terminals in their
 * place) that carry 99 % of the class's time, mean and deviation of gap and duration. In a job of more than 256 ranks a
 * row is of a block of ranks, as the streams are (job/streams.h). So what is kept grows with the nodes that matter and
 * with at most 256 blocks, never with events.
 *
 *   1. rows in the order of class, node, rank, thread, each once
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grammar_flat;
struct job;

enum job_own_sum { JOB_OWN_GAP, JOB_OWN_GAP_DEVIATION, JOB_OWN_DURATION, JOB_OWN_DURATION_DEVIATION, JOB_OWN_SUMS };

struct job_own {
    uint32_t class_index, node, rank, thread;
    uint32_t ranks;             /* of how many */
    uint64_t sum[JOB_OWN_SUMS]; /* ns, of one occurrence, over these ranks */
};
struct job_own_list {
    struct job_own *row;
    uint32_t count, room;
};

/* The row that a member is in; NULL: it is below what is kept. */
const struct job_own *job_own_of(const struct job *j, uint32_t class_index, uint32_t node, uint32_t rank,
                                 uint32_t thread);
static inline double job_own_mean(const struct job_own *o, enum job_own_sum what)
{
    return (double)o->sum[what] / o->ranks;
}

/* --- Between the parts of a job --- */
/* What the stream of (rank, thread), of that class and with that grammar, has. 0, or PYTHIA_ENOMEM. */
int job_own_add(struct job *j, uint32_t class_index, const struct grammar_flat *g, uint32_t rank, uint32_t thread);
void job_own_drop(struct job *j, uint32_t rank, uint32_t thread); /* takes that back: of a rank that was not there
                                                                     before */
/* keep[i]: row i is of a node that matters in its class. room for own.count. 0 or PYTHIA_ENOMEM. */
int job_own_matter(const struct job *j, bool *keep);
