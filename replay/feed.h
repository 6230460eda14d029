/* SPDX-License-Identifier: MIT */
/*
 * A rank's position in its program, and the primitives that come from there one by one.
 *
 *   frames   R node 1 | A turn 17 node 0 | b turn 0       from the root to the terminal: in each rule the node, and
 *                                                         which turn of its exponent it is in
 *
 * A turn of a frame's node is complete when the position comes back to the same node with the next turn: that is where
 * a loop's state can be compared with an earlier one. Turns can be advanced without walking them.
 *
 * Invariants:
 *   1. frame[0] is in R, frame[i + 1] in the rule of frame[i]'s node, the last frame's node is a terminal
 *   2. a frame's turn is below its node's exponent
 *
 * Cost: a step is O(1) amortised. Memory: depth of the grammar, and where operations change a count for each node and
 * terminal.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "replay/program.h"

struct replay_frame { uint32_t rule, node; uint64_t turn; int64_t at; /* ns: when that turn began; the caller's */ };

/* A count of occurrences that operations depend on: its place among them, and how. */
struct replay_change { uint32_t count; struct replay_cycle cycle; };

struct replay_feed {
    const struct replay_source *source;
    const struct grammar_flat *grammar;
    uint32_t rank, depth, room;
    struct replay_frame *frame;
    uint64_t events;     /* index of the event that the position is at */
    uint64_t *seen;      /* occurrences of each node, then of each terminal; NULL: no operations change */
    struct replay_change *change; /* those that matter */
    uint32_t changes;
    uint32_t turned;     /* after an advance: the depth whose turn was completed, 0 for none; depth counts from 1 */
    struct replay_op op[REPLAY_OPS]; /* of the present event */
    uint32_t op_count, op_next, step;
    uint32_t before;     /* terminal of the present event, of which the next one is told */
    uint32_t last_source;/* of a receive from anyone */
    bool ended;
};

void replay_feed_open(struct replay_feed *f, const struct replay_source *s, uint32_t rank);
void replay_feed_close(struct replay_feed *f);
/* The next primitive (never REPLAY_COLLECTIVE; the peer is a rank of the job). False: the program has ended.
   f->turned says whether a loop's turn was completed on the way to it. */
bool replay_feed_next(struct replay_feed *f, struct replay_op *out);
/* The exponent of a frame's node. */
static inline uint64_t replay_feed_turns(const struct replay_feed *f, uint32_t depth)
{
    return f->grammar->nodes[f->frame[depth].node].exponent;
}
