/* SPDX-License-Identifier: MIT */
/* The text report: the structure of each class, and which view is printed by whom. */
#include <stdlib.h>

#include "report/by_rank.h"
#include "report/findings.h"
#include "report/ranges.h"
#include "report/report.h"

/* Each callsite once: numbers are given in the order of the terminals. */
static void print_legend(struct report *r, FILE *out)
{
    uint32_t next = 0;

    fprintf(out, "\n# callsites\n");
    for (uint32_t i = 0; i < r->job->terminal_count; i++) {
        if (report_site_number(r->names, r->job->terminals[i].callsite) != next)
            continue;
        next++;
        fprintf(out, "# %-20s %s\n", report_site_name(r->names, i), report_where(r, i, 255));
    }
}

static void place_text(void *context, uint32_t terminal, char *text, size_t size)
{
    struct report *r = context;

    if (r->job->terminals[terminal].callsite < r->job->callsite_count && size >= 256)
        snprintf(text, size, "%s", report_where(r, terminal, 120));
}

static void print_structure(struct report *r, const struct report_structure *asked, FILE *out)
{
    struct report_structure how = *asked;

    how.place = place_text;
    how.context = r;
    for (uint32_t c = 0; c < r->job->class_count; c++) {
        char *ranks = report_ranges_text(&r->job->classes[c]);
        fprintf(out, "%s# class %u: %s\n", c ? "\n" : "", c, ranks);
        free(ranks);
        report_print_structure(r->job, c, r->names, &how, out);
    }
    print_legend(r, out);
}

void report_print_text(struct report *r, enum report_view view, const struct report_structure *how, FILE *out)
{
    switch (view) {
    case REPORT_SUMMARY:
        report_print_summary(r, out);
        break;
    case REPORT_CALLSITES:
        report_print_callsites(r, out);
        break;
    case REPORT_STRUCTURE:
        print_structure(r, how, out);
        break;
    case REPORT_RANKS:
        report_print_ranks(r, out);
        break;
    case REPORT_OMP:
        report_print_omp(r, out);
        break;
    case REPORT_PREDICTED:
        report_print_predicted(r, out);
        break;
    case REPORT_COMM:
        report_print_comm(r, out);
        break;
    case REPORT_WAITS:
        report_print_waits(r, out);
        break;
    case REPORT_CALLS:
        report_print_calls(r, false, out);
        break;
    case REPORT_DATA:
        report_print_sizes(r, false, out);
        break;
    case REPORT_PATH:
        report_print_path(r, out);
        break;
    }
}
