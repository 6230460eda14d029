/* SPDX-License-Identifier: MIT */
/*
 * Explicit tasks of GNU OpenMP: counted, timed, and run at once where deferring them does not pay.
 *
 *   program ── GOMP_task(fn, data, …) ──> hook ──┬── at once:  GOMP_task(fn, data, …, if_clause = false)
 *                                                └── deferred: GOMP_task(run, data, …)
 *                                                                 └── later, on any thread:
 *                                                                     run -> construct, depth (entry.h); fn(data)
 *
 * What a task is stays libgomp's business: one that is run at once is an *undeferred* task, as by if(0), so dependences
 * are waited for, task groups, final, mergeable, untied and the task's own control variables hold, and a taskwait
 * inside waits for its own tasks. OpenMP lets an implementation do that with any task. Nevertheless left alone:
 *
 *   detachable tasks                       they must be able to wait for an event that comes later: not even wrapped
 *   where cancellation is on               libgomp drops tasks: not even wrapped
 *   with priority, where OMP_MAX_TASK_PRIORITY > 0     the order is the program's wish
 *   created inside a critical section or with a lock held     the task may want the same one
 *   whose machine code may wait (teams/proof.h)    for a lock, for memory, in a function that is not known: that may
 *                                          be for a task that its creator has not made yet. Asked when first met, and
 *                                          read by a thread of ours
 *   of a construct that never ended yet in this run    likewise
 *   of a construct that made MPI calls or regions      what other ranks wait for must not be waited for in turn
 *   with dependences, while any construct with dependences is detachable, one of the two above, or named
 *                                          run at once, its creator waits for those that it depends on: an event that
 *                                          the creator is about to fulfil, a message that another rank's creator sends
 *                                          then
 *   named by PYTHIA_OMP_KEEP
 *   deep on the stack                      a task run at once stands on its creator's: a quarter of it is used at most
 *
 * PYTHIA_OMP_KEEP=-NAME allows a task without a proof.
 *
 * Statistics per task construct (the outlined function) and nesting depth: no event a task. Each thread counts in a
 * block of its own, given back when it ends and taken by the next one: memory grows with the threads that live at once.
 * Every task is counted. Times are those of a task without the tasks it had to wait for or met while waiting, with
 * those it ran at once; of small tasks a sample is timed (tasks_pass() in model.h). What a timed task waits is its wait
 * less what the tasks usually take that were met meanwhile; what all of them wait is an estimate from that.
 *
 * Cost of a deferred task that is not timed: some 16 ns, for creating and running it together. Who decides nothing does
 * not count how many are ready, which all threads would write.
 *
 * Constructs beyond 64 pass through; depths from 31 on are one. taskloop: model.h.
 *
 * Threads: any.  Hook-safe: yes, but for a thread's first task and a construct's first one.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tasks/model.h"
#include "teams/safety.h"

enum { TASKS_SITES = 64, TASKS_DEPTHS = 32, TASKS_RECENT = 8 };

struct tasks_site {
    atomic_uintptr_t fn;       /* 0: free */
    atomic_bool known;         /* what the user says of it, and the reference, is looked up: before, nothing is run at
                                  once */
    atomic_bool keep;          /* never run at once */
    atomic_bool seen;          /* one of its tasks has ended in this run, and its code shows that they all do by
                                  themselves */
    bool allowed;              /* by the user, whatever its code says; this and `proof` are set before `known` */
    struct teams_proof *proof;
    atomic_bool whole;         /* a taskloop: timed as a whole */
    atomic_bool depends;       /* its tasks have dependences: others may have to wait for them … */
    atomic_bool doubted;       /* … and whether that may take until their creator goes on is not known: counted */
    _Atomic uint16_t entry[TASKS_DEPTHS]; /* entry.h: 1 + its number, 0: not asked for */
    /* Below is written while tasks run, above is read for each of them: not in one cache line. */
    _Alignas(64) struct tasks_mean cost; /* of deferring one */
    struct tasks_mean takes[TASKS_DEPTHS];
    struct tasks_loop loop;
};

/* Counters of one construct at one depth, on one thread. Written by it alone, with relaxed stores. */
enum tasks_counter {
    TASKS_CREATED, TASKS_AT_ONCE_COUNT, TASKS_SUBTREE_COUNT /* neither of the two: created and at once */,
    TASKS_UNDEFERRED /* by the program */, TASKS_TIMED, TASKS_TIME, TASKS_MIN, TASKS_MAX, TASKS_WAIT,
    TASKS_LOOPS /* executions of a taskloop */, TASKS_COUNTERS
};
struct tasks_row {
    atomic_uint_least64_t counter[TASKS_COUNTERS];
    uint32_t pass;  /* so many of its tasks are not timed before the next one that is */
    uint64_t usual; /* ns: what those that were took on average */
};
struct tasks_block {
    struct tasks_block *next_free, *next; /* guarded by the list's lock */
    struct tasks_row row[TASKS_SITES][TASKS_DEPTHS];
};

