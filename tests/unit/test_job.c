/* SPDX-License-Identifier: MIT */
/* Jobs: equal content has equal numbers, what is written is read back, what is damaged is refused with a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/intern.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/bytes.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

/* --- Building --- */

START_TEST(test_equal_content_equal_number)
{
    struct job *j = job_create();
    uint32_t a = job_module(j, "/lib/a.so", "1111"), b = job_module(j, "/lib/a.so", "2222");
    struct job_frame f[2] = { { a, 0, 16 }, { b, 0, 32 } }, g[2] = { { b, 0, 32 }, { a, 0, 16 } };
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(job_module(j, "/lib/a.so", "1111"), a);
    ck_assert_uint_eq(job_callsite(j, f, 2), job_callsite(j, f, 2));
    ck_assert_uint_ne(job_callsite(j, f, 2), job_callsite(j, g, 2));
    ck_assert_uint_ne(job_callsite(j, f, 1), job_callsite(j, f, 2));
    ck_assert_uint_ne(job_callsite(j, f, 0), GRAMMAR_NONE);
    ck_assert_uint_eq(job_comm(j, "world", 4), job_comm(j, "world", 8)); /* a name is an identity, a size is not */
    ck_assert_uint_eq(j->comms[0].size, 4);
    struct job_terminal t = { .kind = JOB_CALL, .function = job_string(j, "MPI_Send"), .callsite = 0, .comm = 0 };
    uint32_t send = job_terminal(j, &t);
    t.comm = GRAMMAR_NONE;
    ck_assert_uint_ne(job_terminal(j, &t), send);
    t.comm = 0;
    ck_assert_uint_eq(job_terminal(j, &t), send);
    t.function = 12345;
    ck_assert_uint_eq(job_terminal(j, &t), GRAMMAR_NONE);
    struct job_frame bad = { 99, 0, 0 };
    ck_assert_uint_eq(job_callsite(j, &bad, 1), GRAMMAR_NONE);
    ck_assert_str_eq(job_text(j, GRAMMAR_NONE), "");
    job_destroy(j);
    job_destroy(NULL);
}
END_TEST

START_TEST(test_hashes_are_of_content)
{
    struct job *a = job_create(), *b = job_create();
    job_string(b, "something else first");
    job_module(b, "/x", "y");
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        struct job_frame f = { job_module(a, "/m", "id"), 0, (uint64_t)i },
                         g = { job_module(b, "/m", "id"), 0, (uint64_t)i };
        struct job_terminal t = { .function = job_string(a, name),
                                  .callsite = job_callsite(a, &f, 1),
                                  .comm = GRAMMAR_NONE };
        struct job_terminal u = { .function = job_string(b, name),
                                  .callsite = job_callsite(b, &g, 1),
                                  .comm = GRAMMAR_NONE };
        uint32_t x = job_terminal(a, &t), y = job_terminal(b, &u);
        ck_assert_uint_eq(job_find_terminal(a, b->terminal_hash[y]), x);
    }
    job_destroy(a);
    job_destroy(b);
}
END_TEST

START_TEST(test_streams)
{
    struct job *j = job_create();
    struct job_stream s = { .rank = 3 };
    struct grammar_flat *g = grammar_flat_create(1, 0, 0);
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_flat_copy(g)), 0);
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_flat_copy(g)), PYTHIA_EINVAL);
    s.rank = 1;
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_flat_copy(g)), 0);
    s.thread = 2;
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_flat_copy(g)), 0);
    g->terminals = 7; /* more than the job has */
    s.thread = 3;
    ck_assert_int_eq(merge_add_stream(j, &s, g), PYTHIA_EINVAL);
    ck_assert_uint_eq(j->stream_count, 3);
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_ptr_eq(job_find_stream(j, 1, 0), &j->streams[0]);
    ck_assert_ptr_eq(job_find_stream(j, 1, 2), &j->streams[1]);
    ck_assert_ptr_eq(job_find_stream(j, 3, 0), &j->streams[2]);
    ck_assert_ptr_null(job_find_stream(j, 2, 0));
    job_destroy(j);
}
END_TEST

