/* SPDX-License-Identifier: MIT */
/*
 * What a thread holds: critical sections, atomic constructs, locks. Tasks that it creates meanwhile may have to wait
 * for that (tasks/task.h).
 *
 * A share (shares.h) that does not get a lock lets the other shares of its thread go on, one of which may have it, so
 * that nobody waits who would not with threads. None does so in a critical section (teams/proof.c).
 *
 * Simple locks are hooked, nested ones are not: what OpenMP 2.5 called by that name has another layout, and a hook
 * cannot tell the two versions apart.
 */
#include <sched.h>

#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/shares.h"
#include "tasks/task.h"
#include "teams/share.h"

/*
 * Holding is counted from before it is had until after it is given back. A thread that is timed (teams/share.h) takes
 * the time of what it has to wait for. `free`: whether that is not so, as far as can be seen from outside; where it
 * changes in between a wait is not seen. `got`: whether it is had already.
 */
#define TAKE(name, parameters, arguments, free, got)                        \
    PYTHIA_API void name parameters;                                        \
    void name parameters                                                    \
    {                                                                       \
        tasks_thread.holding++;                                             \
        if (got)                                                            \
            return;                                                         \
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

/* False: no other share of the thread could go on, so that it may wait. */
static bool share_takes(int (*try)(void *), void *lock)
{
    while (!try(lock)) {
        if (!omp_shares_yield())
            return false;
        if (try(lock))
            break;
        sched_yield(); /* all of them wait for locks, of other threads' */
    }
    return true;
}

#define LOCK(name, try)                                                     \
    TAKE(name, (void *held), (held), is_free(held), omp_shares_inside(base_frame_here()) && \
         share_takes(libgomp_real_at(__builtin_return_address(0))->try, held))

TAKE(GOMP_critical_start, (void), (), false, false)
GIVE(GOMP_critical_end, (void), ())
TAKE(GOMP_atomic_start, (void), (), false, false)
GIVE(GOMP_atomic_end, (void), ())
TAKE(GOMP_critical_name_start, (void **name), (name), is_free(name), false)
GIVE(GOMP_critical_name_end, (void **name), (name))
LOCK(omp_set_lock, omp_test_lock)
GIVE(omp_unset_lock, (void *held), (held))
TRY(omp_test_lock)
LOCK(omp_set_lock_, omp_test_lock_)
GIVE(omp_unset_lock_, (void *held), (held))
TRY(omp_test_lock_)
