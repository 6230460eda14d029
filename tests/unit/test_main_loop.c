/* SPDX-License-Identifier: MIT */
/* The main loop's turns are counted as the source counts them, also where turns differ; the functions are not known. */
#include "report/report.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

/* Calls by a letter each: its callsite. Microseconds each, as many as its place in the alphabet. */
struct script { struct job *j; struct grammar *g; uint64_t us; };

static void play(struct script *s, const char *calls, int times)
{
    for (int i = 0; i < times; i++)
        for (const char *c = calls; *c; c++) {
            uint64_t us = (uint64_t)(*c - 'a' + 1) * 10;
            uint32_t call = hand_call(s->j, "MPI_Allreduce", (uint64_t)*c * 16, JOB_COLLECTIVE);
            hand_append(s->g, call, us, us);
            s->us += 2 * us;
        }
}

static struct script begin(void)
{
    struct script s = { .j = job_create(), .g = grammar_create(1 << 20) };

    play(&s, "a", 1);
    return s;
}

static void turns_are(struct script *s, uint64_t turns)
{
    hand_stream(s->j, s->g, 0, s->us, s->us / 2);
    struct report *r = report_create(s->j);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(r->model->loop.present, turns > 0);
    if (turns)
        ck_assert_uint_eq(r->model->loop.turns, turns);
    report_destroy(r);
    job_destroy(s->j);
}

/* As in molecular dynamics: now and then neighbours are found anew, instead of the usual exchange. */
START_TEST(some_turns_are_others)
{
    static const int rows[] = { 8, 8, 12, 9, 8, 8, 11, 8, 8, 10, 8, 8, 9, 8, 8, 12 };
    struct script s = begin();
    uint64_t turns = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play(&s, "ffffmmmm", rows[i]);
        play(&s, "bcdmmmm", 1);
        turns += (uint64_t)rows[i] + 1;
    }
    turns_are(&s, turns);
}
END_TEST

START_TEST(a_loop_within_a_loop_counts_no_turns)
{
    struct script s = begin();

    for (int i = 0; i < 20; i++) {
        play(&s, "bc", 1);
        play(&s, "de", 10);
    }
    turns_are(&s, 20);
}
END_TEST

/* Before the loop a part of what it does is done once, after it another part. */
START_TEST(parts_of_a_turn_beside_the_loop_are_none)
{
    struct script s = begin();

    play(&s, "ed", 1);
    play(&s, "bczzzyed", 60);
    play(&s, "bc", 1);
    turns_are(&s, 60);
}
END_TEST

/* A solver that takes some steps, now more, now fewer; once a turn of it the step in time. */
static void solve(struct script *s, const char *before, int turns, const char *after)
{
    unsigned seed = 1;

    for (int i = 0; i < turns; i++) {
        unsigned iterations = 3 + (seed >> 16) % 4;
        play(s, before, 1);
        for (unsigned k = 0; k < iterations; k++) {
            seed = seed * 1103515245 + 12345;
            play(s, "m", 1 + (seed >> 20) % 5);
            play(s, "n", 1);
        }
        play(s, after, 1);
    }
}

START_TEST(turns_that_follow_no_rule_are_known_by_their_marks)
{
    static const char *const marked[][2] = { { "bcdef", "" }, { "", "bcdef" }, { "bc", "def" } };

    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        struct script s = begin();
        solve(&s, marked[i][0], 30, marked[i][1]);
        turns_are(&s, 30);
    }
}
END_TEST

/* One call, often in each turn: that loop is not the outermost. */
START_TEST(a_loop_that_is_run_in_each_turn_is_none)
{
    struct script s = begin();
    unsigned seed = 1;

    for (int i = 0; i < 40; i++) {
        seed = seed * 1103515245 + 12345;
        play(&s, "b", 1);
        play(&s, "m", 300 + (seed >> 16) % 200);
        play(&s, "c", 1);
    }
    turns_are(&s, 40);
}
END_TEST

/* A summary every tenth turn is no turn; a loop around ten turns that has work of its own has turns. */
START_TEST(what_is_done_now_and_then_is_no_turn)
{
    struct script s = begin();

    for (int i = 0; i < 87; i++) {
        play(&s, "yzxw", 1);
        play(&s, i % 2 ? "uv" : "vu", 1 + i % 3);
        if (i % 10 == 9)
            play(&s, "ab", 1);
    }
    turns_are(&s, 87);
    s = begin();
    for (int i = 0; i < 12; i++) {
        play(&s, "ijkl", 1);
        for (int k = 0; k < 10; k++)
            play(&s, k % 2 ? "yzxwuv" : "yzxwvu", 1);
    }
    turns_are(&s, 12);
}
END_TEST

