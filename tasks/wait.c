/* SPDX-License-Identifier: MIT */
/*
 * Waiting for tasks.
 *
 * A wait is timed only in a task that is timed itself, or runs inside of one, or on a thread that is (teams/share.h),
 * and only where the task, or one that it met, deferred something: otherwise there is nothing to wait for, as in most
 * tasks of a tree, its leaves.
 */
#include "base/clock.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "tasks/task.h"
#include "teams/share.h"

struct wait { uint64_t begin, elsewhere; bool share; };

/* What is met in a wait that is elsewhere as a whole needs no watch. */
static inline struct wait wait_begin(struct tasks_thread *t)
{
    struct wait w = { 0 };
    if (t->deferred == t->deferred_before)
        return w;
    w.elsewhere = t->elsewhere;
    w.begin = t->watch ? base_clock_now() : 0;
    t->watch = t->watch == TASKS_AROUND ? TASKS_UNWATCHED : t->watch;
    w.share = teams_share_timed() && teams_share_wait();
    return w;
}

/* All of it was elsewhere; idle is what no task that was met took. */
static inline void wait_end(struct tasks_thread *t, const struct wait *w)
{
    if (w->share)
        teams_share_waited();
    if (!w->begin)
        return;
    uint64_t took = base_clock_now() - w->begin, met = t->elsewhere - w->elsewhere;
    if (t->watch == TASKS_WATCHED)
        tasks_count(tasks_row(t, t->site, t->depth - 1), TASKS_WAIT, took > met ? took - met : 0);
    else
        t->watch = TASKS_AROUND;
    t->elsewhere = w->elsewhere + took;
}

#define WAIT(name, parameters, arguments)           \
    PYTHIA_API void name parameters;                \
    void name parameters                            \
    {                                               \
        struct tasks_thread *t = &tasks_thread;     \
        struct wait w = wait_begin(t);              \
        libgomp_real()->name arguments;             \
        wait_end(t, &w);                            \
    }

WAIT(GOMP_taskwait, (void), ())
WAIT(GOMP_taskwait_depend, (void **depend), (depend))
WAIT(GOMP_taskgroup_end, (void), ())
