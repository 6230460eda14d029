/* SPDX-License-Identifier: MIT */
/* What tells classes of streams apart: how often a member makes each call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/ranges.h"
#include "findings/report.h"

static void count_calls(const struct report *r, uint32_t index, uint64_t *count)
{
    const struct job_class *c = &r->job->classes[index];
    uint64_t members = findings_members(c);

    memset(count, 0, r->job->terminal_count * sizeof *count);
    for (uint32_t n = 0; c->grammar && members && n < c->grammar->node_count; n++)
        if (c->grammar->nodes[n].symbol < r->job->terminal_count)
            count[c->grammar->nodes[n].symbol] += c->grammar->stats[n].count / members;
}

/* Calls of one site or region, whatever their peers and communicators. */
struct calls { uint64_t own, first, own_null, first_null; bool other; };

/* Adds terminals to their sites. */
static struct calls *add_calls(const struct report *r, const uint64_t *own, const uint64_t *first)
{
    const struct findings_model *m = r->model;
    struct calls *calls = calloc((size_t)m->all_sites + 1, sizeof *calls);

    for (uint32_t t = 0; t < r->job->terminal_count; t++) {
        const struct job_terminal *terminal = &r->job->terminals[t];
        if (terminal->phase == JOB_CLOSE || terminal->kind == JOB_NAMED ||
            (!own[t] && !first[t])) /* a site is where somebody has been */
            continue;
        struct calls *c = &calls[m->place[t]];
        bool null = terminal->peer_class == JOB_PEER_NULL;
        c->own += own[t];
        c->first += first[t];
        c->own_null += null ? own[t] : 0;
        c->first_null += null ? first[t] : 0;
        c->other |= own[t] != first[t] && !null;
    }
    return calls;
}

static void print_calls(const struct report *r, const struct calls *c, uint32_t site, FILE *out)
{
    const char *name = findings_name(r->names, r->model->sites[site].terminal);

    if (!c->own)
        fprintf(out, "no %.40s", name);
    else if (!c->first)
        fprintf(out, "%" PRIu64 " x %.40s", c->own, name);
    else if (c->own != c->first)
        fprintf(out, "%" PRIu64 " x %.40s instead of %" PRIu64, c->own, name, c->first);
    else if (c->own_null > c->first_null)
        fprintf(out, "%.40s with MPI_PROC_NULL", name);
    else if (c->own_null < c->first_null)
        fprintf(out, "%.40s with a rank", name);
    else
        fprintf(out, "%.40s with others", name);
}

static void print_difference(const struct report *r, const uint64_t *own, const uint64_t *first, FILE *out)
{
    uint32_t differences = 0, sites = r->model->all_sites;
    struct calls *calls = add_calls(r, own, first);

    for (uint32_t i = 0; i < sites; i++) {
        const struct calls *c = &calls[i];
        if ((c->own == c->first && c->own_null == c->first_null && !c->other) || differences++ >= 3)
            continue;
        if (differences > 1)
            fputs(", ", out);
        print_calls(r, c, i, out);
    }
    free(calls);
    if (differences > 3)
        fprintf(out, " and %u more", differences - 3);
    if (!differences)
        fputs("the same calls in another order", out);
}

void findings_class_difference(const struct report *r, uint32_t index, char *text, size_t size)
{
    BASE_OWN uint64_t *count = calloc(2 * (size_t)r->job->terminal_count + 1, sizeof *count);
    FILE *out = fmemopen(text, size, "w");

    text[0] = '\0';
    if (index) {
        count_calls(r, index, count);
        count_calls(r, 0, count + r->job->terminal_count);
        print_difference(r, count, count + r->job->terminal_count, out);
    }
    fclose(out);
    text[size - 1] = '\0';
}
