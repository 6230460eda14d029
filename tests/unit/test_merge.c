/* SPDX-License-Identifier: MIT */
/* Merging simulated ranks: any order of merging gives the same bytes, and nothing of any rank is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "file/file.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/job.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

enum { RANKS = 27 };

static void merge(struct job *into, const struct job *from)
{
    ck_assert_int_eq(merge_job(into, from), 0);
}

/* --- Orders of merging --- */

static struct job *from_right(const struct simulate_rank *r, uint32_t first, uint32_t count)
{
    struct job *j = unit_job_copy(r[first + count - 1].job);
    for (uint32_t i = count - 1; i-- > 0;) {
        struct job *left = unit_job_copy(r[first + i].job);
        merge(left, j);
        job_destroy(j);
        j = left;
    }
    return j;
}

/* Cut at random places. */
static struct job *as_tree(const struct simulate_rank *r, uint32_t first, uint32_t count, uint64_t *random)
{
    if (count == 1)
        return unit_job_copy(r[first].job);
    uint32_t cut = 1 + (uint32_t)(simulate_random(random) % (count - 1));
    struct job *left = as_tree(r, first, cut, random), *right = as_tree(r, first + cut, count - cut, random);
    merge(left, right);
    job_destroy(right);
    return left;
}

START_TEST(test_any_order_gives_the_same_bytes)
{
    struct simulate_rank r[RANKS];
    enum simulate_shape shape = _i % SIMULATE_SHAPES;
    uint32_t ranks = shape == SIMULATE_BUTTERFLY ? 16 : RANKS;
    uint64_t random = (uint64_t)_i;
    simulate_all(r, shape, ranks, (uint64_t)_i + 1);
    struct job *left = simulate_from_left(r, 0, ranks), *right = from_right(r, 0, ranks);
    simulate_check(left);
    simulate_same_bytes(left, right, simulate_names[shape]);
    for (int i = 0; i < 8; i++) {
        struct job *tree = as_tree(r, 0, ranks, &random);
        simulate_same_bytes(left, tree, simulate_names[shape]);
        job_destroy(tree);
    }
    job_destroy(left);
    job_destroy(right);
    simulate_clear_all(r, ranks);
}
END_TEST

START_TEST(test_nothing_is_lost)
{
    struct simulate_rank r[RANKS];
    enum simulate_shape shape = _i % SIMULATE_SHAPES;
    uint32_t ranks = shape == SIMULATE_BUTTERFLY ? 16 : RANKS;
    uint64_t random = (uint64_t)_i * 7;
    simulate_all(r, shape, ranks, (uint64_t)_i + 100);
    struct job *tree = as_tree(r, 0, ranks, &random), *again = unit_job_copy(tree);
    for (uint32_t i = 0; i < ranks; i++)
        for (uint32_t k = 0; k < r[i].stream_count; k++) {
            simulate_compare(tree, &r[i].stream[k]);
            simulate_compare(again, &r[i].stream[k]);
        }
    ck_assert(shape != SIMULATE_MASTER || simulate_courses > 0);
    job_destroy(again);
    job_destroy(tree);
    simulate_clear_all(r, ranks);
}
END_TEST

/* Merging in another order of ranks numbers definitions differently, but members, models and sums are the same. */
START_TEST(test_ranks_in_disorder)
{
    struct simulate_rank r[RANKS];
    enum simulate_shape shape = _i % SIMULATE_SHAPES;
    simulate_all(r, shape, 16, (uint64_t)_i + 7);
    struct job *j = unit_job_copy(r[5].job);
    for (uint32_t i = 1; i < 16; i++)
        merge(j, r[(5 + i * 3) % 16].job);
    simulate_check(j);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t k = 0; k < r[i].stream_count; k++)
            simulate_compare(j, &r[i].stream[k]);
    job_destroy(j);
    simulate_clear_all(r, 16);
}
END_TEST

