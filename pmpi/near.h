/* SPDX-License-Identifier: MIT */
/*
 * Neighbourhoods: whom the neighbourhood collectives of a communicator send to and receive from.
 *
 *     Cartesian, 2 dimensions    down, up of the first one, down, up of the second one: sent to and received from
 *     distributed graph          destinations; sources
 *
 * Asked once, when a communicator is first seen. Each call then counts as a message to and from each neighbour that is
 * no MPI_PROC_NULL, in the sums by peer (session/flow.h).
 *
 * Threads: any.  Hook-safe: counting is.
 */
#pragma once

#include <stdint.h>

#include "pmpi/hook.h"

struct pmpi_hook_members;

enum { PMPI_HOOK_NEAR_NULL = -2 }; /* MPI_PROC_NULL */

struct pmpi_hook_near {
    int out, in;
    int grid;        /* of a Cartesian communicator: how many there are, 2 a dimension, down and up; else 0 */
    struct { int rank; int64_t world; } of[]; /* those sent to, then those received from; GRAMMAR_NONE: not there */
};

/* NULL: a communicator without a topology, or out of memory. To be freed. */
struct pmpi_hook_near *pmpi_hook_near_of(int topology, MPI_Comm comm, const struct pmpi_hook_members *members);
/* How many neighbours the call has that way. */
int pmpi_hook_near_count(const struct pmpi_hook_call *call, bool receives);
/* The same, 0 of a call that failed. */
static inline int pmpi_hook_near_moved(const struct pmpi_hook_call *call, bool receives)
{
    return call->accepted ? pmpi_hook_near_count(call, receives) : 0;
}
/* A message of the call to neighbour `i`, or from it. */
void pmpi_hook_near_message(struct pmpi_hook_call *call, bool receives, int i, int64_t bytes);
/* So many elements; the event's size of an element stays what it is. */
int64_t pmpi_hook_near_bytes(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type);
