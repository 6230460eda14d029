/* SPDX-License-Identifier: MIT */
/* The text report: which view is printed by whom. */
#include <math.h>

#include "views/views.h"

void report_print_text(struct report *r, enum report_view view, const struct report_loops_how *how, FILE *out)
{
    switch (view) {
    case REPORT_SUMMARY:
        report_print_summary(r, out);
        break;
    case REPORT_CALLSITES:
        report_print_callsites(r, out);
        break;
    case REPORT_STRUCTURE:
        report_print_loops(r, how, out);
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
        report_print_calls(r, out);
        break;
    case REPORT_DATA:
        report_print_sizes(r, out);
        break;
    case REPORT_PATH:
        report_print_path(r, out);
        break;
    }
}

double views_site_number(const struct report *r, uint32_t callsite)
{
    uint32_t number = report_site_number(r->names, callsite);

    return number == GRAMMAR_NONE ? (double)NAN : number;
}
