/* SPDX-License-Identifier: MIT */
/*
 * Communicators that one name stands for in turn, with other members each time: a loop that splits by rows and by
 * columns. Those of a name are told apart by members, in the order in which this rank first saw them:
 *
 *     members of world/split#0    0 1    0 2    0 1    0 2     on rank 0
 *     name                        #0     #0.1   #0     #0.1
 *
 * So a name has one set of members on a rank. No rank asks the others: where one keeps its members and another one does
 * not their numbers differ, and what belongs together has the same name without them (replay/bind.c).
 *
 * A grammar would not repeat where these names do not: after so many surprises (a run of one variant that is longer or
 * shorter than the last one, or is followed by another variant), or members, the name is "#0.*", of which the job does
 * not know who is in it.
 *
 * Cost: a look at up to VARIANTS_MOST members, where a communicator is made. Memory: 800 bytes a name.
 * Threads: the caller's lock.  Hook-safe: no.
 */
#ifndef PYTHIA_PMPI_VARIANTS_H
#define PYTHIA_PMPI_VARIANTS_H

#include <stddef.h>
#include <stdint.h>

struct pmpi_hook_members;

enum { VARIANTS_MOST = 8, VARIANTS_SURPRISES = 32 };

/* Adds to `name`, which is the session's communicator of that number, what tells it from others of that name. Members
   of the own group and of that of its peers; they live for ever. */
void pmpi_hook_variant_name(uint32_t number, const struct pmpi_hook_members *own, const struct pmpi_hook_members *peers,
                            char *name, size_t size);

#endif
