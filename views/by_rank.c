/* SPDX-License-Identifier: MIT */
/* Calls rank by rank, and sizes of data: as tables for people, and as comma-separated values. */
#include <inttypes.h>
#include <math.h>

#include "findings/by_rank.h"
#include "findings/units.h"
#include "views/csv.h"
#include "views/json.h"
#include "views/views.h"

static const struct report_cell *cell_of(const struct report_by_rank *b, uint32_t rank, uint32_t site)
{
    return &b->cell[(size_t)rank * b->sites + site];
}

static void print_cell(const struct report_rank *k, const struct report_cell *c, FILE *out)
{
    fprintf(out, "  %10s %10s %9s%s %9s %9s %9s %9s\n",
            k->ranks == 1 ? report_text("%u", k->rank) : report_text("%u-%u", k->rank, k->rank + k->ranks - 1),
            report_count((uint64_t)(c->count + 0.5)), report_time(c->ns), c->shared_ns > 0 ? "~" : " ",
            report_time(c->least_ns), report_time(c->ns / c->count), report_time(c->most_ns), report_bytes(c->bytes));
}

static void print_calls_text(struct report *r, const struct report_by_rank *b, FILE *out)
{
    bool shared = false;

    fprintf(out, "  %10s %10s %10s %9s %9s %9s %9s\n", "rank", "calls", "total", "least", "mean", "greatest", "bytes");
    for (uint32_t s = 0; s < b->sites; s++) {
        const struct report_site *site = &r->model->sites[s];
        fprintf(out, "%s  %s\n", report_line(job_text(r->job, site->function), 40),
                report_where(r, site->terminal, 255));
        for (uint32_t k = 0; k < b->ranks; k++)
            if (cell_of(b, k, s)->count > 0) {
                print_cell(&r->model->ranks[k], cell_of(b, k, s), out);
                shared |= cell_of(b, k, s)->shared_ns > 0;
            }
    }
    fputs("\nleast and greatest: of the rank's class\n", out);
    if (shared)
        fputs("~: not the rank's own, but what others left of the time of all, by calls\n", out);
}

static void print_calls_csv(struct report *r, const struct report_by_rank *b, FILE *out)
{
    fputs("function,caller,file,line,module,offset,rank,ranks,count,time_seconds,min_seconds,mean_seconds,max_seconds,"
          "bytes,shared_seconds\n", out);
    for (uint32_t s = 0; s < b->sites; s++)
        for (uint32_t k = 0; k < b->ranks; k++) {
            const struct report_cell *c = cell_of(b, k, s);
            if (c->count <= 0)
                continue;
            report_csv_place(r, &r->model->sites[s], out);
            fprintf(out, ",%u,%u,%.0f,%.9f,%.9f,%.9f,%.9f,%.0f,%.9f\n", r->model->ranks[k].rank,
                    r->model->ranks[k].ranks, c->count, c->ns / 1e9, c->least_ns / 1e9, c->ns / c->count / 1e9,
                    c->most_ns / 1e9, c->bytes, c->shared_ns / 1e9);
        }
}

void report_print_calls(struct report *r, bool csv, FILE *out)
{
    struct report_by_rank *b = report_by_rank_create(r);

    if (csv)
        print_calls_csv(r, b, out);
    else
        print_calls_text(r, b, out);
    report_by_rank_destroy(b);
}

/* --- Sizes --- */

static double calls_of(const struct report_sizes *s)
{
    double calls = 0;

    for (int k = 0; k < REPORT_SIZES; k++)
        calls += s->calls[k];
    return calls;
}

static double least_of(int size)
{
    return size ? ldexp(1, size - 1) : 0;
}

