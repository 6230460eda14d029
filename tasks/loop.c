/* SPDX-License-Identifier: MIT */
/*
 * taskloop: all its tasks deferred, or all at once, whichever was faster (model.h). libgomp itself runs them at once
 * when the flag of its `if` clause is off, and again everything else stays as it is.
 *
 * Its tasks are not timed one by one, but as a whole, and tasks that they create count as if created where the thread
 * was that ran them. A thread in a team that is timed knows when it runs one (teams/share.h).
 */
#include "base/clock.h"
#include "base/fpu.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "tasks/task.h"
#include "tasks/act.h"
#include "tasks/entry.h"
#include "teams/share.h"
#include "session/ask.h"

/* Tasks that libgomp makes of `turns` iterations; `size` is what grainsize or num_tasks says, 0 nothing. */
static uint64_t tasks_of(uint64_t turns, unsigned flags, uint64_t size)
{
    if (flags & TASKS_GRAINSIZE)
        return size && turns / size ? turns / size : 1;
    uint64_t tasks = size ? size : (uint64_t)libgomp_real()->omp_get_num_threads();
    return tasks < turns ? tasks : turns;
}

/* One taskloop, between its begin and its end. */
struct loop {
    struct tasks_site *site; /* NULL: passed on as it is */
    uint64_t turns, tasks, begin, elsewhere, events;
    bool at_once;
};

static unsigned loop_begin(struct loop *l, void (*fn)(void *), uint64_t turns, unsigned flags, uint64_t size)
{
    struct tasks_thread *t = &tasks_thread;
    l->site = turns ? tasks_site_of(t, (uintptr_t)fn) : NULL;
    if (!l->site)
        return flags;
    int team = libgomp_real()->omp_get_num_threads();
    l->turns = turns;
    l->tasks = tasks_of(turns, flags, size);
    base_fpu_t kept = base_fpu_hold();
    if (!(flags & TASKS_NOGROUP) && (flags & TASKS_IF) && tasks_acts() && tasks_allowed(t, l->site, flags))
        l->at_once = t->subtree || tasks_loop_choose(&l->site->loop, (double)turns / (double)l->tasks, team);
    base_fpu_give_back(kept);
    struct tasks_row *row = tasks_row(t, tasks_site_number(l->site), t->depth);
    tasks_count(row, TASKS_CREATED, l->tasks);
    tasks_count(row, TASKS_LOOPS, 1);
    if (l->at_once)
        tasks_count(row, TASKS_AT_ONCE_COUNT, l->tasks);
    else
        t->deferred++;
    l->elsewhere = t->elsewhere;
    l->events = session_events();
    l->begin = base_clock_now();
    return l->at_once ? flags & ~(unsigned)TASKS_IF : flags;
}

/* What libgomp is to run. */
static tasks_function loop_function(const struct loop *l, void (*fn)(void *))
{
    tasks_function run = NULL;
    if (!l->site || l->at_once)
        return fn;
    if (!atomic_load_explicit(&l->site->whole, memory_order_relaxed))
        atomic_store_explicit(&l->site->whole, true, memory_order_relaxed);
    if (teams_share_timed())
        run = tasks_entry(l->site, tasks_thread.depth, false);
    return run ? run : fn;
}

static void loop_end(const struct loop *l, unsigned flags)
{
    struct tasks_thread *t = &tasks_thread;
    if (!l->site || (flags & TASKS_NOGROUP))
        return;
    uint64_t took = base_clock_now() - l->begin;
    base_fpu_t kept = base_fpu_hold();
    tasks_loop_learn(&l->site->loop, l->at_once, (double)took / (double)l->turns);
    base_fpu_give_back(kept);
    tasks_site_ended(l->site);
    if (session_events() != l->events) /* of this thread's share */
        tasks_site_mark(l->site, &l->site->keep);
    if (l->at_once)
        tasks_time(t, tasks_row(t, tasks_site_number(l->site), t->depth), took / l->tasks);
    else
        t->elsewhere = l->elsewhere + took;
}

static uint64_t turns_long(long start, long end, long step)
{
    if (step > 0 ? start >= end : start <= end)
        return 0;
    return step > 0 ? ((uint64_t)end - (uint64_t)start + (uint64_t)step - 1) / (uint64_t)step
                    : ((uint64_t)start - (uint64_t)end + (0 - (uint64_t)step) - 1) / (0 - (uint64_t)step);
}

static uint64_t turns_ull(unsigned flags, unsigned long long start, unsigned long long end, unsigned long long step)
{
    if (flags & TASKS_UP)
        return start < end && step ? (end - start - 1) / step + 1 : 0;
    return start > end && step ? (start - end - 1) / (0 - step) + 1 : 0;
}

#define LOOP(name, type, turns)                                                                                     \
    PYTHIA_API void name(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align,      \
                         unsigned flags, unsigned long number, int priority, type start, type end, type step);      \
    void name(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align, unsigned flags, \
              unsigned long number, int priority, type start, type end, type step)                                  \
    {                                                                                                               \
        struct loop l = { 0 };                                                                                      \
        unsigned with = loop_begin(&l, fn, turns, flags, number);                                                   \
        bool waits = l.site && !l.at_once && !(flags & TASKS_NOGROUP) && teams_share_timed() && teams_share_wait(); \
        libgomp_real()->name(loop_function(&l, fn), data, cpyfn, size, align, with, number, priority, start, end,   \
                             step);                                                                                 \
        if (waits)                                                                                                  \
            teams_share_waited();                                                                                   \
        loop_end(&l, flags);                                                                                        \
    }

LOOP(GOMP_taskloop, long, turns_long(start, end, step))
LOOP(GOMP_taskloop_ull, unsigned long long, turns_ull(flags, start, end, step))
