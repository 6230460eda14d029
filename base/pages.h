/* SPDX-License-Identifier: MIT */
/*
 * Tables of ours that live as long as the program runs, outside of its heap.
 *
 * A program's heap has holes that its own arrays fit into. Where a table of ours lies in one, these arrays go to the
 * end of the heap, which the C library gives back to the kernel each time that they are freed: LULESH on 8 ranks then
 * made 59 page faults a time step and rank that it does not make alone, which was half of what recording cost.
 *
 * Whole pages by mmap; new memory reads as zero. Threads: any.  Hook-safe: no (system calls).
 */
#ifndef PYTHIA_BASE_PAGES_H
#define PYTHIA_BASE_PAGES_H

#include <stddef.h>

/* `old`, of `old_size` bytes (NULL, 0: none), with room for `size`; it may move. NULL when out of memory: then `old` is
   as it was. */
void *base_pages_resize(void *old, size_t old_size, size_t size);
void base_pages_free(void *pages, size_t size); /* NULL is legal; errno is kept */

#endif
