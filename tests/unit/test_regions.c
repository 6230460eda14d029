/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/job.h"
#include "tests/unit/unit.h"

static uint32_t place(struct job *j, uint64_t offset)
{
    struct job_frame f = { .module = job_module(j, "/bin/app", "0123"), .offset = offset };
    return job_callsite(j, &f, 1);
}

static struct job *empty(void)
{
    struct job *j = job_create();
    ck_assert_ptr_nonnull(j);
    j->info.runs = 1;
    return j;
}

static struct job_region sample(struct job *j, uint64_t offset, uint32_t seed)
{
    struct job_region r = { .callsite = place(j, offset), .team = 8, .fixed = seed & 0xff };
    r.proof = JOB_PROOF_HARMLESS + seed % (JOB_PROOFS - 1);
    r.where = seed % 2 ? GRAMMAR_NONE : place(j, offset + 1);
    r.proof_ns = seed + 14;
    r.executions = seed + 1;
    r.verified = seed + 2;
    r.changed = seed + 3;
    r.trials = seed + 4;
    r.controls = seed + 5;
    r.control_ns = seed + 6;
    r.chosen_ns = seed + 7;
    r.gain_ns = -(int64_t)seed - 8;
    job_region_add_size(&r, 8, 3, 300 + seed);
    job_region_add_size(&r, 1, 4, 400 + seed);
    return r;
}

START_TEST(files_hold_all_of_it)
{
    struct job *j = empty();
    for (uint32_t i = 0; i < 20; i++) {
        struct job_region r = sample(j, 0x1000 + i, 37 * i);
        ck_assert_int_eq(job_add_region(j, &r), 0);
    }
    struct job *again = unit_job_copy(j);
    ck_assert_uint_eq(again->region_count, 20);
    ck_assert_int_eq(memcmp(j->regions, again->regions, 20 * sizeof *j->regions), 0);
    job_destroy(again);
    job_destroy(j);
}
END_TEST

START_TEST(ranks_add_up_whatever_their_numbers)
{
    struct job *a = empty(), *b = empty();
    struct job_region r = sample(a, 0x1000, 5), own;
    ck_assert_int_eq(job_add_region(a, &r), 0);
    (void)place(b, 0x7777); /* other numbers there */
    struct job_region s = sample(b, 0x2000, 7), t = sample(b, 0x1000, 11);
    job_region_add_size(&t, 4, 1, 1);
    ck_assert_int_eq(job_add_region(b, &s), 0);
    ck_assert_int_eq(job_add_region(b, &t), 0);
    ck_assert_int_eq(merge_job(a, b), 0);
    ck_assert_uint_eq(a->region_count, 2);
    own = *job_find_region(a, r.callsite);
    ck_assert_uint_eq(own.executions, 6 + 12);
    ck_assert_uint_eq(own.fixed, 5 | 11);
    ck_assert_int_eq(own.gain_ns, -13 - 19);
    ck_assert_uint_eq(own.size_count, 3);
    ck_assert(own.size[0].size == 1 && own.size[0].count == 8 && own.size[0].ns == 405 + 411);
    ck_assert(own.size[1].size == 4 && own.size[2].size == 8);
    char why[256];
    ck_assert_msg(job_check(a, why, sizeof why) == 0, "%s", why);
    job_destroy(a);
    job_destroy(b);
}
END_TEST

static const struct job_region *learned(const struct job *j, uint32_t callsite)
{
    for (uint32_t i = 0; i < j->learned.region_count; i++)
        if (j->learned.regions[i].callsite == callsite)
            return &j->learned.regions[i];
    return NULL;
}

