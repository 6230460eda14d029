/* SPDX-License-Identifier: MIT */
/*
 * What libgomp runs in place of a deferred task's outlined function: functions of ours that all get the program's own
 * data, as it is, and of which each stands for one construct at one nesting depth:
 *
 *     GOMP_task(fn, data, …)  ──>  GOMP_task(run_0x07, data, …)        ──> later, on any thread:
 *                                            │                             run_0x07(data) = tasks_run(data, 7)
 *                                            └── entry 3, counted              └── tasks_entries[3]: fn, site, depth
 *
 * So nothing is added to a task: no header before its data, no copying of ours, no other size.
 *
 * An entry has two functions: tasks of the second one were counted in tasks_ready when they were created.
 *
 * Memory: 256 entries for the whole process; a construct and depth that comes later has none, and its tasks run as they
 * are. Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tasks/task.h"

typedef void (*tasks_function)(void *data);

enum { TASKS_ENTRIES = 256 };
struct tasks_entry {
    tasks_function fn; /* the program's */
    struct tasks_site *site;
    uint32_t number, depth; /* of the construct, its tasks' */
};
extern struct tasks_entry tasks_entries[TASKS_ENTRIES];       /* each is written before a task with it is created */
extern const tasks_function tasks_functions[2 * TASKS_ENTRIES]; /* of entry n: 2 n, and 2 n + 1 counted */

/* For tasks_entry(): finds room at first sight; returns 1 + the entry, or more than TASKS_ENTRIES: there is none. */
uint32_t tasks_entry_make(struct tasks_site *site, uint32_t depth);
/* Runs a task (task.c). */
void tasks_run(void *data, uint32_t function);

/* What to hand to libgomp; NULL where there is no room. */
static inline tasks_function tasks_entry(struct tasks_site *site, uint32_t depth, bool counted)
{
    depth = depth < TASKS_DEPTHS ? depth : TASKS_DEPTHS - 1;
    uint32_t n = atomic_load_explicit(&site->entry[depth], memory_order_acquire);
    if (__builtin_expect(n - 1 >= TASKS_ENTRIES, 0) && (n = tasks_entry_make(site, depth)) > TASKS_ENTRIES)
        return NULL;
    return tasks_functions[2 * (n - 1) + counted];
}
