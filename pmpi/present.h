/* SPDX-License-Identifier: MIT */
/*
 * Which ranks of the job run under Pythia: `mpirun -n 1 server : -n 3 pythia record ./worker` is legal, and what some
 * of the ranks know nothing of can be no collective of all.
 *
 *   before MPI_Init    each rank puts a mark of its own where the launcher keeps the ranks' addresses
 *   MPI_Init           distributes them, and no rank is through before every rank has entered it
 *   after MPI_Init     the marks of the others are asked for: a question to the launcher, of nobody else
 *
 * Open MPI: a key of PMIx, for which the library that Open MPI uses itself is opened; Open MPI 5 does not bear that
 * before MPI_Init, its key is put after it (launcher_pmix.c). MPICH: a key of the process manager hydra, by its line
 * protocol on PMI_FD, which nobody else speaks on at these two moments. Other launchers: it is not known, and all ranks
 * are taken to run under Pythia. They meet by messages that no call of the program's can take for its own
 * (MPI_Comm_create_group with a tag). Where some ranks do not come the others wait, and say so after a minute: nothing
 * of ours ends a job.
 *
 * Cost: some ms at the start, and 0.1 ms a rank asked for: all ranks of a small job, of a large one those where another
 * program may begin and some in between.
 * Threads: the one that initialises MPI.  Hook-safe: no.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { PMPI_HOOK_PRESENT_TAG = 29327 }; /* of MPI_Comm_create_group, apart from messages */

/* Before MPI_Init. Returns ns that it took and MPI_Init is spared: what both need was opened. */
uint64_t pmpi_hook_present_announce(void);
/* After MPI_Init: MPI_COMM_WORLD where all of its ranks run under Pythia, else a communicator of those that do, with
   errors returned. Returns MPI_SUCCESS, or an MPI error and MPI_COMM_NULL. */
int pmpi_hook_present_gather(int rank, int ranks, MPI_Comm *comm);
/* At the end, before anything is said by MPI: all ranks of the world have come here, by the launcher's word, so that no
   call of the program's can meet one of ours. Messages go on meanwhile. False: the launcher does not say. */
bool pmpi_hook_present_meet(void);
/* Instead of the first. A launcher that was spoken to and is not left makes MPI_Finalize incomplete. */
void pmpi_hook_present_close(void);

/* --- One way to put and ask for marks; each is NULL where it was not built --- */
struct pmpi_hook_launcher {
    int (*announce)(uint64_t *shared); /* 0: put; *shared (0 before): ns of it that MPI_Init is spared */
    int (*present)(int rank);  /* 1 there, 0 not there, negative: not known */
    void (*close)(void);
    int (*meet)(void (*meanwhile)(void)); /* 0: all ranks called it. NULL: where MPI's own messages for making
                                             communicators meet no call of the program's, or nobody can be asked */
};

extern const struct pmpi_hook_launcher pmpi_hook_launcher;
