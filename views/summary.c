/* SPDX-License-Identifier: MIT */
/* The summary: a job on one screen of 80 columns and 40 lines, whatever its size. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "findings/findings.h"
#include "findings/ranges.h"
#include "findings/own_cost.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

/* How many of each are shown; fewer where findings take their room. */
struct top { uint32_t sites, regions, classes; };

static struct top top_of(struct report *r)
{
    return findings_list(r)->count > 2 ? (struct top){ 2, 1, 1 } : (struct top){ 5, 3, 3 };
}

/* `text` in one line, `width` bytes of it at most. */
static void print_cut(const char *text, int width, FILE *out)
{
    char line[128];

    snprintf(line, sizeof line, "%.*s", width, text);
    base_clean(line);
    fputs(line, out);
}

static uint32_t ranks_of(const struct findings_model *m)
{
    uint32_t ranks = 0;

    for (uint32_t i = 0; i < m->rank_count; i++)
        ranks += m->ranks[i].ranks;
    return ranks;
}

static void print_head(const struct report *r, FILE *out)
{
    const struct job_info *i = &r->job->info;
    const struct findings_model *m = r->model;
    const char *when = findings_date_text(i->start_time);

    fprintf(out, "%s: %s%s%s\n", findings_program_text(r->job, 40), findings_size_text(i->ranks, i->threads),
            *when ? ", " : "", when);
    if (*job_text(r->job, i->arguments)) {
        fputs("arguments: ", out);
        print_cut(job_text(r->job, i->arguments), 69, out);
        fputc('\n', out);
    }
    if (*job_text(r->job, i->mpi)) {
        print_cut(job_text(r->job, i->mpi), 80, out);
        fputc('\n', out);
    }
    fprintf(out, "wall time %s", findings_time((double)m->wall_ns));
    if (m->launch_ns)
        fprintf(out, " after MPI_Init (%s)", findings_time((double)m->launch_ns));
    fprintf(out, ", %s events at %u callsites", findings_count(m->events), m->site_count + m->region_count);
    if (i->runs > 1)
        fprintf(out, ", %u runs", i->runs);
    fputc('\n', out);
    if (!i->missing && ranks_of(m) < i->ranks)
        fprintf(out, "a part: rank %u of %u; pythia merge joins the parts of a job\n",
                m->rank_count ? m->ranks[0].rank : 0, i->ranks);
    if (i->missing)
        fprintf(out, "incomplete: %u of %u ranks are missing\n", i->missing, i->ranks);
    for (uint32_t k = 0; k < r->job->left.count; k++)
        fprintf(out, "%s%s%s", k ? ", " : "left out, for it could not be joined: ",
                job_text(r->job, r->job->left.of[k].table), k + 1 < r->job->left.count ? "" : "\n");
    if (m->lost)
        fprintf(out, "the memory cap was reached: the order of %" PRIu64 " events was given up\n", m->lost);
    if (m->values_not_kept)
        fprintf(out, "values of %s calls not kept: they vary without a rule\n", findings_count(m->values_not_kept));
}

/* Of the run, as the calls' and regions' shares below: said once what they are shares of. */
static void print_shares(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;
    double launch = (double)m->sum_launch_ns, mpi = job_mpi_time(r->job), omp = 0;

    for (uint32_t i = 0; i < r->job->stream_count; i++)
        omp += (double)r->job->streams[i].omp_ns;
    if (m->efficiency.known) {
        fputc('\n', out);
        views_print_efficiency(&m->efficiency, out);
        findings_split_communication(r);
        if (m->efficiency.split)
            views_print_split(&m->efficiency, out);
    } else if (m->efficiency.elsewhere) {
        fputs("\nefficiency: not known, other threads than each rank's first call MPI\n", out);
    }
    double all = (double)m->stream_wall_ns - launch, ended = findings_share(m, fmax(m->base.ns - all, 0));
    fprintf(out, "time: computation %.1f %%, OpenMP %.1f %%, MPI %.1f %%%s",
            findings_share(m, fmax(all - mpi - omp, 0)), findings_share(m, omp), findings_share(m, mpi),
            ended >= 0.05 ? findings_text(", ended %.1f %%", ended) : "");
    if (m->base.threads > 1)
        fprintf(out, ", of %u threads a rank", m->base.threads);
    fputc('\n', out);
    int listed = 0;
    for (unsigned c = 0; c < JOB_CALL_KINDS && mpi > 0; c++) {
        double share = findings_share(m, (double)findings_class_time(m, c) - (c == JOB_LIFE ? launch : 0));
        if (c != JOB_NO_CALL_KIND && share >= 0.05 && listed < 4)
            fprintf(out, "%s%s %.1f %%", listed++ ? ", " : "  of it: ", job_call_kind_text(c), share);
    }
    if (m->unfinished_ns)
        fprintf(out, "%sin calls that did not end %.1f %%", listed++ ? ", " : "  of it: ",
                findings_share(m, (double)m->unfinished_ns));
    if (listed)
        fputc('\n', out);
}