/* A rebuilt program: another build-id, every call moved, one frame above changed. */
START_TEST(test_matching_another_build)
{
    struct job *a = job_create(), *b = job_create();
    uint32_t old[6], new[6];
    for (uint32_t i = 0; i < 6; i++) {
        struct job_frame f[2] = { { job_module(a, "/bin/app", "aaaa"), 0, 100 + 10 * i }, { 0, 0, 5 } };
        struct job_terminal t = { .function = job_string(a, i % 2 ? "MPI_Send" : "MPI_Recv"),
                                  .callsite = job_callsite(a, f, 2),
                                  .comm = job_comm(a, "world", 4) };
        old[i] = job_terminal(a, &t);
    }
    for (uint32_t k = 6; k-- > 0;) { /* seen in another order */
        struct job_frame f[2] = { { job_module(b, "/tmp/app", "bbbb"), 0, 1000 + 70 * k }, { 0, 0, 6 } };
        struct job_terminal t = { .function = job_string(b, k % 2 ? "MPI_Send" : "MPI_Recv"),
                                  .callsite = job_callsite(b, f, 2),
                                  .comm = job_comm(b, "world", 8) };
        new[k] = job_terminal(b, &t);
    }
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(job_match_terminal(b, a, old[i]), new[i]);
    struct job_frame f[2] = { { 0, 0, 100 }, { 0, 0, 77 } }; /* the same place, called from elsewhere */
    struct job_terminal t = { .function = job_string(a, "MPI_Recv"), .callsite = job_callsite(a, f, 2), .comm = 0 };
    struct job *c = job_create();
    ck_assert_int_eq(merge_job(c, a), 0);
    ck_assert_uint_eq(job_match_terminal(c, a, job_terminal(a, &t)), old[0]);
    t.peer_class = JOB_PEER_SELF; /* with one rank, the neighbour is the rank itself */
    ck_assert_uint_eq(job_match_terminal(c, a, job_terminal(a, &t)), old[0]);
    t.function = job_string(a, "MPI_Ssend");
    ck_assert_uint_eq(job_match_terminal(b, a, job_terminal(a, &t)), GRAMMAR_NONE);
    ck_assert_uint_eq(job_match_terminal(b, a, 4711), GRAMMAR_NONE);
    job_destroy(a);
    job_destroy(b);
    job_destroy(c);
}
END_TEST

