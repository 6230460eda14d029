/* SPDX-License-Identifier: MIT */
/*
 * What Pythia itself took in this process: start and end by the clock, since the program waits for them; hooks and its
 * own threads as processor time. What a process took before our code began (loading, the program's own with it) is kept
 * beside it.
 */
#include <time.h>

#include "base/clock.h"
#include "base/helper.h"
#include "session/internal.h"

static struct {
    uint64_t loading;       /* ns of processor time when our code began */
    uint64_t start;         /* ns by the clock */
    uint64_t ends;          /* when the end began; 0: it has not */
    uint64_t end;           /* of it what the job has */
    uint64_t helpers;       /* of Pythia's threads, before this session */
} took;

static __attribute__((constructor)) void took_load(void)
{
    struct timespec t;
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        took.loading = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void session_took_begin(void)
{
    took.start = took.ends = took.end = 0;
    took.helpers = base_helper_took();
}

void session_took_start(uint64_t ns)
{
    took.start = ns;
}

void session_took_ends(void)
{
    took.ends = took.ends ? took.ends : base_clock_now();
}

void session_took_store(struct job *job, uint64_t hooks)
{
    took.end = base_clock_now() - took.ends;
    job->took = (struct job_took){ 1, {
        [JOB_TOOK_START] = took.start, [JOB_TOOK_HOOKS] = hooks,
        [JOB_TOOK_THREADS] = base_helper_took() - took.helpers, [JOB_TOOK_END] = took.end,
        [JOB_TOOK_LOADING] = took.loading }, { 0 } };
    for (int i = 0; i < JOB_TOOK_PARTS; i++)
        job->took.most[i] = job->took.sum[i];
}

uint64_t session_took_rest(struct job *job)
{
    if (job->took.ranks)
        job_took_longer(&job->took, JOB_TOOK_END, took.end, base_clock_now() - took.ends);
    return took.ends;
}