/* The last turn is left before the marks. */
START_TEST(the_last_turn_has_no_marks)
{
    struct script s = begin();

    solve(&s, "", 30, "bcdef");
    play(&s, "mmmn", 6);
    turns_are(&s, 31);
}
END_TEST

/* A summary with work of its own, every tenth turn, and once more before the rest of them: the turns are counted on. */
START_TEST(turns_are_counted_on_over_a_summary)
{
    struct script s = begin();

    play(&s, "pqrstu", 1);
    for (int i = 1; i <= 87; i++) {
        play(&s, "yzxw", 1);
        play(&s, i % 2 ? "uv" : "vu", 1 + i % 3);
        if (i % 10 == 0 || i == 87)
            play(&s, "pqrstu", 1);
    }
    turns_are(&s, 87);
}
END_TEST

/* Ten steps between two sums; what the steps are made of is also done before, the sums once more after. */
START_TEST(sums_at_the_begin_and_the_end_of_a_turn_are_marks)
{
    struct script s = begin();

    play(&s, "mnmnmnsp", 1);
    for (int i = 0; i < 3; i++) {
        play(&s, "b", 1);
        play(&s, "mn", 30);
        play(&s, "sc", 1);
    }
    play(&s, "dpe", 1);
    turns_are(&s, 3);
}
END_TEST

/* Fewer and fewer inner turns: the last turn is short. */
START_TEST(the_outer_loop_is_the_one_that_embraces)
{
    static const int inner[] = { 17, 14, 9, 4 };
    struct script s = begin();

    for (size_t i = 0; i < 4; i++) {
        play(&s, "bc", 1);
        for (int k = 0; k < inner[i]; k++)
            play(&s, "mnop", 4);
        play(&s, "d", 1);
    }
    turns_are(&s, 4);
}
END_TEST

/* A phase of three levels before, of less time: it is not around the loop. */
START_TEST(the_outermost_loop_is_around_the_heaviest)
{
    struct script s = begin();

    for (int i = 0; i < 3; i++) {
        play(&s, "cde", 1);
        for (int k = 0; k < 8; k++)
            play(&s, k % (i + 2) ? "z" : "yx", 3);
    }
    for (int i = 0; i < 18; i++) {
        play(&s, "b", 1);
        for (int k = 0; k < 3 + (i * 7) % 4; k++)
            play(&s, k % 2 ? "mn" : "on", 1 + i % 2);
        play(&s, "f", 1);
    }
    turns_are(&s, 18);
}
END_TEST

/* A solver is tried out, for a few steps, then run again and again. */
START_TEST(short_turns_before_the_loop_are_none)
{
    struct script s = begin();

    for (int i = 0; i < 75; i++) {
        play(&s, "zyxw", 1);
        for (int k = 0; k < (i < 5 ? 2 : 20); k++)
            play(&s, (k * 5 + i) % 3 ? "mn" : "om", 1 + (i * 5 + k) % 4);
    }
    play(&s, "de", 1);
    turns_are(&s, 70);
}
END_TEST

/* Forces are found once before the first step, which takes longer. */
START_TEST(a_turn_without_marks_before_the_loop_is_none)
{
    struct script s = begin();

    for (int i = 0; i < 8; i++) {
        play(&s, "bcde", 1);
        for (int k = 0; k < (i ? 10 + i % 3 : 18); k++)
            play(&s, k % 3 ? "mn" : "mo", 1 + k % 2);
        if (i)
            play(&s, "gh", 1);
    }
    turns_are(&s, 7);
}
END_TEST

/* What is done once at the begin and a few times at the end is no loop around all between. */
START_TEST(what_begins_and_ends_a_run_is_no_loop)
{
    struct script s = begin();

    play(&s, "bcde", 1);
    for (int i = 0; i < 30; i++) {
        play(&s, "xy", 1);
        for (int k = 0; k < 3 + (i * 7) % 4; k++)
            play(&s, k % 2 ? "mn" : "on", 1 + i % 2);
        play(&s, "z", 1);
    }
    play(&s, "bcde", 3);
    turns_are(&s, 30);
}
END_TEST

