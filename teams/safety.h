/* SPDX-License-Identifier: MIT */
/*
 * What hooks ask: may this region change its team, may this construct's tasks be run at once?
 *
 *   first sight of a function ── teams_safety_of() ──> struct teams_proof ── each execution: one load ── proven or not
 *                                     │
 *                                     ├── the reference has an answer for this build: from the first execution on
 *                                     └── else unknown, and so left alone, until its machine code has been read
 *                                         (proof.h): by a thread of ours in a run that acts, else at its end
 *
 * An answer does not change any more once there is one. Without capstone, and on processors whose code it does not
 * read, everything is left alone, and that is the reason told.
 *
 * Memory: a fixed table; what does not fit is never proven. Threads: any.  Hook-safe: teams_safety_answer() only.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "job/proofs.h"

enum teams_kind { TEAMS_REGION, TEAMS_TASK };

struct teams_proof {
    atomic_uintptr_t key; /* the outlined function, in the highest bit whether it is a task's; 0: free */
    atomic_bool taken;    /* by who sets the rest */
    atomic_uint answer;   /* as job files keep it (job/proofs.h): 0 not known yet; the two below are set before */
    uintptr_t where; /* of the instruction that is the reason, 0: none */
    uint64_t ns;     /* that reading took */
};

/* The proof of an outlined function as one kind (region or task), made where it is new; never NULL: what does not fit
   has one that says so. */
struct teams_proof *teams_safety_of(uintptr_t function, enum teams_kind kind);
/* Code may be read in this run: makes the thread that does. */
void teams_safety_start(void);
/* Has that thread call `first` (NULL: nothing), and, where code will be read, load what that takes; waits for it. */
void teams_safety_prepare(bool reads, void (*first)(void));
/* Whether what a job file says holds in another run: else it is read again. */
bool teams_safety_holds(uint32_t word);
/* Takes over what the reference says, unless there is an answer, or it does not hold here. */
void teams_safety_know(struct teams_proof *p, uint32_t word, uintptr_t where, uint64_t ns);
/* Wants an answer while the program runs: a thread of ours reads the code, soon. */
void teams_safety_ask(struct teams_proof *p);
/* At the end of the run: nothing is read any more while the program runs. With `rest` the same is done once more. */
void teams_safety_finish(bool rest);

/* For job files: with what it rests on. */
static inline uint32_t teams_safety_word(const struct teams_proof *p)
{
    return atomic_load_explicit(&p->answer, memory_order_acquire);
}

/* enum job_proof. */
static inline uint32_t teams_safety_answer(const struct teams_proof *p)
{
    return teams_safety_word(p) & ~(uint32_t)JOB_PROOF_RESTS;
}
