/* SPDX-License-Identifier: MIT */
/* What boards say of times: who has become slow, who has no processor, efficiencies, when it ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sights.h"
#include "tests/unit/unit.h"
#include "watch/numbers.h"

/* Of events before the first season's end, until the SIGHTS_SECOND one's, and since: how many, ms before each. */
static void went(uint32_t r, unsigned at, const uint64_t events[3], const double ms[3])
{
    struct watch_board *b = &sights[r].board;
    struct watch_tally *ends[3] = {&b->season[0].past[at], &b->season[1].past[at], &b->sum[at]}, so_far = {0, 0};
    b->seasons = 2;
    b->season[0].end = SIGHTS_NOW - 50 * SIGHTS_SECOND;
    b->season[1].end = SIGHTS_NOW - 10 * SIGHTS_SECOND;
    b->met[at] = PLACE;
    for (int i = 0; i < 3; i++) {
        so_far.count += events[i];
        so_far.gap_ns += (uint64_t)((double)events[i] * ms[i] * 1e6);
        *ends[i] = so_far;
    }
}

static void all_went(const double ms[3])
{
    sights_set_up();
    for (uint32_t r = 0; r < SIGHTS; r++)
        went(r, 7, (uint64_t[]){1000, 4000, 300}, ms);
}

/* Looks: a season that was seen to end; one that ended before. */
START_TEST(what_a_process_lacks)
{
    struct watch_sight *s = calloc(3, sizeof *s);
    s[0].board.seasons = 1;
    s[0].board.season[0].end = 20;
    s[0].now = 25;
    s[0].process.delayed_ns = 7;
    watch_delayed(&s[0]);
    ck_assert_uint_eq(s[0].delayed_ns[0], 2); /* of 7 at most 5 were since */
    s[1] = s[0];
    s[1].before = &s[0];
    s[1].board.season[s[1].board.seasons++].end = 40;
    s[1].process.delayed_ns = 9;
    watch_delayed(&s[1]);
    ck_assert_uint_eq(s[1].delayed_ns[0], 2);
    ck_assert_uint_eq(s[1].delayed_ns[1], 7);
    s[2] = s[1]; /* there was no room for more */
    s[2].before = &s[1];
    s[2].board.season[0].end = 40;
    s[2].board.season[1].end = 80;
    watch_delayed(&s[2]);
    ck_assert_uint_eq(s[2].delayed_ns[0], 7);
    ck_assert_uint_eq(s[2].delayed_ns[1], 9);
    s[2].before = NULL; /* all may have been since */
    s[2].now = 200;
    watch_delayed(&s[2]);
    ck_assert_uint_eq(s[2].delayed_ns[1], 0);
    free(s);
}
END_TEST

START_TEST(who_has_become_slow)
{
    static const double same[] = {10, 10, 10}, slow[] = {10, 10, 30};
    all_went(same);
    ck_assert_str_eq(sights_told(), "none");
    went(3, 7, (uint64_t[]){1000, 4000, 300}, slow);
    ck_assert_str_eq(sights_told(), "slow 3");
    ck_assert_double_eq_tol(sights_verdict.slowest.factor, 3, 1e-6);
    ck_assert_uint_eq(sights_verdict.slowest.rank, 3);
    ck_assert_uint_eq(sights_verdict.slowest.from, PLACE);
    went(3, 7, (uint64_t[]){1000, 3000, 300}, (double[]){10, 20, 30}); /* from some time in a season on */
    ck_assert_str_eq(sights_told(), "slow 3");
    ck_assert_double_eq_tol(sights_verdict.slowest.factor, 3, 1e-6);
    ck_assert_uint_eq(sights_verdict.slowest.rank, 3);
    ck_assert_uint_eq(sights_verdict.slowest.from, PLACE);
    sights[3].delayed_ns[0] = SIGHTS_SECOND;
    sights[3].delayed_ns[1] = 8 * SIGHTS_SECOND; /* no processor, of these 10 s 2 s, then 4 s */
    sights[3].process.delayed_ns = 8 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "slow 3");
    sights[3].process.delayed_ns = 10 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "slow 3");
    ck_assert_double_eq_tol(sights_verdict.slowest.factor, 2.4, 1e-6);
    sights[3].process.delayed_ns = 12 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "none");
    sights[3].process.delayed_ns = 8 * SIGHTS_SECOND;
    sights_all_in("Allreduce", 20); /* that is more to say */
    sights_computes(3, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    all_went(slow); /* for all: another phase */
    ck_assert_str_eq(sights_told(), "none");
    all_went(same);
    went(3, 9, (uint64_t[]){0, 0, 100}, (double[]){0, 0, 50}); /* at a place that is new */
    ck_assert_str_eq(sights_told(), "none");
    all_went(same);
    went(3, 9, (uint64_t[]){1000, 4000, 300}, (double[]){.1, .1, 1}); /* too short to matter */
    ck_assert_str_eq(sights_told(), "none");
    all_went((double[]){10, 10, 8});
    went(3, 7, (uint64_t[]){1000, 4000, 300}, (double[]){2, 2, 8}); /* no longer than the others */
    ck_assert_str_eq(sights_told(), "none");
    all_went(same);
    went(3, 7, (uint64_t[]){1000, 4000, 7}, (double[]){10, 10, 900}); /* too few to say */
    ck_assert_str_eq(sights_told(), "none");
}
END_TEST

