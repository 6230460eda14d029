/* SPDX-License-Identifier: MIT */
/* Calls rank by rank, and sizes of data. */
#include "findings/by_rank.h"

#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

static void print_cell(struct views_table *t, const struct report_rank *k, const struct report_cell *c)
{
    const char *total = report_text("%s%s", report_time(c->ns), c->shared_ns > 0 ? "~" : t->headed ? " " : "");

    ROW(t, TEXT("", report_rank_text(k->rank, k->ranks), "  rank", 10), COUNT("", c->count + 0.5, "calls", 10),
        TEXT("", total, "total", 10), TIME("", c->least_ns, "least", 9), TIME("", c->ns / c->count, "mean", 9),
        TIME("", c->most_ns, "greatest", 9), BYTES("", c->bytes, "bytes", 9));
}

void report_print_calls(struct report *r, FILE *out)
{
    struct report_by_rank *b = report_by_rank_create(r);
    struct views_table t = { .out = out };
    bool shared = false;

    print_cell(&t, &(struct report_rank){ 0 }, &(struct report_cell){ .count = 1 });
    for (uint32_t s = 0; s < b->sites; s++) {
        const struct report_site *site = &r->model->sites[s];
        fprintf(out, "%s  %s\n", report_line(job_text(r->job, site->function), 40),
                report_where(r, site->terminal, 255));
        for (uint32_t k = 0; k < b->ranks; k++)
            if (report_cell(b, k, s)->count > 0) {
                print_cell(&t, &r->model->ranks[k], report_cell(b, k, s));
                shared |= report_cell(b, k, s)->shared_ns > 0;
            }
    }
    fputs("\nleast and greatest: of the rank's group (--view ranks)\n", out);
    if (shared)
        fputs("~: not the rank's own, but what others left of the time of all, by calls\n", out);
    report_by_rank_destroy(b);
}

/* --- Sizes --- */

static void print_sizes(const struct report_sizes *s, const char *name, FILE *out)
{
    double calls = report_size_calls(s);

    fprintf(out, "%s\n  %s calls with data, %s%s\n", name, report_count((uint64_t)(calls + 0.5)),
            report_bytes(s->bytes),
            s->estimated > 0 ? report_text(" (%.0f %% of them counted at the mean of their place)",
                                           report_percent(s->estimated, calls)) : "");
    for (int k = 0; k < REPORT_SIZES; k++)
        if (s->calls[k] >= 0.5)
            fprintf(out, "  %9s %s %-9s %10s %6.2f%%\n", report_bytes(report_size_least(k)), k > 1 ? "-" : " ",
                    k > 1 ? report_bytes(report_size_least(k + 1) - 1) : "",
                    report_count((uint64_t)(s->calls[k] + 0.5)), report_percent(s->calls[k], calls));
}

void report_print_sizes(struct report *r, FILE *out)
{
    struct report_by_rank *b = report_by_rank_create(r);
    bool any = false;

    for (const struct report_sizes *s = b->sizes; s < b->sizes + b->comms + b->sites; s++) {
        if (report_size_calls(s) <= 0)
            continue;
        any = true;
        print_sizes(s, s->site ? report_text("%s  %s", report_line(job_text(r->job, s->site->function), 40),
                                             report_where(r, s->site->terminal, 255))
                               : report_text("communicators of %u rank%s", s->comm_size,
                                             s->comm_size == 1 ? "" : "s"), out);
    }
    if (!any)
        fputs("no call had data\n", out);
    report_by_rank_destroy(b);
}

void report_add_sizes(struct report *r, cJSON *root)
{
    struct report_by_rank *b = report_by_rank_create(r);
    cJSON *array = cJSON_AddArrayToObject(root, "sizes");

    for (const struct report_sizes *s = b->sizes; s < b->sizes + b->comms + b->sites; s++) {
        if (report_size_calls(s) <= 0)
            continue;
        cJSON *o = ADD(array, NUMBER("communicator_size", s->site ? NAN : s->comm_size),
                       NUMBER("callsite", s->site ? (double)(s->site - r->model->sites) : NAN));
        cJSON *sizes = cJSON_AddArrayToObject(o, "sizes");
        ADD(o, BYTES("bytes", s->bytes), NUMBER("estimated_calls", s->estimated));
        for (int k = 0; k < REPORT_SIZES; k++)
            if (s->calls[k] >= 0.5)
                ADD(sizes, BYTES("min_bytes", report_size_least(k)), COUNT("calls", floor(s->calls[k] + 0.5)));
    }
    report_by_rank_destroy(b);
}
