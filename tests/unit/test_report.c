/* SPDX-License-Identifier: MIT */
/* The tables that every form of the report prints, of jobs made by hand; units. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "findings/by_rank.h"
#include "findings/report.h"
#include "findings/sums.h"
#include "findings/own_cost.h"
#include "findings/units.h"
#include "job/flow.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

START_TEST(sites_add_up)
{
    struct job *j = hand_nested();
    struct findings_model *m = findings_model_create(j);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->site_count; i++)
        sum += m->sites[i].time_ns + m->sites[i].gap_ns;
    ck_assert_uint_eq(sum, j->streams[0].wall_ns);
    ck_assert_uint_eq(m->site_count, 3);
    ck_assert_str_eq(job_text(j, m->sites[0].function), "MPI_Send"); /* 620 us, most */
    ck_assert_uint_eq(m->sites[0].count, 620);
    ck_assert_uint_eq(m->events, 651);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* A job whose ranks share records: of a block whose ranks differ in class and in turns each counts. */
START_TEST(calls_of_blocks_add_up)
{
    enum { RANKS = 600 };
    struct job *j = job_create();
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE), send = hand_call(j, "MPI_Send", 0x30, JOB_P2P);
    j->info.ranks = RANKS;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        uint32_t turns = 5 + rank % 7;
        for (uint32_t i = 0; i < turns; i++)
            hand_append(g, send, 2, 8);
        if (rank % 2)
            hand_append(g, barrier, 2, 8);
        hand_stream(j, g, rank, 10 * (turns + rank % 2), 8 * (turns + rank % 2));
    }
    struct report *r = report_create(j);
    struct findings_by_rank *b = findings_by_rank_create(r);
    ck_assert_uint_lt(b->ranks, RANKS);
    for (uint32_t s = 0; s < b->sites; s++) {
        double count = 0, ns = 0;
        for (uint32_t k = 0; k < b->ranks; k++) {
            count += findings_cell(b, k, s)->count;
            ns += findings_cell(b, k, s)->ns;
        }
        ck_assert_double_eq_tol(count, (double)r->model->sites[s].count, 1e-6);
        ck_assert_double_eq_tol(ns, (double)r->model->sites[s].time_ns, 1e-3 * ns);
    }
    findings_by_rank_destroy(b);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* wall 100, useful 90 and 60: 0.75 = 75 / 90 x 90 / 100 */
START_TEST(efficiencies_of_a_hand_made_job)
{
    struct job *j = job_create();
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        hand_append(g, barrier, rank ? 60 : 90, rank ? 40 : 10);
        hand_stream(j, g, rank, 100, rank ? 40 : 10);
    }
    struct findings_model *m = findings_model_create(j);
    ck_assert_double_eq_tol(m->efficiency.parallel, 0.75, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.load_balance, 75.0 / 90, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.communication, 0.9, 1e-12);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* 20 us alone, 80 in a region of two threads, of which fork and join are 10 a thread, 20 are waits for a lock, 60 for
   the last thread, and 60 are work. */
START_TEST(efficiencies_of_teams)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x30);
    struct grammar *g = grammar_create(1 << 20);
    struct grammar_event e = { .terminal = region, .gap = 20000, .duration = 80000, .channels = 1u << GRAMMAR_TEAM,
                               .value = { [GRAMMAR_TEAM] = 2 } };
    grammar_append(g, &e);
    hand_stream(j, g, 0, 100, 0);
    j->streams[0].omp_ns = 80000;
    struct job_threads t = { .rank = 0, .callsite = GRAMMAR_NONE, .ranks = 1, .threads = 2, .samples = 1,
                             .region_ns = 80000, .team_ns = 160000, .timed_ns = 80000,
                             .part = { [JOB_THREADS_WORK] = 30000, [JOB_THREADS_UNEVEN] = 30000,
                                       [JOB_THREADS_WAIT] = 10000, [JOB_THREADS_FORK] = 5000,
                                       [JOB_THREADS_JOIN] = 5000 } }; /* half of it was measured */
    ck_assert_int_eq(job_threads_add(j, &t), 0);
    struct findings_model *m = findings_model_create(j);
    ck_assert(m->efficiency.measured && m->efficiency.threads == 2);
    ck_assert_double_eq_tol(m->efficiency.covered, 0.5, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.mpi, 1, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.omp_serial, 180.0 / 200, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.omp_fork_join, 160.0 / 180, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.omp_waiting, 140.0 / 160, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.omp_load_balance, 80.0 / 140, 1e-12);
    ck_assert_double_eq_tol(m->efficiency.parallel, 80.0 / 200, 1e-12);
    findings_model_destroy(m);
    j->threads.of[0].timed_ns = 7000; /* less than a twentieth */
    m = findings_model_create(j);
    ck_assert(m->efficiency.known && !m->efficiency.measured);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* Two ranks of 100 us and two threads, which the second one never makes. In the first one's region of 60 us the other
   thread is in MPI for 20; both are in MPI for 30 outside of it. */
