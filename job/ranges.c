/* SPDX-License-Identifier: MIT */
#include "job/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/intern.h"

/*
 * Builds the canonical form from members in order. Three levels of one greedy rule: members become runs, runs rows of
 * equal ones, rows planes. What is open at each level may still grow; what no longer can becomes an element of the
 * next.
 *
 *     feed ──member──> open[RUN] ──run──> open[ROWS] ──rows──> open[PLANES] ──> out
 */
enum { RUN, ROWS, PLANES, LEVELS };

struct builder {
    struct job_ranges *out;
    struct job_range open[LEVELS]; /* count 0: none */
    uint64_t steps, most;
    uint32_t room;                 /* ranges that may come out */
    int error;
};

/* How often the element of this level stands in the group, less one; and at which distance. */
static uint32_t *more_of(struct job_range *r, int level)
{
    return level == RUN ? &r->count : level == ROWS ? &r->rows : &r->planes; /* RUN: not less one */
}

static uint32_t *stride_of(struct job_range *r, int level)
{
    return level == RUN ? &r->stride : level == ROWS ? &r->row_stride : &r->plane_stride;
}

static uint32_t times_of(const struct job_range *r, int level)
{
    return level == RUN ? r->count : level == ROWS ? r->rows + 1 : r->planes + 1;
}

static void set_times(struct job_range *r, int level, uint32_t times, uint32_t stride)
{
    *more_of(r, level) = level == RUN ? times : times - 1;
    *stride_of(r, level) = times > 1 ? stride : level == RUN;
}

/* The element that a group of this level is made of, at its last place. */
static struct job_range last_element(struct job_range r, int level)
{
    r.first += (times_of(&r, level) - 1) * *stride_of(&r, level);
    set_times(&r, level, 1, 0);
    return r;
}

/* Equal but for where they begin. */
static bool same_shape(struct job_range a, struct job_range b)
{
    a.first = b.first = 0;
    return !memcmp(&a, &b, sizeof a);
}

static void feed_element(struct builder *b, int level, struct job_range e);

static void close_group(struct builder *b, int level, struct job_range group)
{
    if (level < PLANES) {
        feed_element(b, level + 1, group);
        return;
    }
    if (!b->error && b->out->count >= b->room)
        b->error = PYTHIA_ELIMIT;
    if (!b->error)
        b->error = base_array_room(&b->out->range, &b->out->room, (uint64_t)b->out->count + 1, sizeof group);
    if (!b->error)
        b->out->range[b->out->count++] = group;
}

/* One element more: it goes on with what is open, or ends it. `e` stands once at this level. */
static void feed_element(struct builder *b, int level, struct job_range e)
{
    struct job_range *open = &b->open[level], last = last_element(*open, level);
    uint32_t times = times_of(open, level), apart = e.first - last.first;
    if (++b->steps > b->most)
        b->error = PYTHIA_ELIMIT;
    if (b->error)
        return;
    if (!open->count) {
        *open = e;
    } else if (level == RUN && open->thread == e.thread && e.first <= last.first) {
        b->error = PYTHIA_EINVAL; /* the same member twice */
    } else if (!same_shape(last, e)) { /* threads too */
        close_group(b, level, *open);
        *open = e;
    } else if (times == 1 || apart == *stride_of(open, level)) {
        set_times(open, level, times + 1, apart);
    } else if (times == 2) {
        struct job_range first = *open;
        set_times(&first, level, 1, 0);
        close_group(b, level, first);
        *open = last;
        set_times(open, level, 2, apart);
    } else {
        close_group(b, level, *open);
        *open = e;
    }
}

/* Whether feeding one more element of a group of `level` has changed nothing but what feeding the next one changes too:
   everything below has moved by `stride`, the group has one more, nothing above has changed. */
static bool steady(const struct builder *before, const struct builder *now, int level, uint32_t stride)
{
    for (int l = 0; l < LEVELS; l++) {
        struct job_range expected = before->open[l];
        if (l < level)
            expected.first += stride;
        if (l == level) {
            if (times_of(&expected, l) < 3 || *stride_of(&expected, l) != stride)
                return false;
            set_times(&expected, l, times_of(&expected, l) + 1, stride);
        }
        if (memcmp(&expected, &now->open[l], sizeof expected))
            return false;
    }
    return now->out->count == before->room; /* which keeps the count of before, here */
}

