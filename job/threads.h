/* SPDX-License-Identifier: MIT */
/*
 * How the threads of teams spent their time: one record a rank (or block of ranks, as in the table of streams), and one
 * a region over all ranks.
 *
 *     thread 0   |fork| work ... | wait | work ..... MPI .... | uneven |join|
 *     thread 1   |  fork   | work ........ | uneven | work .. |        |join|
 *                begin                        barrier                       end of the region
 *
 *   work     in the program's own code                      fork    from the region's begin until the thread's own
 *   MPI      in MPI calls that this thread made             join    from the end of the last thread until the region's
 *   wait     for each other: critical sections, locks, order, tasks
 *   uneven   the rest: at barriers, at the ends of loops, sections, singles, and of the region, for the last thread
 *
 * The parts add up to what is known of all threads' time: executions in which each thread was timed, and those that
 * they stand for. Times are those of outermost regions with all that is nested in them, entered by the rank's first
 * thread.
 *
 * Ownership: part of struct job. Threads: as there.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct job;

enum job_threads_part {
    JOB_THREADS_WORK, JOB_THREADS_MPI, JOB_THREADS_UNEVEN, JOB_THREADS_WAIT, JOB_THREADS_FORK, JOB_THREADS_JOIN,
    JOB_THREADS_PARTS
};

struct job_threads {
    uint32_t rank;         /* the first of its block; GRAMMAR_NONE: a region, over all ranks */
    uint32_t callsite;     /* of a region: one frame, as in struct job_region; GRAMMAR_NONE: a rank, over all regions */
    uint32_t ranks;        /* that are in here */
    uint32_t threads;      /* the largest team that was asked for, with the teams inside it */
    uint64_t samples;      /* executions in which each thread was timed */
    uint64_t region_ns;    /* in regions, on the thread that entered them … */
    uint64_t region_mpi_ns;/* … and of it in its MPI calls */
    uint64_t team_ns;      /* the same of all threads of their teams … */
    uint64_t timed_ns;     /* … and of it in executions in which each was timed */
    uint64_t part[JOB_THREADS_PARTS]; /* of team_ns what is known */
};

struct job_threads_list {
    struct job_threads *of; /* ordered by rank, then callsite */
    uint32_t count, room;
};

/* Adds what the times of another record are; the names stay. */
void job_threads_sum(void *into, const void *from);
/* What is known of all threads' time, ns. */
uint64_t job_threads_known(const struct job_threads *t);
/* The record of a region, NULL without. */
const struct job_threads *job_threads_of_region(const struct job *j, uint32_t callsite);
/* The record that a rank is in, NULL without. */
const struct job_threads *job_threads_of_rank(const struct job *j, uint32_t rank);
int job_threads_check(const struct job *j, char *why, size_t size); /* 0 or PYTHIA_EFORMAT (job/schema.h) */
/* Adds a record, to the one of its name where there is one. 0, or a negative PYTHIA_E…. */
int job_threads_add(struct job *j, const struct job_threads *t);
