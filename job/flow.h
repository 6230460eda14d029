/* SPDX-License-Identifier: MIT */
/*
 * Messages by peer: sums over the run, counted as they were sent and received, whatever rule nodes find for them.
 *
 *     terminal, direction, peer  ->  messages, bytes        of each rank of a set
 *
 *     Isend at exchange.c:40   to rank + 1        100 messages   800 bytes    ranks 0 … 62
 *                              to rank - 1        100            800          ranks 1 … 63
 *
 * For each terminal and direction the peer is the rank itself (JOB_ABSOLUTE), the distance from the own rank modulo
 * the job's ranks (JOB_OFFSET), or the bits in which the two differ (JOB_XOR), whichever makes the fewest rows. So what
 * all ranks do alike is one row. Where more than FLOW_ROWS rows would be left, they become means: one row for each
 * peer, its sums over all of its ranks; what still has too many is one row of everything.
 *
 *   1. rows in the order of terminal, direction, value, messages, bytes; those of one terminal and direction have one
 *      relation, and all or none are means
 *   2. of each rank there is at most one row for each peer
 *
 * Receives count where they were posted, with their actual source and size.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "job/ranges.h"

struct job;
struct job_maps;

struct job_flow {
    uint32_t terminal;
    uint8_t receives; /* else it sends */
    uint8_t relation; /* JOB_ABSOLUTE, JOB_OFFSET or JOB_XOR */
    uint8_t mean;
    uint32_t value;   /* the peer as the relation has it; GRAMMAR_NONE: of nobody in the world, or of several */
    uint64_t messages, bytes;          /* of each rank, of means of all ranks together */
    uint32_t range_first, range_count; /* the ranks */
};
struct job_flows {
    struct job_flow *row;
    struct job_ranges ranges;
    uint32_t count, room;
};

/* One rank's messages, to a job that has its terminal; info.ranks must be known. Those of equal rank, terminal,
   direction and peer add. `peer`: rank of the world, GRAMMAR_NONE: of nobody in it. The rows are in order, and
   may be read, after job_flows_settle(). 0, PYTHIA_ENOMEM, PYTHIA_EINVAL. */
int job_flow_add(struct job *j, uint32_t rank, uint32_t terminal, bool receives, uint32_t peer, uint64_t messages,
                 uint64_t bytes);

/* A row's peer of one of its ranks, in a job of so many. */
uint32_t job_flow_peer(const struct job_flow *f, uint32_t rank, uint32_t ranks);

int job_flows_settle(struct job *j); /* 0 or PYTHIA_E… */

struct job_flow_pair {
    uint32_t terminal, rank, peer; /* peer GRAMMAR_NONE: of nobody, or of several */
    bool receives;
    bool mean;                        /* a share of what many ranks have together */
    uint64_t messages, bytes;
};
/* Each row written out for each of its ranks; ends where `visit` returns other than 0, and returns that. */
int job_flows_walk(const struct job *j, int (*visit)(void *arg, const struct job_flow_pair *pair), void *arg);

/* --- Between the parts of a job --- */
int job_flows_check(const struct job *j, char *why, size_t size); /* 0 or PYTHIA_EFORMAT */
/* Of jobs without a common rank. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT, PYTHIA_EINVAL (job/schema.h). */
int job_flows_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made);
