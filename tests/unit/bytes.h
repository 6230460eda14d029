/* SPDX-License-Identifier: MIT */
/* Job files as blocks of memory, for unit tests. Everything aborts the test (ck_assert) where it can't do what it
   says. */
#pragma once

#include <stddef.h>

#include "job/job.h"

struct bytes {
    unsigned char *data;
    size_t size;
};

/* What file_pack makes of it; the caller frees the data. */
struct bytes bytes_pack(const struct job *j);

/* file_unpack from a block of exactly that size, so that a sanitizer sees a read past the end. A refusal has one line
   of reason and no job. */
int bytes_unpack(const void *data, size_t size, struct job **j, char why[200]);

/* They must be refused, as damaged or as of another version. */
void bytes_refused(const void *data, size_t size, const char *what);

/* Fills the section of the oracle's score with numbers that can be told apart. */
void bytes_fill_oracle(struct job *j);
