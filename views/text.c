/* SPDX-License-Identifier: MIT */
/* The text report: which view is printed by whom. */
#include <math.h>

#include "views/views.h"

void report_print_text(struct report *r, enum report_view view, const struct report_loops_how *how, FILE *out)
{
    static void (*const print[])(struct report *, FILE *) = {
        [REPORT_SUMMARY] = report_print_summary, [REPORT_CALLSITES] = report_print_callsites,
        [REPORT_RANKS] = report_print_ranks,     [REPORT_OMP] = report_print_omp,
        [REPORT_COMM] = report_print_comm,       [REPORT_WAITS] = report_print_waits,
        [REPORT_PATH] = report_print_path,       [REPORT_PREDICTED] = report_print_predicted,
        [REPORT_CALLS] = report_print_calls,     [REPORT_DATA] = report_print_sizes };

    if (view == REPORT_STRUCTURE)
        report_print_loops(r, how, out);
    else
        print[view](r, out);
}

double views_site_number(const struct report *r, uint32_t callsite)
{
    uint32_t number = report_site_number(r->names, callsite);

    return number == GRAMMAR_NONE ? (double)NAN : number;
}
