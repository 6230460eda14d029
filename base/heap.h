/* SPDX-License-Identifier: MIT */
/*
 * Memory of ours that comes and goes while a program runs, outside of the program's heap.
 *
 * That heap has holes that the program's own arrays fit into. Where a table of ours lies in one, these arrays go to the
 * end of the heap, which the C library gives back to the kernel each time that they are freed: LULESH on 8 ranks once
 * made 59 page faults a time step and rank that it does not make alone, half of what recording cost.
 *
 *     | block | block | …  taken  | … only address space … |        one arena for the process
 *       └ size class, then what the caller sees
 *
 * 1. Sizes are rounded up to four classes a doubling; a class has a list of free blocks. Blocks are never joined.
 * 2. Who frees puts the block on one list that all threads share, without a lock; who takes sorts that list into the
 *    classes when its own is empty.
 * 3. A forked child takes nothing from it, for its parent may have been at work in here: it asks the C library.
 * 4. The pages of a large block go back to the system when it is freed, but for 2 MiB in all: what is taken again at
 *    once need not be faulted in again. Blocks beyond 16 MiB, and what does not fit into 256 MiB of address space, are
 *    the C library's; all is where a user limits address space (ulimit -v).
 *
 * libpythia_omp and libpythia_pmpi are linked with heap_wrap.c, which gives their malloc, calloc, realloc, free and
 * strdup to these; what the C library gave goes back to it.
 * Cost: some 20 ns.  Threads: any.  Hook-safe: no (page faults).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes, aligned to 16; NULL: more than 16 MiB, no address space or memory left, or a forked child. */
void *base_heap_take(size_t size);
/* The same, zeroed. */
void *base_heap_take_zeroed(size_t size);
/* Is `block` one of these, taken and not yet freed? */
bool base_heap_owns(const void *block);
/* How many bytes there are to use in `block`, at least as many as were asked for. */
size_t base_heap_size(const void *block);
void base_heap_free(void *block); /* one that it owns; errno is kept */
