/* SPDX-License-Identifier: MIT */
#include "job/schema.h"

#include "pythia.h"

const struct job_digram *job_digram_find(const struct job *j, uint32_t terminal, uint32_t before)
{
    return job_rows_find(j, JOB_TABLE_DIGRAMS, &(struct job_digram){ .terminal = terminal, .before = before });
}

int job_digrams_add(struct job *j, uint32_t terminal, const struct job_before *b, const uint32_t *number)
{
    if (!b->gap[1].samples)
        return 0;
    int error = 0;
    for (uint32_t i = 0; i < JOB_DIGRAMS && b->gap[i].samples && !error; i++) {
        uint32_t before = b->terminal[i] == GRAMMAR_NONE ? GRAMMAR_NONE : number[b->terminal[i]];
        error = job_rows_add(j, JOB_TABLE_DIGRAMS, &(struct job_digram){ terminal, before, b->gap[i] });
    }
    return error;
}