START_TEST(what_takes_little_is_no_main_loop)
{
    struct script s = begin();

    play(&s, "bcdefghijklmnopqrstuvwxyzyxwvutsrqponmlkjihg", 1);
    play(&s, "bc", 5);
    turns_are(&s, 0);
}
END_TEST

/* A solver that needs many steps at first, then ever fewer: each turn has its begin and its end. */
START_TEST(turns_that_become_shorter)
{
    struct script s = begin();

    for (int i = 0; i < 60; i++) {
        play(&s, "b", 1);
        for (int k = 0; k < 2; k++) {
            play(&s, "m", 400 / (i + 5) + 2 + (i * 7 + k) % 3);
            play(&s, "n", 1);
        }
        play(&s, "c", 1);
    }
    turns_are(&s, 60);
}
END_TEST

/* Messages come as they happen to: what a rank does with one of them is no turn, at whatever distances. */
START_TEST(what_ranks_do_by_chance_is_no_turn)
{
    struct script s[2] = { begin(), { 0 } };
    unsigned seed = 1;

    s[1] = (struct script){ .j = s[0].j, .g = grammar_create(1 << 20) };
    play(&s[1], "a", 1);
    for (int i = 0; i < 30; i++)
        for (int rank = 0; rank < 2; rank++) {
            play(&s[rank], "b", 1);
            for (unsigned k = 0; k < 3; k++) {
                seed = seed * 1103515245 + 12345;
                play(&s[rank], "m", 1 + (seed >> 20) % 5);
                play(&s[rank], "n", 1);
            }
            if (!((rank ? 0x11022044 : 0x4088108) >> i & 1))
                continue;
            play(&s[rank], "cd", 1);
        }
    hand_stream(s[1].j, s[1].g, 1, s[1].us, s[1].us / 2);
    turns_are(&s[0], 30);
}
END_TEST

/* main (0x900) calls the function of the loop, which calls two helpers (from 0x500, 0x520), each with a call in it. */
START_TEST(a_loop_without_a_name_is_where_its_function_calls)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    uint32_t call[2];

    for (unsigned i = 0; i < 2; i++) {
        call[i] = hand_call(j, "MPI_Allreduce", 0x100 * (i + 1), JOB_COLLECTIVE);
        struct job_terminal t = j->terminals[call[i]];
        struct job_frame f[3] = { j->frames[j->callsites[t.callsite].first] };
        f[1] = f[2] = f[0];
        f[1].offset = 0x500 + 0x20 * i;
        f[2].offset = 0x900;
        t.callsite = job_callsite(j, f, 3);
        call[i] = job_terminal(j, &t);
    }
    for (unsigned i = 0; i < 100; i++)
        hand_append(g, call[i % 2], 10, 10);
    hand_stream(j, g, 0, 2000, 1000);
    struct report *r = report_create(j);
    const struct report_loop *l = &r->model->loop;
    ck_assert(l->present && l->place);
    ck_assert_str_eq(report_function_at(l->place, true), "app+0x500");
    report_destroy(r);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(some_turns_are_others),
        UNIT_TEST(what_is_done_now_and_then_is_no_turn),
        UNIT_TEST(a_loop_within_a_loop_counts_no_turns),
        UNIT_TEST(parts_of_a_turn_beside_the_loop_are_none),
        UNIT_TEST(turns_that_follow_no_rule_are_known_by_their_marks),
        UNIT_TEST(a_loop_that_is_run_in_each_turn_is_none),
        UNIT_TEST(the_last_turn_has_no_marks),
        UNIT_TEST(turns_are_counted_on_over_a_summary),
        UNIT_TEST(sums_at_the_begin_and_the_end_of_a_turn_are_marks),
        UNIT_TEST(the_outer_loop_is_the_one_that_embraces),
        UNIT_TEST(the_outermost_loop_is_around_the_heaviest),
        UNIT_TEST(short_turns_before_the_loop_are_none),
        UNIT_TEST(a_turn_without_marks_before_the_loop_is_none),
        UNIT_TEST(what_begins_and_ends_a_run_is_no_loop),
        UNIT_TEST(what_takes_little_is_no_main_loop),
        UNIT_TEST(turns_that_become_shorter),
        UNIT_TEST(what_ranks_do_by_chance_is_no_turn),
        UNIT_TEST(a_loop_without_a_name_is_where_its_function_calls),
    };
    return unit_run("main loop", tests, UNIT_COUNT(tests));
}
