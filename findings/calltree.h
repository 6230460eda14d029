/* SPDX-License-Identifier: MIT */
/*
 * Where the time went by call path: functions, what they call, and the calls and regions that were recorded.
 *
 *     all                          5.0 s
 *     └ main                       5.0 s   own 0.2 s    own: before the calls that stand in it
 *       ├ solve                    4.7 s   own 3.0 s
 *       │ ├ MPI_Allreduce :20      0.5 s                a call has no time but its own
 *       │ └ omp parallel :31       1.2 s   own 1.0 s    what a region calls is in it
 *       │   └ solve._omp_fn.0      0.2 s
 *       └ MPI_Bcast :37            0.1 s
 *
 * Regions by name are the outermost nodes, with all that is in them: [solve] > main > …
 *
 * Made of the stops (job/hops.h), which have exact sums for each path. A function is one node below the one that calls
 * it, from wherever that does; a call is one a line. Frames above main or a thread's start, of OpenMP's runtime and of
 * ours are left out; all of an interpreter are one, by its name.
 *
 *   1. own time of all nodes adds up to that of `all`; a call's over all paths to that of its site in the model, so do
 *      bytes; but what lost its order is here, and in none of the model's sites
 *   2. bytes and waits are of a call's sites: one that is made along several paths shares them, by count and by time
 *   3. nodes stand in preorder, most time first
 *
 * Cost: O(stops x depth).  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct report;
struct findings_place;

struct findings_path {
    int parent;                       /* of `all`: -1 */
    uint32_t depth;                   /* of `all`: 0 */
    uint32_t inside;                  /* nodes below, which follow */
    uint32_t terminal;                /* of a call or region, one of it; GRAMMAR_NONE: a function */
    bool named;                       /* a region by name: neither */
    const char *name;                 /* NULL: only where it is is known */
    const struct findings_place
        *place;                       /* of a call, where it stands, of a function, one of its calls; NULL: not known */
    uint64_t count;                   /* calls and executions, like all that follows with what is below */
    uint64_t bytes, ns, wait_ns;
    uint64_t call_ns;                 /* in calls; the rest is computation, regions included */
    uint64_t own_ns;                  /* of ns what is in no node below */
    uint64_t launch_ns;               /* of ns what is no part of the run: MPI_Init */
};

struct findings_calltree {
    struct findings_path *path;
    uint32_t paths;
    bool waits; /* known: the job could be replayed */
};

struct findings_calltree *findings_calltree_create(struct report *r);
void findings_calltree_destroy(struct findings_calltree *t); /* NULL is legal */

/* For a line or a stack: "solve", "MPI_Allreduce loops.c:31". One of findings_text(), or as good as one. */
const char *findings_path_text(const struct findings_path *p);

/* "main;solve;MPI_Allreduce loops.c:31", as flame graphs have it, without `all`. The caller frees it. */
char *findings_path_stack(const struct findings_calltree *t, uint32_t i);
