/* SPDX-License-Identifier: MIT */
/*
 * Explicit tasks of GNU OpenMP: counted, timed, and run at once where deferring them does not pay.
 *
 *   program ── GOMP_task(fn, data, …) ──> hook ──┬── at once:  GOMP_task(fn, data, …, if_clause = false)
 *                                                └── deferred: GOMP_task(task_run, [header | data], …)
 *                                                                 └── later, on any thread: header -> depth, time; fn(data)
 *
 * What a task is stays libgomp's business: one that is run at once is an *undeferred* task, as by if(0), so dependences
 * are waited for, task groups, final, mergeable, untied and the task's own control variables hold, and a taskwait inside
 * waits for its own tasks. OpenMP lets an implementation do that with any task. Nevertheless left alone:
 *
 *   detachable tasks                       they must be able to wait for an event that comes later: not even wrapped
 *   where cancellation is on               libgomp drops tasks: not even wrapped
 *   with priority, where OMP_MAX_TASK_PRIORITY > 0     the order is the program's wish
 *   created inside a critical section or with a lock held     the task may want the same one
 *   of a construct that never ended yet in this run    a task that waits for its creator never ends before it goes on
 *   of a construct that made MPI calls or regions      what other ranks wait for must not be waited for in turn
 *   with dependences, while any construct with dependences is detachable, one of the two above, or named
 *                                          run at once, its creator waits for those that it depends on: an event that the
 *                                          creator is about to fulfil, a message that another rank's creator sends then
 *   named by PYTHIA_OMP_KEEP
 *   deep on the stack                      a task run at once stands on its creator's: a quarter of it is used at most
 *
 * What cannot be seen from outside: a task that waits for something its creator does only later, without OpenMP's help.
 * OpenMP promises nothing there, libgomp itself runs tasks at once when 64 a thread wait; PYTHIA_OMP_KEEP names it. The
 * same holds for locks that are not OpenMP's, and for OpenMP's nestable ones.
 *
 * Statistics per task construct (the outlined function) and nesting depth: no event a task. Each thread counts in a
 * block of its own, given back when it ends and taken by the next one: memory grows with the threads that live at once.
 * Times are those of a task without the tasks it had to wait for or met while waiting, with those it ran at once; tiny
 * tasks are timed one in 16.
 *
 * Constructs beyond 64 pass through; depths from 31 on are one. taskloop: task_model.h.
 *
 * Threads: any.  Hook-safe: yes, but for a thread's first task and a construct's first one.
 */
#ifndef PYTHIA_OMP_TASK_H
#define PYTHIA_OMP_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "omp/task_model.h"

enum { OMP_TASK_SITES = 64, OMP_TASK_DEPTHS = 32, OMP_TASK_RECENT = 8 };

struct omp_task_site {
    atomic_uintptr_t fn;       /* 0: free */
    atomic_bool known;         /* what the user says of it, and the reference, is looked up: before, nothing is run at once */
    atomic_bool keep;          /* never run at once */
    atomic_bool seen;          /* one of its tasks has ended in this run */
    atomic_bool depends;       /* its tasks have dependences: others may have to wait for them … */
    atomic_bool doubted;       /* … and whether that may take until their creator goes on is not known: counted */
    struct omp_task_mean cost; /* of deferring one */
    struct omp_task_mean takes[OMP_TASK_DEPTHS];
    struct omp_task_loop loop;
};

/* Counters of one construct at one depth, on one thread. Written by it alone, with relaxed stores. */
enum omp_task_counter {
    OMP_TASK_CREATED, OMP_TASK_AT_ONCE_COUNT, OMP_TASK_SUBTREE_COUNT /* neither of the two: created and at once */, OMP_TASK_UNDEFERRED /* by the program */, OMP_TASK_TIMED, OMP_TASK_TIME,
    OMP_TASK_MIN, OMP_TASK_MAX, OMP_TASK_WAIT, OMP_TASK_LOOPS /* executions of a taskloop */, OMP_TASK_COUNTERS
};
struct omp_task_row { atomic_uint_least64_t counter[OMP_TASK_COUNTERS]; };
struct omp_task_block {
    struct omp_task_block *next_free, *next; /* guarded by the list's lock */
    struct omp_task_row row[OMP_TASK_SITES][OMP_TASK_DEPTHS];
};

