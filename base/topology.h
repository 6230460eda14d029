/* SPDX-License-Identifier: MIT */
/*
 * The machine as Linux tells it in /sys: which processors share a core, a cache, a node of memory, a package. For
 * places/, which decide where tasks and teams run, and for what each node of a job is (session/binding.c); the command
 * asks hwloc (findings/hardware.h).
 *
 * It is read inside a program that runs, and nothing but files is touched: no library is loaded, nothing allocated.
 *
 *   1. What processors share is named by the first of those that share it: 0 and 4 in one core are core 0.
 *   2. Processors are those that this process's control group may use, in an order in which those that share more stand
 *      closer together: number 0 and number 1 are neighbours.
 *
 * `root` stands before every path: "" is this machine.
 *
 * Threads: any.  Hook-safe: no (reads three files a processor), but there is no lock and no malloc.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be shared, by default from the widest to the narrowest. */
enum { BASE_PACKAGE, BASE_NODE, BASE_CACHE, BASE_CORE, BASE_LEVELS };

struct base_processor {
    uint16_t number;             /* the system's */
    uint16_t first[BASE_LEVELS]; /* rule 1 */
    uint16_t node;               /* the system's number of the node */
};

struct base_machine {
    unsigned count;
    unsigned order[BASE_LEVELS]; /* from the widest level of this machine to the narrowest */
    struct base_processor at[CPU_SETSIZE];
};

/* False, and count 0, where the machine does not tell. */
bool base_topology_read(const char *root, struct base_machine *m);
/* Of another, too, whose processors are filled in but for their order. */
void base_topology_sort(struct base_machine *m);

/* Cores that have a processor of `set`: two hardware threads of one core count once. 0: the machine does not tell. */
unsigned base_topology_cores(const char *root, const cpu_set_t *set);
/* "0-3,8" as a set: false when it is none or empty. */
bool base_topology_list(const char *text, cpu_set_t *set);
