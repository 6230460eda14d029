/* SPDX-License-Identifier: MIT */
/*
 * What the hooks of tasks and of loops of tasks share (task.c, loop.c).
 *
 * Threads: any.  Hook-safe: yes, but for the first call.
 */
#ifndef PYTHIA_TASKS_ACT_H
#define PYTHIA_TASKS_ACT_H

#include <stdbool.h>

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
/* The construct, NULL where the task is to be passed on as it is. */
struct tasks_site *tasks_site_of(struct tasks_thread *t, void (*fn)(void *));

#endif
