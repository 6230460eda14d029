/* SPDX-License-Identifier: MIT */
/*
 * The control flow of one function: its instructions from the entry on, blocks, dominators, loops.
 *
 *   entry ─┬─> block ──> block <─┐        a block ends where control may go elsewhere, or somebody comes in;
 *          └─> block ──> block ──┘        a loop: the blocks between the head of a back edge and its tail
 *
 * 1. block 0 is the entry; blocks are numbered in reverse postorder, so that a block's dominator has a smaller number
 * 2. what goes to another function for good (a tail call) is a call and a return
 * 3. a call that does not come back ends its block without a successor
 * 4. a call that an exception may come out of ends its block, where the function goes on then
 *
 * A computed jump makes the function unreadable.
 *
 * Bounds: TEAMS_MOST_INSNS instructions. Memory: proportional to them, in an area that is the caller's; a reader has
 * room for the most.
 * Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_FLOW_H
#define PYTHIA_TEAMS_FLOW_H

#include <stddef.h>

#include "base/arena.h"
#include "loops/nest.h"
#include "teams/code.h"
#include "teams/image.h"
#include "teams/known.h"

enum { TEAMS_MOST_INSNS = 4000, TEAMS_NO_BLOCK = -1 };

/* A call: what it is known as, or where it leads to. */
struct teams_call {
    uintptr_t target; /* code to follow; 0: none */
    uintptr_t pad;    /* where it goes on when an exception comes out of it; 0: nowhere (landing.h) */
    const char *name; /* NULL: none */
    enum teams_known known;
    uint64_t reads, clobbers; /* registers that it looks at, and that it changes (proof.c) */
};

struct teams_block {
    uint32_t first, count; /* instructions */
    int next[2];           /* successors; [1] of a branch: where it goes when it is taken; of a call: its landing pad.
                              -1: none */
};

struct teams_flow {
    uintptr_t entry;
    struct teams_module module;
    struct teams_insn *insn;
    struct teams_call *call; /* of each instruction, as far as it is one */
    uint32_t insns;
    struct teams_block *block;
    uint32_t blocks;
    struct loops_nest nest; /* its nodes are the blocks */
    const char *unreadable; /* NULL, or what made it so */
    uintptr_t where;        /* … at */
};

/* What reads functions, one after another. NULL: no memory, or not on this machine. */
struct teams_reader;
struct teams_reader *teams_reader_create(void);
void teams_reader_destroy(struct teams_reader *r);
/* Reads a function into `room`. NULL: no memory is left. */
struct teams_flow *teams_flow_read(struct teams_reader *r, uintptr_t entry, struct base_arena *room);
/* NULL: no memory is left. The second one is zeroed. */
void *teams_flow_take(struct base_arena *room, size_t bytes);
void *teams_flow_take_zeroed(struct base_arena *room, size_t bytes);

/* Whether each way to `block` takes the edge from `from` to its successor `to`. */
bool teams_flow_edge_dominates(const struct teams_flow *f, int from, int to, int block);
/* The branch that ends a block, NULL: none does. */
static inline const struct teams_insn *teams_flow_branch(const struct teams_flow *f, int block)
{
    const struct teams_insn *last = &f->insn[f->block[block].first + f->block[block].count - 1];
    return last->op == TEAMS_BRANCH ? last : NULL;
}
/* What an instruction takes of two (enum teams_extreme): of a choice, after a comparison of the two in its block. */
int teams_flow_extreme(const struct teams_flow *f, int block, const struct teams_insn *i);
/* Whether a block of the loop has a successor outside. */
bool teams_flow_leads_out(const struct teams_flow *f, int loop, int block);

#endif
