/* SPDX-License-Identifier: MIT */
/* Sets of ranks: random ones against a flat array, meshes, and what hostile files might claim. */
#include <stdlib.h>
#include <string.h>

#include "job/intern.h"
#include "job/ranges.h"
#include "pythia.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

enum { RANKS = 4096, THREADS = 2 };

struct flat { bool in[THREADS][RANKS]; };

static struct job_ranges of_flat(const struct flat *f)
{
    struct job_ranges out = { 0 };
    struct job_member *m = calloc(THREADS * RANKS, sizeof *m);
    uint32_t n = 0;
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t r = 0; r < RANKS; r++)
            if (f->in[t][r])
                m[n++] = (struct job_member){ r, t };
    ck_assert_int_eq(job_ranges_members(&out, m, n), 0);
    ck_assert_uint_eq(job_ranges_size(out.range, out.count), n);
    struct job_member *back = calloc(n + 1, sizeof *back);
    job_ranges_walk(out.range, out.count, back);
    ck_assert(!n || !memcmp(m, back, n * sizeof *m));
    free(back);
    free(m);
    return out;
}

static void check_contains(const struct job_ranges *s, const struct flat *f)
{
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t r = 0; r < RANKS; r++)
            ck_assert_msg(job_ranges_contain(s->range, s->count, r, t) == f->in[t][r], "rank %u thread %u", r, t);
}

/* What real jobs have: boxes of a mesh, strides, noise. */
static void fill(struct flat *f, uint64_t *random)
{
    uint32_t side = 3 + (uint32_t)(simulate_random(random) % 13), style = (uint32_t)(simulate_random(random) % 4);
    uint32_t low[3], high[3], step = 1 + (uint32_t)(simulate_random(random) % 5);
    for (int d = 0; d < 3; d++) {
        low[d] = (uint32_t)(simulate_random(random) % side);
        high[d] = low[d] + (uint32_t)(simulate_random(random) % (side - low[d]));
    }
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t r = 0; r < RANKS; r++) {
            uint32_t x[3] = { r % side, r / side % side, r / side / side };
            bool box = true;
            for (int d = 0; d < 3; d++)
                box &= x[d] >= low[d] && x[d] <= high[d];
            f->in[t][r] = style == 0   ? box
                          : style == 1 ? r % step == 0
                          : style == 2 ? simulate_random(random) % 3 == 0
                                       : !box;
        }
    if (style == 0)
        for (int i = 0; i < 5; i++)
            f->in[0][simulate_random(random) % RANKS] ^= 1;
}

/* Cut in two, by rank or at random, and joined: the same ranges. */
START_TEST(test_union_is_canonical)
{
    static struct flat f, part[2];
    uint64_t random = (uint64_t)_i;
    for (int turn = 0; turn < 8; turn++) {
        fill(&f, &random);
        uint32_t cut = (uint32_t)(simulate_random(&random) % RANKS);
        memset(part, 0, sizeof part);
        for (uint32_t t = 0; t < THREADS; t++)
            for (uint32_t r = 0; r < RANKS; r++)
                part[turn % 4 ? r >= cut : simulate_random(&random) % 2].in[t][r] = f.in[t][r];
        struct job_ranges whole = of_flat(&f), a = of_flat(&part[0]), b = of_flat(&part[1]), joined = { 0 };
        ck_assert_int_eq(job_ranges_union(&joined, a.range, a.count, b.range, b.count), 0);
        ck_assert(job_ranges_equal(whole.range, whole.count, joined.range, joined.count));
        ck_assert(job_ranges_canonical(whole.range, whole.count, UINT32_MAX));
        check_contains(&whole, &f);
        if (a.count && whole.count) {
            uint32_t before = joined.count;
            ck_assert_int_eq(job_ranges_union(&joined, whole.range, whole.count, a.range, a.count), PYTHIA_EINVAL);
            ck_assert_uint_eq(joined.count, before);
        }
        free(whole.range);
        free(a.range);
        free(b.range);
        free(joined.range);
    }
}
END_TEST

