/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "omp/referee.h"
#include "tests/unit/unit.h"

static const double us = 1000;

/* A program: a loop of `period` regions; a turn takes turn[way] us, and what the model believes. */
struct program {
    uint32_t period;
    double turn[OMP_HOOK_WAYS];
    double believed[OMP_HOOK_WAYS]; /* loss a turn, us */
    double noise;                   /* of the time */
    int stalls;                     /* one turn in so many takes 4 ms more; 0: none */
};

struct outcome { uint64_t turns[OMP_HOOK_WAYS], tests; double total; };

static struct omp_hook_referee referee;
static struct omp_hook_return place;
static struct omp_hook_budget budget;
static uint64_t now, region;

static void begin(void)
{
    memset(&referee, 0, sizeof referee);
    memset(&place, 0, sizeof place);
    now = 1000000000;
    region = 0;
    omp_hook_budget_start(&budget, now);
}

static double turn_time(const struct program *p, enum omp_hook_way way)
{
    double time = p->turn[way] * us * (1 + p->noise * ((double)rand() / RAND_MAX - 0.5));
    return time + (p->stalls && rand() % p->stalls == 0 ? 4e6 : 0);
}

/* The anchor's region begins, as team.c tells it. */
static bool anchor_begins(void)
{
    bool ended = false, fit = omp_hook_return_note(&place, region, now);
    if (omp_hook_referee_ends(&referee, region))
        ended = omp_hook_referee_turn(&referee, now, &budget);
    else if (fit && !referee.length)
        omp_hook_referee_anchor(&referee, &place, now);
    return ended;
}

static struct outcome run(const struct program *p, int turns)
{
    struct outcome o = { .total = 0 };
    for (int t = 0; t < turns; t++) {
        region++;
        if (referee.way == OMP_HOOK_CHOSEN || !referee.length || omp_hook_referee_ends(&referee, region))
            o.tests += anchor_begins();
        enum omp_hook_way way = referee.way;
        double time = turn_time(p, way);
        if (way == OMP_HOOK_CHOSEN)
            for (int other = OMP_HOOK_POOL; other < OMP_HOOK_WAYS; other++)
                omp_hook_referee_foresee(&referee, (enum omp_hook_way)other, p->believed[other] * us);
        region += p->period - 1;
        now += (uint64_t)time;
        o.total += time;
        o.turns[way]++;
        omp_hook_budget_earn(&budget, now);
    }
    return o;
}

/* Whatever a turn lasts: windows are longer. */
START_TEST(the_best_way_is_found)
{
    static const double scale[] = { 0.05, 0.3, 1, 5, 40 };
    for (enum omp_hook_way best = OMP_HOOK_CHOSEN; best < OMP_HOOK_WAYS; best++) {
        struct program p = { .period = 383, .turn = { 1000, 1000, 1000 }, .noise = 0.1 };
        for (int way = 0; way < OMP_HOOK_WAYS; way++)
            p.turn[way] = (way == (int)best ? 900 : 1000 + 10 * way) * scale[_i];
        begin();
        int turns = (int)(2000 / (scale[_i] < 1 ? scale[_i] : 1));
        struct outcome o = run(&p, turns);
        ck_assert(o.tests > 0);
        ck_assert_msg(o.turns[best] > (uint64_t)turns * 8 / 10, "way %d: %d of %d turns", (int)best, (int)o.turns[best], turns);
        ck_assert(o.total < 1.04 * turns * 900 * us * scale[_i]);
    }
}
END_TEST

/* Stalls hit the ways by chance: a mean would follow them. */
START_TEST(stalls_do_not_decide)
{
    struct program p = { .period = 100, .turn = { 1500, 1400, 1700 }, .noise = 0.05, .stalls = 12 };
    srand((unsigned)_i);
    begin();
    struct outcome o = run(&p, 3000);
    ck_assert_msg(o.turns[OMP_HOOK_POOL] > 2400, "%d", (int)o.turns[OMP_HOOK_POOL]);
}
END_TEST