/* More ranks than records of streams: blocks of ranks add up, in any order of merging. */
START_TEST(test_blocks_of_ranks)
{
    static const uint32_t sizes[] = { 257, 512, 1100 };
    enum simulate_shape shape = (enum simulate_shape[]){ SIMULATE_RING, SIMULATE_STENCIL, SIMULATE_MASTER }[_i / 3];
    uint32_t ranks = sizes[_i % 3], block = ranks == 1100 ? 8 : 2;
    struct simulate_rank *r = calloc(ranks, sizeof *r);
    uint64_t random = (uint64_t)_i, wall[2] = { 0, 0 }, streams = 0;
    simulate_all(r, shape, ranks, 5);
    struct job *left = simulate_from_left(r, 0, ranks), *tree = as_tree(r, 0, ranks, &random);
    struct job *odd = unit_job_copy(r[1].job), *even = unit_job_copy(r[0].job);
    simulate_check(left);
    simulate_same_bytes(left, tree, simulate_names[shape]);
    for (uint32_t i = 2; i < ranks; i++)
        merge(i % 2 ? odd : even, r[i].job);
    merge(even, odd);
    simulate_check(even); /* definitions are numbered differently, sums and sets are the same */
    ck_assert_uint_eq(left->info.block, block);
    ck_assert_uint_eq(left->stream_count, even->stream_count);
    for (uint32_t i = 0; i < left->stream_count; i++) {
        ck_assert_uint_eq(left->streams[i].wall_ns, even->streams[i].wall_ns);
        ck_assert_uint_eq(left->streams[i].count, even->streams[i].count);
        wall[0] += left->streams[i].wall_ns;
    }
    for (uint32_t i = 0; i < ranks; i++)
        for (uint32_t k = 0; k < r[i].stream_count; k++) {
            simulate_compare(left, &r[i].stream[k]);
            simulate_compare(even, &r[i].stream[k]);
            wall[1] += r[i].job->streams[k].wall_ns;
            streams++;
        }
    ck_assert_uint_eq(wall[0], wall[1]);
    ck_assert_uint_eq(job_streams(left), streams);
    ck_assert_uint_eq(job_ranks_run(left, 0, ranks + 5, true), ranks);
    ck_assert_uint_eq(job_ranks_run(odd, 0, ranks, false), 1);
    ck_assert_uint_eq(job_ranks_run(odd, 1, ranks, true), 1);
    ck_assert_int_eq(merge_job(left, odd), PYTHIA_EINVAL);
    simulate_same_bytes(left, tree, "after a refused merge");
    job_destroy(left);
    job_destroy(tree);
    job_destroy(odd);
    job_destroy(even);
    simulate_clear_all(r, ranks);
    free(r);
}
END_TEST

/* A mesh of any size: no more than the 27 kinds of ranks, each set of them one range. */
START_TEST(test_a_mesh_has_27_classes)
{
    for (uint32_t side = 3; side <= 8; side++) {
        uint32_t ranks = side * side * side;
        struct simulate_rank *r = calloc(ranks, sizeof *r);
        uint64_t random = side;
        simulate_all(r, SIMULATE_STENCIL, ranks, 5);
        struct job *j = as_tree(r, 0, ranks, &random);
        ck_assert_uint_eq(j->class_count, 27);
        for (uint32_t i = 0; i < 27 && side != 4; i++) /* inner runs of two make other patterns */
            ck_assert_msg(j->classes[i].member_ranges == 1, "side %u, class %u: %u ranges", side, i,
                          j->classes[i].member_ranges);
        job_destroy(j);
        simulate_clear_all(r, ranks);
        free(r);
    }
}
END_TEST

START_TEST(test_relations)
{
    struct simulate_rank r[RANKS];
    uint32_t seen = 0;
    simulate_all(r, SIMULATE_RING, 16, 1);
    struct job *j = simulate_from_left(r, 0, 16);
    ck_assert_uint_eq(j->class_count, 1);
    const struct job_class *c = &j->classes[0];
    ck_assert_uint_eq(c->range_count, 1);
    for (uint32_t i = 0; i < c->variant_count; i++) {
        ck_assert_uint_eq(c->variants[i].range_count, 1);
        if (c->variants[i].attr.channel == GRAMMAR_PEER)
            seen |= c->variants[i].relations;
    }
    ck_assert_uint_eq(seen, JOB_ABSOLUTE | JOB_OFFSET); /* the broadcast's root; the neighbours */
    job_destroy(j);
    simulate_clear_all(r, 16);
    simulate_all(r, SIMULATE_BUTTERFLY, 16, 1);
    j = simulate_from_left(r, 0, 16);
    ck_assert_uint_eq(j->class_count, 1);
    seen = 0;
    for (uint32_t i = 0; i < j->classes[0].variant_count; i++) {
        const struct job_variant *v = &j->classes[0].variants[i];
        seen += v->relations == JOB_XOR && v->range_first == 0 && j->classes[0].ranges[0].count == 16;
    }
    ck_assert_uint_ge(seen, 2); /* rank xor 2 and 4; xor 1 and 8 are offsets too, or share a place with others */
    job_destroy(j);
    simulate_clear_all(r, 16);
}
END_TEST

