/* SPDX-License-Identifier: MIT */
/* Loops by what repeats in the events, where there is no code: turns and entries are counted all the same. */
#include <stdlib.h>
#include <string.h>

#include "findings/report.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

static const struct findings_loop *one_within(const struct findings_loops *l, int parent, uint64_t turns,
                                              uint64_t entries)
{
    const struct findings_loop *found = NULL;
    for (uint32_t i = 0; i < l->loops; i++)
        if (l->loop[i].parent == parent && l->loop[i].turns.sum == turns && l->loop[i].entries.sum == entries)
            found = &l->loop[i];
    ck_assert_msg(found != NULL, "no loop of %llu turns in %llu within %d", (unsigned long long)turns,
                  (unsigned long long)entries, parent);
    return found;
}

static int number(const struct findings_loops *l, const struct findings_loop *loop)
{
    return (int)(loop - l->loop);
}

/* 5 turns of 124 x Send and 3 x (Recv, Allreduce); one Allreduce more. */
START_TEST(a_loop_in_a_loop)
{
    struct job *j = hand_nested();
    struct report *r = report_create(j);
    const struct findings_loops *l = findings_loops_of(r);
    ck_assert(!l->by_code);
    const struct findings_loop *outer = one_within(l, -1, 5, 1);
    ck_assert_ptr_eq(findings_main_loop(r), outer);
    ck_assert_double_eq(findings_loop_turns(outer), 5);
    const struct findings_loop *sends = one_within(l, number(l, outer), 5 * 124, 5);
    const struct findings_loop *rounds = one_within(l, number(l, outer), 5 * 3, 5);
    ck_assert(sends->turns_least == 124 && sends->turns_most == 124);
    ck_assert(rounds->turns_least == 3 && rounds->turns_most == 3);
    ck_assert_uint_eq(outer->turns_least, 5);
    ck_assert_uint_eq(outer->turns_most, 5);
    for (uint32_t i = 0; i < l->calls; i++)
        if (!strcmp(job_text(j, j->terminals[l->call[i].terminal].function), "MPI_Send"))
            ck_assert_uint_eq(l->call[i].count, 5 * 124);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* Ranks of one shape that turn differently often: a mean, and it is said. */
START_TEST(ranks_that_differ)
{
    struct job *j = job_create();
    uint32_t recv = hand_call(j, "MPI_Recv", 0x10, JOB_P2P), send = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        uint32_t turns = _i ? 10 : 10 + 20 * rank;
        for (uint32_t i = 0; i < turns; i++) {
            hand_append(g, recv, 10, 1);
            hand_append(g, send, 10, 1);
        }
        hand_stream(j, g, rank, 22 * turns, 2 * turns);
    }
    j->info.ranks = 2;
    struct report *r = report_create(j);
    const struct findings_loop *m = findings_main_loop(r);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->streams, 2);
    ck_assert_uint_eq(m->turns.sum, _i ? 20 : 40);
    ck_assert_double_eq(findings_loop_mean_turns(m), _i ? 10 : 20);
    ck_assert_double_eq(findings_loop_turns(m), _i ? 10 : -1);
    ck_assert_double_eq_tol(findings_share(r->model, m->ns), _i ? 100 : 100 * 2 / 3., 1e-6);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* 17 commands, one of which is the run: 200 turns; in every one, it is a solver in a time step. */
START_TEST(who_reads_commands)
{
    struct job *j = job_create();
    uint32_t bcast = hand_call(j, "MPI_Bcast", 0x10, JOB_COLLECTIVE), send = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 17; i++) {
        hand_append(g, bcast, 10, 1);
        for (int k = 0; k < 200 && (_i || i == 9); k++)
            hand_append(g, send, 10, 1);
    }
    hand_stream(j, g, 0, 11 * (17 + (_i ? 17 : 1) * 200), 1);
    j->info.ranks = 1;
    struct report *r = report_create(j);
    const struct findings_loop *m = findings_main_loop(r);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->turns.sum, _i ? 17 : 200);
    ck_assert_int_eq(m->parent < 0, _i);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

START_TEST(nothing_repeats)
{
    struct job *j = job_create();
    hand_once(j, (uint32_t[]){ hand_call(j, "MPI_Bcast", 0x10, JOB_COLLECTIVE),
                               hand_call(j, "MPI_Barrier", 0x20, JOB_COLLECTIVE) }, 2);
    struct report *r = report_create(j);
    ck_assert_ptr_null(findings_main_loop(r));
    ck_assert_uint_eq(findings_loops_of(r)->loops, 0);
    ck_assert_uint_eq(findings_loops_of(r)->calls, 2);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(a_loop_in_a_loop), UNIT_LOOP(ranks_that_differ, 2),
                                              UNIT_LOOP(who_reads_commands, 2),
                                              UNIT_TEST(nothing_repeats) };
    return unit_run("findings/loops", tests, UNIT_COUNT(tests));
}
