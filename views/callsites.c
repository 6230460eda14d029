/* SPDX-License-Identifier: MIT */
/* The view of callsites: a line a call, most time first. */
#include <inttypes.h>
#include <stdlib.h>

#include "findings/units.h"
#include "views/polls.h"
#include "views/sums.h"
#include "views/views.h"

static void print_spread(const struct report_spread *s, FILE *out)
{
    bool known = s->min_ns != UINT64_MAX;

    fprintf(out, " %8s %8s %6s %6s", known ? report_time((double)s->min_ns) : "-",
            known ? report_time((double)s->max_ns) : "-", s->cov >= 0 ? report_text("%.2f", s->cov) : "-",
            s->worst_rank != GRAMMAR_NONE ? report_text("%u", s->worst_rank) : "-");
}

void report_print_callsites(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    fprintf(out, "%6s  %-22s %10s %8s %8s %6s %6s %8s %8s %6s %6s %8s %8s  %s\n", "number", "call", "calls", "total",
            "mean", "app %", "mpi %", "min", "max", "cov", "worst", "bytes", "a call", "callsite");
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct report_site *s = &m->sites[i];
        uint32_t site = report_site_number(r->names, s->callsite);
        fprintf(out, "%6s  ", site != GRAMMAR_NONE ? report_text("%u", site) : "-");
        report_print_column(report_line(job_text(r->job, s->function), 40), 22, out);
        fprintf(out, " %10s %8s %8s %6.2f %6.2f", report_count(s->count), report_time((double)s->time_ns),
                report_time(report_mean(s->time_ns, s->count)),
                report_percent((double)s->time_ns, (double)m->stream_wall_ns),
                report_percent((double)s->time_ns, (double)m->call_ns));
        print_spread(&s->spread, out);
        fprintf(out, " %8s %8s  %s\n", report_bytes((double)s->bytes),
                report_bytes(report_mean(s->bytes, s->count)), report_where(r, s->terminal, 255));
    }
    if (m->site_count)
        fputs("\ncov: standard deviation over mean of the total times of the ranks that make the call; worst: the rank "
              "that spent most in it\n", out);
    else
        fprintf(out, "no call was recorded\n");
    report_print_polls(r, out);
    report_print_sums(r, out);
}
