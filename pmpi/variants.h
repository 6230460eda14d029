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
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmpi_hook_members;

enum { VARIANTS_MOST = 8, VARIANTS_SURPRISES = 32 };

/* How long a run of one variant was, and what came next, one more; 0: not yet. */
struct pmpi_hook_run {
    uint32_t length;
    uint8_t next;
};

/* In which order variants come; VARIANTS_MOST stands for any that is not told apart. Zeroed at first. */
struct pmpi_hook_order {
    uint8_t now, before, surprises;
    uint32_t length; /* of the present run */
    struct pmpi_hook_run run[VARIANTS_MOST + 1][VARIANTS_MOST + 1]; /* by the variant before it, and its own */
};

/* Whether they go on in an order of some kind with `next`, at most VARIANTS_MOST. */
bool pmpi_hook_order_follow(struct pmpi_hook_order *o, uint8_t next);

/* Adds to `name`, which is the session's communicator of that number, what tells it from others of that name. Members
   of the own group and of that of its peers, which it keeps. */
void pmpi_hook_variant_name(uint32_t number, const struct pmpi_hook_members *own, const struct pmpi_hook_members *peers,
                            char *name, size_t size);
