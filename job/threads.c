/* SPDX-License-Identifier: MIT */
#include "job/threads.h"

#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/job.h"
#include "pythia.h"

static int order(const struct job_threads *a, const struct job_threads *b)
{
    return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->callsite, b->callsite);
}

void job_threads_sum(struct job_threads *into, const struct job_threads *from)
{
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

static uint32_t place_of(const struct job_threads_list *l, const struct job_threads *t)
{
    return BASE_ARRAY_PLACE(l->count, i, order(&l->of[i], t) < 0);
}

static uint32_t block_of(const struct job *j, uint32_t rank)
{
    return rank != GRAMMAR_NONE && j->info.block ? rank - rank % j->info.block : rank;
}

static const struct job_threads *find(const struct job *j, uint32_t rank, uint32_t callsite)
{
    const struct job_threads key = { .rank = rank, .callsite = callsite };
    uint32_t i = place_of(&j->threads, &key);
    return i < j->threads.count && !order(&j->threads.of[i], &key) ? &j->threads.of[i] : NULL;
}

const struct job_threads *job_threads_of_region(const struct job *j, uint32_t callsite)
{
    return find(j, GRAMMAR_NONE, callsite);
}

const struct job_threads *job_threads_of_rank(const struct job *j, uint32_t rank)
{
    return find(j, block_of(j, rank), GRAMMAR_NONE);
}

int job_threads_reserve(struct job *j, uint32_t extra)
{
    return base_array_room(&j->threads.of, &j->threads.room, (uint64_t)j->threads.count + extra, sizeof *j->threads.of);
}

int job_threads_add(struct job *j, const struct job_threads *added)
{
    struct job_threads own = *added, *t = &own;
    own.rank = block_of(j, own.rank);
    uint32_t i = place_of(&j->threads, t);
    struct job_threads *at = j->threads.of ? &j->threads.of[i] : NULL;
    if (i < j->threads.count && !order(at, t)) {
        job_threads_sum(at, t);
        return 0;
    }
    int error = job_threads_reserve(j, 1);
    if (error)
        return error;
    at = &j->threads.of[i];
    memmove(at + 1, at, (j->threads.count++ - i) * sizeof *at);
    *at = *t;
    return 0;
}

void job_threads_coarsen(struct job *j)
{
    struct job_threads_list *l = &j->threads;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct job_threads t = l->of[i];
        t.rank = block_of(j, t.rank);
        if (kept && !order(&l->of[kept - 1], &t))
            job_threads_sum(&l->of[kept - 1], &t);
        else
            l->of[kept++] = t;
    }
    l->count = kept;
}

/* Every field is one that threads can have; `limit` keeps sums over all records within 64 bits. */
static bool is_sane(const struct job *j, const struct job_threads *t)
{
    const uint64_t limit = UINT64_MAX >> 20;
    uint64_t known = 0;
    for (int i = 0; i < JOB_THREADS_PARTS; i++) {
        if (t->part[i] > limit)
            return false;
        known += t->part[i];
    }
    bool is_rank = t->rank != GRAMMAR_NONE;
    return t->ranks && t->team_ns <= limit && t->timed_ns <= t->team_ns && known <= t->team_ns &&
           t->region_mpi_ns <= t->region_ns && t->region_ns <= limit && is_rank == (t->callsite == GRAMMAR_NONE) &&
           (is_rank || (t->callsite < j->callsite_count && j->callsites[t->callsite].count == 1));
}

int job_threads_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->threads.count; i++)
        if (!is_sane(j, &j->threads.of[i]) || (i && order(&j->threads.of[i - 1], &j->threads.of[i]) >= 0))
            return job_refuse(why, size, "threads %u: its place or times", i);
    return 0;
}
