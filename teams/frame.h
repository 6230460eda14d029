/* SPDX-License-Identifier: MIT */
/*
 * A function's own frame: the places in it that its instructions reach by a known offset (slots), which are values like
 * registers.
 *
 *     stack pointer at the entry + offset      -8 ─ slot 0      -16 ─ slot 1      -80 ─ an address that is lent
 *
 * A slot belongs to the function, unless it is its caller's, or an address of the frame went elsewhere (lent: stored,
 * handed on, or made into one that is not followed): what is above such an address may be written by who got it.
 *
 * Bounds: TEAMS_SLOTS slots; what has none is memory like any other. Threads: one.  Hook-safe: no.
 */
#pragma once

#include "teams/flow.h"

enum { TEAMS_SLOTS = 255, TEAMS_NO_SLOT = 255 };

struct teams_addresses { int32_t of[TEAMS_SLOTS]; uint32_t count; }; /* offsets */

struct teams_frame {
    const struct teams_flow *flow;
    uint8_t *slot_of; /* of each instruction's place of memory, TEAMS_NO_SLOT: none */
    int32_t offset[TEAMS_SLOTS];
    uint8_t size[TEAMS_SLOTS];
    uint32_t slots;
    struct teams_addresses lent;   /* that went elsewhere */
    struct teams_addresses bounds; /* to what a loop's bounds are asked of, for so long */
    uint64_t changes; /* registers of its caller's that it changes */
};

/* Memory comes from `room`, and goes with it. NULL: there is none. */
struct teams_frame *teams_frame_find(const struct teams_flow *f, struct base_arena *room);
/* Whether others may write a slot; `near`: whether it is close to an address that they have. */
bool teams_frame_is_lent(const struct teams_frame *f, uint8_t slot, bool near);
/* Whether a call that is asked for a loop's bounds may write it. */
bool teams_frame_is_bound(const struct teams_frame *f, uint8_t slot);
/* Whether two slots have bytes in common. */
bool teams_frame_overlap(const struct teams_frame *f, uint8_t a, uint8_t b);
