/* SPDX-License-Identifier: MIT */
#include "job/proofs.h"

const char *job_proof_text(uint32_t proof)
{
    static const char *const texts[JOB_PROOFS] = {
        [JOB_PROOF_NONE] = "its code was not read",
        [JOB_PROOF_HARMLESS] = "does the same with any number of threads",
        [JOB_PROOF_SIZE] = "asks for its team's size",
        [JOB_PROOF_NUMBER] = "uses its thread's number",
        [JOB_PROOF_ASKS] = "asks about teams",
        [JOB_PROOF_WRITES] = "each of its threads writes the same place",
        [JOB_PROOF_COUNTS] = "each of its threads takes part in a count or a lock",
        [JOB_PROOF_SUMS] = "sums floating-point numbers by threads",
        [JOB_PROOF_CARRIES] = "its threads keep something from one iteration to the next",
        [JOB_PROOF_OTHERS] = "has work for all threads but one",
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
        [JOB_PROOF_NO_READER] = "nothing here can read its code",
    };
    uint32_t reason = job_proof_reason(proof);
    return reason < JOB_PROOFS ? texts[reason] : "another reason";
}
