/* SPDX-License-Identifier: MIT */
/*
 * What the hooks of tasks and of loops of tasks share (task.c, loop.c, wish.c).
 *
 * Threads: any.  Hook-safe: yes, but for the first call.
 */
#pragma once

#include <stdbool.h>

#include "libgomp/real.h"
#include "places/place.h"
#include "session/life.h"
#include "tasks/task.h"

/* Flags of GOMP_task and GOMP_taskloop (libgomp's gomp-constants.h). */
enum {
    TASKS_DEPEND = 8, TASKS_PRIORITY = 16, TASKS_UP = 256, TASKS_GRAINSIZE = 512, TASKS_IF = 1024,
    TASKS_NOGROUP = 2048, TASKS_DETACH = 8192
};

/* Whether tasks may be run at once in this run. */
bool tasks_acts(void);
/* Whether this one may, as far as its construct, its flags and this thread's state tell. */
bool tasks_allowed(const struct tasks_thread *t, const struct tasks_site *site, unsigned flags);

/* For tasks_site_of(): where it is not the one that this thread met last in its place. */
struct tasks_site *tasks_site_meet(struct tasks_thread *t, uintptr_t fn);
/* The construct, NULL where the task is to be passed on as it is. */
static inline struct tasks_site *tasks_site_of(struct tasks_thread *t, uintptr_t fn)
{
    struct tasks_site *site = t->recent[tasks_recent(fn)];
    tasks_creates();
    if (__builtin_expect(session_mode() == SESSION_OFF, 0))
        return NULL;
    return site && atomic_load_explicit(&site->fn, memory_order_relaxed) == fn ? site : tasks_site_meet(t, fn);
}

/* The arguments of GOMP_task. */
struct tasks_call {
    void (*fn)(void *);
    void *data;
    void (*cpyfn)(void *, void *);
    long size, align;
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
};

static inline void tasks_create(const struct tasks_call *c, bool deferred)
{
    libgomp_real()->GOMP_task(c->fn, c->data, c->cpyfn, c->size, c->align, deferred, c->flags, c->depend,
                              c->priority, c->detach);
}

/* The same for a deferred task that is to run at a place (wish.c). */
void tasks_create_there(const struct tasks_call *c, const struct places_wish *wish);
