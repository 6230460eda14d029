/* SPDX-License-Identifier: MIT */
/*
 * What the hooks of tasks and of loops of tasks share (task.c).
 *
 * Threads: any.  Hook-safe: yes, but for the first call.
 */
#ifndef PYTHIA_OMP_TASK_ACT_H
#define PYTHIA_OMP_TASK_ACT_H

#include <stdbool.h>

#include "omp/task.h"

/* Flags of GOMP_task and GOMP_taskloop (libgomp's gomp-constants.h). */
enum { OMP_TASK_DEPEND = 8, OMP_TASK_PRIORITY = 16, OMP_TASK_UP = 256, OMP_TASK_GRAINSIZE = 512, OMP_TASK_IF = 1024, OMP_TASK_NOGROUP = 2048,
       OMP_TASK_DETACH = 8192 };

/* Whether tasks may be run at once in this run. */
bool omp_task_acts(void);
/* Whether this one may, as far as its construct, its flags and this thread's state tell. */
bool omp_task_allowed(const struct omp_task_thread *t, const struct omp_task_site *site, unsigned flags);
/* The construct, NULL where the task is to be passed on as it is. */
struct omp_task_site *omp_task_site_of(struct omp_task_thread *t, void (*fn)(void *));

#endif
