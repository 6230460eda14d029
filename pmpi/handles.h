/* SPDX-License-Identifier: MIT */
/*
 * Handles where the program has them, of whatever binding: C's own, or Fortran's integers. One that MPI does not know,
 * or that stands behind a null pointer, is the null handle.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

struct pmpi_hook_handles {
    const void *at;
    bool fortran;
};

/* pmpi_hook_comm_at(handles, i), ...: the one at place i */
#define PMPI_HOOK_AT(name, type, from_fortran, none) \
    static inline type pmpi_hook_##name##_at(struct pmpi_hook_handles h, int i) \
    { \
        if (!h.fortran) \
            return h.at ? ((const type *)h.at)[i] : none; \
        type known = from_fortran(((const MPI_Fint *)h.at)[i]); \
        return known ? known : none; \
    }
PMPI_HOOK_AT(comm, MPI_Comm, PMPI_Comm_f2c, MPI_COMM_NULL)
PMPI_HOOK_AT(type, MPI_Datatype, PMPI_Type_f2c, MPI_DATATYPE_NULL)
PMPI_HOOK_AT(request, MPI_Request, PMPI_Request_f2c, MPI_REQUEST_NULL)
PMPI_HOOK_AT(window, MPI_Win, PMPI_Win_f2c, MPI_WIN_NULL)
PMPI_HOOK_AT(file, MPI_File, PMPI_File_f2c, MPI_FILE_NULL)
PMPI_HOOK_AT(message, MPI_Message, PMPI_Message_f2c, MPI_MESSAGE_NULL)
