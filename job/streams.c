/* SPDX-License-Identifier: MIT */
#include "job/schema.h"

#include <stdlib.h>

#include "pythia.h"

/* Of a job of so many ranks. */
static uint32_t block_of_size(uint32_t ranks)
{
    uint32_t block = 1;
    while (ranks > (uint64_t)block * JOB_BLOCKS)
        block *= 2;
    return block;
}

void job_extent_join(struct job_extent *a, const struct job_extent *b)
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

void job_stream_join(void *x, const void *y)
{
    struct job_stream *a = x;
    const struct job_stream *b = y;
    job_extent_join(&a->wall, &b->wall);
    job_extent_join(&a->useful, &b->useful);
    if (a->class_index != b->class_index)
        a->class_index = GRAMMAR_NONE;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t job_streams_block(const struct job *a, const struct job *b)
{
    return larger(block_of_size(larger(a->info.ranks, b->info.ranks)), larger(a->info.block, b->info.block));
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
int job_streams_disjoint(const struct job *a, const struct job *b)
{
    struct job_ranges all = { 0 };
    if (!a->class_count || !b->class_count || last_rank(a) < first_rank(b))
        return 0; /* the common case: everything of `b` comes after */
    int error = add_members(&all, a);
    error = error ?: add_members(&all, b);
    free(all.range);
    return error;
}

/* --- One more --- */

int job_streams_room(struct job *j)
{
    static const struct job_maps same;
    const struct job nobody = { .info.ranks = 0 };
    uint32_t block = job_streams_block(j, j);
    struct job made = { 0 };
    int error = block == j->info.block ? 0 : job_rows_join(j, &nobody, JOB_TABLE_STREAMS, &same, &made);
    if (!error && block != j->info.block) {
        job_rows_swap(j, &made, JOB_TABLE_STREAMS);
        j->info.block = block;
    }
    job_rows_free(&made);
    return error ?: job_rows_room(j, JOB_TABLE_STREAMS, (uint64_t)j->stream_count + 1);
}

void job_streams_add(struct job *j, const struct job_stream *s)
{
    struct job_stream one = *s;
    one.count = 1;
    job_stream_alone(&one, s->rank);
    one.rank -= one.rank % j->info.block;
    (void)job_rows_add(j, JOB_TABLE_STREAMS, &one); /* there is room */
}