/* The same as feeding each member, but in constant time once the group that is open goes on as `r` does. */
static void feed_range(struct builder *b, int level, struct job_range r)
{
    if (level < RUN) {
        feed_element(b, RUN, r);
        return;
    }
    uint32_t times = times_of(&r, level), stride = *stride_of(&r, level);
    struct job_range e = r;
    set_times(&e, level, 1, 0);
    for (uint32_t i = 0; i < times && !b->error; i++) {
        struct builder before = *b;
        before.room = b->out->count;
        feed_range(b, level - 1, e);
        e.first += stride;
        if (i + 1 == times || !steady(&before, b, level, stride))
            continue;
        uint32_t left = times - 1 - i;
        for (int l = 0; l < level; l++)
            b->open[l].first += left * stride;
        *more_of(&b->open[level], level) += left;
        return;
    }
}

static void feed(struct builder *b, uint32_t rank, uint32_t thread)
{
    feed_element(b, RUN, (struct job_range){ rank, 1, 1, thread, 0, 0, 0, 0 });
}

static int ranges_finish(struct builder *b, uint32_t before)
{
    for (int level = 0; level < LEVELS && !b->error; level++)
        if (b->open[level].count) {
            struct job_range last = b->open[level];
            b->open[level].count = 0;
            close_group(b, level, last);
        }
    if (b->error)
        b->out->count = before;
    return b->error;
}

/* Takes from two lists; a range that the other list's next member falls into is taken apart. */
static bool range_before(const struct job_range *a, const struct job_range *b)
{
    return a->thread < b->thread || (a->thread == b->thread && job_range_last(a) < b->first);
}

static bool first_before(const struct job_range *a, const struct job_range *b)
{
    return a->thread < b->thread || (a->thread == b->thread && a->first < b->first);
}

/* What is left of a list: the range at hand, and above it what it was taken from. */
struct side {
    struct job_range stack[LEVELS + 1];
    int depth;
    const struct job_range *rest;
    uint32_t left;
};

static const struct job_range *side_head(const struct side *s)
{
    return s->depth ? &s->stack[s->depth - 1] : NULL;
}

static void side_refill(struct side *s)
{
    if (!s->depth && s->left) {
        s->stack[s->depth++] = *s->rest++;
        s->left--;
    }
}

/* The first element of the range at hand alone, the rest below it. */
static void side_split(struct side *s)
{
    struct job_range *rest = &s->stack[s->depth - 1], first = *rest;
    int level = rest->planes ? PLANES : rest->rows ? ROWS : RUN;
    uint32_t times = times_of(rest, level), stride = *stride_of(rest, level);
    set_times(&first, level, 1, 0);
    set_times(rest, level, times - 1, stride);
    rest->first += stride;
    s->stack[s->depth++] = first;
}

static void ranges_side_take(struct builder *build, struct side *s, const struct side *other)
{
    while (side_head(other) && !range_before(side_head(s), side_head(other)) && job_range_size(side_head(s)) > 1)
        side_split(s);
    feed_range(build, PLANES, *side_head(s));
    s->depth--;
    side_refill(s);
}

static int ranges_join(struct builder *build, const struct job_range *a, uint32_t a_count, const struct job_range *b,
                       uint32_t b_count)
{
    struct side left = { .rest = a, .left = a_count }, right = { .rest = b, .left = b_count };
    uint32_t before = build->out->count;
    side_refill(&left);
    side_refill(&right);
    while (!build->error && (left.depth || right.depth))
        if (!right.depth || (left.depth && first_before(side_head(&left), side_head(&right))))
            ranges_side_take(build, &left, &right);
        else
            ranges_side_take(build, &right, &left);
    return ranges_finish(build, before);
}

int job_ranges_union(struct job_ranges *out, const struct job_range *a, uint32_t a_count, const struct job_range *b,
                       uint32_t b_count)
{
    struct builder build = { .out = out, .most = JOB_RANGES_STEPS, .room = UINT32_MAX };
    return ranges_join(&build, a, a_count, b, b_count);
}

int job_ranges_members(struct job_ranges *out, const struct job_member *m, uint32_t count)
{
    struct builder build = { .out = out, .most = UINT64_MAX, .room = UINT32_MAX };
    uint32_t before = out->count;
    for (uint32_t i = 0; i < count && !build.error; i++)
        feed(&build, m[i].rank, m[i].thread);
    return ranges_finish(&build, before);
}

BASE_COMPARISON(ranges_by_place, struct job_member, BASE_UP(thread) ?: BASE_UP(rank))

static const struct job_set *set_at(const struct job_set *s, size_t apart, uint32_t i)
{
    return (const void *)((const char *)s + i * apart);
}

