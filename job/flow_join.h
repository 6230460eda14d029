/* SPDX-License-Identifier: MIT */
/*
 * Joining rows of one terminal and direction. As long as they are of few ranks they are written out and put together
 * anew, so that the result depends on what they say alone; then rows of equal content are joined as sets.
 *
 * Private to flow.c.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_FLOW_JOIN_H
#define PYTHIA_JOB_FLOW_JOIN_H

#include "job/flow.h"

/* The rows of one terminal and direction, of both jobs. */
struct job_flow_batch {
    const struct job_flow **row;
    const struct job_range **ranges; /* of each */
    uint32_t count, terminal, ranks;
    uint32_t first_side; /* so many of them, the first ones, are of one job */
    bool receives, mean;
};

/* Appends what the rows come to. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_flows_join_batch(struct job_flows *out, struct job_flow_batch *b);

/* --- flow.c --- */
int job_flows_append(struct job_flows *f, struct job_flow row, const struct job_range *ranges, uint32_t count);

#endif
