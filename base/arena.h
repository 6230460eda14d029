/* SPDX-License-Identifier: MIT */
/*
 * A growing array that never moves: address space for all records is reserved at once, memory comes when a page is
 * first touched.
 *
 *     base                                              base + capacity * record
 *     | record 0 | record 1 | …  touched  | … only address space … |
 *
 * 1. memory that was never touched reads as zero
 * 2. pointers and indices stay valid until the arena is closed
 *
 * Huge pages are declined: a few records would cost 2 MiB.
 * Cost: no call after opening; one page fault every 4 KiB.  Threads: owner.  Hook-safe: open and close are not.
 */
#ifndef PYTHIA_BASE_ARENA_H
#define PYTHIA_BASE_ARENA_H

#include <stddef.h>

struct base_arena {
    void *base;      /* NULL: closed */
    size_t record;   /* bytes of a record */
    size_t capacity; /* records */
    size_t reserved; /* bytes of address space */
};

/* Reserves room for `capacity` records of `record` bytes. Returns 0, PYTHIA_EINVAL (nothing asked for, or more than an
   address can tell) or PYTHIA_ENOMEM (address space is limited); on failure `a` is closed. */
int base_arena_open(struct base_arena *a, size_t record, size_t capacity);
/* Gives everything back. A closed or zeroed arena is legal. */
void base_arena_close(struct base_arena *a);
/* Bytes of memory that are in use, in whole pages; asks the kernel. */
size_t base_arena_used(const struct base_arena *a);

#endif
