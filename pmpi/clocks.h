/* SPDX-License-Identifier: MIT */
/*
 * The nodes' clocks are brought together (session/clock.h has the method): one rank of each node measures, over a
 * communicator of its own, at MPI_Init and at MPI_Finalize, and tells the ranks of its node.
 *
 * Ranks are of one node where host name, boot and time namespace are the same. In a job on one node that is all there
 * is to it: one reduction at the begin, one at the end.
 *
 * Where MPI fails, or a communicator cannot be had, nothing is said of clocks: each rank's time begins with its own
 * recording.
 * Threads: the one that initialises MPI.  Hook-safe: no.
 */
#pragma once

#include <mpi.h>

/* Collective on `comm`, in a recording; the session has started. */
void pmpi_hook_clocks_begin(MPI_Comm comm);
/* The same, before the session is finished; frees what the first one made. */
void pmpi_hook_clocks_end(MPI_Comm comm);
