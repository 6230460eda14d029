/* SPDX-License-Identifier: MIT */
/*
 * Where computed jumps lead to, and calls by pointers: switches with a table of jumps, as compilers make them.
 *
 *     cmp $N, i ── ja elsewhere ── load table[i] ── add table ── jmp *      block by block: the table's address is the
 *                                                                           same on all ways to the jump, and the
 *                                                                           bound is checked right before its block
 *
 * A table is memory that nobody can write. What is not found to be like that is unknown.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include "teams/flow.h"

enum { TEAMS_TABLES = 64, TEAMS_MOST_ENTRIES = 1024, TEAMS_MOST_TARGETS = 32 };

struct teams_table {
    uintptr_t jump, entries, base;
    uint32_t count;
    uint8_t size; /* of an entry: 4: an offset from the base, 8: an address */
};

/* Which registers have a known address at the begin of each block, in `room`. NULL: no memory is left. */
struct teams_constants;
struct teams_constants *teams_constants_find(const struct teams_flow *f, struct base_arena *room);
/* The table of the jump that ends a block. False: none is known. */
bool teams_jump_table(const struct teams_flow *f, const struct teams_constants *c, uint32_t block,
                      struct teams_table *t);
uintptr_t teams_table_entry(const struct teams_table *t, uint32_t k);
/* Where calls by pointers lead to that the function itself takes from memory that nobody can write, by an index or
   not, or whose address it has: sets their `targets`, in `room`. Of a table that is all of the addresses of code side
   by side there. False: no memory is left. */
bool teams_call_targets(struct teams_flow *f, struct base_arena *room);
