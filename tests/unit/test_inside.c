/* SPDX-License-Identifier: MIT */
/* Samples: which event each is in, what is told of them, and how a job has them. */
#include <stdio.h>
#include <stdlib.h>

#include "inside/samples.h"
#include "job/job.h"
#include "job/schema.h"
#include "merge/merge.h"
#include "tests/unit/unit.h"

/* This program's own code, so that it is in a module. */
static uint64_t here(uint32_t nth)
{
    return (uint64_t)(uintptr_t)here + nth;
}

static struct job *job_of(uint32_t terminals)
{
    struct job *j = job_create();
    j->info.ranks = 4;
    static const char *const names[] = { "MPI_Barrier", "MPI_Send", "MPI_Recv" };
    for (uint32_t i = 0; i < terminals; i++) {
        struct job_terminal t = { .kind = JOB_CALL, .function = job_string(j, names[i]),
                                  .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE };
        ck_assert_uint_eq(job_terminal(j, &t), i);
    }
    return j;
}

static void sample(struct inside_thread *t, uint64_t at, uint32_t nth)
{
    t->open = realloc(t->open, (t->count + 1u) * sizeof *t->open);
    t->open[t->count++] = (struct inside_sample){ at, here(nth), false };
    t->seen++;
    t->room = t->count;
}

static void tell(struct inside_mark *m, uint32_t terminal, uint64_t since, uint64_t begin, uint64_t end)
{
    if (inside_asks(m, end))
        inside_tell(m, &(struct inside_event){ since, begin, end, terminal, GRAMMAR_NONE, false });
}

/* How many samples a job has of a kind at a terminal. */
static uint64_t count_of(const struct job *j, uint32_t terminal, enum job_inside_kind kind)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < j->inside.count; i++)
        if (j->inside.of[i].terminal == terminal && j->inside.of[i].kind == kind)
            all += j->inside.of[i].samples;
    return all;
}

START_TEST(each_in_its_event)
{
    struct inside_mark mark = { 0 };
    struct inside_thread t = { .mark = &mark, .ring.fd = -1 };
    struct inside_table table = { 0 };
    struct job *j = job_of(2);
    sample(&t, 110, 1);
    sample(&t, 120, 1);
    sample(&t, 150, 2);
    sample(&t, 190, 3);
    ck_assert(inside_thread_take(&t, &table, 0));  /* asks of 110 */
    tell(&mark, 0, 90, 100, 105);                  /* it ended before */
    ck_assert(!inside_thread_take(&t, &table, 0)); /* so it asks on */
    tell(&mark, 1, 105, 140, 180);                 /* gap 105-140, call 140-180 */
    ck_assert(inside_thread_take(&t, &table, 0));  /* asks of 190 */
    tell(&mark, 0, 195, 200, 220);                 /* an event ended between 190 and the question */
    ck_assert(!inside_thread_take(&t, &table, 0));
    ck_assert_int_eq(inside_table_finish(&table, &t, 1, 2, j), 0);
    ck_assert_uint_eq(count_of(j, 1, JOB_INSIDE_GAP), 2);
    ck_assert_uint_eq(count_of(j, 1, JOB_INSIDE_EVENT), 1);
    ck_assert_uint_eq(count_of(j, 0, JOB_INSIDE_GAP), 0);
    ck_assert_uint_eq(count_of(j, GRAMMAR_NONE, JOB_INSIDE_UNKNOWN), 1);
    char why[256];
    ck_assert_int_eq(job_rows_check(j, JOB_TABLE_INSIDE, why, sizeof why), 0);
    inside_table_close(&table);
    inside_thread_close(&t);
    job_destroy(j);
}
END_TEST

