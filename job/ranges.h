/* SPDX-License-Identifier: MIT */
/*
 * Sets of (rank, thread) as strided ranges, in the one form that a set has.
 *
 *   thread 0: 0 1 2 3  9 12 15      { first 0, count 4, stride 1 }  { first 9, count 3, stride 3 }
 *   thread 1: 5                     { first 5, count 1, stride 1, thread 1 }
 *
 *   inner ranks of a 4 x 4 x 4 … n x n x n mesh: count n - 2 of stride 1, rows of stride n, planes of stride n * n: one
 *   range, whatever n is. So are each of the 26 kinds of ranks on its faces, edges and corners.
 *
 * Canonical form: by thread, then by rank. From left to right each run takes as many ranks as its stride goes on for; a
 * run of two that the third does not continue gives its second rank to the next one. Then the same with runs of equal
 * shape, which make rows, and with equal rows, which make planes. Equal sets have equal ranges, in whatever order they
 * were joined: that is what makes merging associative.
 *
 * Cost: joining is linear in the number of ranges where they do not interleave, in the number of members otherwise, and
 * gives up (PYTHIA_ELIMIT) after JOB_RANGES_STEPS: ranges of a hostile file may stand for billions.
 * Private to job/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "base/own.h"

enum { JOB_RANGES_STEPS = 1 << 26 };

/* Thread `thread` of the ranks first + i * stride + k * row_stride + l * plane_stride, for i below count, k up to
   `rows`, l up to `planes` (how many *more* rows and planes there are). */
struct job_range { uint32_t first, count, stride, thread, rows, row_stride, planes, plane_stride; };
static inline uint64_t job_range_size(const struct job_range *r)
{
    return (uint64_t)r->count * ((uint64_t)r->rows + 1) * ((uint64_t)r->planes + 1);
}
/* Its ranks in order: the one with number i, below the size. */
static inline uint32_t job_range_rank(const struct job_range *r, uint64_t i)
{
    uint64_t row = i / r->count, plane = row / ((uint64_t)r->rows + 1);
    return (uint32_t)(r->first + i % r->count * r->stride + row % ((uint64_t)r->rows + 1) * r->row_stride +
                      plane * r->plane_stride);
}

/* How many of its ranks are below `rank`: the number of the first that is not. */
static inline uint64_t job_range_before(const struct job_range *r, uint32_t rank)
{
    uint32_t at = rank > r->first ? rank - r->first : 0, l = r->planes ? at / r->plane_stride : 0;
    l = l < r->planes ? l : r->planes;
    at -= l * r->plane_stride;
    uint32_t k = r->rows ? at / r->row_stride : 0;
    k = k < r->rows ? k : r->rows;
    at -= k * r->row_stride;
    uint64_t i = (uint64_t)at / r->stride + (at % r->stride != 0);
    return ((uint64_t)l * ((uint64_t)r->rows + 1) + k) * r->count + (i < r->count ? i : r->count);
}

/* A growing list of ranges; what is appended is appended after whatever stands before `from`. */
struct job_ranges {
    struct job_range *range;
    uint32_t count, room;
};

/* Whether there are so many from `first` on. */
static inline bool job_ranges_within(const struct job_ranges *r, uint32_t first, uint32_t count)
{
    return first <= r->count && count <= r->count - first;
}

/* Appends the union of two sets. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT, or PYTHIA_EINVAL when they share a member; on failure
   `out` is as long as it was. `out` may not hold a or b. */
int job_ranges_union(struct job_ranges *out, const struct job_range *a, uint32_t a_count, const struct job_range *b,
                       uint32_t b_count);
/* Appends a set given by its members, sorted by thread and rank (as job_ranges_walk gives them). */
struct job_member { uint32_t rank, thread; };
int job_ranges_members(struct job_ranges *out, const struct job_member *m, uint32_t count);

struct job_set { const struct job_range *ranges; uint32_t count; };
/* Appends the union of n sets, of which the next one is `apart` bytes on; they may share members. As job_ranges_union;
   linear in the number of members, with sorting, where they do or are more than two. */
int job_sets_join(struct job_ranges *out, const struct job_set *s, size_t apart, uint32_t n);
/* Each member as a range of its own, in the order of job_ranges_walk. How many. */
uint32_t job_set_apart(const struct job_set *s, struct job_range *out);

uint64_t job_ranges_size(const struct job_range *r, uint32_t count);
/* Writes all members in order, by thread and rank; out has room for job_ranges_size(). */
void job_ranges_walk(const struct job_range *r, uint32_t count, struct job_member *out);
/* The same one by one:   for (struct job_walk w = { .range = r, .left = count }; job_walk_next(&w);)   w.at */
struct job_walk { struct job_member at; const struct job_range *range; uint32_t left; uint64_t next; };
static inline bool job_walk_next(struct job_walk *w)
{
    for (; w->left; w->left--, w->range++, w->next = 0)
        if (w->next < job_range_size(w->range)) {
            w->at = (struct job_member){ job_range_rank(w->range, w->next++), w->range->thread };
            return true;
        }
    return false;
}
bool job_ranges_contain(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread);
/* The member with the lowest rank, then thread; count > 0. */
struct job_member job_ranges_first(const struct job_range *r, uint32_t count);
bool job_ranges_equal(const struct job_range *a, uint32_t a_count, const struct job_range *b, uint32_t b_count);
/* Whether these ranges are sane (counts and strides positive, no overflow), in canonical form, and each rank is below
   `ranks`: then they stand for no more than there are. */
bool job_ranges_canonical(const struct job_range *r, uint32_t count, uint32_t ranks);

static inline uint32_t job_range_last(const struct job_range *r)
{
    return r->first + (r->count - 1) * r->stride + r->rows * r->row_stride + r->planes * r->plane_stride;
}

/* Order of the members in a set, as job_ranges_walk gives them: by thread, then rank. */
static inline bool job_member_walked_before(struct job_member a, struct job_member b)
{
    return a.thread < b.thread || (a.thread == b.thread && a.rank < b.rank);
}

/* Order of members where "the first" is meant: by rank, then thread. */
static inline int job_member_order(const void *x, const void *y)
{
    const struct job_member *a = x, *b = y;
    return BASE_ORDER(a->rank, b->rank) ?: BASE_ORDER(a->thread, b->thread);
}

static inline bool job_member_before(struct job_member a, struct job_member b)
{
    return job_member_order(&a, &b) < 0;
}
