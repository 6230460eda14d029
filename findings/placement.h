/* SPDX-License-Identifier: MIT */
/*
 * Where ranks and threads were put (job/binding.h), against what the machine has (hardware.h): what costs time although
 * cores are free.
 *
 *     shared core      several ranks may use fewer cores together than they are
 *     narrow           a rank may use fewer cores than its team has threads (the classic of mpirun with OpenMP), or
 *                      some of its threads are bound to fewer cores than they are
 *     hyper-threads    ranks have processors of their own, but cores in common
 *     memory nodes     a team may run on several memory nodes, though one has cores enough
 *     uneven           memory nodes have ranks, or threads, and others none
 *
 * Of what uses all cores there are nothing is said: that is oversubscription. A node is the kind that its first
 * rank said, else as the first rank's of all.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/report.h"

enum findings_placement_kind {
    FINDINGS_SHARED_CORE, FINDINGS_NARROW, FINDINGS_HYPER_THREADS, FINDINGS_MEMORY_NODES, FINDINGS_UNEVEN_NODES,
    FINDINGS_PLACEMENT_KINDS
};

struct findings_placement {
    enum findings_placement_kind kind;
    char ranks[128];
    uint32_t cores, of; /* that these have, of so many on the node; of memory nodes: these */
    uint32_t threads;   /* of a team */
    const char *mend;   /* for the job's MPI; and where Slurm starts it */
    const char *slurm;
};

struct findings_placements {
    struct findings_placement of[FINDINGS_PLACEMENT_KINDS];
    uint32_t count;
    bool known; /* the job says where ranks were bound, and on what */
};

/* Who had the processors that ranks may use. */
struct findings_crowd {
    double others;      /* share of their time that nobody of this job had; of short runs by 10 ms exact */
    uint32_t threads, processors; /* of the node where this job itself has most threads a processor */
    bool known;         /* it was measured */
};

struct findings_crowd findings_crowd_of(const struct report *r);
/* "4 threads of this job on 2 processors; others had 31 % of these processors". NULL: neither, or not known. */
const char *findings_crowd_text(const struct findings_crowd *c);

void findings_placements_of(const struct report *r, struct findings_placements *p);
const char *findings_placement_name(enum findings_placement_kind k); /* "shared_core" */
/* "ranks 0-3 share 1 of 64 cores". */
char *findings_placement_text(const struct findings_placement *p);
