/* SPDX-License-Identifier: MIT */
/*
 * Walking the stack by libunwind, without what it leaves behind in the program's thread and process.
 *
 *   1. errno stays
 *   2. so does the x87 control word: libunwind stores the unit's state with fnstenv, which masks all traps
 *   3. the pipe that it opens when it is first used, and keeps, takes none of the low descriptors
 *
 * Threads: any.  Hook-safe: yes, first sight of a frame aside.
 */
#ifndef PYTHIA_SESSION_UNWIND_H
#define PYTHIA_SESSION_UNWIND_H

/* As unw_backtrace: return addresses, innermost first, beginning with the caller's own; returns how many. */
int session_unwind(void **frames, int most);
/* Before libunwind is used otherwise: rule 3. */
void session_unwind_start(void);

#endif
