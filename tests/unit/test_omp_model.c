/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "omp/model.h"
#include "tests/unit/unit.h"

/* Two processors, one team size. */
static struct omp_hook_cost two = { .size = 2, .teams = 1, .usable = 1, .one = 400, .end = 50000, .make = 50000,
                                          .processors = 2, .cores = 2, .team = { { 2, 1000, 60000, 5000000 } } };
/* A program that wants eight threads on them: those are not measured. */
static struct omp_hook_cost eight = { .size = 8, .teams = 2, .usable = 1, .one = 400, .end = 50000, .make = 50000,
                                            .processors = 2, .cores = 2,
                                            .team = { { 2, 1000, 60000, 5000000 }, { 8, -1, -1, 10000 } } };
/* Sixteen cores. */
static struct omp_hook_cost sixteen = { .size = 16, .teams = 4, .usable = 4, .one = 400, .end = 10000, .make = 20000,
                                              .processors = 16, .cores = 16,
                                              .team = { { 2, 1000, 60000, 5000000 }, { 4, 2000, 80000, 5000000 },
                                                        { 8, 4000, 120000, 5000000 }, { 16, 8000, 200000, 5000000 } } };
/* A quarter of a node's processors is one. */
static struct omp_hook_cost crowded = { .size = 2, .teams = 1, .usable = 0, .one = 400, .end = 50000, .make = 50000,
                                              .processors = 1, .cores = 1, .team = { { 2, -1, -1, 5000000 } } };
static const double own_cost = 120000; /* ns, of a team that has more threads than there are processors */

/* A machine that really behaves like the cost model, with noise: work ns in all, of which `share` can be divided. */
struct machine { struct omp_hook_cost *cost; double work, share, noise; };

static double uniform(void)
{
    return (double)rand() / RAND_MAX;
}

static double real_time(const struct machine *m, uint32_t k, bool lowered, bool cold)
{
    const struct omp_hook_team_cost *team = &m->cost->team[k];
    double n = omp_hook_cost_worth(m->cost, team->size), overhead = cold ? team->cold : team->hot;
    double time = lowered ? m->work + m->cost->one
                          : m->work * (1 - m->share) + m->work * m->share / n + (overhead < 0 ? own_cost : overhead);
    return time * (1 + m->noise * (uniform() - 0.5));
}

struct outcome { double total, full, one; uint32_t lowered, trials, controls; };

/* Of all regions of a test, and the time. */
static struct omp_hook_patience patience;
static double clock_ns = 1e9;

/* The pool's size is the largest usable one, or N. */
static uint32_t pool_of(const struct omp_hook_cost *cost)
{
    return (cost->usable ? cost->usable : cost->teams) - 1;
}

static void choose(struct omp_hook_model *model, bool cold, double budget, struct omp_hook_choice *c)
{
    unsigned workers = cold ? OMP_HOOK_ASLEEP | OMP_HOOK_ASLEEP_ANYWAY : 0;
    struct omp_hook_budget budgets = { .one = budget, .team = budget, .control = budget };
    omp_hook_model_choose(model, &patience, pool_of(model->cost), workers, &budgets, c);
}

static bool learn(struct omp_hook_model *model, bool lowered, bool cold, bool trial, double took)
{
    struct omp_hook_execution e = { lowered, cold, trial, false };
    clock_ns += took;
    omp_hook_stall_fade(&model->cost->stall, (uint64_t)clock_ns);
    return omp_hook_model_learn(model, &patience, pool_of(model->cost), &e, (uint64_t)clock_ns, took);
}

static struct outcome run(struct omp_hook_model *model, const struct machine *m, int turns, bool cold)
{
    struct outcome o = { 0 };
    uint32_t pool = pool_of(m->cost);
    double budget = 20 * 1000;
    for (int i = 0; i < turns; i++) {
        struct omp_hook_choice c;
        choose(model, cold, budget, &c);
        uint32_t k = c.control ? m->cost->teams - 1 : pool;
        struct omp_hook_execution e = { c.lower, cold, c.trial, c.control };
        double took = real_time(m, k, c.lower, cold);
        clock_ns += took;
        omp_hook_stall_fade(&m->cost->stall, (uint64_t)clock_ns);
        omp_hook_model_learn(model, &patience, k, &e, (uint64_t)clock_ns, took);
        double other = c.lower || c.control ? c.full : c.one;
        if (c.trial && other >= 0 && took > other)
            budget -= took - other;
        budget += 0.01 * took;
        o.total += took;
        o.full += real_time(m, pool, false, cold);
        o.one += real_time(m, pool, true, cold);
        o.lowered += c.lower;
        o.trials += c.trial;
        o.controls += c.control;
    }
    return o;
}

