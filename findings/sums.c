/* SPDX-License-Identifier: MIT */
/* Sums: sorted by site, found by bisection. */
#include "findings/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

BASE_COMPARISON(by_site, struct findings_sum, BASE_UP(function) ?: BASE_UP(callsite) ?: BASE_UP(name))

BASE_COMPARISON(by_calls, struct findings_sum, BASE_DOWN(count.samples) ?: by_site(a, b))

static uint32_t name_number(struct findings_sums *s, uint32_t string)
{
    uint32_t n = 0;

    while (n < s->names && s->name[n] != string)
        n++;
    if (n == s->names)
        s->name[s->names++] = string;
    return n;
}

static struct findings_sums *collect(const struct job *j, bool polls)
{
    struct findings_sums *s = calloc(1, sizeof *s);

    s->job = j;
    s->of = calloc(j->sum_count + 1u, sizeof *s->of);
    s->name = calloc(j->sum_count + 1u, sizeof *s->name);
    for (uint32_t i = 0; i < j->sum_count; i++) {
        if (job_is_exclusive(j, &j->sums[i]) || job_is_polls(j, &j->sums[i]) != polls) /* of the site's own time */
            continue;
        const struct job_terminal *t = &j->terminals[j->sums[i].terminal];
        s->of[s->count++] = (struct findings_sum){ t->function, t->callsite, j->sums[i].terminal,
                                                   name_number(s, j->sums[i].name), j->sums[i].count };
    }
    s->count = BASE_ARRAY_JOIN(s->of, s->count, by_site, into, from,
                               (into->count.samples += from->count.samples, into->count.total += from->count.total));
    if (s->count)
        return s;
    findings_sums_destroy(s);
    return NULL;
}

struct findings_sums *findings_sums_create(const struct job *j)
{
    return collect(j, false);
}

struct findings_sums *findings_polls_create(const struct job *j)
{
    struct findings_sums *s = collect(j, true);

    if (s)
        qsort(s->of, s->count, sizeof *s->of, by_calls);
    return s;
}

void findings_sums_destroy(struct findings_sums *s)
{
    if (!s)
        return;
    free(s->of);
    free(s->name);
    free(s);
}

struct job_count findings_sums_of(const struct findings_sums *s, const struct findings_site *site, uint32_t name)
{
    struct findings_sum key = { .function = site->function, .callsite = site->callsite, .name = name };
    const struct findings_sum *e = bsearch(&key, s->of, s->count, sizeof key, by_site);

    return e ? e->count : (struct job_count){ 0, 0 };
}

double findings_sums_ipc(const struct findings_sums *s, const struct findings_site *site)
{
    struct job_count instructions = { 0, 0 }, cycles = { 0, 0 };

    for (uint32_t n = 0; n < s->names; n++) {
        if (!strcmp(job_text(s->job, s->name[n]), "instructions"))
            instructions = findings_sums_of(s, site, n);
        if (!strcmp(job_text(s->job, s->name[n]), "cycles"))
            cycles = findings_sums_of(s, site, n);
    }
    return instructions.samples && cycles.total ? (double)instructions.total / (double)cycles.total : -1;
}
