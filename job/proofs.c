/* SPDX-License-Identifier: MIT */
#include "job/proofs.h"

const char *job_proof_text(uint32_t proof)
{
    static const char *const texts[JOB_PROOFS] = {
        [JOB_PROOF_NONE] = "its code was not read",
        [JOB_PROOF_HARMLESS] = "fewer threads may do its work",
        [JOB_PROOF_ASKS] = "asks about teams",
        [JOB_PROOF_WAITS] = "may wait for another thread",
        [JOB_PROOF_THREAD_DATA] = "uses data that belong to a thread",
        [JOB_PROOF_CALLS] = "calls a function that is not known",
        [JOB_PROOF_POINTER] = "calls by a pointer",
        [JOB_PROOF_MPI] = "calls MPI",
        [JOB_PROOF_NESTS] = "starts another team",
        [JOB_PROOF_TASKS] = "creates tasks",
        [JOB_PROOF_SYSTEM] = "calls the system itself",
        [JOB_PROOF_LARGE] = "is too large to be read",
        [JOB_PROOF_UNREADABLE] = "has code that cannot be read",
        [JOB_PROOF_CATCHES] = "shares work while it catches an exception",
        [JOB_PROOF_NO_READER] = "nothing here can read its code",
    };
    uint32_t reason = job_proof_reason(proof);
    return reason < JOB_PROOFS && texts[reason] ? texts[reason] : "a reason of an earlier version";
}
