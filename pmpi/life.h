/* SPDX-License-Identifier: MIT */
/*
 * From MPI_Init to MPI_Finalize.
 *
 *   MPI_Init      real one -> rank 0 chooses record or predict and reads the reference -> broadcast -> session_start;
 *                 the run begins with the real one, and what Pythia does then is cut out of its time
 *   MPI_Finalize  barrier (its wait is the event's duration) -> session_finish -> merge -> rank 0 writes -> real one
 *   exit without  the rank's part goes to <output>.parts/rank-N.pythia (checkpoints and signals: session/checkpoint.c)
 *
 * What Pythia itself says to other ranks goes through MPI_COMM_WORLD inside MPI_Init, and at the end through a
 * communicator made for that; through one of their own from the beginning where only some of the ranks run under it
 * (pmpi/present.h). Whether it is on is decided together at MPI_Init: every one of them takes part in the merge, also
 * one whose session has failed since.
 */
#pragma once

#include <stdbool.h>

#include <mpi.h>

#include "session/life.h"

/* The steps of these calls, for all bindings; `from` is the return address into the program. Threads: one. */
void pmpi_hook_life_comes(void *from);               /* before MPI_Init; that of Fortran may come to that of C */
void pmpi_hook_life_begun(bool threads);             /* after a successful MPI_Init or MPI_Init_thread; once */
void pmpi_hook_life_ends(void *from);                /* before MPI_Finalize; collective */
void pmpi_hook_life_ended(void);                     /* after MPI_Finalize: the summary is printed */
void pmpi_hook_life_aborts(void *from);              /* before MPI_Abort */
void pmpi_hook_life_control(int level);              /* MPI_Pcontrol */
/* MPI_Session_init: who begins so and never calls MPI_Init has no MPI_COMM_WORLD, in which a recording is merged; at
   the end one line says that nothing was recorded. */
void pmpi_hook_life_session(void);

/* Merges the ranks' jobs and writes or says what is to be written or said. Collective on `comm`; `mode` is the same on
   all ranks; takes ownership of `mine`, which may be NULL. Threads: one, the one that calls MPI_Finalize. */
void pmpi_hook_finish(MPI_Comm comm, enum session_mode mode, struct job *mine);
/* Writes this rank's part of a run that ends without MPI_Finalize; no MPI. Takes ownership of `mine`. */
void pmpi_hook_write_part(uint32_t rank, struct job *mine);
