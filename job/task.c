/* SPDX-License-Identifier: MIT */
/* Statistics of tasks: one row for each task construct and nesting depth, in the order of both. */
#include "pythia.h"
#include "job/schema.h"

/* What a subtree takes and deferring costs are means of their processes; of several the largest is kept, which does not
   depend on the order of merging. */
void job_task_join(void *into, const void *from)
{
    struct job_task *a = into;
    const struct job_task *b = from;
    if (b->timed && (!a->timed || b->min_ns < a->min_ns))
        a->min_ns = b->min_ns;
}

int job_task_add(struct job *j, const struct job_task *t)
{
    return t->callsite >= j->callsite_count ? PYTHIA_EINVAL : job_rows_add(j, JOB_TABLE_TASKS, t);
}