/* What each rank spent in terminal `t`, from the ranks' own grammars, against what the class kept. */
static void expect_calls(const struct job_class *c, const struct simulate_rank *r, uint32_t ranks, uint32_t t)
{
    const struct grammar_flat *g = c->grammar;
    uint32_t first = 0, min_rank = 0, max_rank = 0;
    uint64_t min = UINT64_MAX, max = 0;
    double square = 0;
    while (first < g->node_count && g->nodes[first].symbol != t)
        first++;
    for (uint32_t i = 0; first < g->node_count && i < ranks; i++) {
        uint64_t time = 0;
        for (uint32_t n = first; n < g->node_count; n++)
            time += g->nodes[n].symbol == t ? r[i].stream[0].alone->stats[n].duration.sum : 0;
        if (time < min)
            min = time, min_rank = i;
        if (time > max)
            max = time, max_rank = i;
        square += (double)time * (double)time;
    }
    for (uint32_t n = first; n < g->node_count; n++)
        if (g->nodes[n].symbol == t) {
            const struct job_spread *s = &c->spread[n];
            ck_assert_uint_eq(s->call.least, n == first ? min : 0);
            ck_assert_uint_eq(s->call.most, n == first ? max : 0);
            ck_assert_uint_eq(s->call.least_rank, n == first ? min_rank : 0);
            ck_assert_uint_eq(s->call.most_rank, n == first ? max_rank : 0);
            ck_assert_double_eq_tol(s->call_square, n == first ? square : 0, square * 1e-12);
        }
}

START_TEST(test_spread_and_sums)
{
    struct simulate_rank r[8];
    simulate_all(r, SIMULATE_RING, 8, 3);
    struct job *j = simulate_from_left(r, 0, 8);
    const struct job_class *c = &j->classes[0];
    for (uint32_t n = 0; n < c->grammar->node_count; n++) {
        uint64_t sum = 0, min = UINT64_MAX, max = 0, min_rank = 0, max_rank = 0;
        for (uint32_t i = 0; i < 8; i++) {
            const struct grammar_stats *s = &r[i].stream[0].alone->stats[n];
            uint64_t time = s->gap.sum + s->duration.sum;
            sum += time;
            if (time < min)
                min = time, min_rank = i;
            if (time > max)
                max = time, max_rank = i;
        }
        ck_assert_uint_eq(sum, c->grammar->stats[n].gap.sum + c->grammar->stats[n].duration.sum);
        ck_assert_uint_eq(c->spread[n].all.least, min);
        ck_assert_uint_eq(c->spread[n].all.most, max);
        ck_assert_uint_eq(c->spread[n].all.least_rank, min_rank);
        ck_assert_uint_eq(c->spread[n].all.most_rank, max_rank);
    }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        expect_calls(c, r, 8, t);
    job_destroy(j);
    simulate_clear_all(r, 8);
}
END_TEST

/* A job of one rank that was started so. */
static struct job *started(const char *program, const char *arguments)
{
    struct job *j = job_create();
    ck_assert_ptr_nonnull(j);
    j->info.program = job_string(j, program);
    j->info.arguments = job_string(j, arguments);
    return j;
}

static void join_started(struct job *into, const char *program, const char *arguments, const char *expected)
{
    struct job *from = started(program, arguments);
    ck_assert_int_eq(merge_job(into, from), 0);
    ck_assert_str_eq(job_text(into, into->info.arguments), expected);
    job_destroy(from);
}

