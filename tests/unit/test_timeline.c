/* SPDX-License-Identifier: MIT */
/* Time series and extremes of a stream, and of ranks joined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "merge/merge.h"
#include "session/timeline.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

static struct job *empty(uint32_t ranks)
{
    struct job *j = job_create();
    ck_assert_ptr_nonnull(j);
    j->info.ranks = ranks;
    return j;
}

static unsigned bucket_of(uint64_t ns)
{
    unsigned log = 63u - (unsigned)__builtin_clzll(ns | 1);
    return log < JOB_BUCKETS ? log : JOB_BUCKETS - 1;
}

/* Whatever the length of what is noted, no ns is lost, steps stay within bounds, and each knows its own time. */
START_TEST(a_series_keeps_every_nanosecond)
{
    struct session_timeline c = { 0 };
    uint64_t state = (uint64_t)_i, now = 5000, told[JOB_SERIES_KINDS] = { 0 }, said[JOB_SERIES_KINDS] = { 0 };
    ck_assert(session_timeline_series(&c, now));
    for (int i = 0; i < 20000; i++) {
        uint64_t gap = simulate_random(&state) >> (20 + simulate_random(&state) % 44);
        uint64_t ns = simulate_random(&state) >> (20 + simulate_random(&state) % 44);
        enum job_series_kind before = (enum job_series_kind)(simulate_random(&state) % JOB_SERIES_KINDS);
        enum job_series_kind kind = (enum job_series_kind)(simulate_random(&state) % JOB_SERIES_KINDS);
        session_series_note(c.series, before, gap, kind, now + gap, now + gap + ns);
        told[before] += gap;
        told[kind] += ns;
        now += gap + ns;
        ck_assert_uint_lt(c.series->at, JOB_SERIES_STEPS);
        ck_assert_uint_eq(c.series->end, c.series->begin + (c.series->at + (uint64_t)1) * c.series->step);
        ck_assert(now <= c.series->end && now + c.series->step >= c.series->end);
    }
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++) {
        said[kind] = c.series->now[kind];
        for (int i = 0; i < JOB_SERIES_STEPS; i++)
            said[kind] += c.series->sum[kind][i];
    }
    ck_assert_mem_eq(told, said, sizeof told);
    for (uint32_t i = 0; i < c.series->at; i++)
        ck_assert_uint_eq(c.series->sum[0][i] + c.series->sum[1][i] + c.series->sum[2][i], c.series->step);
    session_timeline_close(&c);
}
END_TEST

