/* SPDX-License-Identifier: MIT */
#include "merge/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "merge/intern.h"

/* Builds the canonical form from members in order. `open` is the range that may still grow. */
struct builder {
    struct merge_ranges *out;
    struct job_range open; /* count 0: none */
    int error;
};

static void emit(struct builder *b, struct job_range r)
{
    if (r.count == 1)
        r.stride = 1;
    if (!b->error)
        b->error = merge_room(&b->out->range, &b->out->room, (uint64_t)b->out->count + 1, sizeof r);
    if (!b->error)
        b->out->range[b->out->count++] = r;
}

static void start(struct builder *b, uint32_t rank, uint32_t thread)
{
    b->open = (struct job_range){ rank, 1, 1, thread };
}

static void feed(struct builder *b, uint32_t rank, uint32_t thread)
{
    struct job_range *open = &b->open;
    if (!open->count) {
        start(b, rank, thread);
        return;
    }
    if (open->thread != thread) {
        emit(b, *open);
        start(b, rank, thread);
        return;
    }
    uint32_t last = merge_range_last(open);
    if (rank <= last) {
        b->error = PYTHIA_EINVAL; /* the same member twice */
    } else if (open->count == 1) {
        open->stride = rank - last;
        open->count = 2;
    } else if (rank - last == open->stride) {
        open->count++;
    } else if (open->count == 2) {
        emit(b, (struct job_range){ open->first, 1, 1, thread });
        *open = (struct job_range){ last, 2, rank - last, thread };
    } else {
        emit(b, *open);
        start(b, rank, thread);
    }
}

/* The same as feeding each member, in constant time: once the open range has the stride of `r` the rest only lengthens it. */
static void feed_range(struct builder *b, struct job_range r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t rank = r.first + i * r.stride;
        feed(b, rank, r.thread);
        if (b->open.count > 1 && b->open.stride == r.stride && merge_range_last(&b->open) == rank) {
            b->open.count += r.count - 1 - i;
            return;
        }
    }
}

static int finish(struct builder *b, uint32_t before)
{
    if (b->open.count)
        emit(b, b->open);
    if (b->error)
        b->out->count = before;
    return b->error;
}

/* Takes from two lists; a range that the other list's next member falls into is taken member by member. */
static bool range_before(const struct job_range *a, const struct job_range *b)
{
    return a->thread < b->thread || (a->thread == b->thread && merge_range_last(a) < b->first);
}

static bool first_before(const struct job_range *a, const struct job_range *b)
{
    return a->thread < b->thread || (a->thread == b->thread && a->first < b->first);
}

static void feed_one(struct builder *build, struct job_range *r)
{
    feed(build, r->first, r->thread);
    r->first += r->stride;
    r->count--;
}

struct side {
    struct job_range head; /* what is left of the current range; count 0: no more */
    const struct job_range *rest;
    uint32_t left;
};

static void side_refill(struct side *s)
{
    if (!s->head.count && s->left) {
        s->head = *s->rest++;
        s->left--;
    }
}

static void side_take(struct builder *build, struct side *s, const struct side *other)
{
    if (!other->head.count || range_before(&s->head, &other->head)) {
        feed_range(build, s->head);
        s->head.count = 0;
    } else {
        feed_one(build, &s->head);
    }
    side_refill(s);
}

int merge_ranges_union(struct merge_ranges *out, const struct job_range *a, uint32_t a_count, const struct job_range *b,
                       uint32_t b_count)
{
    struct builder build = { out, { 0 }, 0 };
    struct side left = { { 0 }, a, a_count }, right = { { 0 }, b, b_count };
    uint32_t before = out->count;
    side_refill(&left);
    side_refill(&right);
    while (!build.error && (left.head.count || right.head.count))
        if (!right.head.count || (left.head.count && first_before(&left.head, &right.head)))
            side_take(&build, &left, &right);
        else
            side_take(&build, &right, &left);
    return finish(&build, before);
}

int merge_ranges_members(struct merge_ranges *out, const struct merge_member *m, uint32_t count)
{
    struct builder build = { out, { 0 }, 0 };
    uint32_t before = out->count;
    for (uint32_t i = 0; i < count && !build.error; i++)
        feed(&build, m[i].rank, m[i].thread);
    return finish(&build, before);
}

uint64_t merge_ranges_size(const struct job_range *r, uint32_t count)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += r[i].count;
    return size;
}

void merge_ranges_walk(const struct job_range *r, uint32_t count, struct merge_member *out)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < r[i].count; k++)
            *out++ = (struct merge_member){ r[i].first + k * r[i].stride, r[i].thread };
}

bool merge_ranges_contain(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread)
{
    uint32_t low = 0, high = count; /* the last range that begins at or before the member */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r[middle].thread < thread || (r[middle].thread == thread && r[middle].first <= rank))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || r[low - 1].thread != thread)
        return false;
    const struct job_range *at = &r[low - 1];
    return rank <= merge_range_last(at) && (rank - at->first) % at->stride == 0;
}

struct merge_member merge_ranges_first(const struct job_range *r, uint32_t count)
{
    struct merge_member first = { r[0].first, r[0].thread };
    for (uint32_t i = 1; i < count; i++) {
        struct merge_member m = { r[i].first, r[i].thread };
        if (merge_member_before(m, first))
            first = m;
    }
    return first;
}

bool merge_ranges_equal(const struct job_range *a, uint32_t a_count, const struct job_range *b, uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof *a));
}

static bool range_sane(const struct job_range *r)
{
    return r->count && r->stride && (r->count > 1 || r->stride == 1) &&
           r->first + (uint64_t)(r->count - 1) * r->stride < MERGE_LIMIT;
}

bool merge_ranges_canonical(const struct job_range *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!range_sane(&r[i]) || (i && !range_before(&r[i - 1], &r[i])))
            return false;
    struct merge_ranges again = { 0 };
    bool same = !merge_ranges_union(&again, r, count, NULL, 0) && merge_ranges_equal(r, count, again.range, again.count);
    free(again.range);
    return same;
}