/* Those of a team's other threads: in the region, whatever its first thread does in it. */
START_TEST(of_a_team)
{
    enum { BARRIER, REGION, SEND };
    struct inside_mark mark = { 0 };
    struct inside_thread t = { .mark = &mark, .ring.fd = -1 };
    struct inside_table table = { 0 };
    struct job *j = job_of(3);
    static const uint64_t at[] = { 130, 115, 145, 155, 175, 192 };
    for (uint32_t i = 0; i < 6; i++) {
        sample(&t, at[i], 1);
        t.open[i].other = true;
    }
    ck_assert(inside_thread_take(&t, &table, 0)); /* asks of the oldest, 115 */
    static const struct inside_event events[] = {
        { 100, 110, 120, REGION, GRAMMAR_NONE, true },  /* a region with nothing inside */
        { 120, 140, 150, SEND, REGION, false },         /* a call in one: 130 is before it, 145 in it */
        { 150, 160, 160, REGION, REGION, true },        /* the end of one: 155 is in it */
        { 160, 170, 180, BARRIER, GRAMMAR_NONE, false },/* a call: 175 works beside it */
        { 180, 200, 210, REGION, GRAMMAR_NONE, true },  /* 192 is before a region */
    };
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(inside_asks(&mark, events[i].end));
        inside_tell(&mark, &events[i]);
        ck_assert(inside_thread_take(&t, &table, 0) == (i < 4));
    }
    ck_assert_int_eq(inside_table_finish(&table, &t, 1, 2, j), 0);
    ck_assert_uint_eq(count_of(j, REGION, JOB_INSIDE_EVENT), 4);
    ck_assert_uint_eq(count_of(j, GRAMMAR_NONE, JOB_INSIDE_BESIDE), 2);
    ck_assert_uint_eq(table.unknown, 0);
    char why[256];
    ck_assert_int_eq(job_rows_check(j, JOB_TABLE_INSIDE, why, sizeof why), 0);
    inside_table_close(&table);
    inside_thread_close(&t);
    job_destroy(j);
}
END_TEST

/* No event came any more: a run that was killed says where it was. */
START_TEST(open_at_the_end)
{
    struct inside_mark mark = { 0 };
    struct inside_thread t = { .mark = &mark, .ring.fd = -1 };
    struct inside_table table = { 0 };
    struct job *j = job_of(1);
    for (uint64_t at = 100; at < 200; at++)
        sample(&t, at, 7);
    ck_assert(inside_thread_take(&t, &table, 0));
    for (int again = 0; again < 2; again++) { /* a snapshot changes nothing */
        job_destroy(j);
        j = job_of(1);
        ck_assert_int_eq(inside_table_finish(&table, &t, 1, 3, j), 0);
        ck_assert_uint_eq(j->inside.count, 1);
        ck_assert_uint_eq(count_of(j, GRAMMAR_NONE, JOB_INSIDE_GAP), 100);
        ck_assert_uint_eq(j->inside.of[0].ranks, 1 << 3);
    }
    inside_table_close(&table);
    inside_thread_close(&t);
    job_destroy(j);
}
END_TEST

static void add(struct job *j, uint32_t terminal, uint64_t offset, uint64_t samples, uint64_t ranks)
{
    struct job_inside row = { terminal, JOB_INSIDE_GAP, job_module(j, "/bin/it", "x"), offset, samples, ranks };
    ck_assert_int_eq(job_rows_add(j, JOB_TABLE_INSIDE, &row), 0);
}

START_TEST(ranks_join)
{
    struct job *a = job_of(2), *b = job_of(2);
    char why[256];
    add(a, 0, 0x10, 5, 1);
    add(b, 0, 0x10, 7, 2);
    add(b, 1, 0x10, 1, 2);
    ck_assert_int_eq(merge_job(a, b), 0);
    ck_assert_uint_eq(a->inside.count, 2);
    ck_assert_uint_eq(a->inside.of[0].samples, 12);
    ck_assert_uint_eq(a->inside.of[0].ranks, 3);
    ck_assert_uint_eq(a->inside.of[1].ranks, 2);
    ck_assert_int_eq(job_rows_check(a, JOB_TABLE_INSIDE, why, sizeof why), 0);
    job_destroy(a);
    job_destroy(b);
}
END_TEST

/* The kernel's clock of this thread sees nothing but what this thread computes. */
START_TEST(ring)
{
    enum { WANTED = 20 };
    struct inside_ring r;
    struct inside_sample s[WANTED];
    char why[256];
    uint32_t count = 0, inside = 0;
    if (!inside_ring_allowed(why, sizeof why)) {
        printf("# %s\n", why);
        return;
    }
    ck_assert_int_eq(inside_ring_open(&r, 0, 1000), 0);
    for (volatile uint64_t i = 0; i < UINT64_C(1) << 33 && count < WANTED; i++)
        if (i % 100000 == 0)
            count += inside_ring_read(&r, s + count, WANTED - count);
    ck_assert_uint_eq(count, WANTED);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert(!i || s[i].at > s[i - 1].at);
        inside += s[i].address - here(0) < 0x100000 || here(0) - s[i].address < 0x100000;
    }
    ck_assert_uint_ge(inside, WANTED / 2);
    inside_ring_close(&r);
    inside_ring_close(&r);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(each_in_its_event),
        UNIT_TEST(of_a_team),
        UNIT_TEST(open_at_the_end),
        UNIT_TEST(ranks_join),
        UNIT_TEST(ring),
    };
    return unit_run("inside/samples", tests, UNIT_COUNT(tests));
}