/* A run of a rebuilt program of so many places, each asked for when it is met: processor time, ns. */
static uint64_t ns_to_match(uint32_t places)
{
    struct job *old = job_create(), *run = job_create();
    struct timespec begin, end;
    for (uint32_t i = 0; i < places; i++) {
        struct job_frame f = { job_module(old, "/bin/app", "aaaa"), 0, 100 + 10 * i };
        struct job_terminal t = { .function = job_string(old, "MPI_Send"), .callsite = job_callsite(old, &f, 1),
                                  .comm = job_comm(old, "world", 4) };
        job_terminal(old, &t);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint32_t i = 0; i < places; i++) {
        uint32_t k = (uint32_t)(i * 7919ull % places); /* in the order of the run */
        struct job_frame f = { job_module(run, "/bin/app", "bbbb"), 0, 100000 + 11 * k };
        struct job_terminal t = { .function = job_string(run, "MPI_Send"), .callsite = job_callsite(run, &f, 1),
                                  .comm = job_comm(run, "world", 4) };
        uint32_t number = job_terminal(run, &t), found = job_match_terminal(old, run, number);
        ck_assert_uint_eq(found, i + 1 < places ? GRAMMAR_NONE : k);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    for (uint32_t i = 0; i < places; i++)
        ck_assert_uint_eq(job_match_terminal(old, run, i), i * 7919ull % places);
    job_destroy(old);
    job_destroy(run);
    return (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec - (uint64_t)begin.tv_nsec;
}

/* Eight times as many places: it took 64 times as long. */
START_TEST(test_matching_many_places)
{
    uint64_t few = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t ns = ns_to_match(500);
        few = ns < few ? ns : few;
    }
    ck_assert_uint_lt(ns_to_match(4000), 30 * few);
}
END_TEST

/* --- There and back --- */

START_TEST(test_round_trip)
{
    struct job *j = simulate_job(_i % SIMULATE_SHAPES, 9), *back;
    char why[200];
    if (_i >= SIMULATE_SHAPES)
        bytes_fill_oracle(j);
    struct bytes b = bytes_pack(j);
    ck_assert_msg(bytes_unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_msg(job_check(back, why, sizeof why) == 0, "%s", why);
    struct bytes again = bytes_pack(back);
    ck_assert_msg(again.size == b.size && !memcmp(again.data, b.data, b.size), "%s",
                  simulate_names[_i % SIMULATE_SHAPES]);
    ck_assert_int_eq(memcmp(&j->oracle.score, &back->oracle.score, sizeof j->oracle.score), 0);
    ck_assert_uint_eq(back->oracle.ranks, j->oracle.ranks);
    ck_assert(back->oracle.gain_seconds == j->oracle.gain_seconds);
    for (uint32_t i = 0; i < j->stream_count; i++)
        ck_assert_int_eq(memcmp(&j->streams[i], &back->streams[i], sizeof j->streams[i]), 0);
    free(b.data);
    free(again.data);
    job_destroy(back);
    job_destroy(j);
}
END_TEST

START_TEST(test_sums)
{
    struct job *a = job_create(), *b = job_create();
    job_string(b, "first in b"); /* other numbers than in a */
    struct job_terminal send = { .function = job_string(a, "MPI_Send"),
                                 .callsite = GRAMMAR_NONE,
                                 .comm = GRAMMAR_NONE };
    uint32_t in_a = job_terminal(a, &send);
    send.function = job_string(b, "MPI_Recv");
    uint32_t other = job_terminal(b, &send);
    send.function = job_string(b, "MPI_Send");
    uint32_t in_b = job_terminal(b, &send);
    ck_assert_int_eq(job_count(a, in_a, "cycles", (struct job_count){ 1, 10 }), 0);
    ck_assert_int_eq(job_count(a, in_a, "cycles", (struct job_count){ 2, 20 }), 0);
    ck_assert_int_eq(job_count(b, in_b, "cycles", (struct job_count){ 3, 500 }), 0);
    ck_assert_int_eq(job_count(b, other, "faults", (struct job_count){ 4, 7 }), 0);
    ck_assert_int_eq(job_count(b, 99, "faults", (struct job_count){ 4, 7 }), PYTHIA_EINVAL);
    ck_assert_int_eq(merge_job(a, b), 0);
    ck_assert_uint_eq(a->sum_count, 2);
    ck_assert_uint_eq(a->sums[0].terminal, in_a);
    ck_assert_str_eq(job_text(a, a->sums[0].name), "cycles");
    ck_assert_uint_eq(a->sums[0].count.samples, 6);
    ck_assert_uint_eq(a->sums[0].count.total, 530);
    ck_assert_str_eq(job_text(a, a->sums[1].name), "faults");
    ck_assert_uint_eq(a->sums[1].count.total, 7);
    job_destroy(a);
    job_destroy(b);
}
END_TEST

START_TEST(test_an_empty_job)
{
    struct job *j = job_create(), *back;
    char why[200];
    struct bytes b = bytes_pack(j);
    ck_assert_msg(bytes_unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_uint_eq(back->stream_count, 0);
    free(b.data);
    job_destroy(back);
    job_destroy(j);
}
END_TEST

/* --- Damage --- */

START_TEST(test_every_truncation)
{
    struct job *j = simulate_job(SIMULATE_MASTER, 6);
    struct bytes b = bytes_pack(j);
    for (size_t size = 0; size < b.size; size++)
        bytes_refused(b.data, size, "truncated");
    unsigned char *longer = calloc(1, b.size + 8);
    memcpy(longer, b.data, b.size);
    bytes_refused(longer, b.size + 8, "with a tail");
    free(longer);
    free(b.data);
    job_destroy(j);
}
END_TEST

START_TEST(test_every_flipped_bit)
{
    struct job *j = simulate_job(SIMULATE_MASTER, 4);
    struct bytes b = bytes_pack(j);
    for (size_t bit = (size_t)_i; bit < b.size * 8; bit += 4) {
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bytes_refused(b.data, b.size, "flipped");
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(b.data);
    job_destroy(j);
}
END_TEST

/* A file says what the hash of a class is. Hashes that differ as they like must not be slower than others: the limit of
   a test's time is what fails here. */
START_TEST(test_chosen_hashes)
{
    enum { COUNT = 400000 };
    static const struct grammar_hash step[] = {
        { 0, 1 }, { 1ull << 32, 0 }, { 0, 1ull << 40 }, { 1ull << 44, 1ull << 44 }
    };
    struct job_table t = { 0 };
    ck_assert_int_eq(job_table_reserve(&t, COUNT), 0);
    for (uint64_t i = 1; i <= COUNT; i++) {
        struct grammar_hash hash = { step[_i].low * i, step[_i].high * i };
        ck_assert_uint_eq(job_table_find(&t, hash), GRAMMAR_NONE);
        job_table_put(&t, hash, (uint32_t)i);
        ck_assert_uint_eq(job_table_find(&t, hash), (uint32_t)i);
    }
    job_table_free(&t);
}
END_TEST

START_TEST(test_foreign_files)
{
    unsigned char noise[4096];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)simulate_random(&random);
    bytes_refused(noise, sizeof noise, "noise");
    memset(noise, 0, sizeof noise);
    bytes_refused(noise, sizeof noise, "zeros");
    bytes_refused("", 0, "nothing");
    bytes_refused("PYTHIA\x1a\n", 8, "only the magic");
}
END_TEST

/* Of ranks with 64 threads for two days; sums stay within 63 bits. */
START_TEST(test_threads_of_long_runs)
{
    const uint64_t long_ns = 64 * 48 * 3600 * 1000000000ull;
    struct job *j = job_create();
    char why[200] = "";
    j->info.runs = 1;
    j->info.ranks = 300;
    for (uint32_t rank = 0; rank < 300; rank++) {
        struct job_threads t = { .rank = rank, .callsite = GRAMMAR_NONE, .ranks = 1, .threads = 64,
                                 .region_ns = long_ns / 64, .team_ns = long_ns, .timed_ns = long_ns };
        t.part[JOB_THREADS_WORK] = long_ns;
        ck_assert_int_eq(job_threads_add(j, &t), 0);
    }
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
    for (uint32_t i = 0; i < 2; i++)
        j->threads.of[i].team_ns = INT64_MAX;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    job_destroy(j);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(test_threads_of_long_runs), UNIT_TEST(test_equal_content_equal_number),
    UNIT_TEST(test_hashes_are_of_content),
    UNIT_TEST(test_streams),
    UNIT_TEST(test_matching_another_build), UNIT_TEST(test_matching_many_places),
    UNIT_LOOP(test_round_trip, 2 * SIMULATE_SHAPES),
    UNIT_TEST(test_sums),
    UNIT_TEST(test_an_empty_job),
    UNIT_TEST(test_every_truncation),
    UNIT_LOOP(test_every_flipped_bit, 4),
    UNIT_LOOP(test_chosen_hashes, 4),
    UNIT_TEST(test_foreign_files),
};

int main(void)
{
    return unit_run("job/job", tests, UNIT_COUNT(tests));
}