/* All members of n sets, each once. */
static int gather(struct job_ranges *out, const struct job_set *s, size_t apart, uint32_t n)
{
    uint64_t size = 0, at = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        size += job_ranges_size(set_at(s, apart, i)->ranges, set_at(s, apart, i)->count);
    BASE_OWN struct job_member *m = size > JOB_RANGES_STEPS ? NULL : malloc((size_t)size * sizeof *m + 1);
    if (!m)
        return size > JOB_RANGES_STEPS ? PYTHIA_ELIMIT : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct job_set *one = set_at(s, apart, i);
        job_ranges_walk(one->ranges, one->count, m + at);
        at += job_ranges_size(one->ranges, one->count);
    }
    qsort(m, (size_t)size, sizeof *m, ranges_by_place);
    for (uint64_t i = 0; i < size; i++)
        if (!kept || ranges_by_place(&m[kept - 1], &m[i]) != 0)
            m[kept++] = m[i];
    return job_ranges_members(out, m, kept);
}

int job_sets_join(struct job_ranges *out, const struct job_set *s, size_t apart, uint32_t n)
{
    static const struct job_set none;
    const struct job_set *a = n > 0 ? s : &none, *b = n > 1 ? set_at(s, apart, 1) : &none;
    int error = n > 2 ? PYTHIA_EINVAL : job_ranges_union(out, a->ranges, a->count, b->ranges, b->count);
    return error == PYTHIA_EINVAL ? gather(out, s, apart, n) : error;
}

uint32_t job_set_apart(const struct job_set *s, struct job_range *out)
{
    uint32_t n = 0;
    for (struct job_walk w = { .range = s->ranges, .left = s->count }; job_walk_next(&w);)
        out[n++] = (struct job_range){ w.at.rank, 1, 1, w.at.thread, 0, 0, 0, 0 };
    return n;
}

uint64_t job_ranges_size(const struct job_range *r, uint32_t count)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += job_range_size(&r[i]);
    return size;
}

void job_ranges_walk(const struct job_range *r, uint32_t count, struct job_member *out)
{
    for (const struct job_range *end = r + count; r < end; r++)
        for (uint32_t l = 0, plane = r->first; l <= r->planes; l++, plane += r->plane_stride)
            for (uint32_t k = 0, row = plane; k <= r->rows; k++, row += r->row_stride)
                for (uint32_t i = 0; i < r->count; i++)
                    *out++ = (struct job_member){ row + i * r->stride, r->thread };
}

/* A stride is larger than what it steps over, so each division has one answer. */
static bool range_contains(const struct job_range *r, uint32_t rank)
{
    uint32_t at = rank - r->first, l = r->planes ? at / r->plane_stride : 0;
    at -= (l < r->planes ? l : r->planes) * r->plane_stride;
    uint32_t k = r->rows ? at / r->row_stride : 0;
    at -= (k < r->rows ? k : r->rows) * r->row_stride;
    return at % r->stride == 0 && at / r->stride < r->count;
}

bool job_ranges_contain(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread)
{
    uint32_t after = BASE_ARRAY_PLACE(count, i,
                                      r[i].thread < thread || (r[i].thread == thread && r[i].first <= rank));
    return after && r[after - 1].thread == thread && range_contains(&r[after - 1], rank);
}

struct job_member job_ranges_first(const struct job_range *r, uint32_t count)
{
    struct job_member first = { r[0].first, r[0].thread };
    for (uint32_t i = 1; i < count; i++) {
        struct job_member m = { r[i].first, r[i].thread };
        if (job_member_before(m, first))
            first = m;
    }
    return first;
}

bool job_ranges_equal(const struct job_range *a, uint32_t a_count, const struct job_range *b, uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof *a));
}

/* One dimension: `more` steps of `stride` over something that reaches `reach` beyond its first. */
static bool step_sane(uint32_t more, uint32_t stride, uint64_t *reach)
{
    bool sane = more ? stride > *reach : !stride;
    *reach += (uint64_t)more * stride;
    return sane && *reach < JOB_LIMIT;
}

static bool range_sane(const struct job_range *r)
{
    if (!r->count || !r->stride || (r->count == 1 && r->stride != 1))
        return false;
    uint64_t reach = (uint64_t)(r->count - 1) * r->stride;
    return reach < JOB_LIMIT && step_sane(r->rows, r->row_stride, &reach) &&
           step_sane(r->planes, r->plane_stride, &reach) && r->first + reach < JOB_LIMIT;
}

/* Built again it is the same. What is not canonical may stand for anything: it must not become longer, nor take
   long. */
bool job_ranges_canonical(const struct job_range *r, uint32_t count, uint32_t ranks)
{
    struct job_ranges again = { 0 };
    struct builder build = { .out = &again, .most = 256 * ((uint64_t)count + 1), .room = count };
    for (uint32_t i = 0; i < count; i++)
        if (!range_sane(&r[i]) || job_range_last(&r[i]) >= ranks || (i && !range_before(&r[i - 1], &r[i])))
            return false;
    bool same = !ranges_join(&build, r, count, NULL, 0) && job_ranges_equal(r, count, again.range, again.count);
    free(again.range);
    return same;
}
