/* SPDX-License-Identifier: MIT */
/*
 * Regions that the program's own people named (pythia_region_begin), by how they nest, of each rank.
 *
 *     events     solve{  halo{ MPI_Waitall }halo  MPI_Allreduce  }solve      of kind JOB_NAMED, opening and closing
 *     path       solve                  frames, innermost first, each in a module of build-id JOB_NAMED_ID
 *                halo < solve           whose path is the name
 *     stops      MPI_Waitall  at  halo_exchange < main < [halo < solve]        the call path ends in them
 *
 * A row is of one path and one rank (or block of ranks, as in the table of streams), its first thread and its other
 * threads apart. What is inside is in it: rows of the paths of one name add up to the region, but for those inside
 * another one of that name.
 *
 * Ownership: part of struct job. Threads: as there.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>

#include "job/define.h"
#include "job/threads.h"

#define JOB_NAMED_ID "region" /* no build-id */

struct job_named {
    uint32_t path;          /* callsite of names alone; GRAMMAR_NONE: outside of all, which has own_ns alone */
    uint32_t rank;          /* the first of its block */
    uint32_t thread;        /* 0: the first one, 1: others, together */
    uint32_t ranks;         /* that are in here; of other threads, these */
    uint64_t entries;
    uint64_t unended;       /* of them closed by what is around: their own end never came */
    uint64_t ns, mpi_ns, omp_ns; /* of the thread: in all of it, of it in calls, of it in parallel regions */
    uint64_t own_ns;        /* between what is inside, where the stops do not have it: before a named begin or end */
    uint64_t most_ns, most_useful_ns; /* of one rank; useful: outside of calls */
    struct job_threads teams; /* of the parallel regions inside; rank, callsite, ranks do not count */
};

struct job_named_list {
    struct job_named *of; /* ordered by path, rank, thread */
    uint32_t count, room;
};

/* The path `name` within `outer` (GRAMMAR_NONE: outermost), interned; GRAMMAR_NONE: out of memory. */
uint32_t job_named_path(struct job *j, const char *name, uint32_t outer);
/* A call's path with the names of another one behind its frames; one of them may be GRAMMAR_NONE. */
uint32_t job_named_within(struct job *j, uint32_t path, uint32_t names);
/* The name that a frame stands for; NULL: it is of a program. */
const char *job_named_frame(const struct job *j, const struct job_frame *f);
/* How many frames of a path stand behind the program's. */
uint32_t job_named_depth(const struct job *j, uint32_t path);

/* The innermost of them; NULL: there is none. */
const char *job_named_innermost(const struct job *j, uint32_t path);
/* A path's frames without them, the program's own; none for GRAMMAR_NONE. */
struct job_callsite job_named_without(const struct job *j, uint32_t path);
/* Adds a row, to the one of its path, rank and thread where there is one. 0, or a negative PYTHIA_E…. */
int job_named_add(struct job *j, const struct job_named *n);

/* --- Between the parts of a job --- */
bool job_named_sane(const struct job *j, const void *row);
