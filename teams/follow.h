/* SPDX-License-Identifier: MIT */
/*
 * A function read from its entry to its ends: what each value may be before each instruction (value.h).
 *
 *   entry: nothing known ──> block ──> block ...     where ways meet, values are joined; repeated until nothing changes
 *
 * Places in the function's own frame with a known offset (slots) are values like registers. It is read in rounds:
 *
 *   1  which loops turn by bounds of a shared loop: `shared` blocks
 *   2  what each thread carries from one iteration of them to the next, and which branches depend on it (controls)
 *
 * A value has a name: the instruction that made it, or the block and the place where several came together; 0: none.
 * What has on the way into a loop the name that it has at its end is the same in each turn.
 *
 * A control is a branch whose two sides are not run by all threads alike; what one side changed is, where the sides
 * meet, raw (one thread of the team ran it) or carried.
 *
 * Bounds: TEAMS_SLOTS slots, TEAMS_CONTROLS controls, 24 rounds; beyond them nothing is proven. Threads: one.
 * Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_FOLLOW_H
#define PYTHIA_TEAMS_FOLLOW_H

#include "teams/flow.h"
#include "teams/value.h"

enum { TEAMS_SLOTS = 255, TEAMS_CONTROLS = 64, TEAMS_ESCAPES = 64, TEAMS_NO_SLOT = 255 };

struct teams_state {
    struct teams_value reg[TEAMS_REGISTERS];
    struct teams_value slot[TEAMS_SLOTS];
};

/* Registers and slots that a block writes. */
struct teams_defs {
    uint64_t regs, stepped, slots[4];
};

enum teams_control_kind {
    TEAMS_ONCE,
    TEAMS_OTHERS,
    TEAMS_BY_BOUND,
    TEAMS_BY_LENGTH,
    TEAMS_BY_CHUNK,
    TEAMS_BY_CARRIED,
    TEAMS_BY_REST /* who has an iteration more */
};
struct teams_control {
    int from, to;
    enum teams_control_kind kind;
    uint8_t *inside; /* of each block: whether the branch decides on it: that side leads to it, the other one may not */
    uint8_t *within; /* likewise: whether each way to it takes that side */
    struct teams_defs defs; /* of these blocks */
};

enum teams_context {
    TEAMS_IN_LOOP = 1,
    TEAMS_GUARDED = 2,
    TEAMS_RUN_ONCE = 4,
    TEAMS_RUN_BY_OTHERS = 8,
    TEAMS_IF_CARRIED = 16,
    TEAMS_BEFORE_CHUNK = 32, /* whether there is one */
    TEAMS_BY_SHARE = 64,     /* by how large this thread's share is */
    TEAMS_REST = 128         /* guarded twice: what is left of a share behind a loop */
};

struct teams_reading {
    const struct teams_flow *flow;
    struct base_arena *room;
    struct teams_stop { struct teams_value *value; uint32_t slots; } *in, *out; /* of each block; room for as many */
    uint8_t reg[TEAMS_REGISTERS]; /* those that are looked at, the flags first: only they are kept */
    uint32_t regs;
    uint64_t used, changes; /* likewise, but for the flags; those that it changes of its caller's (live.h) */
    struct teams_ticks { uint32_t ran, changed; } *last; /* of each block, `changed`: its state */
    struct teams_defs *defs;
    uint8_t *here;                /* a row of blocks, all 0 between calls */
    uint8_t *context;             /* enum teams_context of each block */
    uint8_t *slot_of;             /* of each instruction's place of memory, TEAMS_NO_SLOT: none */
    int *shared_loop;             /* of each block: outermost loop that turns by bounds, -1 */
    bool *retries;                /* of each loop: whether it repeats an exchange */
    struct teams_defs *loop_defs; /* of each loop that is shared or retries */
    int *block_of;                /* of each instruction */
    struct teams_control control[TEAMS_CONTROLS];
    uint32_t controls;
    int32_t slot_offset[TEAMS_SLOTS];
    uint8_t slot_size[TEAMS_SLOTS];
    bool shares[TEAMS_SLOTS]; /* bytes with another slot */
    uint32_t slots;
    int32_t escaped[TEAMS_ESCAPES]; /* frame offsets whose addresses went elsewhere */
    uint32_t escapes;
    uint32_t tick;  /* runs of blocks so far */
    uint32_t found; /* the one in which a slot or an escape was new, or a slot grew, last */
    bool hope;      /* values at the end of a loop may still be what they were before its head was known */
    bool recording; /* `defs` are being found */
    bool too_large;
};

/* Memory comes from `room`, and goes with it. NULL: there is none. */
struct teams_reading *teams_follow(const struct teams_flow *f, struct base_arena *room);
/* Flags at the end of a block. */
static inline const struct teams_value *teams_follow_flags(const struct teams_reading *r, int block)
{
    return r->out[block].value;
}

/* The state before a block, into *s. */
void teams_follow_begin(const struct teams_reading *r, int block, struct teams_state *s);
/* Runs one instruction of a block on a state. */
void teams_follow_step(struct teams_reading *r, int block, uint32_t insn, struct teams_state *s);
/* Address of an instruction's place of memory; the value of an operand. */
struct teams_value teams_follow_address(const struct teams_insn *i, const struct teams_state *s);
struct teams_value teams_follow_operand(struct teams_reading *r, const struct teams_insn *i,
                                        const struct teams_operand *o, const struct teams_state *s);

#endif
