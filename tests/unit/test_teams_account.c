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

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_largest_team_is_that_of_all),
    };
    return unit_run("teams/account", tests, UNIT_COUNT(tests));
}
