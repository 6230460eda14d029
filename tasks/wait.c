/* SPDX-License-Identifier: MIT */
/*
 * Waiting for tasks, and what a thread holds while it creates them.
 *
 * A wait is timed only in a task that is timed itself, or runs inside of one, or on a thread that is (teams/share.h),
 * and only where the task, or one that it met, deferred something: otherwise there is nothing to wait for, as in most
 * tasks of a tree, its leaves.
 * Simple locks are hooked, nested ones are not: what OpenMP 2.5 called by that name has another layout, and a hook
 * cannot tell the two versions apart.
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

/*
 * Holding is counted from before it is had until after it is given back. A thread that is timed (teams/share.h) takes
 * the time of what it has to wait for. `free`: whether that is not so, as far as can be seen from outside; where it
 * changes in between a wait is not seen.
 */
#define TAKE(name, parameters, arguments, free)                             \
    PYTHIA_API void name parameters;                                        \
    void name parameters                                                    \
    {                                                                       \
        tasks_thread.holding++;                                             \
        if (!teams_share_timed()) {                                         \
            libgomp_real_at(__builtin_return_address(0))->name arguments;   \
            return;                                                         \
        }                                                                   \
        bool waits = !(free) && teams_share_wait();                         \
        libgomp_real_at(__builtin_return_address(0))->name arguments;       \
        if (waits)                                                          \
            teams_share_waited();                                           \
    }

#define GIVE(name, parameters, arguments)                                   \
    PYTHIA_API void name parameters;                                        \
    void name parameters                                                    \
    {                                                                       \
        libgomp_real_at(__builtin_return_address(0))->name arguments;       \
        tasks_thread.holding -= tasks_thread.holding > 0;                   \
    }

#define TRY(name)                                                           \
    PYTHIA_API int name(void *held);                                        \
    int name(void *held)                                                    \
    {                                                                       \
        int got = libgomp_real_at(__builtin_return_address(0))->name(held); \
        tasks_thread.holding += got != 0;                                   \
        return got;                                                         \
    }

/* A simple lock, a critical section by name: libgomp keeps an int there, which is 0 while nobody has it. */
static bool is_free(const void *lock)
{
    return __atomic_load_n((const int *)lock, __ATOMIC_RELAXED) == 0;
}

TAKE(GOMP_critical_start, (void), (), false)
GIVE(GOMP_critical_end, (void), ())
TAKE(GOMP_atomic_start, (void), (), false)
GIVE(GOMP_atomic_end, (void), ())
TAKE(GOMP_critical_name_start, (void **name), (name), is_free(name))
GIVE(GOMP_critical_name_end, (void **name), (name))
TAKE(omp_set_lock, (void *held), (held), is_free(held))
GIVE(omp_unset_lock, (void *held), (held))
TRY(omp_test_lock)
TAKE(omp_set_lock_, (void *held), (held), is_free(held))
GIVE(omp_unset_lock_, (void *held), (held))
TRY(omp_test_lock_)