static struct omp_hook_model started(struct omp_hook_cost *cost, const struct grammar_attr *by_size, double duration)
{
    struct omp_hook_model model;
    struct grammar_stats all = { .count = 1 };
    all.duration.sum = all.duration.min = (uint64_t)duration;
    omp_hook_model_start(&model, cost, by_size, duration >= 0 ? &all : NULL);
    return model;
}

START_TEST(the_first_time_is_the_pools)
{
    struct omp_hook_model model = started(&eight, NULL, -1);
    struct omp_hook_choice c;
    choose(&model, false, 1e9, &c);
    ck_assert(!c.lower && !c.trial && c.full < 0 && c.one < 0);
}
END_TEST

/* Whatever the work and how well it divides: over a long run close to the better of the two fixed sizes. */
START_TEST(the_better_size_is_found)
{
    static const double works[] = { 0, 100, 1000, 5000, 50000, 500000, 5000000, 50000000 };
    static const double shares[] = { 0, 0.5, 0.9, 1 };
    struct machine m = { _i & 1 ? &eight : &two, works[_i / 2 % 8], shares[_i / 16 % 4], 0.1 };
    bool cold = _i / 64;
    struct omp_hook_model model = started(m.cost, NULL, -1);
    srand((unsigned)_i + 1);
    struct outcome o = run(&model, &m, 3000, cold);
    double best = o.full < o.one ? o.full : o.one;
    ck_assert_msg(o.total < 1.08 * best + 40 * 1000 + 3 * own_cost, "case %d: work %.0f share %.1f N %u: %.0f, full %.0f, one %.0f", _i,
                  m.work, m.share, m.cost->size, o.total, o.full, o.one);
}
END_TEST

START_TEST(what_was_recorded_decides_at_once)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 2 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 2, 10, 100000 };
    a.key[1] = (struct grammar_attr_key){ 1, 10, 20000 };
    struct omp_hook_model model = started(&two, &a, 150000);
    choose(&model, false, 0, &c);
    ck_assert(c.lower && c.full == 10000 && c.one == 2000);
    /* recorded with two threads only: at most 2 x (1.2 - 1) us of work */
    a.length = 1;
    a.key[0].sum = 12000;
    model = started(&two, &a, 1200);
    choose(&model, false, 0, &c);
    ck_assert(c.lower && c.one == 800);
    /* long: that bound forbids it */
    a.key[0].sum = 100000000;
    model = started(&two, &a, 10000000);
    choose(&model, false, 1e6, &c);
    ck_assert(!c.lower && !c.trial);
}
END_TEST

/* Recorded with eight threads, now two of them have processors: at first two, which need no trial. */
START_TEST(more_threads_than_processors_are_not_run_again)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 8, 10, 1500000 };
    struct omp_hook_model model = started(&eight, &a, 150000);
    choose(&model, false, 0, &c);
    ck_assert(!c.lower && !c.control && c.full == 151000);
    ck_assert(c.credit == 150000); /* what the program's own size took */
    learn(&model, false, false, false, 1200);
    choose(&model, false, 0, &c);
    ck_assert(c.lower && c.one == 800);
}
END_TEST

/* No processor but one: a team is not worth its trouble, whatever it is said to cost. */
START_TEST(a_crowded_node_has_one_thread_each)
{
    struct machine m = { &crowded, 50000, 1, 0.1 };
    struct omp_hook_choice c;
    struct omp_hook_model model = started(&crowded, NULL, -1);
    struct outcome o = run(&model, &m, 1000, false);
    ck_assert_msg(o.lowered > 980, "lowered %u", o.lowered);
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 };
    a.key[0] = (struct grammar_attr_key){ 2, 10, 1500000 };
    model = started(&crowded, &a, -1);
    choose(&model, false, 0, &c);
    ck_assert(c.lower);
}
END_TEST

START_TEST(another_size_that_was_recorded_gives_a_bound)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 1, 10, 10000 }; /* 1 us alone: 0.6 of work */
    struct omp_hook_model model = started(&two, &a, 1000);
    choose(&model, false, 0, &c);
    ck_assert(c.lower && c.one == 1000 && c.full == 1300);
    /* a size that is none of ours: at most 4 x 10 us of work */
    a.key[0] = (struct grammar_attr_key){ 3, 10, 100000 };
    model = started(&sixteen, &a, 10000);
    choose(&model, false, 0, &c);
    ck_assert(!c.lower && c.full == 30000. / 16 + 8000);
}
END_TEST

