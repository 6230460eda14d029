/* SPDX-License-Identifier: MIT */
/* Statistics of tasks: one row for each task construct and nesting depth, in the order of both. */
#include <string.h>

#include "pythia.h"
#include "job/intern.h"

bool job_task_before(const struct job_task *a, const struct job_task *b)
{
    return a->callsite != b->callsite ? a->callsite < b->callsite : a->depth < b->depth;
}

/* First row that is not before `t`. */
static uint32_t place_of(const struct job *j, const struct job_task *t)
{
    return BASE_ARRAY_PLACE(j->task_count, i, job_task_before(&j->tasks[i], t));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a subtree takes and deferring costs are means of their processes; of several the largest is kept, which does not
   depend on the order of merging. */
static void join(struct job_task *a, const struct job_task *b)
{
    if (b->timed && (a->timed == 0 || b->min_ns < a->min_ns))
        a->min_ns = b->min_ns;
    a->created += b->created;
    a->at_once += b->at_once;
    a->undeferred += b->undeferred;
    a->loops += b->loops;
    a->timed += b->timed;
    a->time_ns += b->time_ns;
    a->max_ns = larger(a->max_ns, b->max_ns);
    a->wait_ns += b->wait_ns;
    a->subtree_ns = larger(a->subtree_ns, b->subtree_ns);
    a->cost_ns = larger(a->cost_ns, b->cost_ns);
    a->proof = larger(a->proof, b->proof);
}

int job_task_room(struct job *j, uint32_t more)
{
    return more == 0
               ? 0
               : base_array_room(&j->tasks, &j->index->task_room, (uint64_t)j->task_count + more, sizeof *j->tasks);
}

int job_task_add(struct job *j, const struct job_task *t)
{
    if (t->callsite >= j->callsite_count)
        return PYTHIA_EINVAL;
    uint32_t at = place_of(j, t);
    if (at < j->task_count && !job_task_before(t, &j->tasks[at])) {
        join(&j->tasks[at], t);
        return 0;
    }
    int error = job_task_room(j, 1);
    if (error)
        return error;
    memmove(&j->tasks[at + 1], &j->tasks[at], (j->task_count - at) * sizeof *j->tasks);
    j->tasks[at] = *t;
    j->task_count++;
    return 0;
}

int job_task_check(const struct job *j, const struct job_task *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct job_task *t = &tasks[i];
        if (t->callsite >= j->callsite_count || j->callsites[t->callsite].count != 1)
            return PYTHIA_EFORMAT;
        if (i && !job_task_before(t - 1, t))
            return PYTHIA_EFORMAT;
        if (t->created == 0 || t->min_ns > t->max_ns)
            return PYTHIA_EFORMAT;
    }
    return 0;
}
