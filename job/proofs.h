/* SPDX-License-Identifier: MIT */
/*
 * What reading the machine code of a region or a task said (teams/proof.h). In job files: the numbers stay what they
 * are.
 */
#ifndef PYTHIA_JOB_PROOFS_H
#define PYTHIA_JOB_PROOFS_H

#include <stdint.h>

enum job_proof {
    JOB_PROOF_NONE,      /* not read */
    JOB_PROOF_HARMLESS,  /* any number of threads does the same */
    JOB_PROOF_SIZE, JOB_PROOF_NUMBER, JOB_PROOF_ASKS, JOB_PROOF_WRITES, JOB_PROOF_COUNTS, JOB_PROOF_SUMS,
        JOB_PROOF_CARRIES,
    JOB_PROOF_OTHERS, JOB_PROOF_WAITS, JOB_PROOF_THREAD_DATA, JOB_PROOF_CALLS, JOB_PROOF_POINTER, JOB_PROOF_MPI,
    JOB_PROOF_NESTS, JOB_PROOF_TASKS, JOB_PROOF_SYSTEM, JOB_PROOF_LARGE, JOB_PROOF_UNREADABLE, JOB_PROOF_NO_READER,
    JOB_PROOFS
};

/*
 * Beside a reason: the region must see the team that it asked for, but its threads never wait for one another, so one
 * thread may run the shares of all of them, one after another.
 */
enum { JOB_PROOF_IN_TURN = 1 << 8 };

/*
 * Above: what it rests on. It holds for a later run where the region's module is the same build, the version of what
 * reads code is the same, and no code of another module was followed (ELSEWHERE): else it is read again.
 */
enum { JOB_PROOF_ELSEWHERE = 1 << 9, JOB_PROOF_VERSION = 1 << 16, JOB_PROOF_RESTS = ~0x1ff };

static inline uint32_t job_proof_reason(uint32_t proof)
{
    return proof & 0xff;
}

/* For people, to go before "at FILE:LINE": "asks for its team's size". */
const char *job_proof_text(uint32_t proof);

#endif
