/* SPDX-License-Identifier: MIT */
/*
 * Who asked how large a team may be.
 *
 * A program that calls omp_get_max_threads(), omp_get_num_procs() or omp_set_num_threads() may size an array, split work
 * or count a barrier by the answer; a region that relies on it gives wrong results with another team. The asking function
 * is noted (the function as compiled, found by its unwind entry, so that stripped binaries are no exception), and so is
 * its caller, for the case of a helper that hands the number up:
 *
 *     int workers(void) { return omp_get_max_threads(); }        asks, starts no region: its callers ask, too
 *     void sum(…) { double part[workers()]; #pragma omp parallel … }
 *
 * Once a function that asked has started a region itself it counts as using the number for itself, and its callers are
 * free again. One level of helpers is followed.
 *
 * A question asked inside a region by the thread that entered it marks that region (omp_hook_team_asked).
 *
 * Nothing forgets: a function that asked once has asked. When the fixed tables are full everybody has asked.
 * Threads: any (lock-free).  Hook-safe: yes.
 */
#ifndef PYTHIA_OMP_ASK_H
#define PYTHIA_OMP_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that the code at return address `frame` asked, called from return address `above` (0: not known). */
void omp_hook_ask_note(uintptr_t frame, uintptr_t above);
/* Notes that the function that starts at `function` starts regions. */
void omp_hook_ask_starts_region(uintptr_t function);
/* Whether the function that starts at `function` asked, itself or by a helper. */
bool omp_hook_ask_did(uintptr_t function);
/* Changes whenever an answer of omp_hook_ask_did may. */
uint32_t omp_hook_ask_epoch(void);
/* Start of the function that contains an address (for a return address give the byte before it), 0 when not known. */
uintptr_t omp_hook_function(uintptr_t address);
/* For tests: forgets everything. */
void omp_hook_ask_reset(void);

#endif