/* Calls, or regions: those with most time. */
static void print_top(struct report *r, bool regions, FILE *out)
{
    const struct findings_model *m = r->model;
    const struct findings_site *s = regions ? m->regions : m->sites;
    uint32_t top = regions ? top_of(r).regions : top_of(r).sites, left = regions ? m->region_count : m->site_count;

    if (left)
        fprintf(out, "\n%-18s %9s %9s %6s  %s\n", regions ? "parallel region" : "call", "count", "time", "share",
                regions ? "place" : "callsite");
    for (; left && top; s++) {
        left--;
        if (s->launch) /* its time stands above */
            continue;
        top--;
        const char *name = regions ? findings_site_name(r->names, s->terminal) : job_text(r->job, s->function);
        views_column(findings_line(name, 18), -18, out);
        fprintf(out, " %9s %9s %5.1f%%  %s\n", findings_count(s->count), findings_time((double)s->time_ns),
                findings_share(m, (double)s->time_ns), findings_where(r, s->terminal, 33));
    }
    if (left)
        fprintf(out, "  and %u more (--view %s)\n", left, regions ? "omp" : "callsites");
}

/* Where it is, and in the next line its turns. */
static void print_loop(struct report *r, FILE *out)
{
    const struct findings_loop *l = findings_main_loop(r);

    if (!l)
        return;
    double turns = findings_loop_mean_turns(l);
    const char *line = l->place && l->place->file && l->place->line
                           ? findings_text(" (%s:%u)", l->place->file, l->place->line) : "";
    fprintf(out, "\nmain loop%s%s\n", l->place ? " in " : "",
            l->place ? findings_line(findings_text("%s%s", findings_function_at(l->place, false), line), 68) : "");
    bool mean = findings_loop_turns(l) < 0;
    fprintf(out, "  %s turn%s%s of %s, %.1f %% of the time\n",
            mean ? findings_text("%.4g", turns) : findings_count((uint64_t)turns), turns == 1 ? "" : "s",
            mean ? " on average" : "",
            findings_time(l->turns.sum ? l->ns / (double)l->turns.sum : 0),
            findings_share(r->model, l->ns));
}

static void print_classes(struct report *r, FILE *out)
{
    uint32_t top = top_of(r).classes;

    for (uint32_t i = 0; i < r->job->class_count && i < top; i++) {
        const struct job_class *c = &r->job->classes[i];
        BASE_OWN char *ranks = findings_ranges_text(c->ranges, c->member_ranges);
        if (c->grammar)
            fprintf(out, "%s%.40s: %s%s events, a grammar of %u rule%s\n", i ? "" : "\n", ranks,
                    c->turn_count ? "about " : "",
                    findings_count((uint64_t)findings_class_events(c)), c->grammar->rule_count,
                    c->grammar->rule_count == 1 ? "" : "s");
    }
    if (r->job->class_count > top)
        fprintf(out, "  and %u more (--view ranks)\n", r->job->class_count - top);
}

static void print_pattern(const struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;

    if (m->pattern_count)
        fprintf(out, "communication: %s, %s messages, %s\n", m->patterns[0].name,
                findings_count(m->patterns[0].messages), findings_bytes((double)m->patterns[0].bytes));
}

void views_print_summary(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;

    views_print_ended(r, out);
    print_head(r, out);
    if (!m->events) {
        fprintf(out, "no events were recorded\n");
        return;
    }
    views_print_findings(r, 3, out);
    print_shares(r, out);
    views_print_inside_most(r, out);
    print_top(r, false, out);
    print_top(r, true, out);
    views_print_named_top(r, out);
    print_loop(r, out);
    print_classes(r, out);
    print_pattern(r, out);
    if (r->job->oracle.present)
        fprintf(out, "\na run was predicted with this file: --view predicted\n");
    fprintf(out, "\n%s\n", findings_own_cost_text(r));
}

/* --- Which view is printed by whom --- */

void views_print_text(struct report *r, enum views_view view, const struct views_tree_how *how, FILE *out)
{
    static void (*const print[])(struct report *, FILE *) = {
        [VIEWS_SUMMARY] = views_print_summary, [VIEWS_CALLSITES] = views_print_callsites,
        [VIEWS_RANKS] = views_print_ranks,     [VIEWS_OMP] = views_print_omp,
        [VIEWS_COMM] = views_print_comm,       [VIEWS_WAITS] = views_print_waits,
        [VIEWS_PREDICTED] = views_print_predicted,
        [VIEWS_NAMED] = views_print_named,     [VIEWS_MACHINE] = views_print_machine,
        [VIEWS_CALLS] = views_print_calls,
        [VIEWS_DATA] = views_print_sizes, [VIEWS_REGIONS] = views_print_regions };

    if (how->region && view != VIEWS_CALLTREE)
        views_print_region(r, how->region, view == VIEWS_CALLSITES ? UINT32_MAX : 5, out);
    else if (view == VIEWS_STRUCTURE)
        views_print_loops(r, how, out);
    else if (view == VIEWS_CALLTREE)
        views_print_calltree(r, how, out);
    else
        print[view](r, out);
}

double views_site_number(const struct report *r, uint32_t callsite)
{
    uint32_t number = findings_site_number(r->names, callsite);

    return number == GRAMMAR_NONE ? (double)NAN : number;
}
