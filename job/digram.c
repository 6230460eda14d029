/* SPDX-License-Identifier: MIT */
#include "job/digram.h"

#include <string.h>

#include "base/array.h"
#include "job/check.h"
#include "job/job.h"
#include "pythia.h"

static bool stands_before(const struct job_digram *a, uint32_t terminal, uint32_t before)
{
    return a->terminal != terminal ? a->terminal < terminal : a->before < before;
}

static uint32_t place_of(const struct job_digrams *d, uint32_t terminal, uint32_t before)
{
    return BASE_ARRAY_PLACE(d->count, i, stands_before(&d->of[i], terminal, before));
}

const struct job_digram *job_digram_find(const struct job_digrams *d, uint32_t terminal, uint32_t before)
{
    uint32_t i = place_of(d, terminal, before);
    return i < d->count && d->of[i].terminal == terminal && d->of[i].before == before ? &d->of[i] : NULL;
}

int job_digrams_reserve(struct job *j, uint32_t extra)
{
    return base_array_room(&j->digrams.of, &j->digrams.room, (uint64_t)j->digrams.count + extra, sizeof *j->digrams.of);
}

void job_digram_add(struct job *j, const struct job_digram *d)
{
    uint32_t i = place_of(&j->digrams, d->terminal, d->before);
    struct job_digram *at = &j->digrams.of[i];
    if (i == j->digrams.count || stands_before(d, at->terminal, at->before)) {
        memmove(at + 1, at, (j->digrams.count++ - i) * sizeof *at);
        *at = *d;
        return;
    }
    at->gap.samples += d->gap.samples;
    at->gap.total += d->gap.total;
}

int job_digrams_add(struct job *j, uint32_t terminal, const struct job_before *b, const uint32_t *number)
{
    if (!b->gap[1].samples)
        return 0;
    if (job_digrams_reserve(j, JOB_DIGRAMS))
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < JOB_DIGRAMS && b->gap[i].samples; i++) {
        uint32_t before = b->terminal[i] == GRAMMAR_NONE ? GRAMMAR_NONE : number[b->terminal[i]];
        job_digram_add(j, &(struct job_digram){ terminal, before, b->gap[i] });
    }
    return 0;
}

int job_digrams_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->digrams.count; i++) {
        const struct job_digram *d = &j->digrams.of[i];
        if (d->terminal >= j->terminal_count || (d->before >= j->terminal_count && d->before != GRAMMAR_NONE) ||
            !d->gap.samples)
            return job_refuse(why, size, "digram %u: out of range", i);
        if (i && !stands_before(d - 1, d->terminal, d->before))
            return job_refuse(why, size, "digram %u: out of order", i);
    }
    return 0;
}
