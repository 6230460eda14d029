/* SPDX-License-Identifier: MIT */
/*
 * An array of records in reserved address space: it never moves, and pages cost memory only once touched.
 *
 * Opening is one mmap; there is no growing, so an append that needs one more record calls nothing.
 * Errors: 0 or PYTHIA_ENOMEM.  Threads: owner.  Hook-safe: open and close are not; using the records is.
 */
#ifndef PYTHIA_BASE_ARENA_H
#define PYTHIA_BASE_ARENA_H

#include <stddef.h>

struct base_arena {
    void *base;   /* the records; zero until written */
    size_t bytes; /* reserved */
};

/* Reserves room for `count` records of `record` bytes. */
int base_arena_open(struct base_arena *a, size_t record, size_t count);
/* Legal on a zeroed arena, and twice. */
void base_arena_close(struct base_arena *a);

#endif
