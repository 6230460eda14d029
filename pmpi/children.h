/* SPDX-License-Identifier: MIT */
/*
 * Worlds that the program spawns.
 *
 *   MPI_Comm_spawn     the root adds to the info's "env" (Open MPI) what the children need to run under Pythia, too:
 *                      the preload, where this process has it, and the PYTHIA_ variables
 *   their MPI_Init     they are a job of their own, whose files have ".spawnN" at the end of their names
 *
 * N counts the worlds of a job in the order in which the launcher started them, from 1. A world that was spawned by
 * something else, or whose launcher does not say, has the process number of its first rank there. The worlds never talk
 * to each other: each merges and writes on its own, whether or not the others run under Pythia.
 *
 * An info's value is limited to 255 bytes. What the children need and does not fit is left out as a whole, with one
 * line.
 *
 * Threads: those that spawn.  Hook-safe: no, starting processes takes ms.
 */
#pragma once

#include <stdint.h>

#include "pmpi/handles.h"

struct pmpi_hook_call;

/* What was handed to MPI instead of the program's; NULL: nothing. */
struct pmpi_hook_children {
    int count;
    MPI_Info *info;
    MPI_Fint *fortran;
};

/* The infos to hand to MPI, one a command: those `given`, or copies that MPI_Comm_spawn's root has added to, until
   pmpi_hook_children_spawned(). On other ranks infos mean nothing and are not looked at. */
void *pmpi_hook_children_equip(struct pmpi_hook_children *children, const struct pmpi_hook_call *call, int root,
                               int count, struct pmpi_hook_handles given);
void pmpi_hook_children_spawned(struct pmpi_hook_children *children);

/* On the first rank, after MPI_Init: the number of this world among those that were spawned, 0: it was not. */
uint32_t pmpi_hook_children_number(void);
