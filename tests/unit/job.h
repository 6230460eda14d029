/* SPDX-License-Identifier: MIT */
/* A job by way of bytes, for unit tests: a file, or a message between ranks. */
#pragma once

#include "tests/unit/unit.h"
#include <stdlib.h>

#include "file/file.h"
#include "job/job.h"

/* The caller owns it. */
static inline struct job *unit_job_copy(const struct job *j)
{
    void *data;
    size_t size;
    struct job *out = NULL;
    char why[200] = "";
    ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
    ck_assert_msg(file_unpack(data, size, &out, why, sizeof why) == 0, "%s", why);
    free(data);
    return out;
}
