/* SPDX-License-Identifier: MIT */
/*
 * A board in a few words: what of it a part of a run keeps, so that whom each rank waited for is known when the run is
 * gone. Lines of numbers in hexadecimal, those that mean something:
 *
 *     call KIND BLOCKING HOW SOURCE DEST TAG ANY NULL LONGEST KNOWN EVENTS WHERE
 *     comm HANDLE IDENTITY COLLECTIVES NUMBER RANK SIZE NAME
 *     request HANDLE COLLECTIVE COMM PEER TAG KIND
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "watch/read.h"

/* The process's own board as it is now, sound, with no process; the caller frees it. NULL: there is none, or no memory
   for it. */
struct watch_sight *watch_kept_see(void);
/* For how long it has been in its call, or out of it, ns; and whether it is in one. */
uint64_t watch_kept_since(const struct watch_sight *s, bool *inside);
/* The caller frees it; NULL: out of memory. */
char *watch_kept_text(const struct watch_sight *s);
/* A sight of that rank, which was in `function` (or had been, not `inside`) for so long. The caller frees it; NULL: out
   of memory. What is not understood is left out. */
struct watch_sight *watch_kept_sight(const char *text, uint32_t rank, uint32_t ranks, const char *function, bool inside,
                                     uint64_t since_ns);
