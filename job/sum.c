/* SPDX-License-Identifier: MIT */
/* Sums by terminal and name: a sorted array. There are few of them, and only with a plugin. */
#include <string.h>

#include "pythia.h"
#include "job/intern.h"

static bool sum_before(const struct job_sum *a, const struct job_sum *b)
{
    return a->terminal != b->terminal ? a->terminal < b->terminal : a->name < b->name;
}

int job_sums_reserve(struct job *j, uint32_t extra)
{
    return base_array_room(&j->sums, &j->index->sum_room, (uint64_t)j->sum_count + extra, sizeof *j->sums);
}

void job_sum_add(struct job *j, struct job_sum sum)
{
    uint32_t low = BASE_ARRAY_PLACE(j->sum_count, i, sum_before(&j->sums[i], &sum));
    struct job_sum *at = &j->sums[low];
    if (low < j->sum_count && !sum_before(&sum, at)) {
        at->count.samples += sum.count.samples;
        at->count.total += sum.count.total;
        return;
    }
    memmove(at + 1, at, (j->sum_count - low) * sizeof *at);
    *at = sum;
    j->sum_count++;
}

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
    if (sum.name == GRAMMAR_NONE || job_sums_reserve(j, 1))
        return PYTHIA_ENOMEM;
    job_sum_add(j, sum);
    return 0;
}
