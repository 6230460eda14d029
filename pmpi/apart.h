/* SPDX-License-Identifier: MIT */
/*
 * A communicator of ours, at the end of a run: what the program left undone, messages and collectives, never meets what
 * Pythia says there.
 *
 *     all ranks are in MPI_Finalize (pmpi/present.h) ──> pairs of halves, 1 and 1 rank, 2 and 2, …, are joined
 *
 * Made at the end, for Open MPI 4.1 hangs in some calls once there was a communicator more (MPI_Dist_graph_create with
 * reorder), and by messages alone: what makes one by collectives waits for those that are still open. Of no other one:
 * a duplicate asks the program's callbacks to copy its attributes, as Open MPI's MPI_Comm_create_group does. Open MPI
 * sends these messages as the program's are sent, so that a receive from anyone which the program has left open would
 * take them: before two halves are joined empty ones are sent until these are used up.
 *
 * Threads: the one that ends MPI.  Hook-safe: no.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* All ranks of the world call it; it returns when all have. False: it could not be made. */
bool pmpi_hook_apart(MPI_Comm *comm);
