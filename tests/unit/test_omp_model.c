/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "omp/model.h"
#include "tests/unit/unit.h"

static const struct omp_hook_cost two = { .size = 2, .one = 400, .hot = 1000, .cold = 60000, .spin = 5000000,
                                          .processors = 2 };
static const struct omp_hook_cost eight = { .size = 8, .one = 400, .hot = 120000, .cold = 120000, .processors = 2 };

/* A machine that really behaves like the cost model, with noise: work ns in all, of which `share` can be divided. */
struct machine { const struct omp_hook_cost *cost; double work, share, noise; };

static double uniform(void)
{
    return (double)rand() / RAND_MAX;
}

static double real_time(const struct machine *m, bool lowered, bool cold)
{
    double n = m->cost->size < m->cost->processors ? m->cost->size : m->cost->processors;
    double time = lowered ? m->work + m->cost->one
                          : m->work * (1 - m->share) + m->work * m->share / n + (cold ? m->cost->cold : m->cost->hot);
    return time * (1 + m->noise * (uniform() - 0.5));
}

struct outcome { double total, full, one; uint32_t lowered, trials; };

/* Of all regions of a test. */
static struct omp_hook_patience patience;

static struct outcome run(struct omp_hook_model *model, const struct machine *m, int turns, bool cold)
{
    struct outcome o = { 0 };
    double budget = 20 * m->cost->hot;
    for (int i = 0; i < turns; i++) {
        struct omp_hook_choice c;
        omp_hook_model_choose(model, &patience, cold ? OMP_HOOK_ASLEEP | OMP_HOOK_ASLEEP_ANYWAY : 0, budget, &c);
        double took = real_time(m, c.lower, cold);
        omp_hook_model_learn(model, &patience, c.lower, cold, took);
        double other = c.lower ? c.full : c.one;
        if (c.trial && other >= 0 && took > other)
            budget -= took - other;
        budget += 0.01 * took;
        o.total += took;
        o.full += real_time(m, false, cold);
        o.one += real_time(m, true, cold);
        o.lowered += c.lower;
        o.trials += c.trial;
    }
    return o;
}

static struct omp_hook_model started(const struct omp_hook_cost *cost, const struct grammar_attr *by_size, double duration)
{
    struct omp_hook_model model;
    omp_hook_model_start(&model, cost->size, cost, by_size, duration);
    return model;
}

START_TEST(the_first_time_is_the_programs_own)
{
    struct omp_hook_model model = started(&eight, NULL, -1);
    struct omp_hook_choice c;
    omp_hook_model_choose(&model, &patience, 0, 1e9, &c);
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
    ck_assert_msg(o.total < 1.08 * best + 40 * m.cost->hot, "case %d: work %.0f share %.1f N %u: %.0f, full %.0f, one %.0f", _i,
                  m.work, m.share, m.cost->size, o.total, o.full, o.one);
}
END_TEST

START_TEST(what_was_recorded_decides_at_once)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 2 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 8, 10, 1500000 };
    a.key[1] = (struct grammar_attr_key){ 1, 10, 20000 };
    struct omp_hook_model model = started(&eight, &a, 150000);
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    ck_assert(c.lower && c.full == 150000 && c.one == 2000);
    /* recorded with eight threads only: at most 2 x (150 - 120) us of work */
    a.length = 1;
    model = started(&eight, &a, 150000);
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    ck_assert(c.lower && c.one == 60400);
    /* long: that bound forbids it */
    a.key[0].sum = 100000000;
    model = started(&eight, &a, 10000000);
    omp_hook_model_choose(&model, &patience, 0, 1e6, &c);
    ck_assert(!c.lower && !c.trial);
}
END_TEST

START_TEST(another_size_that_was_recorded_gives_a_bound)
{
    struct grammar_attr a = { .channel = GRAMMAR_TEAM, .kind = GRAMMAR_ATTR_KEYED, .length = 1 };
    struct omp_hook_choice c;
    a.key[0] = (struct grammar_attr_key){ 1, 10, 1000000 }; /* 100 us alone */
    struct omp_hook_model model = started(&eight, &a, 100000);
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    ck_assert(c.lower && c.one == 100000 && c.full > 160000 && c.full < 180000);
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
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    ck_assert(c.lower);
    ck_assert(!omp_hook_model_learn(&model, &patience, true, false, 2000000));
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    if (c.lower)
        ck_assert(omp_hook_model_learn(&model, &patience, true, false, 2000000));
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
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
    omp_hook_model_learn(&model, &patience, false, false, 1e9); /* a second of preemption */
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
    omp_hook_model_choose(&model, &patience, 0, 0, &c);
    ck_assert_msg(c.credit < 30000, "case %d: a gain is counted from %.0f", _i, c.credit);
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
        omp_hook_model_choose(&model, &patience, 0, budget, &c);
        double took = real_time(&m, c.lower, false) + (!c.lower && rand() % 20 == 0 ? 8e6 : 0);
        omp_hook_model_learn(&model, &patience, c.lower, false, took);
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
        UNIT_TEST(the_first_time_is_the_programs_own),
        UNIT_LOOP(the_better_size_is_found, 128),
        UNIT_TEST(what_was_recorded_decides_at_once),
        UNIT_TEST(another_size_that_was_recorded_gives_a_bound),
        UNIT_TEST(a_wrong_choice_is_taken_back),
        UNIT_TEST(sleeping_workers_are_part_of_the_price),
        UNIT_TEST(one_disturbance_does_not_change_the_choice),
        UNIT_LOOP(a_reference_from_bad_times_does_no_harm, 4),
        UNIT_TEST(stalls_are_what_a_crowded_machine_costs),
        UNIT_TEST(trials_become_rare),
    };
    return unit_run("omp/model", tests, UNIT_COUNT(tests));
}