/* Whether time is taken on this thread: of no task on its stack, of one further down, of the current one. */
enum tasks_watch { TASKS_UNWATCHED, TASKS_AROUND, TASKS_WATCHED };

/* What a thread knows of its tasks. Zero for a new thread. */
struct tasks_thread {
    struct tasks_block *block;
    struct tasks_site *recent[TASKS_RECENT]; /* constructs that it created last */
    uintptr_t stack_low;        /* nothing is run at once below */
    uint64_t elsewhere;         /* ns in tasks met while waiting, and waiting: not the current task's */
    uint64_t subtree_begin, subtree_time; /* ns; begin 0: not looked yet */
    uint32_t depth;             /* explicit tasks around */
    uint32_t site;              /* of the current task, when depth > 0 */
    uint32_t holding;           /* critical sections and locks */
    uint32_t deferred;          /* tasks that this thread deferred so far … */
    uint32_t deferred_before;   /* … when the current one began */
    uint32_t begun;             /* deferred tasks that this thread began */
    uint32_t look;              /* tasks until a subtree run at once looks at the clock */
    uint32_t chance;            /* for sampling */
    enum tasks_watch watch;
    bool subtree;
};
extern _Thread_local struct tasks_thread tasks_thread __attribute__((tls_model("initial-exec")));

static inline uint32_t tasks_recent(uintptr_t fn)
{
    return (uint32_t)(fn >> 4 ^ fn >> 7) % TASKS_RECENT;
}

/* --- stats.c --- */
/* The construct of an outlined function, made at first sight; NULL where there are too many. */
struct tasks_site *tasks_site(uintptr_t fn);
/* Gives this thread its block and measures its stack; false when out of memory. Not hook-safe. */
bool tasks_thread_start(struct tasks_thread *t);
/* Whether the next task that this thread runs of a row is to be timed. */
static inline bool tasks_due(struct tasks_row *row)
{
    if (row->pass == 0)
        return true;
    row->pass--;
    return false;
}
/* One more execution that was timed; decides which one is timed next. */
void tasks_time(struct tasks_thread *t, struct tasks_row *row, uint64_t ns);

/* At the end of a session: what was counted goes into the job. */
void tasks_collect(void);

/* Something that decides whether it is safe to wait for a construct's tasks: sets the flag and counts anew. */
void tasks_site_mark(struct tasks_site *site, atomic_bool *flag);
/* One of its tasks has ended: marks it as seen where its code allows that. */
void tasks_site_ended(struct tasks_site *site);
/* Tasks with dependences of a construct that there is no room for. */
void tasks_doubt(void);

extern struct tasks_site tasks_sites[TASKS_SITES];
/* Constructs with dependences that it may not be safe to wait for. */
extern atomic_int tasks_doubts;
/* Tasks deferred and not begun, over all teams: of those that were created while something might be run at once. */
extern _Alignas(64) atomic_int tasks_ready;
/* Set for good once tasks of some construct may be run at once in this run. */
extern atomic_bool tasks_some;

/* Set by whoever creates a task; the thread that acts on teams asks after each region, which clears it. */
extern atomic_bool tasks_any;
static inline void tasks_creates(void)
{
    if (!atomic_load_explicit(&tasks_any, memory_order_relaxed))
        atomic_store_explicit(&tasks_any, true, memory_order_relaxed);
}
static inline bool tasks_created(void)
{
    if (!atomic_load_explicit(&tasks_any, memory_order_relaxed))
        return false;
    atomic_store_explicit(&tasks_any, false, memory_order_relaxed);
    return true;
}

static inline uint32_t tasks_site_number(const struct tasks_site *site)
{
    return (uint32_t)(site - tasks_sites);
}

static inline struct tasks_row *tasks_row(const struct tasks_thread *t, uint32_t site, uint32_t depth)
{
    return &t->block->row[site][depth < TASKS_DEPTHS ? depth : TASKS_DEPTHS - 1];
}

static inline void tasks_count(struct tasks_row *row, enum tasks_counter c, uint64_t n)
{
    uint64_t before = atomic_load_explicit(&row->counter[c], memory_order_relaxed);
    atomic_store_explicit(&row->counter[c], before + n, memory_order_relaxed);
}