static void print_sizes(const struct report_sizes *s, const char *name, FILE *out)
{
    double calls = calls_of(s);

    fprintf(out, "%s\n  %s calls with data, %s%s\n", name, report_count((uint64_t)(calls + 0.5)),
            report_bytes(s->bytes),
            s->estimated > 0 ? report_text(" (%.0f %% of them counted at the mean of their place)",
                                           report_percent(s->estimated, calls)) : "");
    for (int k = 0; k < REPORT_SIZES; k++)
        if (s->calls[k] >= 0.5)
            fprintf(out, "  %9s %s %-9s %10s %6.2f%%\n", report_bytes(least_of(k)), k > 1 ? "-" : " ",
                    k > 1 ? report_bytes(least_of(k + 1) - 1) : "", report_count((uint64_t)(s->calls[k] + 0.5)),
                    report_percent(s->calls[k], calls));
}

static void print_sizes_text(struct report *r, const struct report_by_rank *b, FILE *out)
{
    bool any = false;

    for (uint32_t i = 0; i < b->comms; i++)
        if (calls_of(&b->of_comm[i]) > 0) {
            any = true;
            print_sizes(&b->of_comm[i], report_text("communicators of %u rank%s", b->comm_size[i],
                                                    b->comm_size[i] == 1 ? "" : "s"), out);
        }
    for (uint32_t s = 0; s < b->sites; s++)
        if (calls_of(&b->of_site[s]) > 0) {
            const struct report_site *site = &r->model->sites[s];
            any = true;
            print_sizes(&b->of_site[s], report_text("%s  %s", report_line(job_text(r->job, site->function), 40),
                                                    report_where(r, site->terminal, 255)), out);
        }
    if (!any)
        fputs("no call had data\n", out);
}

static void print_sizes_csv(struct report *r, const struct report_by_rank *b, FILE *out)
{
    fputs("function,caller,file,line,module,offset,communicator_size,min_bytes,calls\n", out);
    for (uint32_t i = 0; i < b->comms + b->sites; i++) {
        const struct report_sizes *s = i < b->comms ? &b->of_comm[i] : &b->of_site[i - b->comms];
        for (int k = 0; k < REPORT_SIZES; k++) {
            if (s->calls[k] < 0.5)
                continue;
            if (i < b->comms)
                fprintf(out, ",,,,,,%u", b->comm_size[i]);
            else
                report_csv_place(r, &r->model->sites[i - b->comms], out);
            fprintf(out, "%s,%.0f,%.0f\n", i < b->comms ? "" : ",", least_of(k), s->calls[k]);
        }
    }
}

void report_print_sizes(struct report *r, bool csv, FILE *out)
{
    struct report_by_rank *b = report_by_rank_create(r);

    if (csv)
        print_sizes_csv(r, b, out);
    else
        print_sizes_text(r, b, out);
    report_by_rank_destroy(b);
}

static void add_sizes(cJSON *o, const struct report_sizes *s)
{
    cJSON *array = cJSON_AddArrayToObject(o, "sizes");

    cJSON_AddNumberToObject(o, "bytes", s->bytes);
    cJSON_AddNumberToObject(o, "estimated_calls", s->estimated);
    for (int k = 0; k < REPORT_SIZES; k++)
        if (s->calls[k] >= 0.5) {
            cJSON *row = report_json_object(array);
            cJSON_AddNumberToObject(row, "min_bytes", least_of(k));
            cJSON_AddNumberToObject(row, "calls", floor(s->calls[k] + 0.5));
        }
}

void report_add_sizes(struct report *r, cJSON *root)
{
    struct report_by_rank *b = report_by_rank_create(r);
    cJSON *array = cJSON_AddArrayToObject(root, "sizes");

    for (uint32_t i = 0; i < b->comms + b->sites; i++) {
        const struct report_sizes *s = i < b->comms ? &b->of_comm[i] : &b->of_site[i - b->comms];
        if (calls_of(s) <= 0)
            continue;
        cJSON *o = report_json_object(array);
        report_json_known(o, "communicator_size", i < b->comms, i < b->comms ? b->comm_size[i] : 0);
        report_json_known(o, "callsite", i >= b->comms, i >= b->comms ? i - b->comms : 0);
        add_sizes(o, s);
    }
    report_by_rank_destroy(b);
}
