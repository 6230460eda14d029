/* SPDX-License-Identifier: MIT */
/*
 * Whether an outlined function does the same with any number of threads: decided by reading its machine code and that
 * of what it calls.
 *
 * One thread alone runs the iterations of a shared loop in one of the orders in which a team might have run them. So
 * what matters is what else the function does and what it can learn of its team:
 *
 *   asks              size and number are asked for back to back and only make a static schedule, or the number is
 *                     compared with 0 (master); any other use is the program's
 *   shares its work   outside of shared loops, single and master all threads do the same: nothing that others see may
 *                     be written there, but for sums of integers that begin with 0 (a reduction)
 *   forgets           what a thread keeps from one iteration to the next (a seed, a last hit) reaches no result
 *   sums              a floating-point sum depends in its last digits on how it is divided: a reason of its own
 *   does not wait     no loop that waits for memory, no lock, no task (wait.h)
 *   calls what is known   by name (known.h), or by reading it likewise, TEAMS_DEPTH deep and TEAMS_READ instructions
 *                     in all
 *
 * What has another reason than waiting or an unknown call must keep its team, yet not its threads: running the shares
 * of all threads one after another, each whole, is one of the ways in which the team itself may run them, where no
 * share waits for another. What a share can learn of itself is its number and the team's size; such a region asks for
 * nothing else (IN_TURN).
 *
 * A task may be run at once if it does not wait, and calls what is known: what it learns of its team stays the same.
 * The first reason found is told with the address of the instruction. Everything that is not understood is a reason.
 *
 * Cost: some 1 us an instruction. Threads: one.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_PROOF_H
#define PYTHIA_TEAMS_PROOF_H

#include "teams/safety.h"

/* Another number: proofs that job files keep are not taken over. */
enum { TEAMS_VERSION = 1 };
enum { TEAMS_DEPTH = 8, TEAMS_READ = 8000, TEAMS_FUNCTIONS = 256 };

struct teams_verdict {
    uint32_t proof;  /* as job files keep it (job/proofs.h) */
    uintptr_t where; /* 0: nowhere in particular */
};

/* What reads code, and remembers the functions it has read. NULL: no memory, or not on this machine. */
struct teams_prover;
struct teams_prover *teams_prover_create(void);
void teams_prover_destroy(struct teams_prover *p);
struct teams_verdict teams_prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind);

#endif
