/* SPDX-License-Identifier: MIT */
/* Sums: sorted by site, found by bisection. */
#include "views/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/order.h"
#include "findings/units.h"

struct entry {
    uint32_t function, callsite, name; /* name: 0 to names - 1 */
    struct job_count count;
};

struct report_sums {
    const struct job *job;
    uint32_t count, names;
    struct entry *entries;
    uint32_t *name; /* strings of the job */
};

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return BASE_ORDER(x->function, y->function) ?: BASE_ORDER(x->callsite, y->callsite) ?: BASE_ORDER(x->name, y->name);
}

static uint32_t name_number(struct report_sums *s, uint32_t string)
{
    uint32_t n = 0;

    while (n < s->names && s->name[n] != string)
        n++;
    if (n == s->names)
        s->name[s->names++] = string;
    return n;
}

/* Sorts, and joins what is of one site. */
static void settle(struct report_sums *s)
{
    uint32_t kept = 0;

    qsort(s->entries, s->count, sizeof *s->entries, entry_order);
    for (uint32_t i = 0; i < s->count; i++) {
        struct entry *e = &s->entries[i];
        if (kept && entry_order(&s->entries[kept - 1], e) == 0) {
            s->entries[kept - 1].count.samples += e->count.samples;
            s->entries[kept - 1].count.total += e->count.total;
        } else {
            s->entries[kept++] = *e;
        }
    }
    s->count = kept;
}

struct report_sums *report_sums_create(const struct job *j)
{
    struct report_sums *s = j->sum_count ? calloc(1, sizeof *s) : NULL;

    if (!s)
        return NULL;
    s->job = j;
    s->entries = calloc(j->sum_count, sizeof *s->entries);
    s->name = calloc(j->sum_count, sizeof *s->name);
    for (uint32_t i = 0; i < j->sum_count; i++) {
        if (job_is_exclusive(j, &j->sums[i]) || job_is_polls(j, &j->sums[i])) /* of the site's own time; polls.c */
            continue;
        const struct job_terminal *t = &j->terminals[j->sums[i].terminal];
        s->entries[s->count++] = (struct entry){ t->function, t->callsite, name_number(s, j->sums[i].name),
                                                 j->sums[i].count };
    }
    settle(s);
    if (!s->count) {
        report_sums_destroy(s);
        return NULL;
    }
    return s;
}

void report_sums_destroy(struct report_sums *s)
{
    if (!s)
        return;
    free(s->entries);
    free(s->name);
    free(s);
}

uint32_t report_sums_names(const struct report_sums *s)
{
    return s ? s->names : 0;
}

const char *report_sums_name(const struct report_sums *s, uint32_t name)
{
    return job_text(s->job, s->name[name]);
}

struct job_count report_sums_of(const struct report_sums *s, const struct report_site *site, uint32_t name)
{
    struct entry key = { site->function, site->callsite, name, { 0, 0 } };
    const struct entry *e = s ? bsearch(&key, s->entries, s->count, sizeof key, entry_order) : NULL;

    return e ? e->count : (struct job_count){ 0, 0 };
}

double report_sums_ipc(const struct report_sums *s, const struct report_site *site)
{
    struct job_count instructions = { 0, 0 }, cycles = { 0, 0 };

    for (uint32_t n = 0; n < report_sums_names(s); n++) {
        if (!strcmp(report_sums_name(s, n), "instructions"))
            instructions = report_sums_of(s, site, n);
        if (!strcmp(report_sums_name(s, n), "cycles"))
            cycles = report_sums_of(s, site, n);
    }
    return instructions.samples && cycles.total ? (double)instructions.total / (double)cycles.total : -1;
}

/* Computation to communication: the time before the calls to that in them; negative without the latter. */
static double granularity(const struct report_site *site)
{
    return site->time_ns ? (double)site->gap_ns / (double)site->time_ns : -1;
}

/* --- The table --- */

static const char *ratio_text(double ratio)
{
    return ratio < 0 ? "-" : report_text("%.2f", ratio);
}

static void print_site(struct report *r, const struct report_sums *s, const struct report_site *site, FILE *out)
{
    uint32_t n = report_site_number(r->names, site->callsite), samples = 0;

    for (uint32_t i = 0; i < report_sums_names(s); i++)
        samples += report_sums_of(s, site, i).samples > 0;
    if (!samples)
        return;
    fprintf(out, "%6s  %-24s %10s", n != GRAMMAR_NONE ? report_text("%u", n) : "-",
            report_line(job_text(r->job, site->function), 127),
            report_time(site->count ? (double)site->gap_ns / (double)site->count : 0));
    fprintf(out, " %11s", ratio_text(granularity(site)));
    fprintf(out, " %7s", ratio_text(report_sums_ipc(s, site)));
    for (uint32_t i = 0; i < report_sums_names(s); i++) {
        struct job_count c = report_sums_of(s, site, i);
        fprintf(out, " %16s", ratio_text(c.samples ? (double)c.total / (double)c.samples : -1));
    }
    fputc('\n', out);
}

void report_print_sums(struct report *r, FILE *out)
{
    struct report_sums *s = report_sums_create(r->job);

    if (!s)
        return;
    fprintf(out,
            "\n# before each call: the CPU burst, burst to call time, instructions a cycle, "
            "and what was counted a burst\n"
            "%6s  %-24s %10s %11s %7s", "number", "call", "burst", "granularity", "IPC");
    for (uint32_t i = 0; i < report_sums_names(s); i++)
        fprintf(out, " %16s", report_line(report_sums_name(s, i), 63));
    fputc('\n', out);
    for (uint32_t i = 0; i < r->model->site_count; i++)
        print_site(r, s, &r->model->sites[i], out);
    report_sums_destroy(s);
}
