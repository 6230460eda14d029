/* SPDX-License-Identifier: MIT */
/* Statistics of tasks: what the hooks counted becomes part of the job, and what the reference knows of it. */
#include <string.h>

#include "base/lock.h"
#include "base/modules.h"
#include "session/internal.h"

static void (*source)(void); /* guarded by session.lock */

void session_task_source(void (*collect)(void))
{
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    source = collect;
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
}

/* Under session.lock. */
void session_task_collect(void)
{
    if (source)
        source();
}

void session_task_add(uintptr_t fn, const struct job_task *task)
{
    struct job_task t = *task;
    t.callsite = session_define_region(fn);
    if (t.callsite != GRAMMAR_NONE)
        (void)job_task_add(session.job, &t); /* without memory for a statistic the job goes on without it */
}

double session_task_gain(const struct job_task *t)
{
    return (double)t->at_once * (double)t->cost_ns * 1e-9;
}

void session_task_count(struct job *job)
{
    if (!job->oracle.present)
        return;
    for (uint32_t i = 0; i < job->task_count; i++) {
        job->oracle.actions += job->tasks[i].at_once;
        job->oracle.gain_seconds += session_task_gain(&job->tasks[i]);
    }
}

static bool same_place(const struct job *j, uint32_t callsite, const struct base_module *m, uint64_t offset)
{
    const struct job_callsite *c = &j->callsites[callsite];
    if (c->count != 1 || j->frames[c->first].offset != offset)
        return false;
    return !strcmp(job_text(j, j->modules[j->frames[c->first].module].build_id), m->build_id);
}

uint32_t session_task_reference(uintptr_t fn, struct job_task *tasks, uint32_t most)
{
    struct base_module m;
    uint64_t offset;
    uint32_t count = 0, module = base_modules_find((void *)fn, &offset);
    if (module == BASE_MODULE_NONE || base_modules_get(module, &m))
        return 0;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    const struct job *r = session.reference;
    for (uint32_t i = 0; r && i < r->task_count && count < most; i++)
        if (same_place(r, r->tasks[i].callsite, &m, offset))
            tasks[count++] = r->tasks[i];
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return count;
}
