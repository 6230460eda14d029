/* SPDX-License-Identifier: MIT */
/*
 * Where ranks may run: the processors that their threads were bound to when the recording ended, and how large their
 * teams are. Ranks that have the same share a row. And what the node of the first rank is, as hwloc writes it.
 *
 *     "0-3"  4 threads, each on "0;1;2;3"    ranks 0, 4, 8, …
 *     "4-7"  4 threads                       ranks 1, 5, 9, …
 *
 * How busy the processors of a row were, whoever ran there, each rank counts: so often is it in the sum.
 *
 * Of a job on several nodes also what each kind of node is, as its first ranks read it in /sys.
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>

#include "job/ranges.h"

struct job;

struct job_binding {
    uint32_t processors; /* string: "0-3,8", by the system's numbers */
    uint32_t each;       /* string: of each thread that computes, "0-3;0-3;8"; GRAMMAR_NONE: all of them */
    uint32_t threads;
    uint32_t range_first, range_count; /* the ranks */
    uint64_t busy_ns;    /* of these processors, … */
    uint64_t own_ns;     /* … by these ranks, wherever they ran, … */
    uint64_t wall_ns;    /* … while they were recorded: sums over the ranks */
};
struct job_bindings {
    struct job_binding *row;
    struct job_ranges ranges;
    uint32_t count, room;
};

struct job_host {
    uint32_t cores, memory; /* strings: processors of each core, of each memory node, "0,64;1,65" */
    uint32_t range_first, range_count; /* the first ranks of nodes that are so */
};
struct job_hosts {
    struct job_host *row;
    struct job_ranges ranges;
    uint32_t count, room;
};

struct job_hardware { uint32_t xml, tree, cores, nodes; /* strings; processors of each core, memory node: "0,64;1,65" */ };
struct job_hardware_list {
    struct job_hardware *of;
    uint32_t count, room;
};

/* One rank's, to a job of that rank: `like` without the texts (`each` NULL: none) and the ranks. 0 or PYTHIA_E… */
int job_binding_add(struct job *j, uint32_t rank, const char *processors, const char *each,
                    const struct job_binding *like);
int job_host_add(struct job *j, uint32_t rank, const char *cores, const char *memory);
