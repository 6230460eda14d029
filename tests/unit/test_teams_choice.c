/* SPDX-License-Identifier: MIT */
/* Simulated programs: what a run takes as chosen, against the program's own settings and against the fixed settings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "teams/choice.h"
#include "tests/unit/unit.h"

enum { REGIONS = 64 };
static const double us = 1000, ms = 1e6;

/* A loop of regions, each with its time by size. */
struct program {
    const char *name;
    uint32_t own, cores, regions;
    double time[REGIONS][TEAMS_SIZES]; /* us; [0][CORES] 0: as its own */
    double gap;          /* us after each region */
    double waking;       /* us that a team takes more after a region on one thread */
    double noise;        /* of each time */
    double stalls;       /* of 4 ms, in so many regions each */
    double recorded;     /* times that the recording knows, in units of the true ones; 0: there is none */
    uint32_t turns, irregular; /* the loop is left out of step once in so many turns, 0: never */
    bool shuffled;       /* no loop: any region after any other */
};

static double uniform(void)
{
    return (double)rand() / ((double)RAND_MAX + 1);
}

static double region_time(const struct program *p, uint32_t i, enum teams_size size, enum teams_size before)
{
    double time = p->time[i][size];
    time += size != TEAMS_ONE && before == TEAMS_ONE ? p->waking : 0;
    time *= us * (1 + p->noise * (uniform() - 0.5));
    return time + (p->stalls > 0 && uniform() * p->stalls < 1 ? 4 * ms : 0);
}

static struct teams_choice choice;
static struct teams_site site[REGIONS];

static void begin(const struct program *p)
{
    teams_choice_start(&choice, p->cores);
    memset(site, 0, sizeof site);
    for (uint32_t i = 0; i < p->regions; i++)
        site[i].times.time[TEAMS_OWN] = (float)(p->recorded * p->time[i][TEAMS_OWN] * us);
    srand(7);
}

static uint32_t region_of(const struct program *p, uint32_t turn, uint32_t i)
{
    if (p->shuffled)
        return (uint32_t)(uniform() * p->regions);
    return p->irregular && turn % p->irregular == 0 && i == 0 ? p->regions - 1 : i;
}

static double half; /* of the last run's time, the second half of its turns */

/* ns of a run in one setting; MIXED: as chosen. */
static double run(const struct program *p, enum teams_setting setting)
{
    static const enum teams_size sizes[] = { TEAMS_OWN, TEAMS_ONE, TEAMS_CORES };
    enum teams_size before = TEAMS_OWN;
    double now = 1e9, middle = 0;
    begin(p);
    for (uint32_t turn = 0; turn < p->turns; turn++) {
        middle = turn == p->turns / 2 ? now : middle;
        for (uint32_t i = 0; i < p->regions + (p->irregular && turn % p->irregular == 0); i++) {
            uint32_t r = region_of(p, turn, i < p->regions ? i : 0);
            enum teams_size size = setting == TEAMS_MIXED
                                       ? teams_choice_begin(&choice, &site[r], p->own, true, (uint64_t)now)
                                       : sizes[setting];
            double took = region_time(p, r, size, before);
            if (setting == TEAMS_MIXED)
                (void)teams_choice_end(&choice, &site[r], took);
            now += took + p->gap * us;
            before = size;
        }
    }
    half = now - middle;
    return now - 1e9;
}

static void alike(struct program *p, double own, double one, double cores)
{
    for (uint32_t i = 0; i < p->regions; i++)
        p->time[i][TEAMS_OWN] = own, p->time[i][TEAMS_ONE] = one, p->time[i][TEAMS_CORES] = cores;
}

static double best_fixed(const struct program *p)
{
    double own = run(p, TEAMS_ALL_OWN), one = run(p, TEAMS_ALL_ONE);
    double cores = p->cores < p->own && p->cores > 1 ? run(p, TEAMS_ALL_CORES) : own;
    return fmin(fmin(own, one), cores);
}

/* The bound of choice.h; more: what chance, or one region, adds to it. */
static void check(const struct program *p, double more)
{
    double own = run(p, TEAMS_ALL_OWN), best = best_fixed(p), chosen = run(p, TEAMS_MIXED), later = half;
    ck_assert_msg(chosen <= (1.03 + more) * own + 5 * ms, "%s: own %g, chosen %g ms", p->name, own / ms, chosen / ms);
    if (p->turns >= 80 * p->own)
        ck_assert_msg(later <= (1.05 + more) * best / 2 + 5 * ms, "%s: best %g, chosen %g ms", p->name, best / 2 / ms,
                      later / ms);
}

/* Turns. */
static const uint32_t lengths[] = { 3, 20, 200, 3000 };

START_TEST(threads_are_too_many)
{
    struct program p = { .name = "8 threads on 2 processors",
                         .own = 8,
                         .cores = 2,
                         .regions = 60,
                         .gap = 1,
                         .recorded = 1,
                         .turns = lengths[_i] };
    alike(&p, 150, 2, 20);
    check(&p, 0);
    /* Gains come at once. */
    ck_assert_double_lt(run(&p, TEAMS_MIXED), 0.1 * run(&p, TEAMS_ALL_OWN) + 10 * ms);
}
END_TEST

