/* SPDX-License-Identifier: MIT */
/*
 * Merging the jobs of all ranks over MPI: a binomial tree, in the order of the ranks.
 *
 *   0 <- 1   2 <- 3   4 <- 5   6        round 1: rank r takes r + 1
 *   0 <----- 2        4 <----- 6        round 2: r takes what r + 2 has
 *   0 <--------------- 4                round 3
 *
 * On each edge:   child -> parent   how many classes, their hashes
 *                 parent -> child   which of them it has already
 *                 child -> parent   the packed job, without the bodies of those
 *
 * Every rank of the communicator takes part, also one that has nothing: what can't be packed, sent or merged is counted
 * in info.missing, and the tree goes on; of tables beside the streams see merge.h. Only PMPI_ calls, only on the given
 * communicator.
 *
 * Cost: O(log P) rounds; a rank sends its rules once, and only if nobody below its parent had them.
 */
#pragma once

#include <mpi.h>

#include "job/job.h"

/* Collective. `mine` (NULL: this rank has nothing) is taken in any case. Rank 0 gets the whole job, owned by the
   caller, others NULL. 0, PYTHIA_ENOMEM (rank 0 has no job), or PYTHIA_EIO: MPI reported an error, and the tree is
   broken. Threads: one a process, between MPI_Init and MPI_Finalize.  Hook-safe: no. */
int merge_mpi_reduce(struct job *mine, MPI_Comm private_comm, struct job **root_job);

/* The same, with messages cut into pieces of `chunk` bytes: MPI counts are int. */
int merge_mpi_reduce_chunked(struct job *mine, MPI_Comm private_comm, size_t chunk, struct job **root_job);