START_TEST(a_predicted_run_stands_beside_the_recording)
{
    struct job *file = empty(), *run = empty();
    struct job_region old = sample(file, 0x1000, 5), other = sample(file, 0x2000, 6);
    ck_assert_int_eq(job_add_region(file, &old), 0);
    ck_assert_int_eq(job_add_region(file, &other), 0);
    struct job_task task = { .callsite = other.callsite, .created = 3 };
    ck_assert_int_eq(job_task_add(file, &task), 0);
    (void)place(run, 0x9999);
    struct job_region now = sample(run, 0x2000, 100), first = sample(run, 0x1000, 200);
    ck_assert_int_eq(job_add_region(run, &now), 0);
    ck_assert_int_eq(job_learn(file, run), 0);
    ck_assert_int_eq(job_add_region(run, &first), 0);
    for (uint32_t i = 0; i < 2; i++) { /* rows that get another order in the file */
        task = (struct job_task){ .callsite = i ? first.callsite : now.callsite, .created = 7 + i };
        ck_assert_int_eq(job_task_add(run, &task), 0);
    }
    ck_assert_int_eq(job_learn(file, run), 0);
    ck_assert_uint_eq(file->region_count, 2);
    ck_assert_uint_eq(job_find_region(file, old.callsite)->executions, 6);
    ck_assert_uint_eq(job_find_region(file, other.callsite)->executions, 7);
    ck_assert_uint_eq(file->tasks[0].created, 3);
    ck_assert_uint_eq(file->learned.region_count, 2);
    ck_assert_uint_eq(learned(file, old.callsite)->executions, 201);
    ck_assert_uint_eq(learned(file, other.callsite)->executions, 101);
    ck_assert_uint_eq(file->learned.task_count, 2);
    ck_assert_uint_eq(file->learned.tasks[0].created, 8);
    char why[256];
    struct job *again = NULL;
    ck_assert_msg(job_check(file, why, sizeof why) == 0, "%s", why);
    ck_assert_int_eq(file_write(file, "test_regions_learned.pythia", why, sizeof why), 0);
    ck_assert_int_eq(file_read("test_regions_learned.pythia", &again, why, sizeof why), 0);
    ck_assert_int_eq(memcmp(file->learned.regions, again->learned.regions, 2 * sizeof *again->learned.regions), 0);
    ck_assert_int_eq(memcmp(file->learned.tasks, again->learned.tasks, 2 * sizeof *again->learned.tasks), 0);
    remove("test_regions_learned.pythia");

    struct job *updated = empty();
    struct job_region own = sample(updated, 0x1000, 300);
    ck_assert_int_eq(job_add_region(updated, &own), 0);
    ck_assert_int_eq(job_inherit(updated, again), 0);
    ck_assert_uint_eq(updated->region_count, 2);
    ck_assert_uint_eq(updated->regions[0].executions, 301);
    ck_assert_uint_eq(updated->regions[1].executions, 101);
    ck_assert_uint_eq(updated->task_count, 2);
    job_destroy(updated);
    job_destroy(again);
    job_destroy(file);
    job_destroy(run);
}
END_TEST

START_TEST(more_sizes_than_there_is_room_for)
{
    struct job_region r = { 0 };
    uint64_t count = 0;
    for (uint32_t size = 20; size > 0; size--)
        job_region_add_size(&r, size, size, 10 * size);
    ck_assert_uint_eq(r.size_count, JOB_REGION_SIZES);
    for (uint32_t i = 0; i < r.size_count; i++) {
        count += r.size[i].count;
        ck_assert(i == 0 || r.size[i].size > r.size[i - 1].size);
    }
    ck_assert_uint_eq(count, 210);
}
END_TEST

/* What no writer makes is refused. */
START_TEST(nonsense_is_refused)
{
    struct job *j = empty();
    char why[256];
    struct job_region r = sample(j, 0x1000, 5);
    ck_assert_int_eq(job_add_region(j, &r), 0);
    struct job_region good = j->regions[0];
    ck_assert_int_eq(job_check(j, why, sizeof why), 0);
    j->regions[0].callsite = j->callsite_count;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    j->regions[0] = good;
    j->regions[0].fixed = 1u << 31;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    j->regions[0] = good;
    j->regions[0].size_count = JOB_REGION_SIZES + 1;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    j->regions[0] = good;
    j->regions[0].size[1].size = 0;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    j->regions[0] = good;
    struct job_region s = sample(j, 0x2000, 5);
    ck_assert_int_eq(job_add_region(j, &s), 0);
    j->regions[1].callsite = good.callsite; /* twice */
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    job_destroy(j);
}
END_TEST

START_TEST(every_reason_has_words)
{
    for (uint32_t i = 0; i < JOB_FIXED_REASONS; i++)
        for (uint32_t k = 0; k < i; k++)
            ck_assert_str_ne(job_fixed_text(1u << i), job_fixed_text(1u << k));
    ck_assert_str_eq(job_fixed_text(1u << 31), "another reason");
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(files_hold_all_of_it),       UNIT_TEST(ranks_add_up_whatever_their_numbers),
        UNIT_TEST(a_predicted_run_stands_beside_the_recording), UNIT_TEST(more_sizes_than_there_is_room_for),
        UNIT_TEST(nonsense_is_refused),        UNIT_TEST(every_reason_has_words),
    };
    return unit_run("job/regions", tests, UNIT_COUNT(tests));
}
