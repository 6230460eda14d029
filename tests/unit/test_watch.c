/* SPDX-License-Identifier: MIT */
/* Verdicts from tables of boards, made by hand: six ranks, a minute into their run, pauses of 10 ms so far. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/define.h"
#include "tests/unit/unit.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

enum { RANKS = 6, WORLD = 100, ROW = 200, COLUMN = 300, PLACE = 0x4000, ANY = -1, NOBODY_HERE = -2 };
static const uint64_t second = 1000000000, now = UINT64_C(100000000000);

static struct watch_sight sight[RANKS];
static bool absent[RANKS];
static struct watch_verdict v;
static struct { uint64_t longest, count; } usual[RANKS]; /* of the recording */

static void add_comm(uint32_t r, unsigned at, uint64_t handle, uint64_t identity, int32_t rank, int32_t size,
                     const char *name, uint64_t collectives)
{
    struct watch_comm *c = &sight[r].board.comm[at];
    *c = (struct watch_comm){handle, identity, collectives, (uint32_t)handle, rank, size, ""};
    snprintf(c->name, sizeof c->name, "%s", name);
}

/* Rows are two wide. */
static void set_up(void)
{
    memset(sight, 0, sizeof sight);
    memset(absent, 0, sizeof absent);
    memset(usual, 0, sizeof usual);
    watch_verdict_free(&v);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct watch_sight *s = &sight[r];
        struct watch_board *b = &s->board;
        s->process.state = 'R';
        s->now = now;
        b->rank = r;
        b->ranks = RANKS;
        b->any = ANY;
        b->null = NOBODY_HERE;
        b->source = b->dest = WATCH_NOBODY;
        b->events = 1000;
        b->longest = 10000000;
        b->from = PLACE;
        b->met[7] = b->met[9] = PLACE; /* two identities there */
        b->met[11] = PLACE + 1;
        b->sum[7].count = 600;
        b->sum[9].count = 400;
        b->sum[11].count = 5000;
        b->began = now - 60 * second;
        atomic_store(&b->since, (now - 30 * second) << 1);
        add_comm(r, 0, WORLD, 1, (int32_t)r, RANKS, "world", 50);
        add_comm(r, 1, ROW, 10 + r / 2, (int32_t)(r % 2), 2, "world/split#0", 7);
        add_comm(r, 2, COLUMN, 20 + r % 2, (int32_t)(r / 2), 3, "world/split#1", 7);
    }
}

static void call(uint32_t r, const char *function, uint8_t kind, uint8_t how, uint64_t where, double ago)
{
    struct watch_board *b = &sight[r].board;
    b->is.what = (struct watch_what){kind, how != WATCH_POLLS, how, true};
    b->where = where;
    snprintf(b->is.function, sizeof b->is.function, "MPI_%s", function);
    atomic_store(&b->since, (now - (uint64_t)(ago * 1e9)) << 1 | 1);
}

static void collective(uint32_t r, const char *function, uint64_t comm, double ago)
{
    call(r, function, JOB_COLLECTIVE, WATCH_COLLECTIVE, comm, ago);
}

static void receive(uint32_t r, int32_t source, double ago)
{
    call(r, "Recv", JOB_P2P, WATCH_PLAIN, WORLD, ago);
    sight[r].board.source = source;
}

static void seen(uint32_t r, uint64_t times)
{
    sight[r].board.sum[7].count = times;
    sight[r].board.sum[9].count = 0;
}

static void computes(uint32_t r, double ago)
{
    atomic_store(&sight[r].board.since, (now - (uint64_t)(ago * 1e9)) << 1);
}

static void all_in(const char *function, double ago)
{
    for (uint32_t r = 0; r < RANKS; r++)
        collective(r, function, WORLD, ago);
}

static void judge(void)
{
    struct watch_sight *table[RANKS];
    uint32_t count = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        if (!absent[r])
            table[count++] = &sight[r];
    struct watch_row *rows = watch_rows(table, count, RANKS);
    ck_assert_ptr_nonnull(rows);
    watch_verdict_free(&v);
    for (uint32_t r = 0; r < RANKS; r++) {
        rows[r].usual_ns = usual[r].longest;
        rows[r].known += usual[r].count;
    }
    watch_judge(rows, RANKS, &v);
    watch_rows_free(rows, RANKS);
}