/* Each program of a job is named once, in the order of ranks; ranks of one program may have arguments of their own. */
START_TEST(test_programs)
{
    char more[64], name[64];
    struct job *j = started("/x/ocean", "./ocean 1");
    join_started(j, "/x/ocean", "./ocean 2", "./ocean 1");
    join_started(j, "/x/atm", "./atm 3", "./ocean 1 : ./atm 3");
    join_started(j, "/x/atm", "./atm 3", "./ocean 1 : ./atm 3");
    join_started(j, "/x/ocean", "./ocean 1 : ./ice", "./ocean 1 : ./atm 3 : ./ice");
    join_started(j, "/x/ice", "./ice : ./atm 3", "./ocean 1 : ./atm 3 : ./ice");
    for (int i = 0; i < 1000; i++) {
        struct job *from;
        snprintf(name, sizeof name, "/x/program-%d", i);
        snprintf(more, sizeof more, "./program-%d with arguments", i);
        from = started(name, more);
        ck_assert_int_eq(merge_job(j, from), 0);
        job_destroy(from);
    }
    ck_assert_uint_lt(strlen(job_text(j, j->info.arguments)), 4096);
    ck_assert_uint_gt(strlen(job_text(j, j->info.arguments)), 4000);
    job_destroy(j);
}
END_TEST

START_TEST(test_a_stream_twice_is_refused)
{
    struct simulate_rank r[4];
    simulate_all(r, SIMULATE_STENCIL, 4, 3);
    struct job *j = simulate_from_left(r, 0, 3), *before = unit_job_copy(j), *other = simulate_from_left(r, 2, 2);
    ck_assert_int_eq(merge_job(j, other), PYTHIA_EINVAL);
    simulate_check(j);
    simulate_same_bytes(j, before, "after a refused merge");
    merge(j, r[3].job); /* and it still works */
    simulate_check(j);
    job_destroy(j);
    job_destroy(before);
    job_destroy(other);
    simulate_clear_all(r, 4);
}
END_TEST

START_TEST(test_empty_jobs)
{
    struct simulate_rank r[2];
    simulate_all(r, SIMULATE_RING, 2, 3);
    struct job *j = job_create(), *none = job_create();
    none->info.missing = 1;
    merge(j, none);
    merge(j, r[0].job);
    merge(j, none);
    merge(j, r[1].job);
    simulate_check(j);
    ck_assert_uint_eq(j->info.missing, 2);
    ck_assert_uint_eq(j->stream_count, 2);
    ck_assert_str_eq(job_text(j, j->info.program), "/bin/simulated");
    simulate_compare(j, &r[1].stream[0]);
    job_destroy(j);
    job_destroy(none);
    simulate_clear_all(r, 2);
}
END_TEST

/* Bodies that the receiver has are left out, and what arrives is as good. */
START_TEST(test_bodies_left_out)
{
    struct simulate_rank r[RANKS];
    enum simulate_shape shape = _i % SIMULATE_SHAPES;
    simulate_all(r, shape, 16, 9);
    struct job *left = simulate_from_left(r, 0, 8), *right = simulate_from_left(r, 8, 8),
               *whole = simulate_from_left(r, 0, 16), *message = NULL;
    uint8_t *known = calloc(right->class_count + 1, 1);
    void *data;
    size_t size, full;
    char why[200] = "";
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < right->class_count; i++)
        for (uint32_t k = 0; k < left->class_count; k++)
            known[i] |= !memcmp(&left->classes[k].hash, &right->classes[i].hash, sizeof left->classes[k].hash);
    for (uint32_t i = 0; i < right->class_count; i++)
        left_out += known[i];
    ck_assert_int_eq(file_pack(right, NULL, &data, &full), 0);
    free(data);
    ck_assert_int_eq(file_pack(right, known, &data, &size), 0);
    ck_assert(left_out ? size < full : size == full);
    ck_assert_msg(file_unpack(data, size, &message, why, sizeof why) == 0, "%s", why);
    free(data);
    ck_assert(!left_out || job_check(message, why, sizeof why) == PYTHIA_EFORMAT);
    struct job *empty = job_create();
    ck_assert_int_eq(merge_job(empty, message), left_out ? PYTHIA_EINVAL : 0);
    merge(left, message);
    simulate_same_bytes(left, whole, simulate_names[shape]);
    job_destroy(empty);
    job_destroy(message);
    job_destroy(left);
    job_destroy(right);
    job_destroy(whole);
    free(known);
    simulate_clear_all(r, 16);
}
END_TEST

