/* SPDX-License-Identifier: MIT */
/* The view of callsites: a line a call, most time first; then calls that found nothing, and what plugins counted. */
#include <stdlib.h>

#include "findings/sums.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

static const char *function_of(const struct report *r, uint32_t function, int width)
{
    return findings_line(job_text(r->job, function), width);
}

static void print_site(struct report *r, const struct findings_site *s, struct views_table *t)
{
    const struct findings_model *m = r->model;
    const struct findings_spread *of = &s->spread;
    double executed = views_known(of->min_ns != UINT64_MAX, 1), of_run = views_known(!s->launch, 1);

    ROW(t, NUMBER("", views_site_number(r, s->callsite), "number", 6),
        TEXT("", function_of(r, s->function, 40), " call", -22), COUNT("", s->count, "calls", 10),
        TIME("", s->time_ns, "total", 8), TIME("", findings_mean(s->time_ns, s->count), "mean", 8),
        RATIO("", of_run * findings_share(m, (double)s->time_ns), "app %", 6),
        RATIO("", of_run * findings_percent((double)s->time_ns, (double)(m->call_ns - m->sum_launch_ns)), "mpi %", 6),
        TIME("", executed * (double)of->min_ns, "min", 8), TIME("", executed * (double)of->max_ns, "max", 8),
        RATIO("", views_known(of->cov >= 0, of->cov), "cov", 6),
        NUMBER("", views_known(of->worst_rank != GRAMMAR_NONE, of->worst_rank), "worst", 6),
        BYTES("", s->bytes, "bytes", 8), BYTES("", findings_mean(s->bytes, s->count), "a call", 8),
        TEXT("", findings_where(r, s->terminal, 255), " callsite", 0));
}

static void print_poll(struct report *r, const struct findings_sum *p, struct views_table *t)
{
    ROW(t, NUMBER("", views_site_number(r, p->callsite), "number", 6),
        TEXT("", function_of(r, p->function, 40), " call", -22), COUNT("", p->count.samples, "calls", 10),
        TIME("", p->count.total, "total", 8), TIME("", findings_mean(p->count.total, p->count.samples), "mean", 8),
        TEXT("", findings_where(r, p->terminal, 255), " callsite", 0));
}

static void print_polls(struct report *r, FILE *out)
{
    struct findings_sums *p = findings_polls_create(r->job);
    struct views_table t = { .out = out };

    if (p)
        fputs("\n# calls that found nothing, beside the events: their time is in the gap, or in the call that found "
              "something\n", out);
    for (uint32_t i = 0; p && i <= p->count; i++)
        print_poll(r, &p->of[i ? i - 1 : 0], &t);
    findings_sums_destroy(p);
}

void views_add_polls(struct report *r, cJSON *root)
{
    struct findings_sums *p = findings_polls_create(r->job);
    cJSON *all = cJSON_AddArrayToObject(root, "polls");

    for (uint32_t i = 0; p && i < p->count; i++)
        ADD(all, TEXT("function", job_text(r->job, p->of[i].function)),
            TEXT("place", findings_where(r, p->of[i].terminal, 255)), COUNT("count", p->of[i].count.samples),
            TIME("seconds", p->of[i].count.total));
    findings_sums_destroy(p);
}

/* Granularity: computation to communication, the time before the calls to that in them. */
static void print_sum(struct report *r, const struct findings_sums *s, const struct findings_site *site,
                      struct views_table *t)
{
    double ipc = findings_sums_ipc(s, site);
    const struct views_cell *fixed = VIEWS_CELLS(
        NUMBER("", views_site_number(r, site->callsite), "number", 6),
        TEXT("", function_of(r, site->function, 127), " call", -24),
        TIME("", findings_mean(site->gap_ns, site->count), "burst", 10),
        RATIO("", views_known(site->time_ns, (double)site->gap_ns / (double)site->time_ns), "granularity", 11),
        RATIO("", views_known(ipc >= 0, ipc), "IPC", 7));
    enum { FIXED = 5 };
    BASE_OWN struct views_cell *cell = calloc(FIXED + s->names + 1, sizeof *cell);
    bool any = !t->headed;

    for (uint32_t i = 0; i < FIXED; i++)
        cell[i] = fixed[i];
    for (uint32_t i = 0; i < s->names; i++) {
        struct job_count c = findings_sums_of(s, site, i);
        cell[FIXED + i] = (struct views_cell)RATIO("", views_known(c.samples, (double)c.total / (double)c.samples),
                                                   findings_line(job_text(r->job, s->name[i]), 63), 16);
        any |= c.samples > 0;
    }
    if (any)
        views_row(t, cell);
}

static void print_sums(struct report *r, FILE *out)
{
    struct findings_sums *s = findings_sums_create(r->job);
    struct views_table t = { .out = out };

    if (s)
        fputs("\n# before each call: the CPU burst, burst to call time, instructions a cycle, and what was counted a "
              "burst\n", out);
    for (uint32_t i = 0; s && r->model->site_count && i <= r->model->site_count; i++)
        print_sum(r, s, &r->model->sites[i ? i - 1 : 0], &t);
    findings_sums_destroy(s);
}

void views_print_callsites(struct report *r, FILE *out)
{
    static const struct findings_site none = { .terminal = GRAMMAR_NONE };
    const struct findings_model *m = r->model;
    struct views_table t = { .out = out };

    for (uint32_t i = 0; i <= m->site_count; i++)
        print_site(r, i ? &m->sites[i - 1] : &none, &t);
    if (m->site_count)
        fputs("\ncov: standard deviation over mean of the total times of the ranks that make the call; worst: the rank "
              "that spent most in it\n", out);
    else
        fprintf(out, "no call was recorded\n");
    print_polls(r, out);
    print_sums(r, out);
    views_print_inside(r, out);
}
