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

/* A row with its ranks; `side`: of which of two jobs. */
struct job_flow_item {
    struct job_flow row;
    const struct job_range *ranges;
    uint32_t side;
};

/* Appends what rows of one terminal and direction come to, those of side 0 first; they are put in another order. 0,
   PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_flows_join_items(struct job_flows *out, struct job_flow_item *item, uint32_t count, uint32_t ranks);

/* --- flow.c --- */
int job_flows_append(struct job_flows *f, struct job_flow row, const struct job_range *ranges, uint32_t count);
/* The rows, their terminals renamed unless that is NULL; how many. */
uint32_t job_flows_items(const struct job_flows *f, const uint32_t *terminal_map, uint32_t side,
                         struct job_flow_item *to);

#endif
