/* SPDX-License-Identifier: MIT */
#include "tasks/model.h"
#include "tests/unit/unit.h"

START_TEST(means_forget_and_are_not_misled)
{
    struct tasks_mean m = { 0 };
    ck_assert(tasks_mean_get(&m) < 0);
    tasks_mean_add(&m, 100);
    ck_assert_double_eq(tasks_mean_get(&m), 100);
    for (int i = 0; i < 100; i++)
        tasks_mean_add(&m, 200);
    ck_assert_double_eq_tol(tasks_mean_get(&m), 200, 5);
    tasks_mean_add(&m, 1e7); /* preempted once: a task of 200 ns does not become one of 300 us */
    ck_assert_double_lt(tasks_mean_get(&m), 700);
    for (int i = 0; i < 200; i++)
        tasks_mean_add(&m, 1e6); /* but if it stays so long it is believed */
    ck_assert_double_eq_tol(tasks_mean_get(&m), 1e6, 2e4);
}
END_TEST

START_TEST(choices)
{
    static const struct { double takes; int ready, team; enum tasks_choice choice; } c[] = {
        { -1, 0, 2, TASKS_DEFER },      /* not known: deferred while there is not enough */
        { -1, 7, 2, TASKS_DEFER },      { -1, 8, 2, TASKS_AT_ONCE },
        { 499, 0, 2, TASKS_SUBTREE },   /* efficiency below 50 % */
        { 501, 0, 2, TASKS_DEFER },     /* somebody may be idle */
        { 501, 2, 2, TASKS_SUBTREE },   { 9000, 2, 2, TASKS_DEFER },
        { 9000, 8, 2, TASKS_AT_ONCE },  /* enough is ready */
        { 9000, 31, 8, TASKS_DEFER },   { 9000, 32, 8, TASKS_AT_ONCE },
        { 60000, 32, 8, TASKS_DEFER },  /* coarse: deferring is free */
        { 60000, 32, 1, TASKS_SUBTREE } /* nobody else is there */
    };
    ck_assert_int_eq(tasks_choose(c[_i].takes, 500, c[_i].ready, c[_i].team), c[_i].choice);
}
END_TEST

/* A loop whose two ways cost so much per iteration; how often it was run at once, and what was lost. */
static int run_loop(struct tasks_loop *l, double deferred, double at_once, double each, int turns, double *spent)
{
    int chosen = 0;
    for (int i = 0; i < turns; i++) {
        bool way = tasks_loop_choose(l, each, 4);
        tasks_loop_learn(l, way, way ? at_once : deferred);
        *spent += way ? at_once : deferred;
        chosen += way;
    }
    return chosen;
}

START_TEST(loops_take_the_faster_way)
{
    struct tasks_loop l = { 0 };
    double spent = 0;
    ck_assert_int_ge(run_loop(&l, 50, 10, 10, 1000, &spent), 998);
    ck_assert_double_lt(spent, 1000 * 10 * 1.05);
    struct tasks_loop k = { 0 };
    spent = 0;
    ck_assert_int_le(run_loop(&k, 10, 14, 10, 1000, &spent), 8); /* close enough to be tried again, rarely */
    ck_assert_double_lt(spent, 1000 * 10 * 1.01);
}
END_TEST

START_TEST(loops_notice_a_change)
{
    struct tasks_loop l = { 0 };
    double spent = 0;
    run_loop(&l, 12, 10, 10, 500, &spent);
    ck_assert_int_lt(run_loop(&l, 12, 100, 10, 500, &spent), 50);
}
END_TEST

START_TEST(coarse_loops_are_never_tried)
{
    struct tasks_loop l = { 0 };
    double spent = 0;
    ck_assert_int_eq(run_loop(&l, 2000, 1, 100, 1000, &spent), 0);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(means_forget_and_are_not_misled),
        UNIT_LOOP(choices, 12),
        UNIT_TEST(loops_take_the_faster_way),
        UNIT_TEST(loops_notice_a_change),
        UNIT_TEST(coarse_loops_are_never_tried),
    };
    return unit_run("omp/task", tests, UNIT_COUNT(tests));
}
