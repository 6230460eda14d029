/* SPDX-License-Identifier: MIT */
/*
 * The control flow of one function: its instructions from the entry on, in the order in which they are met, and blocks.
 *
 *   entry ─┬─> block ──> block <─┐        a block ends where control may go elsewhere, or somebody comes in
 *          └─> block ──> block ──┘
 *
 * 1. block 0 is the entry; blocks are numbered in reverse postorder, so that each way around leads back to a block that
 *    has no greater number than the one before it
 * 2. what goes to another function for good (a tail call) is a call and a return
 * 3. a call that does not come back ends its block without a successor
 * 4. a call that an exception may come out of ends its block, where the function goes on then
 *
 * A computed jump leads to where its table says (jumps.h); else it makes the function unreadable.
 *
 * Bounds: TEAMS_MOST_INSNS instructions. Memory: proportional to them, in an area that is the caller's; a reader has
 * room for the most.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "code/image.h"
#include "code/insn.h"
#include "teams/known.h"

enum { TEAMS_MOST_INSNS = 12000 };

/* A call: what it is known as, or where it leads to. */
struct teams_call {
    uintptr_t target; /* code to follow; 0: none */
    const uintptr_t *targets; /* of a call by a pointer that nobody can change: all that it may lead to; … */
    uint32_t count;           /* … 0: not known */
    uintptr_t pad;    /* where it goes on when an exception comes out of it; 0: nowhere (landing.h) */
    const char *name; /* NULL: none */
    enum teams_known known;
    uint64_t clobbers; /* registers that it changes (proof.c) */
    bool meets;        /* others, in constructs (likewise) */
    bool looks;        /* it says what is in memory, where it changes nothing … */
    uint64_t asks;     /* … at a place that these tell */
};

struct teams_block {
    uint32_t first, count; /* instructions */
    int next[2]; /* successors; [1] of a branch: where it goes when it is taken; of a call: its landing pad. -1: none */
    uint32_t more, mores; /* further ones: where a table of jumps leads to (teams_flow.more) */
    bool head;   /* one that has no smaller number leads here */
    uint8_t goes_on; /* how what calls the function may go on from here, 0: the process ends, if anything does */
};
enum { TEAMS_RETURNS = 1, TEAMS_UNWINDS = 2 };

struct teams_flow {
    uintptr_t entry;
    struct code_image module;
    struct code_insn *insn;
    struct teams_call *call; /* of each instruction, as far as it is one */
    uint32_t insns;
    struct teams_block *block;
    uint32_t blocks;
    int *more;
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

/* The successors of a block: the two above, and more. -1: none. */
static inline uint32_t teams_flow_ways(const struct teams_flow *f, uint32_t b)
{
    return 2 + f->block[b].mores;
}
static inline int teams_flow_way(const struct teams_flow *f, uint32_t b, uint32_t k)
{
    return k < 2 ? f->block[b].next[k] : f->more[f->block[b].more + k - 2];
}

/* What decides where a block goes on, NULL: nothing does. */
static inline const struct code_insn *teams_flow_decides(const struct teams_flow *f, int block)
{
    const struct code_insn *last = &f->insn[f->block[block].first + f->block[block].count - 1];
    return last->op == CODE_BRANCH || last->op == CODE_JUMP_ANY ? last : NULL;
}

/* The branch that ends a block, NULL: none does. */
static inline const struct code_insn *teams_flow_branch(const struct teams_flow *f, int block)
{
    const struct code_insn *last = &f->insn[f->block[block].first + f->block[block].count - 1];
    return last->op == CODE_BRANCH ? last : NULL;
}