START_TEST(who_has_no_processor)
{
    struct watch_process before = {'R', 7, 9, SIGHTS_SECOND, 5 * SIGHTS_SECOND}, p = before;
    ck_assert(watch_process_starves(&p, &before, SIGHTS_SECOND)); /* a wait is counted when it ends */
    p.state = 'S';
    ck_assert(!watch_process_starves(&p, &before, SIGHTS_SECOND)); /* it sleeps */
    p.used_ns += SIGHTS_SECOND / 200;
    p.delayed_ns += SIGHTS_SECOND / 4;
    ck_assert(!watch_process_starves(&p, &before, SIGHTS_SECOND));
    p.delayed_ns += SIGHTS_SECOND / 2;
    ck_assert(watch_process_starves(&p, &before, SIGHTS_SECOND));
    p.used_ns += SIGHTS_SECOND / 50; /* one of dozens on a processor */
    ck_assert(!watch_process_starves(&p, &before, SIGHTS_SECOND));
    p.delayed_ns += 20 * SIGHTS_SECOND; /* it has one again */
    ck_assert(watch_process_starves(&p, &before, SIGHTS_SECOND));
    p.start++; /* another process */
    ck_assert(!watch_process_starves(&p, &before, SIGHTS_SECOND));
    ck_assert(!watch_process_starves(&(struct watch_process){'R', 7, 9, 0, 0}, &(struct watch_process){'R', 7, 9, 0, 0},
                                     SIGHTS_SECOND)); /* not known */
}
END_TEST

START_TEST(efficiency)
{
    struct watch_numbers n;
    struct watch_sight *table[2] = {&sights[0], &sights[1]};
    sights_set_up();
    sights_computes(0, 0);
    sights[0].board.mpi_ns = 15 * SIGHTS_SECOND; /* of a minute: 45 s of work */
    sights[1].board.mpi_ns = 25 * SIGHTS_SECOND;
    sights_collective(1, "Allreduce", WORLD, 20); /* and in one more since: 15 s of work */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, .5, 1e-6);
    sights[0].board.launch_ns = 15 * SIGHTS_SECOND; /* of these in MPI_Init: 45 s of 45, and 15 of 60 */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, .5, 1e-6);
    sights[1].board.launch_ns = 15 * SIGHTS_SECOND; /* 45 s of 45, and 15 of 45 */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, 60. / 90, 1e-6);
    sights[0].board.launch_ns = sights[1].board.launch_ns = 0;
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.load_balance, 30. / 45, 1e-6);
    ck_assert(isnan(n.lately.mpi) && isnan(n.eta) && isnan(n.progress));
    ck_assert_uint_eq(n.last_rank, WATCH_NOBODY_LAST); /* one look does not show that it stays so */
    static struct watch_sight earlier[2];
    memcpy(earlier, sights, sizeof earlier);
    for (int i = 0; i < 2; i++) {
        sights[i].before = &earlier[i];
        sights[i].now += 10 * SIGHTS_SECOND;
    }
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.lately.mpi, .5, 1e-6);
    ck_assert_double_eq_tol(n.lately.load_balance, .5, 1e-6);
    ck_assert_uint_eq(n.last_rank, 0);
    ck_assert_double_eq_tol(n.whole.longest, 55. / 70, 1e-6);
    earlier[0].board.mpi_ns -= 8 * SIGHTS_SECOND; /* lately the other one worked longer */
    earlier[1].board.since = sights[1].board.since = 0;
    watch_count(&n, table, 2);
    ck_assert_uint_eq(n.last_rank, WATCH_NOBODY_LAST);
    memcpy(earlier, sights, sizeof earlier);
    atomic_store(&sights[1].board.noted, SIGHTS_NOW);
    sights[1].board.left_ns = 40 * SIGHTS_SECOND;
    sights[1].board.next_ns = 4 * SIGHTS_SECOND; /* the next event is late: no nearer to the end than that */
    sights[1].board.progress = .6;
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta, 36, 1e-6);
    ck_assert_double_eq_tol(n.progress, .6, 1e-6);
    atomic_store(&sights[0].board.noted, SIGHTS_NOW);
    sights[0].board.progress = .5; /* less is left of it: each number is the worst one, so that it does not jump */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta, 36, 1e-6);
    ck_assert_double_eq_tol(n.progress, .5, 1e-6);
    ck_assert(isnan(n.eta_low) && isnan(n.eta_high));
    struct watch_board *b = &sights[1].board; /* an end in 40 s, as foretold SIGHTS_NOW; before, 60 s before that */
    for (int i = 0; i < 10; i++)
        b->told[i] = (struct watch_told){SIGHTS_NOW - 20 * SIGHTS_SECOND,
                                         SIGHTS_NOW + (i < 8 ? 40 : 100) * SIGHTS_SECOND};
    for (int i = 6; i < 8; i++)
        b->told[i].end -= 6 * SIGHTS_SECOND; /* a tenth of 60 s */
    b->tolds = 8;
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta_low, 36 * (1 - .1 * sqrt(2)), 1e-6);
    ck_assert_double_eq_tol(n.eta_high, 36 * (1 + .1 * sqrt(2)), 1e-6);
    b->tolds = 10; /* two were half as long again */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta_low, 36 * (1 - .5 * sqrt(2)), 1e-6);
    b->tolds = 3;
    watch_count(&n, table, 2);
    ck_assert(isnan(n.eta_low) && !n.beyond);
    for (int i = 0; i < 2; i++) { /* one rank is longer than recorded, whichever it is */
        struct watch_board kept = sights[i].board;
        sights[i].board.left_ns = WATCH_BEYOND;
        watch_count(&n, table, 2);
        ck_assert(n.beyond && isnan(n.eta) && isnan(n.progress) && isnan(n.eta_high));
        sights[i].board = kept;
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(what_a_process_lacks),
        UNIT_TEST(who_has_become_slow),
        UNIT_TEST(who_has_no_processor),
        UNIT_TEST(efficiency),
    };
    return unit_run("watch/times", tests, UNIT_COUNT(tests));
}
