/* SPDX-License-Identifier: MIT */
/*
 * Waiting for tasks, and what a thread holds while it creates them.
 *
 * A wait is timed only in a task that is timed itself, or runs inside of one, and only where it, or a task that it met,
 * deferred something: otherwise there is nothing to wait for.
 * Simple locks are hooked, nested ones are not: what OpenMP 2.5 called by that name has another layout, and a hook
 * cannot tell the two versions apart.
 */
#include "base/clock.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "tasks/task.h"
#include "teams/share.h"

static uint64_t wait_begin(const struct tasks_thread *t)
{
    return t->watch && t->deferred != t->deferred_before ? base_clock_now() : 0;
}

/* All of it was elsewhere; idle is what no task that was met took. */
static void wait_end(struct tasks_thread *t, uint64_t begin, uint64_t elsewhere)
{
    if (!begin)
        return;
    uint64_t took = base_clock_now() - begin, met = t->elsewhere - elsewhere;
    if (t->watch == TASKS_WATCHED)
        tasks_count(tasks_row(t, t->site, t->depth - 1), TASKS_WAIT, took > met ? took - met : 0);
    t->elsewhere = elsewhere + took;
}

#define WAIT(name, parameters, arguments)                     \
    PYTHIA_API void name parameters;                          \
    void name parameters                                      \
    {                                                         \
        struct tasks_thread *t = &tasks_thread;         \
        uint64_t begin = wait_begin(t), before = t->elsewhere; \
        if (teams_share_timed())                              \
            teams_share_wait();                               \
        libgomp_real()->name arguments;                      \
        if (teams_share_timed())                              \
            teams_share_waited();                             \
        wait_end(t, begin, before);                           \
    }

WAIT(GOMP_taskwait, (void), ())
WAIT(GOMP_taskwait_depend, (void **depend), (depend))
WAIT(GOMP_taskgroup_end, (void), ())

/*
 * Holding is counted from before it is had until after it is given back. A thread that is timed (teams/share.h) takes
 * the time of what it has to wait for. `free`: whether that is not so, as far as can be seen from outside; where it
 * changes in between a wait is not seen.
 */
#define TAKE(name, parameters, arguments, free) \
    PYTHIA_API void name parameters;           \
    void name parameters                       \
    {                                          \
        tasks_thread.holding++;                \
        if (!teams_share_timed()) {            \
            libgomp_real()->name arguments;    \
            return;                            \
        }                                      \
        bool waits = !(free);                  \
        if (waits)                             \
            teams_share_wait();                \
        libgomp_real()->name arguments;        \
        if (waits)                             \
            teams_share_waited();              \
    }

#define GIVE(name, parameters, arguments)                                 \
    PYTHIA_API void name parameters;                                      \
    void name parameters                                                  \
    {                                                                     \
        libgomp_real()->name arguments;                                  \
        tasks_thread.holding -= tasks_thread.holding > 0;           \
    }

#define TRY(name)                                \
    PYTHIA_API int name(void *held);             \
    int name(void *held)                         \
    {                                            \
        int got = libgomp_real()->name(held);   \
        tasks_thread.holding += got != 0;     \
        return got;                              \
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
