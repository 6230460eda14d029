/* SPDX-License-Identifier: MIT */
/*
 * Callsites: the return address into the program and the frames above it, for the price of a few loads.
 *
 * A program calls MPI from few places, each time with the same stack. What a walk of the stack found is kept with the
 * words that decided it: each frame's return address and, where it has one, frame pointer, and where they lay.
 *
 *     frame address, from  -->  site 7      0x7ffc10 holds 0x401a2e (returns to the loop)
 *                                           0x7ffc08 holds 0x7ffc60 (its frame pointer)
 *                                           0x7ffc68 holds 0x401b90 (returns to main) ...
 *
 *   1. frames of this library have fixed sizes: the innermost one's address and `from` tell where the program's begin
 *   2. a frame's layout follows from its program counter, stack pointer and frame pointer (the unwind tables say how):
 *      where all words from the innermost on are as they were, so is the stack, and the site is the same
 *   3. a word is read only after those inside it were found right: it is in a frame that is there
 *   4. walks with the unwind tables, which learn a stack, cost some us: at most one in LEARN_EVERY calls
 *
 * Where that fails (deep recursion, other processors) unw_backtrace walks the stack.
 *
 * Cost: about 1 ns a frame. Memory: some 60 KB a thread at the default depth.
 * Threads: any, a cache belongs to its thread.  Hook-safe: yes, first sight aside.
 */
#ifndef PYTHIA_PMPI_CALLSITE_H
#define PYTHIA_PMPI_CALLSITE_H

#include <stdint.h>

#include "session/stream.h"

/* Number of the callsite `from`, the return address of a wrapper that is at most a few frames above this call. */
uint32_t pmpi_hook_callsite(struct session_stream *stream, void *from);

#endif
