/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "omp/budget.h"
#include "omp/context.h"
#include "tests/unit/unit.h"

static const uint64_t spin = 5000000; /* ns */

static struct omp_hook_cost machine(void)
{
    return (struct omp_hook_cost){ .size = 4, .teams = 2, .usable = 2, .one = 400, .end = 50000, .make = 50000,
                                   .processors = 4, .cores = 4,
                                   .team = { { 2, 1000, 60000, spin }, { 4, 2000, 90000, spin } } };
}

static struct omp_hook_cost cost;
static struct omp_hook_site site;
static struct omp_hook_patience patience;

/* A new place each time: the table is not emptied between tests. */
static struct omp_hook_context *context(void)
{
    static uint32_t node;
    cost = machine();
    struct omp_hook_context *c = omp_hook_context_find(&site, 0, node++, 4, true);
    ck_assert(c);
    omp_hook_model_start(&c->model, &cost, NULL, NULL);
    return c;
}

/* Runs as chosen: with one thread, or with team k; `other` is what the other would take. */
static void execute(struct omp_hook_context *c, bool lowered, uint32_t k, double took, double other)
{
    struct omp_hook_execution e = { .lowered = lowered };
    c->model.lowering = lowered;
    omp_hook_context_learn(c, &patience, k, &e, 1000000000, took);
    c->model.lowering = lowered;
    omp_hook_context_settle(c, k, took, other, 7);
}

/* Executions that need no decision from now on. */
static int settled(struct omp_hook_context *c, uint32_t pool, uint64_t since)
{
    int n = 0;
    while (n < 1000 && omp_hook_context_settled(c, pool, since))
        n++;
    return n;
}

/* After a few executions, and for a few. */
START_TEST(what_is_clear_is_not_decided_each_time)
{
    struct omp_hook_context *c = context();
    int before = 0;
    while (before < 10 && !settled(c, 1, 0)) {
        execute(c, true, 1, 500, 2500);
        before++;
    }
    ck_assert_msg(before == 4, "%d", before);
    ck_assert(c->credit == 7);
    execute(c, true, 1, 510, 2500);
    ck_assert_msg(settled(c, 1, 100 * spin) == 15, "sleeping workers are nothing to one thread");
    execute(c, true, 1, 510, 2500);
    ck_assert(settled(c, 0, 0) == 15);
    ck_assert(settled(c, 0, 0) == 0);
}
END_TEST

START_TEST(what_is_close_or_long_is)
{
    struct omp_hook_context *close = context(), *last = context();
    for (int i = 0; i < 100; i++) {
        execute(close, true, 1, 2000, 2300);
        execute(last, true, 1, 50000, 500000);
        ck_assert(!settled(close, 1, 0) && !settled(last, 1, 0));
    }
}
END_TEST

START_TEST(what_is_new_is)
{
    struct omp_hook_context *c = context();
    for (int i = 0; i < 8; i++)
        execute(c, true, 1, 500, 2500);
    ck_assert(omp_hook_context_usual(c, 900));
    ck_assert(!omp_hook_context_usual(c, 1500));
    ck_assert(omp_hook_context_settled(c, 1, 0));
    execute(c, true, 1, 1500, 2500); /* it is looked at, and decided again until it is typical */
    ck_assert(!settled(c, 1, 0));
    for (int i = 0; i < 30; i++)
        execute(c, true, 1, 1500, 2500);
    ck_assert(settled(c, 1, 0));
}
END_TEST

/* A team: of that size, with workers that do not sleep. */
START_TEST(teams_settle_while_their_workers_wait)
{
    struct omp_hook_context *c = context();
    for (int i = 0; i < 8; i++)
        execute(c, false, 1, 5000, 9000);
    ck_assert(!settled(c, 0, 0));
    ck_assert(!settled(c, 1, spin + 1));
    ck_assert(settled(c, 1, spin) == 15);
}
END_TEST

/* A stall anywhere is news for all. */
START_TEST(stalls_unsettle)
{
    struct omp_hook_context *c = context();
    for (int i = 0; i < 8; i++)
        execute(c, false, 1, 5000, 9000);
    ck_assert(omp_hook_context_settled(c, 1, 0));
    omp_hook_stall_note(&cost.stall, 2000000000, 5000, 4e6);
    ck_assert(!settled(c, 1, 0));
    execute(c, false, 1, 5000, 9000);
    ck_assert(settled(c, 1, 0));
}
END_TEST

/* The plan must hear of each region that would be better off with another pool. */
START_TEST(a_pool_that_is_not_the_best_is_not_settled_with)
{
    struct omp_hook_context *c = context();
    for (int i = 0; i < 8; i++) {
        execute(c, true, 0, 9000, 3000);
        execute(c, false, 0, 3000, 9000);
    }
    for (int i = 0; i < 16; i++)
        execute(c, false, 1, 5000, 9000);
    ck_assert(!settled(c, 1, 0));
    for (int i = 0; i < 16; i++)
        execute(c, false, 0, 3000, 9000);
    ck_assert(settled(c, 0, 0) == 15);
}
END_TEST

START_TEST(controls_are_paid_by_time_only)
{
    struct omp_hook_budget b;
    omp_hook_budget_start(&b, 1000);
    ck_assert(b.one == 3e6 && b.team == 3e6 && b.control == 0);
    omp_hook_budget_earn(&b, 1000 + 1000000000);
    ck_assert(b.one == 7e6 && b.team == 7e6 && b.control == 2e6);
    omp_hook_budget_earn(&b, 5); /* a clock that is behind */
    ck_assert(b.control == 2e6);
    omp_hook_budget_earn(&b, 1000 + 1000000000);
    ck_assert(b.control == 2e6);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(what_is_clear_is_not_decided_each_time),
        UNIT_TEST(what_is_close_or_long_is),
        UNIT_TEST(what_is_new_is),
        UNIT_TEST(teams_settle_while_their_workers_wait),
        UNIT_TEST(stalls_unsettle),
        UNIT_TEST(a_pool_that_is_not_the_best_is_not_settled_with),
        UNIT_TEST(controls_are_paid_by_time_only),
    };
    return unit_run("omp/context", tests, UNIT_COUNT(tests));
}
