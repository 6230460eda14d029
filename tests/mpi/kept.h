/* SPDX-License-Identifier: MIT */
/*
 * What a wrapper must keep of the program's thread: errno, the floating-point state.
 *
 *     program  errno 77 ─> wrapper ─> stand-in for the MPI library: finds 77, leaves 4242 ─> wrapper ─> program: finds
 *     4242
 *
 * The stand-ins (kept_calls.c, generated from the table of calls) are the program's own PMPI_ functions: the library's
 * come after them. They stand in only for the call that is being looked at; what the wrappers ask meanwhile goes to
 * MPI.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pmpi/all_of_mpi.h"

struct kept_call { const char *name; void (*drive)(void); };
extern const struct kept_call kept_calls[];

bool kept_is(const char *name);      /* whether this call is looked at */
int kept_inside(void);               /* of a stand-in: looks, and leaves something else. Gives the call's result */
void *kept_real(const char *name);   /* MPI's */
void *kept_wrapper(const char *name); /* Pythia's, or MPI's; NULL */

/* Arguments: enough of each, all valid. */
enum { KEPT_ROOM = 64 };
extern long kept_bytes[1024];
extern MPI_Comm kept_MPI_Comm[KEPT_ROOM];
extern MPI_Datatype kept_MPI_Datatype[KEPT_ROOM];
extern MPI_Info kept_MPI_Info[KEPT_ROOM];
extern MPI_Win kept_MPI_Win[KEPT_ROOM];
extern MPI_File kept_MPI_File[KEPT_ROOM];
extern MPI_Request kept_MPI_Request[KEPT_ROOM];
extern MPI_Message kept_MPI_Message[KEPT_ROOM];
extern MPI_Group kept_MPI_Group[KEPT_ROOM];
extern MPI_Op kept_MPI_Op[KEPT_ROOM];
extern MPI_Errhandler kept_MPI_Errhandler[KEPT_ROOM];
extern MPI_Fint kept_f_MPI_Comm[KEPT_ROOM], kept_f_MPI_Datatype[KEPT_ROOM], kept_f_MPI_Info[KEPT_ROOM],
    kept_f_MPI_Win[KEPT_ROOM], kept_f_MPI_File[KEPT_ROOM], kept_f_MPI_Request[KEPT_ROOM], kept_f_MPI_Message[KEPT_ROOM],
    kept_f_MPI_Group[KEPT_ROOM], kept_f_MPI_Op[KEPT_ROOM], kept_f_MPI_Errhandler[KEPT_ROOM], kept_f_one[1];
