/* SPDX-License-Identifier: MIT */
#include "job/streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/intern.h"
#include "job/ranges.h"

/* Of a job of so many ranks. */
static uint32_t block_of_size(uint32_t ranks)
{
    uint32_t block = 1;
    while (ranks > (uint64_t)block * JOB_BLOCKS)
        block *= 2;
    return block;
}

static int order(const struct job_stream *a, const struct job_stream *b)
{
    return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->thread, b->thread);
}

static void meet_extent(struct job_extent *a, const struct job_extent *b)
{
    if (b->least < a->least || (b->least == a->least && b->least_rank < a->least_rank)) {
        a->least = b->least;
        a->least_rank = b->least_rank;
    }
    if (b->most > a->most || (b->most == a->most && b->most_rank < a->most_rank)) {
        a->most = b->most;
        a->most_rank = b->most_rank;
    }
}

void job_stream_alone(struct job_stream *s, uint32_t rank)
{
    uint64_t useful = job_stream_useful(s);
    s->wall = (struct job_extent){ s->wall_ns, s->wall_ns, rank, rank };
    s->useful = (struct job_extent){ useful, useful, rank, rank };
}

static void add_record(struct job_stream *a, const struct job_stream *b)
{
    a->count += b->count;
    a->events += b->events;
    a->lost += b->lost;
    a->begin_ns += b->begin_ns;
    a->wall_ns += b->wall_ns;
    a->mpi_ns += b->mpi_ns;
    a->omp_ns += b->omp_ns;
    a->cost_ns += b->cost_ns;
    a->drift_ns += b->drift_ns;
    meet_extent(&a->wall, &b->wall);
    meet_extent(&a->useful, &b->useful);
    if (a->class_index != b->class_index)
        a->class_index = GRAMMAR_NONE;
}

uint32_t job_streams_place(const struct job *j, uint32_t rank, uint32_t thread)
{
    struct job_stream key = { .rank = rank, .thread = thread };
    return BASE_ARRAY_PLACE(j->stream_count, i, order(&j->streams[i], &key) < 0);
}

static int by_place(const void *a, const void *b)
{
    return order(a, b);
}

/* Sorts the records; those of one place become one. */
static void meet(struct job *j)
{
    uint32_t kept = 0;
    if (j->stream_count)
        qsort(j->streams, j->stream_count, sizeof *j->streams, by_place);
    for (uint32_t i = 0; i < j->stream_count; i++)
        if (kept && !order(&j->streams[kept - 1], &j->streams[i]))
            add_record(&j->streams[kept - 1], &j->streams[i]);
        else
            j->streams[kept++] = j->streams[i];
    j->stream_count = kept;
}

/* Coarser blocks: records move to the begin of theirs, and those that meet become one. */
static void coarsen(struct job *j, uint32_t block)
{
    if (block <= j->info.block)
        return;
    j->info.block = block;
    for (uint32_t i = 0; i < j->stream_count; i++)
        j->streams[i].rank -= j->streams[i].rank % block;
    meet(j); /* a block has its threads in the order of the ranks by now */
}

/* --- A stream that is in both --- */

static uint32_t last_rank(const struct job *j)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < j->class_count; i++)
        for (uint32_t k = 0; k < j->classes[i].member_ranges; k++) {
            uint32_t at = job_range_last(&j->classes[i].ranges[k]);
            last = at > last ? at : last;
        }
    return last;
}

static uint32_t first_rank(const struct job *j)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < j->class_count; i++) {
        uint32_t at = job_ranges_first(j->classes[i].ranges, j->classes[i].member_ranges).rank;
        first = at < first ? at : first;
    }
    return first;
}

/* Adds the members of all classes to a set; PYTHIA_EINVAL where one is there already. */
static int add_members(struct job_ranges *all, const struct job *j)
{
    int error = 0;
    for (uint32_t i = 0; i < j->class_count && !error; i++) {
        struct job_ranges next = { 0 };
        const struct job_class *c = &j->classes[i];
        error = job_ranges_union(&next, all->range, all->count, c->ranges, c->member_ranges);
        free(all->range);
        *all = next;
    }
    return error;
}

/* Records of blocks do not tell; the classes' members do. */
static int check_disjoint(const struct job *a, const struct job *b)
{
    struct job_ranges all = { 0 };
    if (!a->class_count || !b->class_count || last_rank(a) < first_rank(b))
        return 0; /* the common case: everything of `b` comes after */
    int error = add_members(&all, a);
    if (!error)
        error = add_members(&all, b);
    free(all.range);
    return error;
}

int job_streams_plan(struct job *into, const struct job *from)
{
    int error = check_disjoint(into, from);
    return error ? error : base_array_room(&into->streams, &into->index->stream_room,
                                      (uint64_t)into->stream_count + from->stream_count, sizeof *into->streams);
}

/* --- Joining --- */

static struct job_stream renamed(const struct job_stream *s, uint32_t block, const uint32_t *class_map)
{
    struct job_stream r = *s;
    r.rank -= r.rank % block;
    if (r.class_index != GRAMMAR_NONE)
        r.class_index = class_map[r.class_index];
    return r;
}

/* One more record at its place; nearly always at the end. */
static void put(struct job *j, const struct job_stream *s)
{
    uint32_t n = j->stream_count,
             at = n && order(&j->streams[n - 1], s) >= 0 ? job_streams_place(j, s->rank, s->thread) : n;
    if (at < n && !order(&j->streams[at], s)) {
        add_record(&j->streams[at], s);
        return;
    }
    memmove(&j->streams[at + 1], &j->streams[at], (n - at) * sizeof *s);
    j->streams[at] = *s;
    j->stream_count++;
}

/* Records that interleave: `from` goes to the end, and both are sorted. Equal places meet. */
static void put_all(struct job *j, const struct job *from, const uint32_t *class_map)
{
    uint32_t n = j->stream_count;
    for (uint32_t i = 0; i < from->stream_count; i++)
        j->streams[n + i] = renamed(&from->streams[i], j->info.block, class_map);
    j->stream_count = n + from->stream_count;
    meet(j);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t job_streams_block(const struct job *a, const struct job *b)
{
    return larger(block_of_size(larger(a->info.ranks, b->info.ranks)), larger(a->info.block, b->info.block));
}

void job_streams_commit(struct job *into, const struct job *from, const uint32_t *class_map)
{
    coarsen(into, job_streams_block(into, from));
    if (!from->stream_count)
        return;
    struct job_stream first = renamed(&from->streams[0], into->info.block, class_map);
    bool after = !into->stream_count || order(&into->streams[into->stream_count - 1], &first) <= 0;
    if (from->info.block != into->info.block || !after) {
        put_all(into, from, class_map);
        return;
    }
    for (uint32_t i = 0; i < from->stream_count; i++) {
        struct job_stream s = renamed(&from->streams[i], into->info.block, class_map);
        put(into, &s);
    }
}

void job_streams_add(struct job *j, const struct job_stream *s)
{
    struct job_stream one = *s;
    coarsen(j, block_of_size(j->info.ranks));
    one.count = 1;
    job_stream_alone(&one, s->rank);
    one.rank -= one.rank % j->info.block;
    put(j, &one);
}
