/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "omp/plan.h"
#include "tests/unit/unit.h"

static const struct omp_hook_cost machine = { .size = 64, .teams = 4, .usable = 3, .one = 400, .end = 10000, .make = 20000,
                                              .processors = 32, .cores = 32,
                                              .team = { { 8, 1000, 1000, 0 }, { 16, 2000, 2000, 0 }, { 32, 4000, 4000, 0 },
                                                        { 64, -1, -1, 0 } } };

/* A program: for each region the times with {1, 8}, {1, 16}, {1, 32}; `at` is the next one. */
struct program {
    const double (*best)[3];
    uint32_t length, at;
    bool known;
    uint32_t asked;
};

static bool future(void *argument, uint32_t distance, double best[OMP_HOOK_TEAMS])
{
    struct program *p = argument;
    p->asked++;
    if (!p->known)
        return false;
    memset(best, 0, OMP_HOOK_TEAMS * sizeof *best);
    memcpy(best, p->best[(p->at + distance) % p->length], sizeof *p->best);
    return true;
}

struct outcome { double total; uint32_t changes; };

static double price(uint32_t from, uint32_t to)
{
    return omp_hook_cost_change(&machine, machine.team[from].size, machine.team[to].size);
}

static struct outcome run(struct program *p, uint32_t turns)
{
    struct omp_hook_plan plan;
    struct outcome o = { 0 };
    omp_hook_plan_start(&plan, &machine);
    for (p->at = 0; p->at < turns; p->at++) {
        double best[OMP_HOOK_TEAMS] = { 0 };
        memcpy(best, p->best[p->at % p->length], sizeof *p->best);
        uint32_t before = plan.pool, now = omp_hook_plan_next(&plan, best, future, p);
        o.total += best[now] + price(before, now);
        o.changes += now != before;
    }
    return o;
}

START_TEST(starts_with_all_processors)
{
    struct omp_hook_plan plan;
    omp_hook_plan_start(&plan, &machine);
    ck_assert(plan.pool == 2 && omp_hook_plan_open(&plan));
    struct omp_hook_cost one = { .size = 8, .teams = 1, .usable = 0, .team = { { 8, -1, -1, 0 } } };
    omp_hook_plan_start(&plan, &one);
    ck_assert(plan.pool == 0 && !omp_hook_plan_open(&plan));
}
END_TEST

/* Every region is best with 16: changed once, and soon. */
START_TEST(a_better_size_is_taken_once)
{
    static const double best[][3] = { { 9000, 5000, 8000 }, { 400, 400, 400 }, { 30000, 20000, 26000 } };
    struct program p = { best, 3, 0, _i, 0 };
    struct outcome o = run(&p, 3000);
    ck_assert_uint_eq(o.changes, 1);
    ck_assert_msg(o.total < 1000 * 25400 + 3 * price(2, 1), "%.0f", o.total);
}
END_TEST

/* One prefers 8, the next 32, in turn, by less than a change costs: aligned on one of them. */
START_TEST(sizes_that_alternate_are_aligned)
{
    static const double best[][3] = { { 10000, 14000, 20000 }, { 20000, 14000, 10000 } };
    struct program p = { best, 2, 0, _i, 0 };
    struct outcome o = run(&p, 20000);
    ck_assert_msg(o.changes <= 4, "%u changes", o.changes);
    ck_assert_msg(o.total < 10000 * 30100., "%.0f", o.total);
}
END_TEST

/* Two long phases: changed for each where the difference pays, at most twice the price of knowing. */
START_TEST(phases_have_a_size_each)
{
    enum { LENGTH = 2000 };
    static double best[LENGTH][3];
    for (int i = 0; i < LENGTH; i++) {
        best[i][0] = i < LENGTH / 2 ? 50000 : 100000;
        best[i][1] = 80000;
        best[i][2] = i < LENGTH / 2 ? 100000 : 50000;
    }
    struct program p = { best, LENGTH, 0, _i, 0 };
    struct outcome o = run(&p, 10 * LENGTH);
    ck_assert_msg(o.changes >= 19 && o.changes <= 40, "%u changes", o.changes);
    ck_assert_msg(o.total < 1.03 * 10 * LENGTH * 50000., "%.3f of the best", o.total / (10 * LENGTH * 50000.));
}
END_TEST

/* A short excursion that does not pay for two changes is not followed when it is foreseen. */
START_TEST(foresight_ignores_short_excursions)
{
    enum { LENGTH = 400 };
    static double best[LENGTH][3];
    for (int i = 0; i < LENGTH; i++)
        best[i][0] = best[i][1] = best[i][2] = 10000;
    best[100][1] = 9990;
    for (int i = 101; i < 104; i++)
        best[i][0] = 10000 - 60000; /* as if the region gained more than it takes: the sum over three is what counts */
    for (int i = 104; i < 140; i++)
        best[i][0] = 25000;
    struct program p = { best, LENGTH, 0, true, 0 };
    struct outcome o = run(&p, LENGTH);
    ck_assert_uint_eq(o.changes, 0);
}
END_TEST

START_TEST(the_oracle_is_asked_rarely)
{
    static const double best[][3] = { { 10000, 10100, 10200 }, { 10200, 10100, 10100 } };
    struct program p = { best, 2, 0, true, 0 };
    run(&p, 20000);
    ck_assert_msg(p.asked < 20000 * 64 / 32, "%u questions", p.asked);
}
END_TEST

/* Whatever comes: never much worse than staying. */
START_TEST(random_programs_lose_little)
{
    enum { LENGTH = 64 };
    static double best[LENGTH][3];
    srand((unsigned)_i);
    double stay = 0, least = 0;
    for (int i = 0; i < LENGTH; i++) {
        for (int k = 0; k < 3; k++)
            best[i][k] = rand() % 100000;
        stay += best[i][2];
        least += best[i][0] < best[i][1] ? (best[i][0] < best[i][2] ? best[i][0] : best[i][2])
                                         : (best[i][1] < best[i][2] ? best[i][1] : best[i][2]);
    }
    struct program p = { best, LENGTH, 0, _i & 1, 0 };
    struct outcome o = run(&p, 100 * LENGTH);
    ck_assert_msg(o.total < 1.15 * 100 * stay, "%.2f of staying", o.total / (100 * stay));
    ck_assert(o.total >= 100 * least);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(starts_with_all_processors),
        UNIT_LOOP(a_better_size_is_taken_once, 2),
        UNIT_LOOP(sizes_that_alternate_are_aligned, 2),
        UNIT_LOOP(phases_have_a_size_each, 2),
        UNIT_TEST(foresight_ignores_short_excursions),
        UNIT_TEST(the_oracle_is_asked_rarely),
        UNIT_LOOP(random_programs_lose_little, 50),
    };
    return unit_run("omp/plan", tests, UNIT_COUNT(tests));
}
