/* SPDX-License-Identifier: MIT */
/*
 * A team's work on one thread: the share of each of its threads is run with that thread's number, one after another.
 *
 *   share 0 ──── barrier ┐           share 0 ──── end ┐        without barriers: plain calls, one after the other
 *   share 1              └──── barrier ┐    share 1   └──── end
 *                        own stack     └─ back to 0: all have come
 *
 * A team might have run in this order, as long as shares wait for one another at barriers only: that is proven before
 * (teams/proof.h). A share is told its own number and the team's size; a barrier goes on with the next share, and comes
 * back when all others have reached theirs; the first share that comes to a single construct has it. A share calls
 * nothing else of OpenMP's but critical sections and atomic constructs, which one thread never finds closed.
 *
 * The first share runs on the thread's own stack, and so do all others where none meets a barrier; else these have
 * stacks as large as libgomp's threads have.
 *
 * Memory: a stack for each share but one, mapped when first needed, kept. Threads: the one that acts (team.h); hooks:
 * any.  Hook-safe: yes, but for omp_hook_in_turn_ready(), when a team is larger than those before.
 */
#ifndef PYTHIA_OMP_IN_TURN_H
#define PYTHIA_OMP_IN_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the program's questions come to us, whatever it defines itself. */
bool omp_hook_in_turn_is_asked(void);
/* Whether there is room for a team of that size. */
bool omp_hook_in_turn_ready(uint32_t team);
/* Calls fn(data) for each thread of the team. */
void omp_hook_in_turn_run(void (*fn)(void *), void *data, uint32_t team);

#endif