/* "missing_rank 3 waiting 0 1 2 4 5" */
static const char *told(void)
{
    static char text[200];
    judge();
    int n = snprintf(text, sizeof text, "%s", watch_kind_text[v.kind]);
    for (uint32_t i = 0; i < v.rank_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %u", v.rank[i]);
    for (uint32_t i = 0; i < v.waiting_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %u", i ? "" : " waiting", v.waiting[i]);
    return text;
}

START_TEST(a_rank_that_computes_is_missing)
{
    set_up();
    all_in("Allreduce", 20);
    computes(3, 20);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    ck_assert_uint_eq(v.since_ns, 20 * second);
    sight[3].board.comm[0].collectives = 51; /* it has been through: then it is not waited for */
    ck_assert_str_eq(told(), "none 0 1 2 4 5");
    ck_assert_int_eq(v.why, WATCH_ALL_THERE);
}
END_TEST

START_TEST(nobody_is_missing_yet)
{
    set_up();
    all_in("Allreduce", 3.9);
    computes(3, 3.9);
    ck_assert_str_eq(told(), "none"); /* less than the shortest time */
    all_in("Allreduce", 20);
    computes(3, 20);
    sight[5].board.longest = 10 * second;
    ck_assert_str_eq(told(), "none"); /* 30 s would be too long */
    sight[5].board.longest = 6 * second;
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

/* How long a pause may be is said by those that were there before: of who waits, and of whom it waits for. */
START_TEST(a_first_pause_is_no_verdict)
{
    set_up();
    all_in("Allreduce", 39);
    computes(3, 39);
    seen(3, 1); /* this time alone */
    ck_assert_str_eq(told(), "none 3 waiting 0 1 2 4 5");
    seen(3, 10); /* nine pauses, ten times as long: 40 s */
    ck_assert_str_eq(told(), "none 3 waiting 0 1 2 4 5");
    seen(3, 11);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    seen(3, 1000);
    for (uint32_t r = 0; r < RANKS; r++)
        if (r != 3)
            seen(r, 0); /* none has been in this call before */
    ck_assert_str_eq(told(), "none 3 waiting 0 1 2 4 5");
    usual[4].count = 500; /* but in the recorded run */
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    usual[4].count = 0;
    computes(4, 39); /* two are waited for, as nobody knows how long; rank 2 by one that knows */
    receive(2, 3, 39);
    seen(2, 1000);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 5");
    sight[3].process.state = 'T';
    ck_assert_str_eq(told(), "stopped 3 waiting 0 1 2 5");
    set_up();
    sight[3].board.from = 0; /* before its first call */
    computes(3, 39);
    receive(2, 3, 39);
    ck_assert_str_eq(told(), "none 3 waiting 2");
}
END_TEST

START_TEST(a_long_computation_is_known_from_the_recording)
{
    set_up();
    all_in("Allreduce", 20);
    computes(3, 20);
    usual[3].longest = 9 * second;
    ck_assert_str_eq(told(), "none");
    usual[3].longest = 6 * second;
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

START_TEST(who_goes_on_is_not_missing)
{
    set_up();
    all_in("Barrier", 8);
    computes(3, .5); /* a serial part: it has met calls since */
    ck_assert_str_eq(told(), "none");
    all_in("Barrier", 13); /* far too long for that */
    computes(3, .5);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

START_TEST(a_collective_left_out)
{
    set_up();
    all_in("Allreduce", 20);
    call(3, "Finalize", JOB_LIFE, WATCH_PLAIN, 0, 20);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    for (uint32_t r = 0; r < RANKS; r++)
        call(r, "Finalize", JOB_LIFE, WATCH_PLAIN, 0, 20);
    computes(3, 20); /* it is through */
    ck_assert_str_eq(told(), "none");
    for (uint32_t r = 0; r < RANKS; r++) /* some are through: another call of rank 3's was taken for it */
        if (r == 0 || r == 2)
            collective(r, "Allreduce", WORLD, 20);
        else if (r != 3)
            sight[r].board.comm[0].collectives = 51;
    seen(3, 1);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    set_up();
    all_in("Allreduce", 20);
    collective(3, "Barrier", WORLD, 20); /* left out, or in another order: they wait for each other */
    ck_assert_str_eq(told(), "deadlock 0 3 waiting 1 2 4 5");
    collective(3, "Allreduce", WORLD, 20);
    sight[3].board.comm[0].collectives = 49; /* in an earlier one: the others are through */
    for (uint32_t r = 0; r < RANKS; r++)
        if (r != 3)
            computes(r, .1);
    ck_assert_str_eq(told(), "none 3");
    ck_assert_int_eq(v.why, WATCH_ALL_THERE);
}
END_TEST

START_TEST(receives_in_a_circle)
{
    set_up();
    all_in("Barrier", 20);
    receive(0, 1, 20);
    receive(1, 0, 20);
    ck_assert_str_eq(told(), "deadlock 0 1 waiting 2 3 4 5");
    receive(1, 2, 20);
    receive(2, 0, 20);
    ck_assert_str_eq(told(), "deadlock 0 1 2 waiting 3 4 5");
    computes(2, 20); /* no circle, but one that all wait for */
    ck_assert_str_eq(told(), "missing_rank 2 waiting 0 1 3 4 5");
    receive(0, 1, 20);
    receive(1, 0, 1); /* not for long: it has just come */
    collective(2, "Barrier", WORLD, 20);
    ck_assert_str_eq(told(), "none");
}
END_TEST

START_TEST(a_message_that_never_comes)
{
    set_up();
    all_in("Barrier", 20);
    receive(0, 1, 20); /* under another tag than rank 1 has sent it */
    ck_assert_str_eq(told(), "deadlock 0 1 waiting 2 3 4 5");
}
END_TEST

/* It may be large: nothing says that these two wait for each other. */
START_TEST(a_message_that_is_under_way)
{
    set_up();
    all_in("Barrier", 20);
    receive(0, 1, 20);
    call(1, "Send", JOB_P2P, WATCH_PLAIN, WORLD, 20);
    sight[1].board.dest = 0;
    sight[1].board.tag = 5;
    ck_assert_str_eq(told(), "deadlock 0 1 waiting 2 3 4 5"); /* another tag */
    sight[0].board.tag = 5;
    seen(0, 0);
    seen(1, 0);
    ck_assert_str_eq(told(), "none 0 1 waiting 2 3 4 5");
    sight[0].board.tag = -1;
    sight[0].board.source = ANY;
    ck_assert_str_eq(told(), "none 1 waiting 0 2 3 4 5");
    sight[1].board.dest = 2;
    ck_assert_str_eq(told(), "deadlock 0 1 2 waiting 3 4 5");
}
END_TEST

START_TEST(from_anyone_or_nobody)
{
    set_up();
    all_in("Barrier", 20);
    receive(0, ANY, 20);
    ck_assert_str_eq(told(), "deadlock 0 1 waiting 2 3 4 5");
    computes(4, 20); /* it may send yet */
    ck_assert_str_eq(told(), "missing_rank 4 waiting 0 1 2 3 5");
    all_in("Barrier", 20);
    receive(0, NOBODY_HERE, 20);
    ck_assert_str_eq(told(), "missing_rank 0 waiting 1 2 3 4 5"); /* it waits for nobody that can be named */
}
END_TEST

START_TEST(requests_name_whom_they_wait_for)
{
    set_up();
    all_in("Barrier", 20);
    call(2, "Waitall", JOB_COMPLETION, WATCH_PLAIN, 0, 20);
    struct watch_request *q = sight[2].board.request;
    q[9] = (struct watch_request){0x900, 0, ROW, 1, 0, WATCH_RECEIVES};  /* rank 3 */
    q[70] = (struct watch_request){0x910, 0, WORLD, 5, 0, WATCH_SENDS};
    computes(3, 20);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    collective(3, "Barrier", WORLD, 20);
    ck_assert_str_eq(told(), "deadlock 2 3 waiting 0 1 4 5");
    call(2, "Wait", JOB_COMPLETION, WATCH_PLAIN, 0x910, 20); /* that one alone */
    computes(5, 20);
    computes(3, 20);
    q[9].peer = 0;
    ck_assert_str_eq(told(), "missing_rank 3 5 waiting 0 1 2 4");
    q[70] = (struct watch_request){0x910, 50, WORLD, 0, 0, WATCH_TAKES_PART};
    for (uint32_t r = 0; r < RANKS; r++)
        sight[r].board.comm[0].collectives = r == 4 ? 50 : 51;
    for (uint32_t r = 0; r < RANKS; r++)
        computes(r, 1);
    call(2, "Wait", JOB_COMPLETION, WATCH_PLAIN, 0x910, 20);
    computes(4, 20);
    ck_assert_str_eq(told(), "missing_rank 4 waiting 2");
}
END_TEST

START_TEST(collectives_in_another_order)
{
    set_up();
    all_in("Reduce", 20);
    for (uint32_t r = 0; r < RANKS; r++)
        sight[r].board.dest = r == 0 ? 0 : 1; /* to another root */
    ck_assert_str_eq(told(), "deadlock 0 1 waiting 2 3 4 5");
    set_up();
    for (uint32_t r = 0; r < 4; r++) {
        bool column = r == 0 || r == 3;
        collective(r, "Allreduce", column ? COLUMN : ROW, 20);
    }
    collective(4, "Allreduce", COLUMN, 20);
    collective(5, "Allreduce", COLUMN, 20);
    ck_assert_str_eq(told(), "deadlock 0 1 2 3 waiting 4 5");
}
END_TEST

START_TEST(who_does_not_run)
{
    set_up();
    all_in("Allreduce", 20);
    sight[3].process.state = 'T'; /* inside the same call as all others */
    ck_assert_str_eq(told(), "stopped 3 waiting 0 1 2 4 5");
    sight[3].process.state = 'R';
    ck_assert_str_eq(told(), "none 0 1 2 3 4 5"); /* all of them are there: their types may differ */
    ck_assert_int_eq(v.why, WATCH_ALL_THERE);
    sight[4].process.state = 'X';
    ck_assert_str_eq(told(), "stopped 4 waiting 0 1 2 3 5");
    sight[4].process.state = 'R';
    computes(3, 20);
    sight[3].process.state = 'S';
    sight[3].idle_ns = second;
    ck_assert_str_eq(told(), "stopped 3 waiting 0 1 2 4 5");
    sight[3].process.state = 'R'; /* it would run if it had a processor */
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    sight[0].starves = true; /* who waits is not to blame */
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    sight[3].starves = true;
    ck_assert_str_eq(told(), "none 3 waiting 0 1 2 4 5");
    ck_assert_int_eq(v.why, WATCH_NO_PROCESSOR);
    receive(3, 0, 20); /* who waits in a call gives its processor away */
    receive(0, 3, 20);
    ck_assert_str_eq(told(), "deadlock 0 3 waiting 1 2 4 5");
    sight[3].process.state = 'T';
    ck_assert_str_eq(told(), "stopped 3 waiting 0 1 2 4 5");
    set_up();
    all_in("Allreduce", 20);
    computes(3, 20);
    absent[3] = true;
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    set_up();
    all_in("Allreduce", 3);
    for (uint32_t r = 4; r < RANKS; r++) { /* of another node, seen every 2 s */
        sight[r].copied = true;
        sight[r].step_ns = 2 * second;
        sight[r].age_ns = 5 * second;
    }
    ck_assert_str_eq(told(), "none");
    for (uint32_t r = 4; r < RANKS; r++)
        sight[r].age_ns = 7 * second;
    computes(4, 3);
    ck_assert_str_eq(told(), "stopped 4 5 waiting 0 1 2 3");
}
END_TEST

/* Of events before the first season's end, until the second one's, and since: how many, ms before each. */
static void went(uint32_t r, unsigned at, const uint64_t events[3], const double ms[3])
{
    struct watch_board *b = &sight[r].board;
    struct watch_tally *ends[3] = {&b->season[0].past[at], &b->season[1].past[at], &b->sum[at]}, so_far = {0, 0};
    b->seasons = 2;
    b->season[0].end = now - 50 * second;
    b->season[1].end = now - 10 * second;
    b->met[at] = PLACE;
    for (int i = 0; i < 3; i++) {
        so_far.count += events[i];
        so_far.gap_ns += (uint64_t)((double)events[i] * ms[i] * 1e6);
        *ends[i] = so_far;
    }
}

static void all_went(const double ms[3])
{
    set_up();
    for (uint32_t r = 0; r < RANKS; r++)
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
    ck_assert_str_eq(told(), "none");
    went(3, 7, (uint64_t[]){1000, 4000, 300}, slow);
    ck_assert_str_eq(told(), "slow 3");
    ck_assert_double_eq_tol(v.slowest.factor, 3, 1e-6);
    ck_assert_uint_eq(v.slowest.rank, 3);
    ck_assert_uint_eq(v.slowest.from, PLACE);
    went(3, 7, (uint64_t[]){1000, 3000, 300}, (double[]){10, 20, 30}); /* from some time in a season on */
    ck_assert_str_eq(told(), "slow 3");
    ck_assert_double_eq_tol(v.slowest.factor, 3, 1e-6);
    ck_assert_uint_eq(v.slowest.rank, 3);
    ck_assert_uint_eq(v.slowest.from, PLACE);
    sight[3].delayed_ns[0] = second;
    sight[3].delayed_ns[1] = 8 * second; /* no processor, of these 10 s 2 s, then 4 s */
    sight[3].process.delayed_ns = 8 * second;
    ck_assert_str_eq(told(), "slow 3");
    sight[3].process.delayed_ns = 10 * second;
    ck_assert_str_eq(told(), "slow 3");
    ck_assert_double_eq_tol(v.slowest.factor, 2.4, 1e-6);
    sight[3].process.delayed_ns = 12 * second;
    ck_assert_str_eq(told(), "none");
    sight[3].process.delayed_ns = 8 * second;
    all_in("Allreduce", 20); /* that is more to say */
    computes(3, 20);
    ck_assert_str_eq(told(), "missing_rank 3 waiting 0 1 2 4 5");
    all_went(slow); /* for all: another phase */
    ck_assert_str_eq(told(), "none");
    all_went(same);
    went(3, 9, (uint64_t[]){0, 0, 100}, (double[]){0, 0, 50}); /* at a place that is new */
    ck_assert_str_eq(told(), "none");
    all_went(same);
    went(3, 9, (uint64_t[]){1000, 4000, 300}, (double[]){.1, .1, 1}); /* too short to matter */
    ck_assert_str_eq(told(), "none");
    all_went((double[]){10, 10, 8});
    went(3, 7, (uint64_t[]){1000, 4000, 300}, (double[]){2, 2, 8}); /* no longer than the others */
    ck_assert_str_eq(told(), "none");
    all_went(same);
    went(3, 7, (uint64_t[]){1000, 4000, 7}, (double[]){10, 10, 900}); /* too few to say */
    ck_assert_str_eq(told(), "none");
}
END_TEST

START_TEST(who_has_no_processor)
{
    struct watch_process before = {'R', 7, 9, second, 5 * second}, p = before;
    ck_assert(watch_process_starves(&p, &before, second)); /* a wait is counted when it ends */
    p.state = 'S';
    ck_assert(!watch_process_starves(&p, &before, second)); /* it sleeps */
    p.used_ns += second / 200;
    p.delayed_ns += second / 4;
    ck_assert(!watch_process_starves(&p, &before, second));
    p.delayed_ns += second / 2;
    ck_assert(watch_process_starves(&p, &before, second));
    p.used_ns += second / 50; /* one of dozens on a processor */
    ck_assert(!watch_process_starves(&p, &before, second));
    p.delayed_ns += 20 * second; /* it has one again */
    ck_assert(watch_process_starves(&p, &before, second));
    p.start++; /* another process */
    ck_assert(!watch_process_starves(&p, &before, second));
    ck_assert(!watch_process_starves(&(struct watch_process){'R', 7, 9, 0, 0}, &(struct watch_process){'R', 7, 9, 0, 0},
                                     second)); /* not known */
}
END_TEST

START_TEST(all_ask_again_and_again)
{
    set_up();
    for (uint32_t r = 0; r < RANKS; r++)
        call(r, "Test", JOB_COMPLETION, WATCH_POLLS, 0, 20);
    ck_assert_str_eq(told(), "deadlock 0 1 2 3 4 5");
    computes(2, 20);
    ck_assert_str_eq(told(), "none"); /* nobody is known to wait for it */
}
END_TEST

START_TEST(nothing_is_wrong)
{
    set_up();
    for (uint32_t r = 0; r < RANKS; r++)
        computes(r, 30);
    ck_assert_str_eq(told(), "none"); /* all compute for long */
    all_in("Allreduce", 3);
    ck_assert_str_eq(told(), "none"); /* all are there: the library is at it */
    atomic_store(&sight[2].board.since, WATCH_CHANGES);
    ck_assert_str_eq(told(), "none");
    ck_assert_int_eq(v.why, WATCH_WELL);
    call(0, "Comm_join", JOB_COMMUNICATOR, WATCH_PLAIN, 0, 30);
    ck_assert_str_eq(told(), "none 0 waiting 1 3 4 5");
    ck_assert_int_eq(v.why, WATCH_FOR_WHOM);
    call(0, "File_write", JOB_IO, WATCH_PLAIN, WORLD, 30);
    sight[2].board.longest = 60 * second;
    ck_assert_str_eq(told(), "none");
    for (uint32_t r = 0; r < RANKS; r++)
        absent[r] = true;
    ck_assert_str_eq(told(), "none");
}
END_TEST

/* A board says what it likes: nothing breaks. */
/* Ranks in one call have one list of whom they wait for, not one each: 10 000 would have 10 000 times as many. */
START_TEST(many_ranks)
{
    enum { MANY = 400 };
    struct watch_sight *all[MANY];
    for (uint32_t r = 0; r < MANY; r++) {
        struct watch_board *b = &(all[r] = calloc(1, sizeof **all))->board;
        all[r]->now = now;
        b->rank = r;
        b->ranks = MANY;
        b->any = ANY;
        b->source = b->dest = WATCH_NOBODY;
        b->comm[0] = (struct watch_comm){WORLD, 1, 50, WORLD, (int32_t)r, MANY, "world"};
        b->is.what = (struct watch_what){JOB_COLLECTIVE, true, WATCH_COLLECTIVE, true};
        b->where = WORLD;
        strcpy(b->is.function, r % 4 == 3 ? "MPI_Barrier" : r % 4 == 2 ? "MPI_Recv" : "MPI_Allreduce");
        if (r % 4 == 2) {
            b->is.what = (struct watch_what){JOB_P2P, true, WATCH_PLAIN, true};
            b->source = ANY;
        }
        atomic_store(&b->since, (now - 20 * second) << 1 | 1);
    }
    struct watch_row *rows = watch_rows(all, MANY, MANY);
    for (uint32_t r = 4; r < MANY; r++)
        ck_assert(r % 4 == 1 ? rows[r].peer == rows[0].peer : rows[r].peer == rows[r % 4].peer);
    ck_assert_uint_eq(rows[0].peer_count, MANY / 2);
    ck_assert_uint_eq(rows[2].peer_count, MANY);
    ck_assert_uint_eq(rows[3].peer_count, MANY * 3 / 4);
    watch_verdict_free(&v);
    watch_judge(rows, MANY, &v);
    ck_assert_int_eq(v.kind, WATCH_DEADLOCK);
    ck_assert_uint_eq(v.rank[0], 0);
    ck_assert_uint_eq(v.rank_count + v.waiting_count, MANY);
    watch_rows_free(rows, MANY);
    for (uint32_t r = 0; r < MANY; r++)
        free(all[r]);
}
END_TEST

START_TEST(hostile_numbers)
{
    srand(1);
    for (int turn = 0; turn < 300; turn++) {
        set_up();
        all_in("Allreduce", 20);
        for (uint32_t r = 0; r < RANKS; r++) {
            unsigned char *at = (unsigned char *)&sight[r].board + offsetof(struct watch_board, any);
            for (int i = 0; i < 300; i++)
                at[(unsigned)rand() % (unsigned)(sizeof(struct watch_board) - offsetof(struct watch_board, any))] =
                    (unsigned char)rand();
            sight[r].board.is.function[WATCH_FUNCTION - 1] = '\0';
            for (unsigned i = 0; i < WATCH_COMMS; i++)
                sight[r].board.comm[i].name[sizeof sight[r].board.comm[i].name - 1] = '\0';
        }
        told();
    }
}
END_TEST

START_TEST(efficiency)
{
    struct watch_numbers n;
    struct watch_sight *table[2] = {&sight[0], &sight[1]};
    set_up();
    computes(0, 0);
    sight[0].board.mpi_ns = 15 * second; /* of a minute: 45 s of work */
    sight[1].board.mpi_ns = 25 * second;
    collective(1, "Allreduce", WORLD, 20); /* and in one more since: 15 s of work */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, .5, 1e-6);
    sight[0].board.launch_ns = 15 * second; /* of these in MPI_Init: 45 s of 45, and 15 of 60 */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, .5, 1e-6);
    sight[1].board.launch_ns = 15 * second; /* 45 s of 45, and 15 of 45 */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.mpi, 60. / 90, 1e-6);
    sight[0].board.launch_ns = sight[1].board.launch_ns = 0;
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.whole.load_balance, 30. / 45, 1e-6);
    ck_assert(isnan(n.lately.mpi) && isnan(n.eta) && isnan(n.progress));
    static struct watch_sight earlier[2];
    memcpy(earlier, sight, sizeof earlier);
    for (int i = 0; i < 2; i++) {
        sight[i].before = &earlier[i];
        sight[i].now += 10 * second;
    }
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.lately.mpi, .5, 1e-6);
    ck_assert_double_eq_tol(n.lately.load_balance, .5, 1e-6);
    atomic_store(&sight[1].board.noted, now);
    sight[1].board.left_ns = 40 * second;
    sight[1].board.next_ns = 4 * second; /* the next event is late: no nearer to the end than that */
    sight[1].board.progress = .6;
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta, 36, 1e-6);
    ck_assert_double_eq_tol(n.progress, .6, 1e-6);
    atomic_store(&sight[0].board.noted, now);
    sight[0].board.progress = .5; /* less is left of it: each number is the worst one, so that it does not jump */
    watch_count(&n, table, 2);
    ck_assert_double_eq_tol(n.eta, 36, 1e-6);
    ck_assert_double_eq_tol(n.progress, .5, 1e-6);
    ck_assert(isnan(n.eta_low) && isnan(n.eta_high));
    struct watch_board *b = &sight[1].board; /* an end in 40 s, as foretold now; before, 60 s before that */
    for (int i = 0; i < 10; i++)
        b->told[i] = (struct watch_told){now - 20 * second, now + (i < 8 ? 40 : 100) * second};
    for (int i = 6; i < 8; i++)
        b->told[i].end -= 6 * second; /* a tenth of 60 s */
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
        struct watch_board kept = sight[i].board;
        sight[i].board.left_ns = WATCH_BEYOND;
        watch_count(&n, table, 2);
        ck_assert(n.beyond && isnan(n.eta) && isnan(n.progress) && isnan(n.eta_high));
        sight[i].board = kept;
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_rank_that_computes_is_missing),
        UNIT_TEST(nobody_is_missing_yet),
        UNIT_TEST(a_first_pause_is_no_verdict),
        UNIT_TEST(a_long_computation_is_known_from_the_recording),
        UNIT_TEST(who_goes_on_is_not_missing),
        UNIT_TEST(a_collective_left_out),
        UNIT_TEST(receives_in_a_circle),
        UNIT_TEST(a_message_that_never_comes),
        UNIT_TEST(a_message_that_is_under_way),
        UNIT_TEST(from_anyone_or_nobody),
        UNIT_TEST(requests_name_whom_they_wait_for),
        UNIT_TEST(collectives_in_another_order),
        UNIT_TEST(who_does_not_run),
        UNIT_TEST(what_a_process_lacks),
        UNIT_TEST(who_has_become_slow),
        UNIT_TEST(who_has_no_processor),
        UNIT_TEST(all_ask_again_and_again),
        UNIT_TEST(nothing_is_wrong),
        UNIT_TEST(many_ranks),
        UNIT_TEST(hostile_numbers),
        UNIT_TEST(efficiency),
    };
    return unit_run("watch/verdict", tests, UNIT_COUNT(tests));
}
