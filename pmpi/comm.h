/* SPDX-License-Identifier: MIT */
/*
 * Communicators by name: the same name on every rank and in the next run, and no communication to find it.
 *
 *   MPI_Comm ---.
 *   MPI_Win  ----> handle table --> communicator: number for the session, size, my rank     "world/split#0"
 *   MPI_File ---'                      '--> parent                                          "world"
 *
 * A communicator is named by its parent's name, how it was made, and a number, which follows from what all of its
 * members know, whatever else some of them have:
 *
 *   all of the parent's ranks are in it    the lowest number that no living one of these has
 *   some are                               that of an earlier one with the same members, which is gone; else how many
 *                                          calls on the parent there were before, those that left this rank out, too
 *   only they took part (create_group)     how many they are, of both groups, and where; the lowest number that no
 *                                          living one with the same members has
 *
 * So ranks agree, and a program that makes and frees a communicator in a loop has one name, not one for each turn.
 * The last number (64 of parts, 255 of others) is shared; where numbers of parts come by chance they become "*".
 * What has one name and other members in turn is told apart on its rank (pmpi/variants.h). The world that spawned
 * this one is "parent". A communicator that was made unseen (by a library that was not wrapped) is "unseen(size)#k".
 *
 *   1. a handle stands in the table once; an attribute's delete callback (communicators) or the closing call (windows,
 *      files) takes it out before MPI can reuse it
 *   2. a communicator lives as long as a handle or a child refers to it
 *
 * Look-up: a small direct-mapped cache per thread, emptied when anything was taken out since; else a lock.
 * Memory: some 200 bytes for each living communicator.
 * Threads: any.  Hook-safe: look-up of what was seen before.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hot.h"
#include "pmpi/handles.h"

struct pmpi_hook_members;
struct watch_comm;
struct pmpi_hook_near;

struct pmpi_hook_communicator {
    uint32_t number; /* session_comm() */
    const char *name;
    int rank;        /* mine; -1 in an intercommunicator, whose ranks are those of the other group */
    int size;        /* of my group */
    int fan;         /* ranks that a collective sends to or receives from: size, or the other group's */
    bool inter;
    bool places;     /* ranks have any (pmpi_hook_comm_place) */
    struct pmpi_hook_near *near; /* whom its neighbourhood collectives send to; NULL: it has none */
    const struct pmpi_hook_members *peers; /* whom its peers' ranks are; NULL: not known */
    struct watch_comm *board; /* what is shown of it, never NULL */
};

/* What `rank` is to this process: on a Cartesian communicator the number of the neighbour, 2 * dimension, one more
   upwards, else neighbours + (rank - own) mod size. Where the job's ranks say as much there are no places: on an
   intercommunicator, and on others as large as the job. Constant on all ranks where the program means "my neighbour",
   boundaries that wrap and parts of a split included. Cost: a look at each neighbour. */
int64_t pmpi_hook_comm_place(const struct pmpi_hook_communicator *comm, int rank);

/* A communicator that a nonblocking call will have made when its request completes. */
struct pmpi_hook_idup;

/* After MPI is initialised: prepares the attribute that tells when a communicator goes. */
void pmpi_hook_comm_open(void);
/* Before MPI is finalised. Handles are forgotten. */
void pmpi_hook_comm_close(void);

/* The thread's cache. Handles are pointers or integers, according to the MPI library; those of different kinds may be
   equal. */
enum pmpi_hook_of { PMPI_HOOK_OF_COMM = 1, PMPI_HOOK_OF_WINDOW, PMPI_HOOK_OF_FILE };
#define PMPI_HOOK_KEY(handle, what) ((uint64_t)(uintptr_t)(handle) ^ (uint64_t)(what) << 60)
enum { PMPI_HOOK_COMMS = 16 };
/* base_hot.handles rises when a handle is taken out, and with what else makes a call another one than it was
   (pmpi/again.h). */
static inline void pmpi_hook_comm_anew(void)
{
    atomic_fetch_add_explicit(&base_hot.handles, 1, memory_order_release);
}
extern _Thread_local struct pmpi_hook_comm_cache {
    unsigned generation;
    struct { uint64_t key; const struct pmpi_hook_communicator *comm; } slot[PMPI_HOOK_COMMS];
} pmpi_hook_comm_cache __attribute__((tls_model("initial-exec")));

static inline unsigned pmpi_hook_comm_mix(uint64_t key)
{
    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40);
}

/* NULL: it is not in the cache. */
static inline const struct pmpi_hook_communicator *pmpi_hook_comm_cached(uint64_t key)
{
    unsigned slot = pmpi_hook_comm_mix(key) % PMPI_HOOK_COMMS;
    return __builtin_expect(pmpi_hook_comm_cache.slot[slot].key == key && pmpi_hook_comm_cache.generation ==
                            atomic_load_explicit(&base_hot.handles, memory_order_acquire), 1)
               ? pmpi_hook_comm_cache.slot[slot].comm : NULL;
}

/* Of a handle that MPI has just accepted: a communicator that is first seen is asked about. NULL for a null handle or
   when out of memory. */
const struct pmpi_hook_communicator *pmpi_hook_comm_uncached(MPI_Comm comm);
static inline const struct pmpi_hook_communicator *pmpi_hook_comm_of(MPI_Comm comm)
{
    const struct pmpi_hook_communicator *known = pmpi_hook_comm_cached(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM));
    return __builtin_expect(known != NULL, 1) ? known : pmpi_hook_comm_uncached(comm);
}
/* Of any value: NULL where it is neither predefined nor was seen before. */
const struct pmpi_hook_communicator *pmpi_hook_comm_known(MPI_Comm comm);
/* Of a window or a file; NULL when its making was not seen. */
const struct pmpi_hook_communicator *pmpi_hook_comm_bound(uint64_t key);

/* `comm` was made of `parent` (NULL: of none) in the way `kind`, a static string. MPI_COMM_NULL is legal. */
void pmpi_hook_comm_born(const struct pmpi_hook_communicator *parent, const char *kind, MPI_Comm comm);
/* The same of MPI_Comm_idup, in two steps; `comm` is where the handle will be. NULL when out of memory, which is legal
   below. Done: the duplicate is there; drop: it will not be. Both free it. */
struct pmpi_hook_idup *pmpi_hook_idup_make(const struct pmpi_hook_communicator *parent, const char *kind,
                                           struct pmpi_hook_handles comm);
void pmpi_hook_idup_done(struct pmpi_hook_idup *idup);
void pmpi_hook_idup_drop(struct pmpi_hook_idup *idup);

/* Where a window or a file is; it is closed. */
void pmpi_hook_comm_bind(uint64_t key, const struct pmpi_hook_communicator *comm);
void pmpi_hook_comm_unbind(uint64_t key);
