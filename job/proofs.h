/* SPDX-License-Identifier: MIT */
/*
 * What reading the machine code of a region or a task said (teams/proof.h). In job files: the numbers stay what they
 * are.
 */
#pragma once

#include <stdint.h>

enum job_proof {
    JOB_PROOF_NONE,      /* not read */
    JOB_PROOF_HARMLESS,  /* fewer threads may do its work, or a task may be run at once */
    JOB_PROOF_ASKS = 4,  /* 2 to 9: what earlier versions found, ASKS among it */
    JOB_PROOF_WAITS = 10, JOB_PROOF_THREAD_DATA, JOB_PROOF_CALLS, JOB_PROOF_POINTER, JOB_PROOF_MPI,
    JOB_PROOF_NESTS, JOB_PROOF_TASKS, JOB_PROOF_SYSTEM, JOB_PROOF_LARGE, JOB_PROOF_UNREADABLE, JOB_PROOF_NO_READER,
    JOB_PROOF_CATCHES,
    JOB_PROOFS
};

/*
 * Above: what it rests on. It holds for a later run where the region's module is the same build, the version of what
 * reads code is the same, and no code of another module was followed (ELSEWHERE): else it is read again.
 */
enum { JOB_PROOF_ELSEWHERE = 1 << 9, JOB_PROOF_VERSION = 1 << 16, JOB_PROOF_RESTS = ~0xff };

static inline uint32_t job_proof_reason(uint32_t proof)
{
    return proof & 0xff;
}

/* For people, to go before "at FILE:LINE": "asks about teams". */
const char *job_proof_text(uint32_t proof);