START_TEST(efficiencies_of_calls_in_regions)
{
    struct job *j = job_create();
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        hand_append(g, barrier, 70, 30);
        hand_stream(j, g, rank, 100, 30);
    }
    j->streams[0].omp_ns = 60000;
    struct job_threads t = { .rank = 0, .callsite = GRAMMAR_NONE, .ranks = 1, .threads = 2, .samples = 1,
                             .region_ns = 60000, .team_ns = 120000, .timed_ns = 120000,
                             .part = { [JOB_THREADS_WORK] = 100000, [JOB_THREADS_MPI] = 20000 } };
    ck_assert_int_eq(job_threads_add(j, &t), 0);
    struct findings_model *m = findings_model_create(j);
    const struct findings_efficiency *e = &m->efficiency;
    ck_assert_double_eq_tol(e->of.all, 400000, 1e-6);
    ck_assert_double_eq_tol(e->of.mpi, 60000 + 20000 + 60000, 1e-6);
    ck_assert_double_eq_tol(e->of.serial, 10000 + 70000, 1e-6);
    ck_assert_double_eq_tol(e->of.useful, 110000 + 70000, 1e-6);
    ck_assert_double_eq_tol(e->of.ended, 0, 1e-6);
    ck_assert_double_eq_tol(e->load_balance, (120.0 + 140) / 2 / 140, 1e-12);
    ck_assert_double_eq_tol(e->communication, 140.0 / 200, 1e-12);
    ck_assert_double_eq_tol(e->parallel, 180.0 / 400, 1e-12);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* Whatever is counted: what is met at a node is one of the sites. */
START_TEST(what_is_met_is_a_site)
{
    struct job *j = job_create();
    struct job_terminal t;
    uint32_t send = hand_call(j, "MPI_Send", 0x10, JOB_P2P);
    t = j->terminals[hand_call(j, "MPI_Recv", 0x20, JOB_P2P)];
    t.phase = JOB_CLOSE; /* of a call that was never opened: it counts as none */
    uint32_t closes = job_terminal(j, &t);
    hand_once(j, (const uint32_t[]){ send, closes, send }, 3);
    struct report *r = report_create(j);
    ck_assert_uint_lt(r->model->place[send], r->model->site_count);
    ck_assert_uint_lt(r->model->place[closes], r->model->site_count);
    ck_assert_uint_eq(r->model->sites[r->model->place[closes]].count, 0);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

START_TEST(peers_are_relative)
{
    struct job *j = job_create();
    uint32_t send = hand_call(j, "MPI_Send", 0x10, JOB_P2P);
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 10; i++) {
            struct grammar_event e = {.terminal = send, .gap = 1000, .duration = 1000,
                                      .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES};
            e.value[GRAMMAR_PEER] = (rank + 1) % 4;
            e.value[GRAMMAR_BYTES] = 100;
            grammar_append(g, &e);
        }
        hand_stream(j, g, rank, 20, 10);
    }
    for (uint32_t rank = 0; rank < 4; rank++)
        ck_assert_int_eq(job_flow_add(j, rank, send, false, (rank + 1) % 4, 10, 1000), 0);
    ck_assert_int_eq(job_flows_settle(j), 0);
    struct findings_model *m = findings_model_create(j);
    ck_assert_uint_eq(m->edge_count, 4);
    ck_assert_uint_eq(m->by_mean_bytes, 0);
    ck_assert_uint_eq(m->peer_count, 1);
    ck_assert_uint_eq(m->peers[0].relation, FINDINGS_OFFSET);
    ck_assert_int_eq(m->peers[0].value, 1);
    ck_assert_uint_eq(m->peers[0].messages, 40);
    ck_assert_uint_eq(m->peers[0].bytes, 4000);
    ck_assert_uint_eq(m->sites[0].bytes, 4000);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

