/* SPDX-License-Identifier: MIT */
/* The views of the text report other than the summary: tables of the model, and the structure. */
#include <inttypes.h>
#include <stdlib.h>

#include "pythia.h"
#include "report/ranges.h"
#include "report/report.h"
#include "report/units.h"

static void print_callsites(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    fprintf(out, "%6s  %-24s %10s %10s %10s %7s %10s  %s\n", "number", "call", "count", "time", "mean", "share", "bytes",
            "callsite");
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct report_site *s = &m->sites[i];
        char where[256], number[16] = "-", name[128], count[32], time[32], mean[32], bytes[32];
        uint32_t site = report_site_number(r->names, s->callsite);
        if (site != GRAMMAR_NONE)
            snprintf(number, sizeof number, "%u", site);
        report_where(r, s->terminal, where, 255);
        snprintf(name, sizeof name, "%s", job_text(r->job, s->function));
        report_clean(name);
        fprintf(out, "%6s  %-24s %10s %10s %10s %6.2f%% %10s  %s\n", number, name,
                report_count(s->count, count), report_time((double)s->time_ns, time),
                report_time(s->count ? (double)s->time_ns / (double)s->count : 0, mean),
                report_percent((double)s->time_ns, (double)m->sum_wall_ns), report_bytes((double)s->bytes, bytes), where);
    }
}

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

static int print_structure(struct report *r, const struct report_structure *how, FILE *out)
{
    int rc = 0;

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

static void print_ranks(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    fprintf(out, "%6s %8s %10s %10s %12s %7s %7s %7s %10s\n", "rank", "streams", "events", "wall", "computation", "OpenMP",
            "MPI", "useful", "cost");
    for (uint32_t i = 0; i < m->rank_count; i++) {
        const struct report_rank *k = &m->ranks[i];
        double wall = (double)k->wall_ns;
        char events[32], time[32], cost[32];
        fprintf(out, "%6u %8u %10s %10s %11.1f%% %6.1f%% %6.1f%% %6.1f%% %10s\n", k->rank, k->streams,
                report_count(k->events, events), report_time(wall, time), report_percent((double)k->compute_ns, wall),
                report_percent((double)k->omp_ns, wall), report_percent((double)k->mpi_ns, wall),
                100 - report_percent((double)k->mpi_ns, wall), report_time((double)k->cost_ns, cost));
    }
    if (m->efficiencies)
        fprintf(out, "parallel efficiency %.1f %% = load balance %.1f %% x communication %.1f %%\n",
                100 * m->parallel_efficiency, 100 * m->load_balance, 100 * m->communication_efficiency);
}

static void print_omp(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    if (!m->region_count)
        fprintf(out, "no parallel region was recorded\n");
    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct report_region *g = &m->regions[i];
        char where[256], name[64], count[32], time[32], mean[32];
        report_site_name(r->names, g->terminal, name, sizeof name);
        report_where(r, g->terminal, where, 255);
        if (i == 0)
            fprintf(out, "%-14s %10s %10s %10s %7s  %s\n", "region", "count", "time", "mean", "share", "place");
        fprintf(out, "%-14s %10s %10s %10s %6.2f%%  %s\n", name, report_count(g->count, count),
                report_time((double)g->time_ns, time), report_time(g->count ? (double)g->time_ns / (double)g->count : 0, mean),
                report_percent((double)g->time_ns, (double)m->sum_wall_ns), where);
        for (uint32_t k = 0; k < g->team_count; k++) {
            const struct report_team *t = &g->teams[k];
            char size[32] = "other sizes";
            if (t->size >= 0)
                snprintf(size, sizeof size, "team of %" PRId64, t->size);
            fprintf(out, "  %-12s %10s %10s %10s\n", size, report_count(t->count, count),
                    report_time((double)t->time_ns, time), report_time(t->count ? (double)t->time_ns / (double)t->count : 0, mean));
        }
    }
}

static void print_comm(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    if (!m->peer_count)
        fprintf(out, "no point-to-point or one-sided communication was recorded\n");
    else
        fprintf(out, "%-24s %-9s %-14s %12s %10s %10s\n", "communicator", "direction", "peer", "messages", "bytes", "mean");
    for (uint32_t i = 0; i < m->peer_count; i++) {
        const struct report_peer *p = &m->peers[i];
        char comm[64], peer[32], count[32], bytes[32], mean[32];
        snprintf(comm, sizeof comm, "%s", report_comm_text(r, p->comm));
        report_clean(comm);
        fprintf(out, "%-24s %-9s %-14s %12s %10s %10s\n", comm, p->receives ? "receive" : "send",
                report_peer_text(p, peer), report_count(p->messages, count), report_bytes((double)p->bytes, bytes),
                report_bytes(p->messages ? (double)p->bytes / (double)p->messages : 0, mean));
    }
}

int report_print_text(struct report *r, enum report_view view, const struct report_structure *how, FILE *out)
{
    int rc = 0;

    switch (view) {
    case REPORT_SUMMARY:
        return report_print_summary(r, out);
    case REPORT_CALLSITES:
        print_callsites(r, out);
        break;
    case REPORT_STRUCTURE:
        rc = print_structure(r, how, out);
        break;
    case REPORT_RANKS:
        print_ranks(r, out);
        break;
    case REPORT_OMP:
        print_omp(r, out);
        break;
    case REPORT_COMM:
        print_comm(r, out);
        break;
    }
    return rc == 0 && ferror(out) ? PYTHIA_EIO : rc;
}
