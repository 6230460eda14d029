/* SPDX-License-Identifier: MIT */
/* The callsites as comma-separated values (RFC 4180). */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "views/csv.h"
#include "views/views.h"

/* A cell of text. What a spreadsheet would take for a formula, or for a number with a sign, begins with an apostrophe:
   that is how they write text. */
static void print_field(const char *text, FILE *out)
{
    bool formula = *text && strchr("=+-@\t\r", *text);
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputs(formula ? "\"'" : "\"", out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* What is not known stays empty. */
static void print_spread(const struct report_spread *s, FILE *out)
{
    if (s->min_ns != UINT64_MAX)
        fprintf(out, ",%.9f,%.9f", (double)s->min_ns / 1e9, (double)s->max_ns / 1e9);
    else
        fputs(",,", out);
    fprintf(out, ",%" PRIu64 ",", s->streams);
    if (s->cov >= 0)
        fprintf(out, "%.6f", s->cov);
    fputc(',', out);
    if (s->worst_rank != GRAMMAR_NONE)
        fprintf(out, "%u", s->worst_rank);
    fputc('\n', out);
}

void report_csv_place(struct report *r, const struct report_site *s, FILE *out)
{
    const struct report_place *p = report_place_of(r, s->terminal);
    const char *fields[] = { job_text(r->job, s->function), p && p->function ? p->function : "",
                             p && p->file ? p->file : "" };

    for (int f = 0; f < 3; f++) {
        print_field(fields[f], out);
        fputc(',', out);
    }
    if (p && p->line)
        fprintf(out, "%u", p->line);
    fputc(',', out);
    print_field(p ? p->module : "", out);
    fputc(',', out);
    if (p)
        fprintf(out, "0x%" PRIx64, p->offset);
}

void report_print_csv(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    fputs("function,caller,file,line,module,offset,count,time_seconds,gap_seconds,bytes,min_seconds,max_seconds,"
          "streams,cov,worst_rank\n", out);
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct report_site *s = &m->sites[i];
        report_csv_place(r, s, out);
        fprintf(out, ",%" PRIu64 ",%.9f,%.9f,%" PRIu64, s->count, (double)s->time_ns / 1e9, (double)s->gap_ns / 1e9,
                s->bytes);
        print_spread(&s->spread, out);
    }
}