/* A rank that computes in the second half of a second only, and others that do always, of other lengths of steps. */
START_TEST(series_of_a_block_are_mean_least_and_most)
{
    enum { RANKS = 512 };
    static uint64_t ns[JOB_SERIES_KINDS][JOB_SERIES_STEPS];
    struct job *j = empty(RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job *one = empty(RANKS);
        uint32_t steps = rank % 2 ? 64 : 32;
        for (uint32_t i = 0; i < steps; i++)
            ns[JOB_SERIES_COMPUTATION][i] = rank == 7 && i < steps / 2 ? 0 : (1 << 20) * (64 / steps);
        ck_assert_int_eq(job_series_add(one, rank, (1 << 20) * (64 / steps), steps, ns), 0);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    ck_assert_uint_eq(j->series.count, RANKS / 2);
    const struct job_series *s = &j->series.of[3];
    ck_assert(s->rank == 6 && s->ranks == 2 && s->steps == 32 && s->step_ns == 1 << 21);
    ck_assert_double_eq_tol(job_series_seconds(s, JOB_SERIES_COMPUTATION, JOB_SERIES_LEAST, 3), 0, 1e-9);
    ck_assert_double_eq_tol(job_series_seconds(s, JOB_SERIES_COMPUTATION, JOB_SERIES_MEAN, 3), 0.5 * (1 << 21) * 1e-9,
                            1e-6);
    ck_assert_double_eq_tol(job_series_seconds(s, JOB_SERIES_COMPUTATION, JOB_SERIES_MOST, 3), (1 << 21) * 1e-9, 1e-6);
    ck_assert_double_eq_tol(job_series_seconds(s, JOB_SERIES_COMPUTATION, JOB_SERIES_LEAST, 20), (1 << 21) * 1e-9,
                            1e-6);
    job_destroy(j);
}
END_TEST

START_TEST(extremes_say_rank_and_turn)
{
    struct job *j = empty(4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct job *one = empty(4);
        uint32_t barrier = hand_call(one, "MPI_Barrier", 0x10, JOB_COLLECTIVE);
        struct job_noted e;
        struct job_extremes said;
        job_noted_begin(&e);
        for (uint64_t i = 0; i < 50; i++)
            job_noted_add(&e, i == 37 && rank == 2 ? 400000000 : 2000000 + i, 1000);
        job_noted_say(&e, &said);
        ck_assert_int_eq(job_extremes_add(one, rank, barrier, &said), 0);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    const struct job_extremes *e = j->extremes.of;
    ck_assert_uint_eq(j->extremes.count, 1);
    ck_assert_uint_eq(e->terminal, 0);
    ck_assert_uint_eq(e->count, 200);
    ck_assert_uint_eq(e->value[JOB_GAP_MAX], 400000000);
    ck_assert_uint_eq(e->rank[JOB_GAP_MAX], 2);
    ck_assert_uint_eq(e->turn[JOB_GAP_MAX], 37);
    ck_assert_uint_eq(e->rank[JOB_GAP_MIN], 0);
    ck_assert_uint_eq(e->turn[JOB_GAP_MIN], 0);
    ck_assert_uint_eq(e->gaps[bucket_of(400000000)], 1);
    ck_assert_uint_eq(e->durations[9], 200);
    job_destroy(j);
}
END_TEST

static int by_length(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What is usual is as by sorting: exact where events are equally long, else within 0.4 %, evenly spread or not;
   a fifth of them a hundred times as long does not move it; nor does a first event that is unlike the others. */
START_TEST(usual_is_the_shortest_three_quarters)
{
    static const uint64_t firsts[] = { 0, 10, 1000, 50000000 };
    uint64_t state = (uint64_t)_i + 1;
    for (int spread = 0; spread < 4; spread++) {
        enum { EVENTS = 4000 };
        static uint64_t ns[EVENTS];
        struct job_noted e;
        struct job_extremes x;
        double sum = 0;
        job_noted_begin(&e);
        for (int i = 0; i < EVENTS; i++) {
            uint64_t more = spread ? simulate_random(&state) % (spread == 1 ? 700 : 7000) : 0;
            more = spread == 3 ? more * more / 7000 * more / 700 : more; /* most are short, some ten times as long */
            ns[i] = i == 0 ? firsts[_i % 4] : (7300 + more) * (i % 5 == 1 ? 100 : 1);
            job_noted_add(&e, ns[i], 5);
        }
        qsort(ns, EVENTS, sizeof *ns, by_length);
        for (int i = 0; i < EVENTS * 3 / 4; i++)
            sum += (double)ns[i];
        job_noted_say(&e, &x);
        double mean = sum / (EVENTS * 3 / 4), said = (double)x.usual[JOB_USUAL_GAP] / EVENTS;
        ck_assert_msg(fabs(said / mean - 1) < (spread ? 0.004 : 0.001), "spread %d: %.1f, not %.1f", spread, said,
                      mean);
        double deviation = (double)x.usual[JOB_USUAL_GAP_DEVIATION] / EVENTS;
        static const double least[] = { 0, 200, 2000, 5000 }, most[] = { 600, 1000, 4000, 40000 };
        ck_assert_msg(deviation >= least[spread] && deviation <= most[spread], "deviation %.1f", deviation);
        ck_assert_uint_eq(x.usual[JOB_USUAL_DURATION], 5 * EVENTS);
    }
}
END_TEST

/* Lengths of all octaves, short and long by turns: each is counted once, and the extremes are the first ones. */
START_TEST(lengths_are_counted_as_by_hand)
{
    uint64_t state = (uint64_t)_i + 1, octave[JOB_BUCKETS] = { 0 }, least = UINT64_MAX, greatest = 0;
    uint64_t first_least = 0, first_greatest = 0;
    struct job_noted n;
    struct job_extremes e;

    job_noted_begin(&n);
    job_noted_say(&n, &e);
    ck_assert_uint_eq(e.count, 0);
    ck_assert_uint_eq(e.value[JOB_GAP_MIN], UINT64_MAX);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t ns = simulate_random(&state) >> (_i % 2 ? simulate_random(&state) % 64 : 63 - i / 300 * 7);
        octave[bucket_of(ns)]++;
        first_least = ns < least ? i : first_least;
        least = ns < least ? ns : least;
        first_greatest = ns > greatest ? i : first_greatest;
        greatest = ns > greatest ? ns : greatest;
        job_noted_add(&n, ns, i % 4);
    }
    job_noted_say(&n, &e);
    ck_assert_uint_eq(e.count, 3000);
    ck_assert_mem_eq(e.gaps, octave, sizeof octave);
    ck_assert_uint_eq(e.value[JOB_GAP_MIN], least);
    ck_assert_uint_eq(e.turn[JOB_GAP_MIN], first_least);
    ck_assert_uint_eq(e.value[JOB_GAP_MAX], greatest);
    ck_assert_uint_eq(e.turn[JOB_GAP_MAX], first_greatest);
    ck_assert_uint_eq(e.durations[0], 1500);
    ck_assert_uint_eq(e.durations[1], 1500);
    ck_assert_double_eq_tol((double)e.usual[JOB_USUAL_DURATION], 3000, 75); /* 750 each of 0, 1, 2 ns */
}
END_TEST

/* Rank 37 takes 5 % longer in one place: its row says so, and no other one. */
START_TEST(each_rank_has_its_own_times)
{
    enum { RANKS = 64 };
    struct job *j = empty(RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job *one = empty(RANKS);
        uint32_t work = hand_call(one, "MPI_Barrier", 0x10, JOB_COLLECTIVE),
                 rare = hand_call(one, "MPI_Bcast", 0x20, JOB_COLLECTIVE);
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 100; i++)
            hand_append(g, work, rank == 37 ? 1050 : 1000, 10);
        hand_append(g, rare, 1, 1);
        hand_stream(one, g, rank, 105002, 1001);
        one->info.ranks = RANKS;
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    ck_assert_uint_eq(j->class_count, 1);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const struct job_own *o = job_own_of(j, 0, 0, rank, 0);
        ck_assert(o && o->ranks == 1);
        ck_assert_double_eq_tol(job_own_mean(o, JOB_OWN_GAP), rank == 37 ? 1050000 : 1000000, 0.5);
        ck_assert_double_eq_tol(job_own_mean(o, JOB_OWN_DURATION), 10000, 0.5);
        ck_assert_ptr_null(job_own_of(j, 0, 1, rank, 0)); /* below what is kept */
    }
    job_destroy(j);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(a_series_keeps_every_nanosecond, 8),
    UNIT_TEST(series_of_a_block_are_mean_least_and_most),
    UNIT_TEST(extremes_say_rank_and_turn),
    UNIT_LOOP(usual_is_the_shortest_three_quarters, 8),
    UNIT_LOOP(lengths_are_counted_as_by_hand, 8),
    UNIT_TEST(each_rank_has_its_own_times),
};

int main(void)
{
    return unit_run("session/timeline", tests, UNIT_COUNT(tests));
}