/* serial + work / n through what was seen, exactly. */
START_TEST(two_sizes_give_the_others)
{
    struct machine m = { &sixteen, 1000000, 0.8, 0 };
    struct omp_hook_model model = started(&sixteen, NULL, -1);
    ck_assert(omp_hook_model_expect(&model, 1, false) < 0);
    struct omp_hook_execution full = { false, false, false, false }, one = { true, false, true, false };
    omp_hook_model_learn(&model, &patience, 3, &full, 0, real_time(&m, 3, false, false));
    omp_hook_model_learn(&model, &patience, 3, &one, 0, real_time(&m, 3, true, false));
    for (uint32_t k = 0; k < 4; k++) {
        double real = real_time(&m, k, false, false), cold = real_time(&m, k, false, true);
        ck_assert_msg(fabs(omp_hook_model_expect(&model, k, false) - real) < 1, "size %u", sixteen.team[k].size);
        ck_assert_msg(fabs(omp_hook_model_expect(&model, k, true) - cold) < 1, "size %u, cold", sixteen.team[k].size);
    }
    /* more threads are slower than one: the line would have negative work, and does not */
    model = started(&sixteen, NULL, -1);
    omp_hook_model_learn(&model, &patience, 3, &full, 0, 900000);
    omp_hook_model_learn(&model, &patience, 3, &one, 0, 100000);
    for (uint32_t k = 0; k < 3; k++)
        ck_assert(omp_hook_model_expect(&model, k, false) >= sixteen.team[k].hot);
}
END_TEST

START_TEST(hyper_threads_are_worth_less)
{
    struct omp_hook_cost cost;
    omp_hook_cost_sizes(&cost, 64, 16, 8);
    ck_assert_uint_eq(cost.team[cost.teams - 1].size, 64);
    ck_assert_uint_eq(cost.team[cost.usable - 1].size, 16);
    ck_assert_uint_eq(cost.team[cost.usable - 2].size, 8);
    ck_assert(omp_hook_cost_worth(&cost, 4) == 4 && omp_hook_cost_worth(&cost, 8) == 8);
    ck_assert(omp_hook_cost_worth(&cost, 16) == 10 && omp_hook_cost_worth(&cost, 64) == 10);
    omp_hook_cost_sizes(&cost, 8, 1, 1);
    ck_assert_uint_eq(cost.usable, 0);
    ck_assert_uint_eq(cost.teams, 1);
    for (unsigned n = 2; n < 300; n++)
        for (unsigned p = 1; p < 300; p += 7) {
            omp_hook_cost_sizes(&cost, n, p, p);
            ck_assert(cost.team[cost.teams - 1].size == n && cost.usable <= cost.teams);
            for (uint32_t k = 1; k < cost.teams; k++)
                ck_assert(cost.team[k].size > cost.team[k - 1].size);
        }
}
END_TEST

/* A run in which one thread turns out slower than the reference promised: taken back at once, and not for ever. */
START_TEST(a_wrong_choice_is_taken_back)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 2 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 2, 1, 1000000 };
    a.key[1] = (struct grammar_attr_key){ 1, 1, 500000 };
    struct omp_hook_model model = started(&two, &a, -1);
    choose(&model, false, 0, &c);
    ck_assert(c.lower);
    ck_assert(!learn(&model, true, false, false, 2000000));
    choose(&model, false, 0, &c);
    if (c.lower)
        ck_assert(learn(&model, true, false, false, 2000000));
    choose(&model, false, 0, &c);
    ck_assert(!c.lower);
    /* later the work shrinks: trials find out */
    struct machine m = { &two, 100, 1, 0 };
    struct outcome o = run(&model, &m, 2000, false);
    ck_assert_msg(o.lowered > 1000, "lowered %u", o.lowered);
}
END_TEST

START_TEST(sleeping_workers_are_part_of_the_price)
{
    /* 30 us of work that divides: two threads pay when the workers spin, one when they sleep. */
    struct machine m = { &two, 30000, 1, 0.05 };
    struct omp_hook_model model = started(&two, NULL, -1);
    struct outcome hot = run(&model, &m, 500, false);
    ck_assert_msg(hot.lowered < 30, "hot: lowered %u", hot.lowered);
    struct outcome cold = run(&model, &m, 500, true);
    ck_assert_msg(cold.lowered > 470, "cold: lowered %u", cold.lowered);
}
END_TEST

