/* SPDX-License-Identifier: MIT */
/* Calls rank by rank, and sizes of data. */
#include "findings/by_rank.h"

#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

static void print_cell(struct views_table *t, const struct findings_rank *k, const struct findings_cell *c)
{
    const char *total = findings_text("%s%s", findings_time(c->ns), c->shared_ns > 0 ? "~" : t->headed ? " " : "");

    ROW(t, TEXT("", findings_rank_text(k->rank, k->ranks), "  rank", 10), COUNT("", c->count + 0.5, "calls", 10),
        TEXT("", total, "total", 10), TIME("", c->least_ns, "least", 9), TIME("", c->ns / c->count, "mean", 9),
        TIME("", c->most_ns, "greatest", 9), BYTES("", c->bytes, "bytes", 9));
}

void views_print_calls(struct report *r, FILE *out)
{
    struct findings_by_rank *b = findings_by_rank_create(r);
    struct views_table t = { .out = out };
    bool shared = false;

    print_cell(&t, &(struct findings_rank){ 0 }, &(struct findings_cell){ .count = 1 });
    for (uint32_t s = 0; s < b->sites; s++) {
        const struct findings_site *site = &r->model->sites[s];
        fprintf(out, "%s  %s\n", findings_line(job_text(r->job, site->function), 40),
                findings_where(r, site->terminal, 255));
        for (uint32_t k = 0; k < b->ranks; k++)
            if (findings_cell(b, k, s)->count > 0) {
                print_cell(&t, &r->model->ranks[k], findings_cell(b, k, s));
                shared |= findings_cell(b, k, s)->shared_ns > 0;
            }
    }
    fputs("\nleast and greatest: of the rank's group (--view ranks)\n", out);
    if (shared)
        fputs("~: not the rank's own, but what others left of the time of all, by calls\n", out);
    findings_by_rank_destroy(b);
}

/* --- Sizes --- */

static void print_sizes(const struct findings_sizes *s, const char *name, FILE *out)
{
    double calls = findings_size_calls(s);

    fprintf(out, "%s\n  %s calls with data, %s%s\n", name, findings_count((uint64_t)(calls + 0.5)),
            findings_bytes(s->bytes),
            s->estimated > 0 ? findings_text(" (%.0f %% of them counted at the mean of their place)",
                                             findings_percent(s->estimated, calls)) : "");
    for (int k = 0; k < FINDINGS_SIZES; k++)
        if (s->calls[k] >= 0.5)
            fprintf(out, "  %9s %s %-9s %10s %6.2f%%\n", findings_bytes(findings_size_least(k)), k > 1 ? "-" : " ",
                    k > 1 ? findings_bytes(findings_size_least(k + 1) - 1) : "",
                    findings_count((uint64_t)(s->calls[k] + 0.5)), findings_percent(s->calls[k], calls));
}

void views_print_sizes(struct report *r, FILE *out)
{
    struct findings_by_rank *b = findings_by_rank_create(r);
    bool any = false;

    for (const struct findings_sizes *s = b->sizes; s < b->sizes + b->comms + b->sites; s++) {
        if (findings_size_calls(s) <= 0)
            continue;
        any = true;
        print_sizes(s, s->site ? findings_text("%s  %s", findings_line(job_text(r->job, s->site->function), 40),
                                               findings_where(r, s->site->terminal, 255))
                               : findings_text("communicators of %u rank%s", s->comm_size,
                                               s->comm_size == 1 ? "" : "s"), out);
    }
    if (!any)
        fputs("no call had data\n", out);
    findings_by_rank_destroy(b);
}

void views_add_sizes(struct report *r, cJSON *root)
{
    struct findings_by_rank *b = findings_by_rank_create(r);
    cJSON *array = cJSON_AddArrayToObject(root, "sizes");

    for (const struct findings_sizes *s = b->sizes; s < b->sizes + b->comms + b->sites; s++) {
        if (findings_size_calls(s) <= 0)
            continue;
        cJSON *o = ADD(array, NUMBER("communicator_size", s->site ? NAN : s->comm_size),
                       NUMBER("callsite", s->site ? (double)(s->site - r->model->sites) : NAN));
        cJSON *sizes = cJSON_AddArrayToObject(o, "sizes");
        ADD(o, BYTES("bytes", s->bytes), NUMBER("estimated_calls", s->estimated));
        for (int k = 0; k < FINDINGS_SIZES; k++)
            if (s->calls[k] >= 0.5)
                ADD(sizes, BYTES("min_bytes", findings_size_least(k)), COUNT("calls", floor(s->calls[k] + 0.5)));
    }
    findings_by_rank_destroy(b);
}
