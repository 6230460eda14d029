/* SPDX-License-Identifier: MIT */
/*
 * Whom the ranks of a communicator are in the world.
 *
 *     ranks of the communicator   0  1  2  3  4  5
 *     ranks of the world          0  2  4  1  3  5
 *     runs                        { first 0, count 3, stride 2 } { first 1, count 3, stride 2 }
 *
 * Asked once, when a communicator is first seen: MPI_Comm_group and MPI_Group_translate_ranks are local. Lists are kept
 * once each, however many communicators have them. Who keeps one holds a reference of it, but for starts, which may
 * outlive their communicator: there are so many, and they are made in hooks. So a list without references stays until
 * there are twice as many lists as at the last look; then those go that no start in pmpi/request.h names either. Where
 * several threads call MPI at a time all stay, for one may be between its start and that table.
 *
 * Cost: of asking, the communicator's size (Open MPI looks for each rank one by one: 16 steps where ranks go on at one
 * distance, up to the size of the world for others); of a look-up, the logarithm of the number of runs. Memory: of each
 * list 112 bytes and 12 a run.
 * Threads: any.  Hook-safe: look-ups are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "job/group.h"

struct pmpi_hook_members {
    uint32_t size, run_count;
    uint32_t references;
    bool started;     /* a start has it: while they are looked through */
    uint32_t *before; /* of each run: ranks of the communicator before it */
    struct job_run *runs;
};

/* The communicator's own group, or the other one of an intercommunicator. NULL: out of memory, or somebody is not in
   this world. `comm` is known to be valid. With a reference, which is the caller's. */
const struct pmpi_hook_members *pmpi_hook_members_of(MPI_Comm comm, bool remote);
/* One reference more, or less; `m` may be NULL. */
void pmpi_hook_members_keep(const struct pmpi_hook_members *m);
void pmpi_hook_members_drop(const struct pmpi_hook_members *m);
/* GRAMMAR_NONE where there is no such rank, or `m` is NULL. */
uint32_t pmpi_hook_members_seek(const struct pmpi_hook_members *m, int rank);
static inline uint32_t pmpi_hook_members_world(const struct pmpi_hook_members *m, int rank)
{
    if (__builtin_expect(m && m->run_count == 1 && (uint32_t)rank < m->size, 1))
        return m->runs->first + (uint32_t)rank * (uint32_t)m->runs->stride;
    return pmpi_hook_members_seek(m, rank);
}
