/* SPDX-License-Identifier: MIT */
/* What executions that are timed stand for (teams/account.h). */
#include "teams/account.h"
#include "tests/unit/unit.h"

/* The capacity is that of the largest team, whether or not it was one of those that were timed. */
START_TEST(the_largest_team_is_that_of_all)
{
    struct teams_account a = {0};
    struct job_threads alone = {.threads = 1, .team_ns = 100}, pair = {.threads = 2, .team_ns = 200};
    teams_account_add(&a, 100, 0, 4);
    teams_account_add(&a, 100, 0, 1);
    teams_account_timed(&a, 100, 0, &alone);
    ck_assert_uint_eq(alone.threads, 4);
    ck_assert_uint_eq(alone.team_ns, 100 + 400);
    teams_account_timed(&a, 100, 0, &pair);
    ck_assert_uint_eq(pair.threads, 2);
    teams_account_add(&a, 100, 0, 3);
    ck_assert_uint_eq(teams_account_rest(&a).threads, 3);
    ck_assert_uint_eq(teams_account_rest(&a).threads, 0);
    ck_assert_uint_eq(a.sum.threads, 4);
}
END_TEST

/* A short execution that the machine held up says nothing of one that was not timed and works for 8 ms. */
START_TEST(a_short_one_held_up_does_not_stand_for_a_long_one)
{
    enum { US = 1000, MS = 1000 * US };
    struct teams_account a = {0};
    struct job_threads held = {.threads = 2, .team_ns = 120 * US, .part[JOB_THREADS_FORK] = 120 * US};
    struct job_threads works = {.threads = 2, .team_ns = 18 * MS, .part[JOB_THREADS_WORK] = 18 * MS};
    teams_account_add(&a, 8 * MS, 0, 2);
    teams_account_add(&a, 150 * US, 0, 2);
    teams_account_timed(&a, 60 * US, 0, &held);
    ck_assert_uint_eq(held.part[JOB_THREADS_FORK], 420 * US);
    teams_account_timed(&a, 9 * MS, 0, &works);
    ck_assert_uint_eq(works.part[JOB_THREADS_WORK], 34 * MS);
    ck_assert_uint_eq(teams_account_rest(&a).team_ns, 0);
}
END_TEST

/* A sample stands for what is shorter, and for what is a little longer; the longest of all for each other. */
START_TEST(a_long_one_stands_for_shorter_ones)
{
    enum { US = 1000, MS = 1000 * US, S = 1000 * MS };
    struct teams_account a = {0};
    struct job_threads works = {.threads = 2, .team_ns = 6 * MS, .part[JOB_THREADS_WORK] = 6 * MS};
    struct job_threads longest = {.threads = 2, .team_ns = 40 * MS, .part[JOB_THREADS_WORK] = 40 * MS};
    teams_account_add(&a, 50 * US, 0, 2);
    teams_account_add(&a, 10 * US, 0, 2); /* short: for itself */
    teams_account_add(&a, 11 * MS, 0, 2);
    teams_account_add(&a, 1 * S, 0, 2);
    teams_account_timed(&a, 3 * MS, 0, &works);
    ck_assert_uint_eq(works.part[JOB_THREADS_WORK], 6 * MS + 100 * US + 22 * MS);
    teams_account_timed(&a, 20 * MS, 0, &longest);
    ck_assert_uint_eq(longest.part[JOB_THREADS_WORK], 40 * MS + 2UL * S);
    ck_assert_uint_eq(teams_account_rest(&a).team_ns, 20 * US);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_largest_team_is_that_of_all),
        UNIT_TEST(a_short_one_held_up_does_not_stand_for_a_long_one),
        UNIT_TEST(a_long_one_stands_for_shorter_ones),
    };
    return unit_run("teams/account", tests, UNIT_COUNT(tests));
}
