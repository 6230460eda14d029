/* SPDX-License-Identifier: MIT */
/*
 * Whether the shares of a region may be run by fewer threads (omp/shares.h), and a task at once: decided by reading the
 * machine code of its outlined function and of what that calls.
 *
 * A share is the program's own, with its own number in its own team, so nothing about how work is distributed has to be
 * known. What is left to show is that
 *
 *   it waits for no other share   but in constructs that come to us, locks among them: no loop that waits for memory
 *                                 (wait.h), no nested lock, no order, no task
 *   it uses nothing of a thread's no thread-local data but the stack's protector, no errno that goes into anything, no
 *                                 rounding, no system call
 *   it calls what is known        by name (known.h), or by reading it likewise, TEAMS_DEPTH deep and TEAMS_READ
 *                                 instructions in all; what is reached by an exception is read, too
 *
 * A task may be run at once if it does not wait, and calls what is known: what it uses of its thread may be any one's.
 * The first reason found is told with the address of the instruction. Everything that is not understood is a reason.
 *
 * Cost: some 1 us an instruction. Threads: one.  Hook-safe: no.
 */
#pragma once

#include "teams/safety.h"

/* Another number: proofs that job files keep are not taken over. */
enum { TEAMS_VERSION = 16 };
enum { TEAMS_DEPTH = 8, TEAMS_READ = 24000, TEAMS_FUNCTIONS = 256 };

struct teams_verdict {
    uint32_t proof;  /* as job files keep it (job/proofs.h) */
    uintptr_t where; /* 0: nowhere in particular */
};

/* What reads code, and remembers the functions it has read. NULL: no memory, or not on this machine. */
struct teams_prover;
struct teams_prover *teams_prover_create(void);
void teams_prover_destroy(struct teams_prover *p);
struct teams_verdict teams_prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind);