START_TEST(regions_that_sleep)
{
    struct program p = { .name = "sleeping regions", .own = 2, .cores = 2, .regions = 3, .gap = 100, .recorded = 1,
                         .turns = lengths[_i] };
    alike(&p, 2000, 4000, 2000);
    check(&p, 0);
    p.own = 8;
    alike(&p, 2000, 16000, 8000);
    check(&p, 0);
    p.recorded = 0;
    check(&p, 0);
}
END_TEST

START_TEST(long_and_short_ones)
{
    struct program p = {
        .name = "long and short regions", .own = 2, .cores = 2, .regions = 50, .gap = 1, .turns = lengths[_i]
    };
    for (uint32_t i = 0; i < p.regions; i++) {
        p.time[i][TEAMS_OWN] = i % 10 ? 3 : 500;
        p.time[i][TEAMS_ONE] = i % 10 ? 1 : 980;
    }
    for (p.recorded = 0; p.recorded < 2; p.recorded++)
        check(&p, 0);
    if (p.turns >= 3000) /* better than each fixed setting */
        ck_assert_double_lt(run(&p, TEAMS_MIXED), 0.98 * best_fixed(&p) + 5 * ms);
}
END_TEST

START_TEST(recordings_that_mislead)
{
    static const double factors[] = { 0.01, 0.3, 3, 100 };
    for (int f = 0; f < 4; f++) {
        struct program p = { .name = "another machine", .own = 8, .cores = 8, .regions = 40, .gap = 2,
                             .recorded = factors[f], .turns = lengths[_i] };
        alike(&p, 100, 780, 100);
        check(&p, 0.7 / (4.1 * p.turns)); /* the region that shows that the recording is wrong */
        alike(&p, 100, 10, 100);
        check(&p, 0);
    }
}
END_TEST

/* Each region alone is faster on one thread, all together are not. */
START_TEST(regions_that_affect_each_other)
{
    struct program p = { .name = "regions that affect each other", .own = 2, .cores = 2, .regions = 40, .gap = 1,
                         .waking = 60, .recorded = 1, .turns = lengths[_i] };
    for (uint32_t i = 0; i < p.regions; i++) {
        p.time[i][TEAMS_OWN] = i % 2 ? 50 : 20;
        p.time[i][TEAMS_ONE] = i % 2 ? 100 : 19;
    }
    check(&p, 3.0 / p.turns); /* the turns before they are compared */
}
END_TEST

START_TEST(noise_and_stalls)
{
    struct program p = { .name = "noise", .own = 2, .cores = 2, .regions = 40, .gap = 5, .noise = 0.5, .recorded = 1,
                         .turns = lengths[_i] };
    alike(&p, 100, 105, 100);
    check(&p, 0.01);
    alike(&p, 100, 180, 100);
    check(&p, 0.01);
    p.stalls = 2000;
    check(&p, 0.10);
    alike(&p, 100, 60, 100);
    check(&p, 0.10);
}
END_TEST

START_TEST(no_main_loop)
{
    struct program p = { .name = "no main loop",
                         .own = 4,
                         .cores = 4,
                         .regions = 40,
                         .gap = 5,
                         .noise = 0.1,
                         .recorded = 1,
                         .turns = lengths[_i] };
    for (int one = 10; one < 400; one *= 3) {
        alike(&p, 100, one, 100);
        p.shuffled = true;
        p.irregular = 0;
        check(&p, 0.01);
        p.shuffled = false;
        p.irregular = 7;
        check(&p, 0.01);
    }
}
END_TEST

/* Costs that nobody thought of. */
START_TEST(any_costs)
{
    for (unsigned seed = 0; seed < 60; seed++) {
        struct program p = { .name = "any", .turns = lengths[_i] };
        srand(seed * 977 + 5);
        p.own = 2 + (uint32_t)(uniform() * 15);
        p.cores = 1 + (uint32_t)(uniform() * p.own);
        p.regions = 1 + (uint32_t)(uniform() * (REGIONS - 1));
        p.gap = exp(uniform() * 6);
        p.recorded = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : exp(6 * uniform() - 3);
        double scale = exp(uniform() * 7);
        for (uint32_t i = 0; i < p.regions; i++) {
            double own = p.time[i][TEAMS_OWN] = scale * exp(4 * uniform() - 2);
            p.time[i][TEAMS_ONE] = own * exp(log(100.0 * p.own) * uniform()) / 100;
            p.time[i][TEAMS_CORES] = own * exp(log(100.0 * p.own / p.cores) * uniform()) / 100;
        }
        check(&p, 0);
    }
}
END_TEST