/* Sizes of the parts of a packed job, from its section table. */
static size_t stored(const unsigned char *data, uint32_t type)
{
    for (const unsigned char *e = data + 64;; e += 48)
        if (e[0] == type)
            return (size_t)(e[16] | e[17] << 8 | e[18] << 16 | e[19] << 24);
}

START_TEST(test_spmd_does_not_grow)
{
    static const uint32_t ranks[] = { 512, 1024, 2000 };
    size_t rest[3];
    for (int i = 0; i < 3; i++) {
        struct job *j = NULL;
        for (uint32_t k = 0; k < ranks[i]; k++) {
            struct simulate_rank r;
            simulate_rank(&r, SIMULATE_RING, k, ranks[i], 1);
            if (!j)
                j = unit_job_copy(r.job);
            else
                merge(j, r.job);
            simulate_clear(&r);
        }
        void *data;
        size_t size;
        ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
        rest[i] = size;
        printf("# ring of %u ranks: %zu bytes, %zu without the table of streams\n", ranks[i], size,
               size - stored(data, 15));
        ck_assert_uint_eq(j->class_count, 1);
        free(data);
        job_destroy(j);
    }
    fflush(stdout);
    ck_assert_uint_lt(rest[2], rest[0] + rest[0] / 10);
}
END_TEST

/* A table that cannot be joined: all ranks are there, and what of others joins later has none either. */
START_TEST(test_a_table_that_fails_fails_alone)
{
    struct simulate_rank rank[4];
    struct job *whole = NULL, *back;
    char why[200] = "";
    void *data;
    size_t size;
    for (uint32_t i = 0; i < 4; i++)
        simulate_rank(&rank[i], SIMULATE_STENCIL, i, 4, 1);
    whole = rank[0].job;
    ck_assert(whole->sum_count && whole->flows.count);
    uint32_t had = rank[1].job->sum_count;
    rank[1].job->sum_count = BASE_ARRAY_LIMIT;
    int error = merge_job(whole, rank[1].job);
    rank[1].job->sum_count = had;
    ck_assert_int_eq(error, 0);
    ck_assert_int_eq(merge_job(rank[2].job, whole), 0); /* whichever side has lost it */
    ck_assert_int_eq(merge_job(rank[2].job, rank[3].job), 0);
    ck_assert_int_eq(file_pack(rank[2].job, NULL, &data, &size), 0);
    ck_assert_msg(file_unpack(data, size, &back, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(job_streams(back), 4);
    ck_assert(!back->sum_count && back->flows.count);
    ck_assert_uint_eq(back->left.count, 1);
    ck_assert_str_eq(job_text(back, back->left.of[0].table), "sum");
    free(data);
    job_destroy(back);
    for (uint32_t i = 0; i < 4; i++)
        simulate_clear(&rank[i]);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(test_any_order_gives_the_same_bytes, 4 * SIMULATE_SHAPES),
    UNIT_LOOP(test_nothing_is_lost, 4 * SIMULATE_SHAPES),
    UNIT_LOOP(test_ranks_in_disorder, 2 * SIMULATE_SHAPES),
    UNIT_LOOP(test_blocks_of_ranks, 9),
    UNIT_TEST(test_a_mesh_has_27_classes),
    UNIT_TEST(test_relations),
    UNIT_TEST(test_spread_and_sums), UNIT_TEST(test_programs),
    UNIT_TEST(test_a_stream_twice_is_refused), UNIT_TEST(test_a_table_that_fails_fails_alone),
    UNIT_TEST(test_empty_jobs),
    UNIT_LOOP(test_bodies_left_out, SIMULATE_SHAPES),
    UNIT_TEST(test_spmd_does_not_grow),
};

int main(void)
{
    return unit_run("merge/merge", tests, UNIT_COUNT(tests));
}