/* The inner ranks of a mesh of a million: one range, joined plane by plane in no time. */
START_TEST(test_a_large_mesh_is_one_range)
{
    enum { SIDE = 102 };
    struct job_ranges all = { 0 };
    for (uint32_t z = 1; z < SIDE - 1; z++)
        for (uint32_t y = 1; y < SIDE - 1; y++) {
            struct job_range row = { .first = 1 + SIDE * (y + SIDE * z), .count = SIDE - 2, .stride = 1 };
            struct job_ranges next = { 0 };
            ck_assert_int_eq(job_ranges_union(&next, all.range, all.count, &row, 1), 0);
            ck_assert_uint_le(next.count, 4);
            free(all.range);
            all = next;
        }
    ck_assert_uint_eq(all.count, 1);
    ck_assert_uint_eq(job_range_size(all.range), 1000000);
    ck_assert_uint_eq(job_range_last(all.range), (SIDE - 2) * (1 + SIDE + SIDE * SIDE));
    free(all.range);
}
END_TEST

/* Each of these stands for up to 2^31 members, in a form that they do not have. Refused, and at once. */
START_TEST(test_hostile_ranges)
{
    static const struct job_range lies[] = {
        { 0, 2, 1, 0, 0x1fffffff, 4, 0, 0 },                 /* rows of two */
        { 0, 3, 1, 0, 0x1fffffff, 3, 0, 0 },                 /* rows that are one run */
        { 0, 1, 1, 0, 0x7fffffee, 1, 0, 0 },                 /* rows of one: a run */
        { 0, 3, 2, 0, 0x3fffff, 7, 1, 0x7fffffff },          /* too far */
        { 0, 3, 1, 0, 5, 2, 0, 0 },                          /* rows that overlap */
        { 0, 3, 1, 0, 0x0fffffff, 8, 1, 8 },                 /* planes that overlap */
        { 0, 0x7fffffff, 0x7fffffff, 0, 3, 3, 3, 3 },        /* beyond 2^32 */
        { 0xffffffff, 2, 0xffffffff, 0, 0, 0, 0, 0 },
        { 0, 0, 1, 0, 0, 0, 0, 0 },
        { 0, 2, 0, 0, 0, 0, 0, 0 },
        { 0, 1, 1, 0, 0, 9, 0, 0 },
        { 0, 2, 1, 0, 0x0ffffff, 4, 1, 0x10000000 },
        { 0, 5, 1, 0, 1, 100, 0x7ffff, 1000 },               /* planes of two rows */
    };
    const struct job_range sane[] = { { 3, 4, 1, 0, 0, 0, 0, 0 }, { 0, 3, 2, 0, 2, 9, 0, 0 }, { 5, 2, 3, 0, 3, 7, 2, 40 } };
    for (size_t s = 0; s < sizeof sane / sizeof *sane; s++)
        for (uint32_t rank = 0; rank < 200; rank++) {
            uint64_t below = 0;
            for (uint64_t i = 0; i < job_range_size(&sane[s]); i++)
                below += job_range_rank(&sane[s], i) < rank;
            ck_assert_uint_eq(job_range_before(&sane[s], rank), below);
        }
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        ck_assert_msg(!job_ranges_canonical(&lies[i], 1, UINT32_MAX), "lie %zu", i);
    const struct job_range all = { .count = 0x7fffffe0, .stride = 1 };
    ck_assert(job_ranges_canonical(&all, 1, UINT32_MAX));
    ck_assert(job_ranges_canonical(&all, 1, all.count) && !job_ranges_canonical(&all, 1, all.count - 1));
    const struct job_range even = { .count = 0x3ffffff0, .stride = 2 },
                           odd = { .first = 1, .count = 0x3ffffff0, .stride = 2 };
    struct job_ranges joined = { 0 };
    ck_assert(job_ranges_canonical(&even, 1, UINT32_MAX) && job_ranges_canonical(&odd, 1, UINT32_MAX));
    ck_assert_int_eq(job_ranges_union(&joined, &even, 1, &odd, 1), PYTHIA_ELIMIT);
    free(joined.range);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(test_union_is_canonical, 20),
    UNIT_TEST(test_a_large_mesh_is_one_range),
    UNIT_TEST(test_hostile_ranges),
};

int main(void)
{
    return unit_run("job/ranges", tests, UNIT_COUNT(tests));
}
