/* SPDX-License-Identifier: MIT */
#include "job/check.h"
#include "job/schema.h"

void job_threads_sum(void *x, const void *y)
{
    struct job_threads *into = x;
    const struct job_threads *from = y;
    into->ranks += from->ranks;
    into->threads = into->threads > from->threads ? into->threads : from->threads;
    into->samples += from->samples;
    into->region_ns += from->region_ns;
    into->region_mpi_ns += from->region_mpi_ns;
    into->team_ns += from->team_ns;
    into->timed_ns += from->timed_ns;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        into->part[i] += from->part[i];
}

uint64_t job_threads_known(const struct job_threads *t)
{
    uint64_t sum = 0;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        sum += t->part[i];
    return sum;
}

int job_threads_check(const struct job *j, char *why, size_t size)
{
    uint64_t sum = 0;
    for (const struct job_threads *t = j->threads.of; t < j->threads.of + j->threads.count; t++)
        if (__builtin_add_overflow(sum, t->team_ns, &sum) || __builtin_add_overflow(sum, t->region_ns, &sum) ||
            sum > INT64_MAX)
            return job_refuse(why, size, "threads: 2^63 ns or more");
    return 0;
}

static uint32_t block_of(const struct job *j, uint32_t rank)
{
    return rank == GRAMMAR_NONE ? rank : rank - rank % job_streams_block(j, j);
}

static const struct job_threads *find(const struct job *j, uint32_t rank, uint32_t callsite)
{
    return job_rows_find(j, JOB_TABLE_THREADS, &(struct job_threads){ .rank = rank, .callsite = callsite });
}

const struct job_threads *job_threads_of_region(const struct job *j, uint32_t callsite)
{
    return find(j, GRAMMAR_NONE, callsite);
}

const struct job_threads *job_threads_of_rank(const struct job *j, uint32_t rank)
{
    return find(j, block_of(j, rank), GRAMMAR_NONE);
}

int job_threads_add(struct job *j, const struct job_threads *added)
{
    struct job_threads own = *added;
    own.rank = block_of(j, own.rank);
    return job_rows_add(j, JOB_TABLE_THREADS, &own);
}
