/* SPDX-License-Identifier: MIT */
/* The examples at the head of merge/variant.c, step by step: four ranks, each of which sends once. */
#include "job/class.h"
#include "merge/merge.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

static struct job *sender(uint32_t rank, int peer)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    struct grammar_event e = { .terminal = hand_call(j, "MPI_Send", 0x10, JOB_P2P), .channels = 1 << GRAMMAR_PEER };

    e.value[GRAMMAR_PEER] = peer;
    grammar_append(g, &e);
    hand_stream(j, g, rank, 1, 1);
    return j;
}

struct variant { uint32_t members, sample_rank, relations; int64_t value; };

static void expect(const struct job *j, const struct variant *expected, uint32_t count)
{
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_uint_eq(j->classes[0].variant_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct job_variant *v = &j->classes[0].variants[i];
        ck_assert_uint_eq(job_ranges_size(j->classes[0].ranges + v->range_first, v->range_count), expected[i].members);
        ck_assert_uint_eq(v->sample_rank, expected[i].sample_rank);
        ck_assert_uint_eq(v->relations, expected[i].relations);
        ck_assert_int_eq(v->attr.min, expected[i].value);
    }
}

static const struct { int peer[4]; struct variant two[2], four[2]; } examples[] = {
    { { 1, 2, 3, 0 }, { { 2, 0, JOB_OFFSET, 1 } }, { { 4, 0, JOB_OFFSET, 1 } } },
    { { 1, 0, 3, 2 }, { { 2, 0, JOB_XOR, 1 } }, { { 4, 0, JOB_XOR, 1 } } },
    { { 3, 3, 3, 0 }, { { 2, 0, JOB_ABSOLUTE, 3 } }, { { 3, 0, JOB_ABSOLUTE, 3 }, { 1, 3, 7, 0 } } },
};

/* 0 with 1, 2 with 3, and these two: as ranks of a job do. */
START_TEST(fewest_variants)
{
    struct job *j[4];
    const int *peer = examples[_i].peer;

    for (uint32_t rank = 0; rank < 4; rank++)
        j[rank] = sender(rank, peer[rank]);
    ck_assert_int_eq(merge_job(j[0], j[1]), 0);
    ck_assert_int_eq(merge_job(j[2], j[3]), 0);
    expect(j[0], examples[_i].two, 1);
    ck_assert_int_eq(merge_job(j[0], j[2]), 0);
    expect(j[0], examples[_i].four, examples[_i].four[1].members ? 2 : 1);
    for (uint32_t rank = 0; rank < 4; rank++)
        job_destroy(j[rank]);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_LOOP(fewest_variants, 3) };
    return unit_run("merge/variant", tests, UNIT_COUNT(tests));
}
