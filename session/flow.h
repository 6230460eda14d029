/* SPDX-License-Identifier: MIT */
/*
 * Messages by peer: what a stream sent to and received from each rank, counted as it happens.
 *
 *     (terminal, direction, peer)  ->  messages, bytes
 *
 * These are sums, whatever rule the nodes of the grammar find: a matrix made of them is exact. A receive counts when it
 * completes, with its actual source and size, and belongs to the call that posted it. A table of a stream, so nothing
 * is shared; what goes beyond FLOW_MOST peers is counted as of nobody (peer GRAMMAR_NONE).
 *
 *     row 3 ─next─> row 7        most messages are of the row that came after this one the last time: one comparison
 *
 * Cost: a comparison, else a look-up. Memory: 32 bytes a row, and 16 to 32 of the table.
 * Threads: the stream's.  Hook-safe: yes, but for rows first seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct job;

struct session_flow {
    uint32_t terminal; /* of session.job */
    uint32_t peer;     /* rank of the world, GRAMMAR_NONE: of nobody in it */
    uint32_t receives : 1, next : 31; /* next: of the row after it + 1; 0: none yet */
    uint64_t messages, bytes;
};

struct session_flows {
    struct session_flow *row;
    uint32_t count, room;
    uint32_t last; /* row + 1; 0: none yet */
    uint32_t next; /* its `next` */
    struct base_hash index; /* of the rows */
};

static inline bool session_flow_is(const struct session_flow *row, uint32_t terminal, bool receives, uint32_t peer)
{
    return row->terminal == terminal && row->peer == peer && row->receives == receives;
}

/* The row of such messages + 1, by another way than the last time; 0: there is no memory for a new one. */
uint32_t session_flows_turn(struct session_flows *t, uint32_t terminal, bool receives, uint32_t peer);

/* One message; what memory does not suffice for is left out. */
static inline void session_flows_add(struct session_flows *t, uint32_t terminal, bool receives, uint32_t peer,
                                     uint64_t bytes)
{
    uint32_t n = t->next;
    if (__builtin_expect(!n || !session_flow_is(&t->row[n - 1], terminal, receives, peer), 0) &&
        !(n = session_flows_turn(t, terminal, receives, peer)))
        return;
    struct session_flow *row = &t->row[n - 1];
    row->messages++;
    row->bytes += bytes;
    t->last = n;
    t->next = row->next;
}

/* Hands all rows to a job of the rank. 0, or PYTHIA_ENOMEM. */
int session_flows_finish(const struct session_flows *t, struct job *job, uint32_t rank);
/* The rows alone, to be finished or closed. False when out of memory. */
bool session_flows_copy(const struct session_flows *t, struct session_flows *copy);
void session_flows_close(struct session_flows *t);
