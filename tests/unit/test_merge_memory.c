/* SPDX-License-Identifier: MIT */
/* Merging and packing without memory: each allocation fails once. The linker sends them through here. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/job.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

static long allowed = -1; /* allocations until one fails; -1: none does */

static int fails(void)
{
    return allowed >= 0 && allowed-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

/* Each allocation of a merge fails once: the job is as it was, or a table beside its grammars is left out and named,
   and the merge works when there is memory. */
START_TEST(test_merge_without_memory)
{
    struct simulate_rank r[16];
    long failures = 0, left = 0;
    int error;
    simulate_all(r, _i % SIMULATE_SHAPES, 16, 4);
    struct job *j = simulate_from_left(r, 0, 8), *before = unit_job_copy(j);
    struct job *other = simulate_from_left(r, 8, 8), *whole = simulate_from_left(r, 0, 16);
    do {
        allowed = failures;
        error = merge_job(j, other);
        if (error) {
            allowed = -1;
            failures++;
            ck_assert_int_eq(error, PYTHIA_ENOMEM);
            simulate_check(j);
            simulate_same_bytes(j, before, "after a merge without memory");
        } else if (j->left.count) {
            allowed = -1;
            failures++;
            left++;
            simulate_check(j);
            job_destroy(j);
            j = unit_job_copy(before);
            error = PYTHIA_ENOMEM;
        }
    } while (error);
    allowed = -1;
    ck_assert_int_gt(failures - left, 10);
    ck_assert_int_gt(left, 2);
    simulate_same_bytes(j, whole, simulate_names[_i % SIMULATE_SHAPES]);
    job_destroy(j);
    job_destroy(before);
    job_destroy(other);
    job_destroy(whole);
    simulate_clear_all(r, 16);
}
END_TEST

START_TEST(test_packing_without_memory)
{
    struct simulate_rank r[8];
    simulate_all(r, _i % SIMULATE_SHAPES, 8, 4);
    struct job *j = simulate_from_left(r, 0, 8), *back = NULL;
    void *data = NULL, *again;
    size_t size = 0, n;
    char why[200];
    int error = PYTHIA_ENOMEM;
    for (long i = 0; error; i++) {
        allowed = i;
        error = file_pack(j, NULL, &data, &size);
        allowed = -1;
        ck_assert(error == 0 || error == PYTHIA_ENOMEM);
    }
    ck_assert_int_eq(file_pack(j, NULL, &again, &n), 0);
    ck_assert(n == size && !memcmp(again, data, n));
    error = PYTHIA_ENOMEM;
    for (long i = 0; error; i++) {
        allowed = i;
        error = file_unpack(data, size, &back, why, sizeof why);
        allowed = -1;
        ck_assert(error <= 0 && (error == 0) == (back != NULL));
    }
    simulate_same_bytes(j, back, simulate_names[_i % SIMULATE_SHAPES]);
    free(data);
    free(again);
    job_destroy(j);
    job_destroy(back);
    simulate_clear_all(r, 8);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(test_merge_without_memory, SIMULATE_SHAPES),
    UNIT_LOOP(test_packing_without_memory, SIMULATE_SHAPES),
};

int main(void)
{
    return unit_run("merge/merge_memory", tests, UNIT_COUNT(tests));
}
