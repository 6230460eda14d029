/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "omp/crowd.h"
#include "omp/stall.h"
#include "tests/unit/unit.h"

static const uint64_t ms = 1000000;

static const double region = 100000; /* ns that a team takes */

START_TEST(quiet_machines_have_none)
{
    struct omp_hook_stall s = { 0 };
    for (uint64_t t = 0; t < 1000; t++)
        omp_hook_stall_note(&s, t * ms, region, 0);
    ck_assert(s.share == 0);
}
END_TEST

/* 8 ms in 50 ms of teams; time alone halves it, and so do teams that meet none. */
START_TEST(one_stall_is_soon_forgotten)
{
    struct omp_hook_stall s = { 0 };
    omp_hook_stall_note(&s, 10 * ms, region, 8e6);
    ck_assert(s.share == 0.16);
    omp_hook_stall_fade(&s, 10 * ms + 1000);
    ck_assert(s.share == 0.16);
    omp_hook_stall_fade(&s, 110 * ms);
    ck_assert(s.share == 0.04);
    for (int i = 0; i < 1000; i++)
        omp_hook_stall_note(&s, 111 * ms, region, 0);
    ck_assert_msg(s.share < 0.04 / 7 && s.share > 0.04 / 8, "%f", s.share);
    omp_hook_stall_fade(&s, 2000 * ms);
    ck_assert(s.share == 0);
}
END_TEST

/* Teams that take as long as ever may be told all at once. */
START_TEST(what_is_told_later_counts_the_same)
{
    struct omp_hook_stall each = { 0 }, later = { 0 };
    omp_hook_stall_note(&each, 10 * ms, region, 8e6);
    omp_hook_stall_note(&later, 10 * ms, region, 8e6);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 15; k++) {
            omp_hook_stall_note(&each, 10 * ms, region, 0);
            omp_hook_stall_expose(&later, region);
        }
        omp_hook_stall_note(&each, 10 * ms, region, 0);
        omp_hook_stall_note(&later, 10 * ms, region, 0);
    }
    ck_assert_msg(later.share > 0.98 * each.share && later.share < 1.02 * each.share, "%f of %f", later.share, each.share);
}
END_TEST

/* However many teams there are between them: what is lost and how long they took decides. */
START_TEST(the_share_is_what_is_lost)
{
    for (int teams = 10; teams <= 1000; teams *= 10) {
        struct omp_hook_stall s = { 0 };
        double each = 10e6 / teams; /* 10 ms of teams, then 2 ms lost */
        for (int i = 0; i < 100 * teams; i++)
            omp_hook_stall_note(&s, ms, each, i % teams == teams - 1 ? 2e6 : 0);
        ck_assert_msg(s.share > 0.2 && s.share < 0.24, "%d: %f", teams, s.share); /* just after one */
    }
}
END_TEST

/* Tried again whenever it has faded below what there is to gain: stalls become rare, whatever that is. */
START_TEST(repeated_stalls_are_met_ever_more_rarely)
{
    struct omp_hook_stall s = { 0 };
    uint32_t met = 0;
    for (uint64_t t = 0; t < 60000; t++) {
        omp_hook_stall_fade(&s, t * ms);
        if (s.share < 0.1) {
            omp_hook_stall_note(&s, t * ms, region, 8e6);
            met++;
        }
    }
    ck_assert_msg(met >= 3 && met < 30, "%u in a minute", met);
    /* a quiet minute, and it is as at first */
    omp_hook_stall_fade(&s, 120000 * ms);
    for (uint64_t t = 120000; t < 400000; t++)
        omp_hook_stall_fade(&s, t * ms);
    ck_assert(s.share == 0 && s.half_life == 50 * ms);
}
END_TEST

START_TEST(clocks_that_go_back_do_no_harm)
{
    struct omp_hook_stall s = { 0 };
    omp_hook_stall_note(&s, 1000 * ms, region, 8e6);
    omp_hook_stall_note(&s, 1 * ms, region, 8e6);
    omp_hook_stall_fade(&s, 0);
    ck_assert(s.share > 0.3 && s.share < 0.33);
}
END_TEST

START_TEST(waiting_for_processors_is_foreseen)
{
    struct omp_hook_crowd c = { 0 };
    omp_hook_crowd_add(&c, 1000 * ms, 5 * ms, 10);
    ck_assert(c.share == 0 && c.wait == 0);
    for (uint64_t i = 1; i <= 20; i++) /* alone: a millisecond in 25 */
        omp_hook_crowd_add(&c, (1000 + 25 * i) * ms, 5 * ms + i * 100000, 10 + i);
    ck_assert(c.share == 0 && c.wait == 0);
    for (uint64_t i = 1; i <= 40; i++) /* half a processor, in turns of 4 ms */
        omp_hook_crowd_add(&c, (1500 + 12 * i) * ms, (7 + 12 * i) * ms, 30 + 3 * i);
    ck_assert_msg(c.share > 0.49 && c.share < 0.51 && c.wait > 3.9e6 && c.wait < 4.1e6, "%f %.0f", c.share, c.wait);
    for (uint64_t i = 1; i <= 20; i++) /* alone again */
        omp_hook_crowd_add(&c, (2000 + 25 * i) * ms, 487 * ms, 150 + i);
    ck_assert(c.share == 0 && c.wait == 0);
    omp_hook_crowd_add(&c, 1, 1, 1); /* another thread's counters: no matter */
    ck_assert(c.share == 0 && c.wait == 0);
}
END_TEST

START_TEST(the_kernels_counters_are_read)
{
    struct omp_hook_crowd c = { 0 };
    if (access("/proc/thread-self/schedstat", R_OK))
        return;
    usleep(1000); /* a switch, at which they are brought up to date */
    omp_hook_crowd_look(&c, 100 * ms);
    ck_assert(c.ran > 0 && c.slices > 0);
    c.ran = 0;
    omp_hook_crowd_look(&c, 101 * ms);
    ck_assert(c.ran == 0); /* not yet */
    omp_hook_crowd_look(&c, 126 * ms);
    ck_assert(c.ran > 0);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(quiet_machines_have_none),
        UNIT_TEST(one_stall_is_soon_forgotten),
        UNIT_TEST(what_is_told_later_counts_the_same),
        UNIT_TEST(the_share_is_what_is_lost),
        UNIT_TEST(repeated_stalls_are_met_ever_more_rarely),
        UNIT_TEST(clocks_that_go_back_do_no_harm),
        UNIT_TEST(waiting_for_processors_is_foreseen),
        UNIT_TEST(the_kernels_counters_are_read),
    };
    return unit_run("omp/stall", tests, UNIT_COUNT(tests));
}
