/* SPDX-License-Identifier: MIT */
/*
 * A machine as hwloc knows it: this one, or the one that a job was recorded on.
 *
 * Nothing runs on its processors to ask them, no library of a card is loaded, and devices are left out: it takes some
 * ms. HWLOC_XMLFILE and HWLOC_SYNTHETIC name another machine, as everywhere. A job has the answers beside hwloc's XML,
 * which is only handed on: what somebody else wrote is not for its parser.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "job/job.h"

/* Processors by the system's numbers. Memory without processors of its own (a card's, a faster one) is no node. */
struct findings_hardware {
    cpu_set_t all, *core, *node; /* those that may be used; of each core, memory node */
    unsigned cores, nodes;
};

/* False: it cannot be read, or the job does not say; there is nothing to free then. */
bool findings_hardware_here(struct findings_hardware *h);
bool findings_hardware_of(const struct job *j, struct findings_hardware *h);
/* The same of a kind of node, by its row. */
bool findings_hardware_of_host(const struct job *j, uint32_t row, struct findings_hardware *h);
void findings_hardware_free(struct findings_hardware *h);
/* Puts this machine into the job. False: it has one, or it cannot be read. */
bool findings_hardware_keep(struct job *j);

/* "0,64;1,65": lists; how many. The caller frees *sets, which is NULL before. */
unsigned findings_hardware_sets(const char *text, cpu_set_t **sets);

/* Cores, nodes of memory that have a processor of the set. */
unsigned findings_hardware_cores(const struct findings_hardware *h, const cpu_set_t *set);
unsigned findings_hardware_nodes(const struct findings_hardware *h, const cpu_set_t *set);

/* Of the job: a line a kind of object, "machine", "  2 x package"; hwloc's XML, as lstopo -i reads it. NULL: none. */
const char *findings_hardware_tree(const struct job *j);
const char *findings_hardware_xml(const struct job *j);
