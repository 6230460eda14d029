/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

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

/* Tasks of so many ns, each timed where its turn comes: how many were, and what is believed of their mean. */
static uint64_t sampled(const uint64_t *ns, uint32_t kinds, uint32_t tasks, double *mean)
{
    uint64_t timed = 0, sum = 0;
    uint32_t pass = 0, chance = 0;
    for (uint32_t i = 0; i < tasks; i++) {
        if (pass-- > 0)
            continue;
        timed++;
        sum += ns[i % kinds];
        pass = tasks_pass(timed, sum, &chance);
    }
    *mean = (double)sum / (double)timed;
    return timed;
}

START_TEST(few_or_long_tasks_are_all_timed)
{
    double mean;
    ck_assert_int_eq(sampled((uint64_t[]){ 1 }, 1, 32, &mean), 32);
    ck_assert_int_eq(sampled((uint64_t[]){ 20000 }, 1, 10000, &mean), 10000);
}
END_TEST

START_TEST(small_tasks_are_sampled)
{
    double mean;
    ck_assert_int_le(abs((int)sampled((uint64_t[]){ 0 }, 1, 640000, &mean) - 10000), 300);
    ck_assert_int_le(abs((int)sampled((uint64_t[]){ 1600 }, 1, 640000, &mean) - 64000), 1500);
    ck_assert_double_eq(mean, 1600);
}
END_TEST

/* Every fourth task, or every 64th, is another one: as many of these are in the sample as among the tasks. */
START_TEST(samples_are_fair)
{
    static const uint64_t fourth[4] = { 0, 0, 0, 1000 }, rare[64] = { 6400 };
    double mean;
    sampled(fourth, 4, 1000000, &mean);
    ck_assert_double_eq_tol(mean, 250, 12);
    sampled(rare, 64, 5000000, &mean);
    ck_assert_double_eq_tol(mean, 100, 12);
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
        UNIT_TEST(few_or_long_tasks_are_all_timed),
        UNIT_TEST(small_tasks_are_sampled),
        UNIT_TEST(samples_are_fair),
    };
    return unit_run("omp/task", tests, UNIT_COUNT(tests));
}
