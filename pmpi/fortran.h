/* SPDX-License-Identifier: MIT */
/*
 * The Fortran bindings. Open MPI's mpi_send_ and mpi_send_f08_ go to PMPI_Send, past the wrappers of C, as does MPICH's
 * mpi_send_f08ts_; its mpi_send_ comes to the C wrapper, from a place in the library. So all have wrappers of their
 * own.
 *
 *     program --> mpi_send_f08_ (ours) --> pmpi_send_f08_ (theirs) --> PMPI_Send
 *                     '--> event, like that of MPI_Send
 *
 * The MPI library's function, the target, gets the program's own arguments, so that MPI_BOTTOM, MPI_IN_PLACE,
 * MPI_STATUS_IGNORE and their like stay what they are; handles are converted for recording only. Two additions: an
 * omitted ierror becomes a variable of ours, to learn whether the call succeeded, and an ignored status one of ours, to
 * learn the actual source and size.
 *
 * The libraries with the targets are those of the program: they are looked up at the first call, and a program in C
 * loads none. What MPICH's then call of C's wrappers finds the session's guard taken, and is not counted twice.
 *
 * Threads: any.  Hook-safe: yes, but for the first call of each function.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "pmpi/hook.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER is not int: configure with --disable-fortran");

/* What a wrapper calls. */
struct pmpi_hook_target {
    const char *profiled;   /* "pmpi_send_" */
    const char *plain;      /* "mpi_send_": the next one serves where the profiled one is missing */
    bool descriptors;       /* buffers come as descriptors of arrays, the address first */
    _Atomic(void *) real;   /* NULL: not looked up */
};

/* NULL when no library has it: then it was said, and *ierror (may be NULL) is MPI_ERR_INTERN. */
void *pmpi_hook_target_find(struct pmpi_hook_target *target, MPI_Fint *ierror);

/* --- Arguments, for recording; handles: pmpi/handles.h --- */
/* The buffer, or C's MPI_IN_PLACE for Fortran's. */
const void *pmpi_hook_fortran_buffer(const struct pmpi_hook_target *target, const void *buffer);
/* Room for a status of any binding. */
union pmpi_hook_fortran_room {
    MPI_Status c;
    MPI_Fint word[8];
};
/* The status to hand to the target: the program's, or `own` where the program ignores it. */
void *pmpi_hook_fortran_handed(void *status, union pmpi_hook_fortran_room *own);
/* What the target has filled in, copied to *c; NULL: nothing. */
const MPI_Status *pmpi_hook_fortran_status(const void *handed, MPI_Status *c);
/* The same of an array of statuses. Where the program ignores them the target fills in *room, if it is not
   MPI_STATUSES_IGNORE; which it is where they cannot be read. Then `number` of them in *room, or none. */
void *pmpi_hook_fortran_handed_all(void *statuses, MPI_Status **room);
const MPI_Status *pmpi_hook_fortran_statuses(const void *handed, MPI_Status *room, int number);

/* The first index of an array: 1, but for mpi_f08 in MPICH before 4.1 (its issue 6270). */
static inline int pmpi_hook_fortran_first(const struct pmpi_hook_target *target)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    return strstr(target->plain, "_f08_") ? 0 : 1;
#else
    (void)target;
    return 1;
#endif
}