/* A place that may not change is told nothing else, and does not hinder the others. */
START_TEST(what_may_not_change)
{
    struct program p = { .own = 8, .cores = 2, .regions = 4, .recorded = 1 };
    alike(&p, 100, 1, 5);
    begin(&p);
    uint64_t now = 1000;
    for (int i = 0; i < 4000; i++) {
        enum teams_size size = teams_choice_begin(&choice, &site[i % 4], 8, i % 4 != 2, now);
        ck_assert(i % 4 != 2 || size == TEAMS_OWN);
        (void)teams_choice_end(&choice, &site[i % 4], size == TEAMS_OWN ? 100000 : 1000);
        now += size == TEAMS_OWN ? 100000 : 1000;
    }
    ck_assert_double_lt((double)now, 1000 * 120000);
}
END_TEST

/* What waits inside of fewer threads, whatever it is that lets it go on, is run so twice at most. */
START_TEST(shares_that_wait)
{
    uint64_t now = 1000, waited = 0;
    teams_choice_start(&choice, 2);
    memset(site, 0, sizeof site);
    for (int i = 0; i < 200000; i++) {
        enum teams_size size = teams_choice_begin(&choice, &site[i % 4], 2, true, now);
        bool waits = size == TEAMS_ONE && i % 4 == 2;
        double took = waits ? 3 * ms : size == TEAMS_ONE ? 10 * us : 40 * us;
        (void)teams_choice_end(&choice, &site[i % 4], took);
        now += (uint64_t)took;
        waited += waits;
    }
    ck_assert_uint_ge(waited, 1);
    ck_assert_uint_le(waited, 2);
}
END_TEST

/* Regions that ask for as many threads as there are processors, or fewer, have no third size. */
START_TEST(teams_of_several_sizes)
{
    static const uint32_t own[] = { 8, 2, 4, 3 };
    uint64_t now = 1000, cores = 0;
    teams_choice_start(&choice, 4);
    memset(site, 0, sizeof site);
    for (int i = 0; i < 40000; i++) {
        uint32_t n = own[i % 4];
        enum teams_size size = teams_choice_begin(&choice, &site[i % 4], n, true, now);
        ck_assert(n == 8 || size != TEAMS_CORES);
        ck_assert_uint_le(teams_choice_threads(&choice, size, n), n);
        cores += size == TEAMS_CORES;
        double took = size == TEAMS_OWN && n == 8 ? 100000 : size == TEAMS_ONE ? 30000 : 10000;
        (void)teams_choice_end(&choice, &site[i % 4], took);
        now += (uint64_t)took;
    }
    ck_assert_uint_ge(cores, 5000);
}
END_TEST

/* One stall, when a place of the turn has one thread for the first time, does not keep it from that; nor when a region
   that nothing is known of has. */
/* Stalls of control turns are no gain of the turns that follow: the median of what the program's size took counts. */
START_TEST(a_gain_is_against_the_median)
{
    static const double took[] = { 1000, 1000, 6000, 1000, 1000, 6000, 1000 };
    teams_choice_start(&choice, 4);
    memset(site, 0, sizeof site);
    choice.here = &site[0].times;
    choice.size = TEAMS_OWN;
    for (size_t i = 0; i < sizeof took / sizeof *took; i++)
        ck_assert_double_eq(teams_choice_end(&choice, &site[0], took[i]), 0);
    choice.size = TEAMS_ONE;
    ck_assert_double_eq_tol(teams_choice_end(&choice, &site[0], 100), 900, 100);
}
END_TEST

START_TEST(a_first_time_that_stalls)
{
    struct program p = { .own = 8, .cores = 2, .regions = 8, .recorded = _i == 0 };
    alike(&p, 50, 1, 50);
    begin(&p);
    uint64_t now = 1000;
    bool stalled = false;
    for (int i = 0, since = 0; i < 4000; i++, since += stalled) {
        enum teams_size size = teams_choice_begin(&choice, &site[i % 8], 8, true, now);
        bool first = !stalled && size == TEAMS_ONE && (_i || (choice.turns.mark && !choice.here->count[TEAMS_ONE]));
        ck_assert(since <= 8 || size == TEAMS_ONE || choice.setting != TEAMS_MIXED || !choice.here->count[TEAMS_OWN]);
        stalled |= first;
        double took = first ? 4 * ms : size == TEAMS_ONE ? us : 50 * us;
        (void)teams_choice_end(&choice, &site[i % 8], took);
        now += (uint64_t)took;
    }
    ck_assert(stalled);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(threads_are_too_many, 4), UNIT_LOOP(regions_that_sleep, 4), UNIT_LOOP(long_and_short_ones, 4),
    UNIT_LOOP(recordings_that_mislead, 4), UNIT_LOOP(regions_that_affect_each_other, 4), UNIT_LOOP(noise_and_stalls, 4),
    UNIT_LOOP(no_main_loop, 4), UNIT_LOOP(any_costs, 4), UNIT_TEST(what_may_not_change),
    UNIT_TEST(teams_of_several_sizes), UNIT_TEST(shares_that_wait),
    UNIT_TEST(a_gain_is_against_the_median),
    UNIT_LOOP(a_first_time_that_stalls, 2),
};

int main(void)
{
    return unit_run("teams/choice", tests, UNIT_COUNT(tests));
}