START_TEST(one_disturbance_does_not_change_the_choice)
{
    struct machine m = { &two, 1000000, 1, 0.02 };
    struct omp_hook_model model = started(&two, NULL, -1);
    run(&model, &m, 400, false);
    learn(&model, false, false, false, 1e9); /* a second of preemption */
    struct outcome o = run(&model, &m, 100, false);
    ck_assert_msg(o.lowered < 60, "lowered %u", o.lowered);
}
END_TEST

/* The reference was recorded on a crowded machine: 20 ms for what takes a few us. */
START_TEST(a_reference_from_bad_times_does_no_harm)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 + (_i & 1) };
    struct machine m = { &two, _i & 2 ? 200 : 20000, 1, 0.1 };
    a.key[0] = (struct grammar_attr_key){ 2, 10, 200000000 };
    a.key[1] = (struct grammar_attr_key){ 1, 10, 10000 };
    struct omp_hook_model model = started(&two, &a, 20000000);
    struct outcome o = run(&model, &m, 3000, false);
    double best = o.full < o.one ? o.full : o.one;
    ck_assert_msg(o.total < 1.1 * best, "case %d: %.0f, full %.0f, one %.0f", _i, o.total, o.full, o.one);
    struct omp_hook_choice c;
    choose(&model, false, 0, &c);
    ck_assert_msg(c.credit < 30000, "case %d: a gain is counted from %.0f", _i, c.credit);
}
END_TEST

/* Recorded on crowded processors: 2 us now and then, 20 ms often. The least tells how little work there is. */
START_TEST(stalls_that_were_recorded_are_no_work)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 };
    struct grammar_stats all = { .count = 10 };
    struct omp_hook_choice c;
    struct omp_hook_model model;
    a.key[0] = (struct grammar_attr_key){ 2, 10, 200000000 };
    all.duration.sum = 200000000;
    all.duration.min = 1100;
    omp_hook_model_start(&model, &two, &a, &all);
    choose(&model, false, 0, &c);
    ck_assert(c.lower && c.one == 600);
}
END_TEST

/* A team that stalls in one execution of twenty, for 8 ms, although it is faster in the others. */
START_TEST(stalls_are_what_a_crowded_machine_costs)
{
    struct omp_hook_model model = started(&two, NULL, -1);
    struct machine m = { &two, 30000, 1, 0.05 };
    double total = 0, budget = 20000;
    srand(7);
    for (int i = 0; i < 20000; i++) {
        struct omp_hook_choice c;
        choose(&model, false, budget, &c);
        double took = real_time(&m, 0, c.lower, false) + (!c.lower && rand() % 20 == 0 ? 8e6 : 0);
        learn(&model, c.lower, false, c.trial, took);
        budget += 0.01 * took;
        total += took;
    }
    ck_assert_msg(total < 1.5 * 20000 * 30400, "%.1f us a region", total / 20000 / 1000); /* with all always: 416 us */
}
END_TEST

START_TEST(trials_become_rare)
{
    struct machine m = { &eight, 1000, 1, 0.1 };
    struct omp_hook_model model = started(&eight, NULL, -1);
    struct outcome o = run(&model, &m, 100000, false);
    ck_assert_msg(o.trials < 60 && o.trials > 5, "%u trials", o.trials);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_first_time_is_the_pools),
        UNIT_LOOP(the_better_size_is_found, 128),
        UNIT_TEST(what_was_recorded_decides_at_once),
        UNIT_TEST(another_size_that_was_recorded_gives_a_bound),
        UNIT_TEST(more_threads_than_processors_are_not_run_again),
        UNIT_TEST(a_crowded_node_has_one_thread_each),
        UNIT_TEST(two_sizes_give_the_others),
        UNIT_TEST(hyper_threads_are_worth_less),
        UNIT_TEST(a_wrong_choice_is_taken_back),
        UNIT_TEST(sleeping_workers_are_part_of_the_price),
        UNIT_TEST(one_disturbance_does_not_change_the_choice),
        UNIT_LOOP(a_reference_from_bad_times_does_no_harm, 4),
        UNIT_TEST(stalls_that_were_recorded_are_no_work),
        UNIT_TEST(stalls_are_what_a_crowded_machine_costs),
        UNIT_TEST(trials_become_rare),
    };
    return unit_run("omp/model", tests, UNIT_COUNT(tests));
}
