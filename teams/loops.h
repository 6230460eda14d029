/* SPDX-License-Identifier: MIT */
/*
 * Dominators and loops of a function whose blocks are in reverse postorder. After Cooper, Harvey, Kennedy: A Simple,
 * Fast Dominance Algorithm. A loop is what an edge back to a block that dominates it goes around; where an edge goes
 * back to another block, a loop has two entries.
 *
 * Threads: any, each function by one at a time.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_LOOPS_H
#define PYTHIA_TEAMS_LOOPS_H

#include "teams/flow.h"

/* Fills block[].dominator. */
void teams_dominators_find(struct teams_flow *f);
/* After the dominators. `where`: the address of one of the entries. */
bool teams_loops_have_two_entries(const struct teams_flow *f, uintptr_t *where);
/* Fills head, loops, member and block[].loop. `stack`: room for all blocks. False: no memory is left. */
bool teams_loops_find(struct teams_flow *f, struct base_arena *room, int *stack);

#endif
