/* SPDX-License-Identifier: MIT */
/* The view of callsites: a line a call, most time first. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/sums.h"
#include "report/units.h"

static void print_spread(const struct report_spread *s, FILE *out)
{
    char min[32] = "-", max[32] = "-", cov[32] = "-", worst[32] = "-";

    if (s->min_ns != UINT64_MAX) {
        report_time((double)s->min_ns, min);
        report_time((double)s->max_ns, max);
    }
    if (s->cov >= 0)
        snprintf(cov, sizeof cov, "%.2f", s->cov);
    if (s->worst_rank != GRAMMAR_NONE)
        snprintf(worst, sizeof worst, "%u", s->worst_rank);
    fprintf(out, " %8s %8s %6s %6s", min, max, cov, worst);
}

void report_print_callsites(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    fprintf(out, "%6s  %-22s %10s %8s %8s %6s %6s %8s %8s %6s %6s %8s %8s  %s\n", "number", "call", "calls", "total",
            "mean", "app %", "mpi %", "min", "max", "cov", "worst", "bytes", "a call", "callsite");
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct report_site *s = &m->sites[i];
        char where[256], number[16] = "-", name[128], count[32], time[32], mean[32], bytes[32], size[32];
        uint32_t site = report_site_number(r->names, s->callsite);
        if (site != GRAMMAR_NONE)
            snprintf(number, sizeof number, "%u", site);
        report_where(r, s->terminal, where, 255);
        report_call_name(r, s, name, sizeof name);
        fprintf(out, "%6s  ", number);
        report_cut(name, 40);
        report_print_column(name, 22, out);
        fprintf(out, " %10s %8s %8s %6.2f %6.2f", report_count(s->count, count),
                report_time((double)s->time_ns, time), report_time(report_mean(s->time_ns, s->count), mean),
                report_percent((double)s->time_ns, (double)m->stream_wall_ns),
                report_percent((double)s->time_ns, (double)m->call_ns));
        print_spread(&s->spread, out);
        fprintf(out, " %8s %8s  %s\n", report_bytes((double)s->bytes, bytes),
                report_bytes(report_mean(s->bytes, s->count), size), where);
    }
    if (m->site_count)
        fprintf(
            out,
            "\ncov: standard deviation over mean of the total times of the ranks that make the call; worst: the rank "
            "that spent most in it\n");
    else
        fprintf(out, "no call was recorded\n");
    report_print_sums(r, out);
}
