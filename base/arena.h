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
 * A page fault costs a microsecond, and one in every few dozen records would be the tail of whatever writes them. Who
 * grows asks for memory ahead of its need, a part of what it has at a time, in one call: 8 KiB at first, for there may
 * be a hundred arenas that stay small, then as much as it has, from 64 KiB on a quarter (at least 64 KiB, at most 2
 * MiB):
 *
 *     | records in use          | ready | … only address space … |
 *
 * Bytes that are taken one after the other (base_arena_reserve) need not be memory that the program could have had:
 * what was not taken yet cannot be touched, so it counts neither where the system promises no more memory than there is
 * (vm.overcommit_memory = 2), nor for a program that locks all that it may touch (mlockall).
 *
 * Huge pages are declined at first, when a few records would cost 2 MiB, and asked for once there are more than that:
 * they are what keeps random access to tens of MiB from missing the TLB each time.
 * Cost: no call after opening but these.  Threads: owner.  Hook-safe: open and close are not; all keep errno.
 */
#pragma once

#include <stddef.h>

struct base_arena {
    void *base;      /* NULL: closed */
    size_t record;   /* bytes of a record */
    size_t capacity; /* records */
    size_t reserved; /* bytes of address space */
    size_t open;     /* bytes from base that may be touched */
    size_t ready;    /* bytes from base that base_arena_ahead asked for */
    size_t taken;    /* bytes from base that base_arena_take gave away */
};

/* Reserves room for `capacity` records of `record` bytes. Returns 0, PYTHIA_EINVAL (nothing asked for, or more than an
   address can tell) or PYTHIA_ENOMEM (address space is limited); on failure `a` is closed. */
int base_arena_open(struct base_arena *a, size_t record, size_t capacity);
/* Memory for the first `records` records, and for some more, is there when it returns, where the system can do so: a
   hint. Returns the number of records it is there for, at least `records` that may be touched, so that the caller need
   not ask again for these. Hook-safe: yes, a rare system call. */
size_t base_arena_ahead(struct base_arena *a, size_t records);
/* As base_arena_open, for base_arena_take alone. */
int base_arena_reserve(struct base_arena *a, size_t bytes);
/* The next `bytes` of one whose records are bytes, zero, aligned for anything. NULL where there are not so many left
   or the system refuses. Hook-safe: yes, where nothing was reserved; else a system call each MiB. */
void *base_arena_take(struct base_arena *a, size_t bytes);
/* What was taken last, `bytes`, is memory when it returns, and so are 64 KiB behind it, where the system can do so; of
   what was taken before nothing is touched. */
void base_arena_soon(struct base_arena *a, size_t bytes);
/* Opens one for a single structure of which most will be used: zero, and all there at once. NULL as above. */
void *base_arena_whole(struct base_arena *a, size_t bytes);
/* Gives everything back. A closed or zeroed arena is legal. */
void base_arena_close(struct base_arena *a);
