/* SPDX-License-Identifier: MIT */
/* The text report: the structure of each class, and which view is printed by whom. */
#include <stdlib.h>

#include "pythia.h"
#include "report/findings.h"
#include "report/ranges.h"
#include "report/report.h"

/* Each callsite once: numbers are given in the order of the terminals. */
static void print_legend(struct report *r, FILE *out)
{
    uint32_t next = 0;

    fprintf(out, "\n# callsites\n");
    for (uint32_t i = 0; i < r->job->terminal_count; i++) {
        char where[256], name[128];
        if (report_site_number(r->names, r->job->terminals[i].callsite) != next)
            continue;
        next++;
        report_site_name(r->names, i, name, sizeof name);
        report_where(r, i, where, 255);
        fprintf(out, "# %-20s %s\n", name, where);
    }
}

static void place_text(void *context, uint32_t terminal, char *text, size_t size)
{
    struct report *r = context;

    if (r->job->terminals[terminal].callsite < r->job->callsite_count && size >= 256)
        report_where(r, terminal, text, 120);
}

static int print_structure(struct report *r, const struct report_structure *asked, FILE *out)
{
    struct report_structure placed = *asked, *how = &placed;
    int rc = 0;

    placed.place = place_text;
    placed.context = r;

    for (uint32_t c = 0; rc == 0 && c < r->job->class_count; c++) {
        char *ranks = report_ranges_text(&r->job->classes[c]);
        fprintf(out, "%s# class %u: %s\n", c ? "\n" : "", c, ranks ? ranks : "?");
        free(ranks);
        rc = report_print_structure(r->job, c, r->names, how, out);
    }
    if (rc == 0)
        print_legend(r, out);
    return rc;
}

int report_print_text(struct report *r, enum report_view view, const struct report_structure *how, FILE *out)
{
    int rc = 0;

    switch (view) {
    case REPORT_SUMMARY:
        return report_print_summary(r, out);
    case REPORT_CALLSITES:
        report_print_callsites(r, out);
        break;
    case REPORT_STRUCTURE:
        rc = print_structure(r, how, out);
        break;
    case REPORT_RANKS:
        rc = report_print_ranks(r, out);
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
        return report_print_waits(r, out);
    case REPORT_PATH:
        return report_print_path(r, out);
    }
    return rc == 0 && ferror(out) ? PYTHIA_EIO : rc;
}