/* What a thread knows of its tasks. Zero for a new thread. */
struct omp_task_thread {
    struct omp_task_block *block;
    struct omp_task_site *recent[OMP_TASK_RECENT]; /* constructs that it created last */
    uintptr_t stack_low;        /* nothing is run at once below */
    uint64_t elsewhere;         /* ns in tasks met while waiting, and waiting: not the current task's */
    uint64_t subtree_begin, subtree_patience; /* ns; begin 0: not looked yet */
    uint32_t depth;             /* explicit tasks around */
    uint32_t site;              /* of the current task, when depth > 0 */
    uint32_t holding;           /* critical sections and locks */
    uint32_t deferred;          /* tasks that this thread deferred so far … */
    uint32_t deferred_before;   /* … when the current one began */
    uint32_t begun;             /* deferred tasks that this thread began */
    uint32_t look;              /* tasks until a subtree run at once looks at the clock */
    uint32_t turn;              /* for sampling */
    bool subtree;
};
extern _Thread_local struct omp_task_thread omp_task_thread __attribute__((tls_model("initial-exec")));

static inline uint32_t omp_task_recent(uintptr_t fn)
{
    return (uint32_t)(fn >> 4 ^ fn >> 7) % OMP_TASK_RECENT;
}

/* --- task_stats.c --- */
/* The construct of an outlined function, made at first sight; NULL where there are too many. */
struct omp_task_site *omp_task_site(uintptr_t fn);
/* Gives this thread its block and measures its stack; false when out of memory. Not hook-safe. */
bool omp_task_thread_start(struct omp_task_thread *t);
/* One more execution that was timed. */
void omp_task_time(struct omp_task_row *row, uint64_t ns);

/* Something that decides whether it is safe to wait for a construct's tasks: sets the flag and counts anew. */
void omp_task_site_mark(struct omp_task_site *site, atomic_bool *flag);
/* Tasks with dependences of a construct that there is no room for. */
void omp_task_doubt(void);

extern struct omp_task_site omp_task_sites[OMP_TASK_SITES];
/* Constructs with dependences that it may not be safe to wait for. */
extern atomic_int omp_task_doubts;
/* Tasks deferred and not begun, over all teams. */
extern _Alignas(64) atomic_int omp_task_ready;

/* Set by whoever creates a task; the thread that acts on teams asks after each region, which clears it. */
extern atomic_bool omp_task_any;
static inline void omp_task_creates(void)
{
    if (!atomic_load_explicit(&omp_task_any, memory_order_relaxed))
        atomic_store_explicit(&omp_task_any, true, memory_order_relaxed);
}
static inline bool omp_task_created(void)
{
    if (!atomic_load_explicit(&omp_task_any, memory_order_relaxed))
        return false;
    atomic_store_explicit(&omp_task_any, false, memory_order_relaxed);
    return true;
}

static inline uint32_t omp_task_site_number(const struct omp_task_site *site)
{
    return (uint32_t)(site - omp_task_sites);
}

static inline struct omp_task_row *omp_task_row(const struct omp_task_thread *t, uint32_t site, uint32_t depth)
{
    return &t->block->row[site][depth < OMP_TASK_DEPTHS ? depth : OMP_TASK_DEPTHS - 1];
}

static inline void omp_task_count(struct omp_task_row *row, enum omp_task_counter c, uint64_t n)
{
    uint64_t before = atomic_load_explicit(&row->counter[c], memory_order_relaxed);
    atomic_store_explicit(&row->counter[c], before + n, memory_order_relaxed);
}

#endif