START_TEST(teams_are_told_apart)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x40);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 9; i++) {
        struct grammar_event e = {
            .terminal = region, .gap = 1000, .duration = i % 3 ? 5000 : 9000, .channels = 1u << GRAMMAR_TEAM
        };
        e.value[GRAMMAR_TEAM] = i % 3 ? 2 : 1;
        grammar_append(g, &e);
    }
    hand_stream(j, g, 0, 66, 0);
    struct findings_model *m = findings_model_create(j);
    ck_assert_uint_eq(m->region_count, 1);
    ck_assert_uint_eq(m->regions[0].count, 9);
    ck_assert_uint_eq(m->regions[0].team_count, 2);
    ck_assert_int_eq(m->regions[0].teams[0].size, 1);
    ck_assert_uint_eq(m->regions[0].teams[0].count, 3);
    ck_assert_uint_eq(m->regions[0].teams[0].time_ns, 27000);
    ck_assert_uint_eq(m->regions[0].teams[1].count, 6);
    ck_assert_uint_eq(m->regions[0].teams[1].time_ns, 30000);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* Small work was always done by one thread, in a place of its own: what it takes says nothing about the other place,
   where four were faster than two. */
START_TEST(best_team_of_like_work)
{
    struct job *j = job_create();
    uint32_t region = hand_region(j, 0x40), barrier = hand_call(j, "MPI_Barrier", 0x10, JOB_COLLECTIVE);
    uint32_t reduce = hand_call(j, "MPI_Allreduce", 0x20, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    struct grammar_event e = { .terminal = region, .gap = 1000, .channels = 1u << GRAMMAR_TEAM };
    for (int i = 0; i < 40; i++) {
        e.duration = 5000;
        e.value[GRAMMAR_TEAM] = 1;
        grammar_append(g, &e);
        hand_append(g, barrier, 1, 1);
        e.duration = i % 2 ? 200000 : 150000;
        e.value[GRAMMAR_TEAM] = i % 2 ? 2 : 4;
        grammar_append(g, &e);
        hand_append(g, reduce, 1, 1);
    }
    hand_stream(j, g, 0, 40 * (1 + 5 + 2 + 1 + 175 + 2), 0);
    struct findings_model *m = findings_model_create(j);
    ck_assert_uint_eq(m->regions[0].team_count, 3);
    ck_assert_int_eq(findings_best_team(&m->regions[0])->size, 4);
    ck_assert_double_eq_tol(findings_team_efficiency(&m->regions[0].teams[0]), 1, 1e-12);
    for (uint32_t k = 1; k < 3; k++)
        ck_assert(findings_team_efficiency(&m->regions[0].teams[k]) < 0);
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

/* What a region with a call inside does itself is in the gaps: 3 + 7 of each 13 us; outside, 2 before the region. */
START_TEST(time_inside_opened_regions)
{
    struct job *j = job_create();
    uint32_t barrier = hand_call(j, "MPI_Barrier", 0x10, JOB_COLLECTIVE), leaf = hand_region(j, 0x40);
    struct job_terminal t = j->terminals[leaf];
    t.phase = JOB_OPEN;
    uint32_t open = job_terminal(j, &t);
    t.phase = JOB_CLOSE;
    uint32_t close = job_terminal(j, &t);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        for (int i = 0; i < 30; i++) {
            hand_append(g, barrier, 1, 1);
            hand_append(g, open, 2, 0);
            hand_append(g, barrier, 3, 4);
            struct grammar_event e = {.terminal = close, .gap = 7000, .channels = 1u << GRAMMAR_TEAM};
            e.value[GRAMMAR_TEAM] = 2;
            grammar_append(g, &e);
        }
        hand_append(g, leaf, 5, 100);
        hand_stream(j, g, rank, 30 * 18 + 105, 150);
        ck_assert_int_eq(job_count(j, open, JOB_EXCLUSIVE_NS, (struct job_count){ 30, 30 * 10 * 1000 }), 0);
    }
    struct findings_model *m = findings_model_create(j);
    ck_assert_uint_eq(m->regions[0].count, 3 * 31);
    ck_assert_uint_eq(m->regions[0].nested_ns, 3 * 30 * 10 * 1000);
    ck_assert_uint_eq(m->regions[0].time_ns, 3 * (30 * 10 + 100) * 1000);
    ck_assert_uint_eq(m->regions[0].teams[0].time_ns, 3 * 30 * 10 * 1000);
    ck_assert_ptr_null(findings_sums_create(j)); /* is no plugin's sum */
    findings_model_destroy(m);
    job_destroy(j);
}
END_TEST

START_TEST(units)
{
    static const struct { double ns; const char *text; } times[] = {
        {0, "0 ns"}, {999.4, "999 ns"}, {999.6, "1.00 us"}, {9994, "9.99 us"}, {9996, "10.0 us"}, {99960, "100 us"},
        {1.5e6, "1.50 ms"}, {2.5e9, "2.50 s"}, {999.4e9, "999 s"}, {3600e9, "1h00m"}, {7500e9, "2h05m"}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        ck_assert_str_eq(findings_time(times[i].ns), times[i].text);
    ck_assert_str_eq(findings_bytes(1024 * 1536.0), "1.50 MiB");
    ck_assert_uint_lt(strlen(findings_bytes(DBL_MAX)), FINDINGS_TEXT); /* cut, not overrun */
}
END_TEST

/* 600 ranks in blocks of four: 437 works 5 times as long, 122 least, and who they are is in the file. */
START_TEST(a_block_keeps_who_is_longest)
{
    enum { RANKS = 600 };
    struct job *j = job_create(), *again;
    void *data;
    size_t size;
    char why[200] = "";
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job *one = job_create();
        struct grammar *g = grammar_create(1 << 20);
        uint64_t work = rank == 437 ? 50000 : rank == 122 ? 9000 : 10000;
        one->info.ranks = RANKS;
        hand_append(g, hand_call(one, "MPI_Barrier", 0x10, JOB_COLLECTIVE), work, 52000 - work);
        hand_stream(one, g, rank, 52000, 52000 - work);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
    ck_assert_msg(file_unpack(data, size, &again, why, sizeof why) == 0, "%s", why);
    struct findings_model *m = findings_model_create(again);
    const struct findings_efficiency *e = &m->efficiency;
    ck_assert_uint_eq(e->useful.most_rank, 437);
    ck_assert_uint_eq(e->useful.least_rank, 122);
    ck_assert_double_eq_tol(e->load_balance, (598.0 * 10 + 50 + 9) / 600 / 50, 1e-4);
    ck_assert_double_eq_tol(e->communication, 50.0 / 52, 1e-4);
    again->streams[0].useful.most_rank = 4;
    ck_assert_int_eq(job_check(again, why, sizeof why), PYTHIA_EFORMAT);
    findings_model_destroy(m);
    job_destroy(again);
    job_destroy(j);
    free(data);
}
END_TEST

/* A screen is 80 columns wide, whatever the times. */
START_TEST(what_pythia_took_fits_a_line)
{
    for (double ns = 1; ns < 1e13; ns *= 3) {
        struct job j = { .info = { .ranks = 2 }, .took = { .ranks = 2 } };
        struct findings_model m = { .wall_ns = (uint64_t)(45.6 * ns) };
        struct report r = { .job = &j, .model = &m };
        for (int i = 0; i < JOB_TOOK_PARTS; i++)
            j.took.sum[i] = j.took.most[i] = (uint64_t)(ns * 1.001);
        const char *text = findings_own_cost_text(&r), *end = strchr(text, '\n');
        ck_assert_msg(end && end - text <= 80 && strlen(end + 1) <= 80, "%s", text);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(sites_add_up), UNIT_TEST(what_pythia_took_fits_a_line), UNIT_TEST(calls_of_blocks_add_up),
        UNIT_TEST(efficiencies_of_a_hand_made_job),
        UNIT_TEST(efficiencies_of_teams),
        UNIT_TEST(a_block_keeps_who_is_longest),
        UNIT_TEST(efficiencies_of_calls_in_regions),
        UNIT_TEST(what_is_met_is_a_site), UNIT_TEST(peers_are_relative),
        UNIT_TEST(teams_are_told_apart), UNIT_TEST(best_team_of_like_work),
        UNIT_TEST(time_inside_opened_regions),
        UNIT_TEST(units),
    };
    return unit_run("report", tests, UNIT_COUNT(tests));
}
