/* SPDX-License-Identifier: MIT */
/* Task constructs of a job.  Threads: owner.  Hook-safe: no. */
#pragma once

#include <stdint.h>

struct job;

/*
 * Statistics of one task construct at one nesting depth, over ranks and threads. Times: without the tasks that a task
 * waited for or met while waiting, with those it ran at once itself.
 */
struct job_task {
    uint32_t callsite;   /* one frame: the outlined function's entry */
    uint32_t depth;      /* explicit tasks around it; the last one stands for all beyond */
    uint64_t created;    /* at least 1 */
    uint64_t at_once;    /* of them, run at once by Pythia … */
    uint64_t undeferred; /* … and by the program: if(0) */
    uint64_t loops;      /* executions of a taskloop, 0 for task */
    uint64_t timed, time_ns, min_ns, max_ns; /* some of them, down to one in 64 where they are tiny; sums over these */
    uint64_t wait_ns;    /* all were waiting for their own tasks, idle: in proportion to those that were timed */
    uint64_t subtree_ns; /* what one takes when all that it creates is run at once; 0: not known */
    uint64_t cost_ns;    /* of deferring one; 0: not known */
    uint64_t proof;      /* enum job_proof: whether its code shows that it never waits; 0: not read */
};

/* Adds a row, to the one of the same callsite and depth where there is one. PYTHIA_EINVAL: no such callsite. */
int job_task_add(struct job *j, const struct job_task *t);
/* What comes before two rows are added (job/schema.h). */
void job_task_join(void *into, const void *from);
