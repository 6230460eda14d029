/* SPDX-License-Identifier: MIT */
/* The view of parallel regions: where they are, how long each team size takes, and what that says about the best
   one. */
#include <inttypes.h>

#include "findings/units.h"
#include "views/views.h"

static double team_mean(const struct report_team *t)
{
    return report_mean(t->time_ns, t->count);
}

const struct report_team *report_best_team(const struct job *j, const struct report_region *g)
{
    const struct job_region *known = job_find_region(j, g->callsite);
    const struct report_team *best = NULL;

    for (uint32_t k = 0; k < g->team_count && !(known && known->fixed & JOB_FIXED_CLAUSE); k++)
        if (g->teams[k].size > 0 && g->teams[k].compared && (!best || g->teams[k].gain_ns > best->gain_ns))
            best = &g->teams[k];
    return best;
}

double report_team_efficiency(const struct report_team *t)
{
    return t->size > 0 && t->like_ns > 0 ? t->alone_ns / t->like_ns / (double)t->size : -1;
}

double report_fork_share(const struct report_model *m, const struct report_team *t)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < m->region_count; i++)
        for (uint32_t k = 0; k < m->regions[i].team_count; k++)
            if (m->regions[i].teams[k].size == t->size && m->regions[i].teams[k].least_ns < least)
                least = m->regions[i].teams[k].least_ns;
    if (t->size < 1 || least == UINT64_MAX || team_mean(t) <= 0)
        return -1;
    return (double)least < team_mean(t) ? (double)least / team_mean(t) : 1;
}

static void print_team(const struct report *r, const struct report_region *g, const struct report_team *t, FILE *out)
{
    double efficiency = report_team_efficiency(t), fork = report_fork_share(r->model, t);

    fprintf(out, "  %-12s %10s %10s %10s %7s %6s %9s%s\n",
            t->size >= 0 ? report_text("team of %" PRId64, t->size) : "other sizes", report_count(t->count),
            report_time((double)t->time_ns), report_time(team_mean(t)), "",
            efficiency >= 0 ? report_text("%.0f%%", 100 * efficiency) : "-",
            fork >= 0 ? report_text("<%.0f%%", 100 * fork + 0.5) : "-",
            t == report_best_team(r->job, g) ? "  best" : "");
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* "  of its threads' time: work 52 %, …" */
static void print_threads(const struct report *r, uint32_t callsite, FILE *out)
{
    const struct job_threads *t = job_threads_of_region(r->job, callsite);
    uint64_t all = t ? job_threads_known(t) : 0;

    if (!all || t->threads < 2)
        return;
    fprintf(out, "  of its threads' time: work %.0f%%, MPI %.0f%%, waiting for the last %.0f%%, for each other %.0f%%, "
            "fork %.0f%%, join %.0f%% (%s timed, %.0f%% of its time)\n", share(t->part[JOB_THREADS_WORK], all),
            share(t->part[JOB_THREADS_MPI], all), share(t->part[JOB_THREADS_UNEVEN], all),
            share(t->part[JOB_THREADS_WAIT], all), share(t->part[JOB_THREADS_FORK], all),
            share(t->part[JOB_THREADS_JOIN], all), report_count(t->samples), share(t->timed_ns, t->team_ns));
}

static void print_region(struct report *r, const struct report_region *g, FILE *out)
{
    bool uneven = g->spread.cov >= 0.1 && g->spread.worst_rank != GRAMMAR_NONE;

    fprintf(out, "%-14s %10s %10s %10s %6.2f%% %6s %9s  %s", report_site_name(r->names, g->terminal),
            report_count(g->count), report_time((double)g->time_ns), report_time(report_mean(g->time_ns, g->count)),
            report_percent((double)g->time_ns, (double)r->model->stream_wall_ns), "", "",
            report_where(r, g->terminal, 255));
    if (uneven)
        fprintf(out, " (uneven: cov %.2f, worst rank %u)", g->spread.cov, g->spread.worst_rank);
    fputc('\n', out);
    for (uint32_t k = 0; k < g->team_count; k++)
        print_team(r, g, &g->teams[k], out);
    print_threads(r, g->callsite, out);
    report_print_known(r, job_find_region(r->job, g->callsite), out);
}

/* What the oracle does with these figures. */
static void print_choice(const struct report *r, FILE *out)
{
    const struct report_model *m = r->model;
    uint32_t several = 0, one = 0;

    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct report_team *best = report_best_team(r->job, &m->regions[i]);
        several += best != NULL;
        one += best && best->size == 1;
    }
    fprintf(
        out,
        "\neff.: time of one thread / (time x threads), at places that ran with both; fork/join: the shortest region "
        "of that size had it too\n");
    report_print_reading(r->job->regions, r->job->region_count, out);
    if (several)
        fprintf(out, "several sizes did the same work in %u of %u regions; one thread was best in %u\n", several,
                m->region_count, one);
    else
        fprintf(
            out,
            "no region did the same work with several team sizes: the oracle learns what one thread takes when it "
            "predicts\n");
}

void report_print_omp(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    if (!m->region_count) {
        fprintf(out, "no parallel region was recorded\n");
        report_print_tasks(r, r->job->tasks, r->job->task_count, out);
        report_print_machine(r, out);
        return;
    }
    fprintf(out, "%-14s %10s %10s %10s %7s %6s %9s  %s\n", "region", "count", "total", "mean", "share", "eff.",
            "fork/join", "place");
    for (uint32_t i = 0; i < m->region_count; i++)
        print_region(r, &m->regions[i], out);
    print_choice(r, out);
    report_print_tasks(r, r->job->tasks, r->job->task_count, out);
    report_print_machine(r, out);
}
