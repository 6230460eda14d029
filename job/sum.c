/* SPDX-License-Identifier: MIT */
/* Sums by terminal and name: a sorted array. There are few of them, and only with a plugin. */
#include <string.h>

#include "pythia.h"
#include "base/array.h"
#include "job/schema.h"

struct job_sum *job_find_sum(const struct job *j, uint32_t terminal, const char *name)
{
    for (uint32_t i = BASE_ARRAY_PLACE(j->sum_count, k, j->sums[k].terminal < terminal);
         i < j->sum_count && j->sums[i].terminal == terminal; i++)
        if (!strcmp(job_text(j, j->sums[i].name), name))
            return &j->sums[i];
    return NULL;
}

bool job_is_exclusive(const struct job *j, const struct job_sum *s)
{
    return !strcmp(job_text(j, s->name), JOB_EXCLUSIVE_NS);
}

bool job_is_polls(const struct job *j, const struct job_sum *s)
{
    return !strcmp(job_text(j, s->name), JOB_POLLS_NS);
}

int job_count(struct job *j, uint32_t terminal, const char *name, struct job_count count)
{
    if (terminal >= j->terminal_count)
        return PYTHIA_EINVAL;
    struct job_sum sum = { terminal, job_string(j, name), count };
    return sum.name == GRAMMAR_NONE ? PYTHIA_ENOMEM : job_rows_add(j, JOB_TABLE_SUMS, &sum);
}
