/* SPDX-License-Identifier: MIT */
/*
 * Who is in which communicator.
 *
 * A communicator's name stands for one on each rank: the parts of a split have one name. A group is one of these, its
 * ranks of the world in the order of the communicator's; groups that differ only in where they begin are one
 * definition:
 *
 *     rows of a 3 x 4 grid       ranks 0 1 2 3 | 4 5 6 7 | 8 9 10 11      runs { 0, 4, 1 }          origins { 0, 4, 8 }
 *     its columns                ranks 0 4 8 | 1 5 9 | …                  runs { 0, 3, 4 }          origins { 0, 1, 2,
 *     3 } MPI_COMM_WORLD             all                                      runs { 0, 12, 1 }         origins { 0 }
 *
 * Rank i of the group that begins at origin o is o + the i-th number of the runs (modulo 2^32). Of an intercommunicator
 * the other group is a definition of its own, `remote`, its runs counted from the origin of the own group.
 *
 *   1. groups are in the order of communicator, remote, size, runs; of each communicator and origin there is one local
 *      group
 *   2. a communicator of which a rank had several in turn under one name (pmpi/variants.h) has one group of size 0: it
 *      is not known who is in it
 *
 * Cost: a look-up takes a step for each run, and for each group of the communicator as many as it has runs and the
 * fewer of origins and ranks a run.
 * Threads: any for readers.  Hook-safe: look-ups are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "job/ranges.h"

struct job;
struct job_maps;

/* first, first + stride, …: `count` numbers. */
struct job_run { uint32_t first, count; int32_t stride; };

struct job_group {
    uint32_t comm, remote;
    uint32_t size;                     /* ranks of one */
    uint32_t run_first, run_count;     /* in groups.runs */
    uint32_t range_first, range_count; /* in groups.ranges: the origins, a set of ranks */
};

struct job_groups {
    struct job_group *group;
    struct job_run *runs;
    struct job_ranges ranges;
    uint32_t group_count, run_count, group_room, run_room;
};

/* One group, as a rank sees it. */
struct job_members {
    uint32_t origin, size, run_count;
    const struct job_run *runs;
};

/* This rank's members of `comm`, in order, as ranks of the world; `remote` (may be NULL): the other group. To a job of
   that rank alone. 0, or PYTHIA_ENOMEM. */
int job_comm_add_members(struct job *j, uint32_t comm, const struct job_run *own, uint32_t own_count,
                         const struct job_run *remote, uint32_t remote_count);

/* The group of `comm` that the rank of the world is in. False: none, or not known. */
bool job_comm_members(const struct job *j, uint32_t comm, uint32_t rank, struct job_members *m);
/* The same of whom its peers are ranks of: the other group of an intercommunicator. */
bool job_comm_peers(const struct job *j, uint32_t comm, uint32_t rank, struct job_members *m);
/* Rank of the world, i below m->size. */
uint32_t job_members_at(const struct job_members *m, uint32_t i);

/* Rank of the world of a peer as `rank` names it; negative ones as they are; GRAMMAR_PEER_NONE: not known. */
int64_t job_comm_world(const struct job *j, uint32_t comm, uint32_t rank, int64_t peer);
/* The own rank in it, -1: not known. */
int64_t job_comm_rank(const struct job *j, uint32_t comm, uint32_t rank);

/* --- Between the parts of a job --- */
int job_groups_check(const struct job *j, char *why, size_t size); /* 0 or PYTHIA_EFORMAT */
/* 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT (job/schema.h). */
int job_groups_join(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made);
