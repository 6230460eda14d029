/* SPDX-License-Identifier: MIT */
/* Contracts held against runs of which is known what differs: how often a promise is broken without a reason, and how
   often what was made longer is found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

/* Breaches of a run against `runs` others, which it frees; those about `where` in *named. */
static uint32_t judge(struct job **job, uint32_t runs, const char *rules, const char *where, uint32_t *named)
{
    struct report *r[8];
    const char *files[8] = { "1", "2", "3", "4", "5", "6", "7", "8" };
    struct contract c = { 0 };
    char why[200];

    for (uint32_t i = 0; i <= runs; i++)
        r[i] = report_create(job[i]);
    ck_assert_msg(contract_parse(&c, rules, why, sizeof why), "%s", why);
    contract_judge(&c, r, files, runs, r[runs], "new");
    for (uint32_t i = 0; named && i < c.breach_count; i++)
        *named += strstr(c.breaches[i].where, where) != NULL;
    uint32_t count = c.breach_count;
    contract_clear(&c);
    for (uint32_t i = 0; i <= runs; i++) {
        report_destroy(r[i]);
        job_destroy(job[i]);
    }
    return count;
}

/* Twelve regions that take 100 us, give or take 10 % by `seed`; the one with number `slow` twice that. */
static struct job *restless(uint64_t seed, int slow)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    uint32_t region[12];
    uint64_t wall = 0;

    for (int i = 0; i < 12; i++)
        region[i] = hand_region(j, 0x100 + 16 * (uint64_t)i);
    for (int turn = 0; turn < 50; turn++)
        for (int i = 0; i < 12; i++) {
            uint64_t us = (90 + (((uint64_t)i + 1) * (seed + 3) * 7919 >> 3) % 21) * (i == slow ? 2 : 1);
            hand_append(g, region[i], 1, us);
            wall += 1 + us;
        }
    hand_stream(j, g, 0, wall, 0);
    return j;
}

static uint32_t breaches(uint64_t seed, int slow)
{
    struct job *j[2] = { restless(0, -1), restless(seed, slow) };

    return judge(j, 1, "region > 5%", "", NULL);
}

/* Where all times of a run are off by some per cent, none of these is a broken promise; one that doubled is. */
START_TEST(contracts_know_unrest)
{
    ck_assert_uint_eq(breaches(1, -1), 0);
    ck_assert_uint_eq(breaches(1, 4), 1);
    ck_assert_uint_eq(breaches(0, 4), 1);
}
END_TEST

/* --- Runs that vary --- */

enum { SITES = 8, TURNS = 60, RUNS = 5 };
static const double scatters[SITES] = { .002, .003, .004, .005, .006, .008, .010, .012 }; /* from launch to launch */

static uint64_t state;

static double even(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Of mean 0 and deviation 1, with tails as a t distribution of five degrees of freedom: launches have them. */
static double tailed(void)
{
    double squares = 0, normal = sqrt(-2 * log(1 - even()));

    normal *= cos(2 * M_PI * even());
    for (int i = 0; i < 5; i++) {
        double one = sqrt(-2 * log(1 - even())) * cos(2 * M_PI * even());
        squares += one * one;
    }
    return normal / sqrt(squares / 5) * sqrt(3.0 / 5);
}

/* One rank that computes 1 to 8 ms before each of eight calls: executions vary by 2 %, launches by `shift`, and each
   site beside that. */
static struct job *launch(double shift, int slow, double percent)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    uint64_t wall = 0;
    double pace[SITES];
    uint32_t call[SITES];

    for (int i = 0; i < SITES; i++) {
        call[i] = hand_call(j, "MPI_Isend", 0x100 + 16 * (uint64_t)i, JOB_P2P);
        pace[i] = exp(shift + scatters[i] * tailed()) * (i == slow ? 1 + percent / 100 : 1);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < SITES; i++) {
            double us = 1000 * (i + 1) * pace[i] * exp(.02 * tailed());
            hand_append(g, call[i], (uint64_t)us, 1);
            wall += 1 + (uint64_t)us;
        }
    hand_stream(j, g, 0, wall, 0);
    return j;
}

/* In how many of `times` comparisons a promise is broken; where one is `slow`, in how many it is named. */
static int broken(int times, double percent, double shift)
{
    int count = 0;

    for (int i = 0; i < times; i++) {
        int slow = percent > 0 ? i % SITES : -1;
        struct job *job[RUNS + 1];
        char where[24];
        uint32_t named = 0;
        for (int k = 0; k < RUNS; k++)
            job[k] = launch(.02 * (2 * even() - 1), -1, 0);
        job[RUNS] = launch(shift, slow, percent);
        snprintf(where, sizeof where, "0x%x", 0x100 + 16 * slow);
        uint32_t all = judge(job, RUNS, "structure, callsite > 1%, loop > 1%", where, &named);
        count += slow < 0 ? all > 0 : named > 0;
    }
    return count;
}

START_TEST(equal_runs_keep_their_contract)
{
    state = 1;
    int calm = broken(60, 0, 0), shifted = broken(20, 0, log(1.05)) + broken(20, 0, log(.95));
    ck_assert_msg(calm <= 3, "%d of 60 equal runs", calm);
    ck_assert_msg(shifted <= 2, "%d of 40 runs that are longer or shorter as a whole", shifted);
}
END_TEST

START_TEST(what_is_longer_is_found)
{
    static const struct { double percent; int least; } of[] = { { 5, 24 }, { 10, 38 }, { 30, 40 } };

    state = 2;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int found = broken(40, of[i].percent, 0);
        ck_assert_msg(found >= of[i].least, "%.0f %%: %d of 40", of[i].percent, found);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(contracts_know_unrest), UNIT_TEST(equal_runs_keep_their_contract), UNIT_TEST(what_is_longer_is_found),
    };
    return unit_run("contract", tests, UNIT_COUNT(tests));
}
