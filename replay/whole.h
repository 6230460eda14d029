/* SPDX-License-Identifier: MIT */
/*
 * Repetitions in which a rank talks to nobody: all turns are taken at once, as one operation for each place.
 *
 *   A^1000, A: compute 3 us, region 20 us        one compute of 3 ms, one of 20 ms
 *
 * Cost: O(symbols of the expansion without its exponents), at most REPLAY_WHOLE_STEPS.
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPLAY_WHOLE_H
#define PYTHIA_REPLAY_WHOLE_H

#include "replay/program.h"

enum { REPLAY_WHOLE_OPS = 32, REPLAY_WHOLE_STEPS = 512 };

struct replay_whole {
    struct replay_op op[REPLAY_WHOLE_OPS]; /* one a place, in the order of their first occurrence */
    uint32_t count;
    uint64_t events;
};

/* All turns of a node together. False: a message or a collective is in there, or what differs from occurrence to
   occurrence, or more places or steps than there is room for. */
bool replay_whole_node(const struct replay_source *s, uint32_t rank, uint32_t node, struct replay_whole *out);

#endif
