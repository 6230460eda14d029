/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "merge/merge.h"
#include "tests/unit/audit.h"
#include "tests/unit/job.h"
#include "tests/unit/simulate.h"

const char *const simulate_names[] = { "ring", "butterfly", "stencil", "master", "random" };

void simulate_all(struct simulate_rank *r, enum simulate_shape shape, uint32_t ranks, uint64_t seed)
{
    for (uint32_t i = 0; i < ranks; i++)
        simulate_rank(&r[i], shape, i, ranks, seed);
}

void simulate_clear_all(struct simulate_rank *r, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        simulate_clear(&r[i]);
}

void simulate_check(const struct job *j)
{
    char why[200] = "";
    ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s", why);
}

struct job *simulate_from_left(const struct simulate_rank *r, uint32_t first, uint32_t count)
{
    struct job *j = unit_job_copy(r[first].job);
    for (uint32_t i = 1; i < count; i++)
        ck_assert_int_eq(merge_job(j, r[first + i].job), 0);
    return j;
}

void simulate_same_bytes(const struct job *a, const struct job *b, const char *what)
{
    void *x, *y;
    size_t n, m;
    ck_assert_int_eq(file_pack(a, NULL, &x, &n), 0);
    ck_assert_int_eq(file_pack(b, NULL, &y, &m), 0);
    ck_assert_msg(n == m && !memcmp(x, y, n), "%s: %zu and %zu bytes, or other ones", what, n, m);
    free(x);
    free(y);
}

struct job *simulate_job(enum simulate_shape shape, uint32_t ranks)
{
    struct job *j = job_create();
    for (uint32_t i = 0; i < ranks; i++) {
        struct simulate_rank r;
        simulate_rank(&r, shape, i, ranks, 11);
        ck_assert_int_eq(merge_job(j, r.job), 0);
        simulate_clear(&r);
    }
    return j;
}