/* The model is believed where it says that a way is much slower, and nobody pays for what it thinks a little slower. */
START_TEST(what_is_far_slower_is_not_tried)
{
    struct program p = { .period = 10, .turn = { 1000, 2000, 30000 }, .believed = { 0, 1000, 29000 } };
    begin();
    struct outcome o = run(&p, 5000);
    ck_assert(o.turns[OMP_HOOK_POOL] == 0 && o.turns[OMP_HOOK_ONE] == 0);
    struct program dear = { .period = 10, .turn = { 1000000, 1200000, 1200000 }, .believed = { 0, 200000, 200000 } };
    begin();
    o = run(&dear, 150);
    ck_assert(o.turns[OMP_HOOK_POOL] == 0 && o.turns[OMP_HOOK_ONE] == 0);
}
END_TEST

/* What the model did not see costs little to find out, once and in the long run. */
START_TEST(tests_cost_little)
{
    struct program p = { .period = 10, .turn = { 1100, 3000, 10000 } };
    begin();
    struct outcome first = run(&p, 150), later = run(&p, 20000);
    ck_assert_msg(first.turns[OMP_HOOK_POOL] + first.turns[OMP_HOOK_ONE] <= 4, "dropped after a round");
    ck_assert(first.total < 150 * 1100 * us + 23 * 1000 * us);
    ck_assert_msg(later.total < 1.005 * 20000 * 1100 * us, "%f", later.total / (20000 * 1100 * us));
}
END_TEST

/* Another way becomes the best. */
START_TEST(a_change_is_noticed)
{
    struct program p = { .period = 10, .turn = { 1100, 1000, 1200 } };
    begin();
    (void)run(&p, 3000);
    ck_assert(referee.best == OMP_HOOK_POOL);
    p.turn[OMP_HOOK_POOL] = 9000; /* processors became crowded: the model would use one thread */
    p.turn[OMP_HOOK_ONE] = 8000;
    struct outcome o = run(&p, 500);
    ck_assert_msg(o.turns[OMP_HOOK_CHOSEN] > 450, "%d", (int)o.turns[OMP_HOOK_CHOSEN]);
    p.turn[OMP_HOOK_POOL] = 1000;
    p.turn[OMP_HOOK_ONE] = 1200;
    o = run(&p, 30000); /* what the crowd cost has to be earned first */
    ck_assert_msg(o.turns[OMP_HOOK_POOL] > 15000, "%d", (int)o.turns[OMP_HOOK_POOL]);
}
END_TEST

START_TEST(only_what_comes_back_regularly_is_an_anchor)
{
    begin();
    bool fit = false;
    for (int i = 0; i < 10000; i++) { /* one turn of an outer loop in so many has another period */
        region += i % 20 ? 5 : 17;
        now += 2000000;
        fit = fit || omp_hook_return_note(&place, region, now);
    }
    ck_assert(!fit);
    region += 9;
    (void)omp_hook_return_note(&place, region, now);
    for (int i = 0; i < 32; i++) {
        region += 5;
        now += 2000000;
        ck_assert(!omp_hook_return_note(&place, region, now));
    }
    region += 5;
    now += 2000000;
    ck_assert(omp_hook_return_note(&place, region, now));
    for (int i = 0; i < 31000; i++) { /* often, but all in less than 32 ms */
        struct omp_hook_return fast = { .seen = region, .since = now, .period = 1, .regular = (uint32_t)i };
        ck_assert(!omp_hook_return_note(&fast, region + 1, now + 1000u * (unsigned)i));
    }
}
END_TEST

/* A turn of 0.3 ms: four of them are a window. */
START_TEST(windows_are_whole_turns)
{
    begin();
    struct program p = { .period = 7, .turn = { 300, 300, 300 } };
    (void)run(&p, 300);
    ck_assert(referee.length == 28);
    omp_hook_referee_lose(&referee);
    ck_assert(referee.length == 0 && referee.way == OMP_HOOK_CHOSEN && !omp_hook_referee_ends(&referee, region));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(the_best_way_is_found, 5),
        UNIT_LOOP(stalls_do_not_decide, 20),
        UNIT_TEST(what_is_far_slower_is_not_tried),
        UNIT_TEST(tests_cost_little),
        UNIT_TEST(a_change_is_noticed),
        UNIT_TEST(only_what_comes_back_regularly_is_an_anchor),
        UNIT_TEST(windows_are_whole_turns),
    };
    return unit_run("omp/referee", tests, UNIT_COUNT(tests));
}
