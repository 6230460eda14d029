/* SPDX-License-Identifier: MIT */
/* What is lost and in no finding of who waits for whom and of what regions lose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "findings/parts.h"
#include "job/threads.h"

/* What is left of each site's time without a cause, ns, and what it would be called. */
struct remainder { double ns; enum finding_kind kind; };

struct account {
    struct findings *f;
    struct remainder *transfer, *open; /* of each site of the model */
    bool *idle;                   /* of each rank: it waits at the end for other ranks' calls */
};

static enum finding_kind kind_of_call(unsigned call_kind)
{
    switch (call_kind) {
    case JOB_IO:
        return FINDINGS_IO;
    case JOB_COMMUNICATOR:
        return FINDINGS_COMMUNICATORS;
    case JOB_LIFE:
        return FINDINGS_START_AND_END;
    default:
        return FINDINGS_NOT_EXPLAINED;
    }
}

/* Of what the replay has in the calls of each site what is transfer, a share: the rest moves, or is not explained. */
static double *transfer_shares(const struct account *a)
{
    const struct replay_blame *b = a->f->analysis->blame;
    uint32_t sites = a->f->bind->site_count;
    double *share = calloc(sites + 1u, sizeof *share);

    for (uint32_t s = 0; s < sites; s++) {
        double calls = -replay_blame_waits(b, 2 * s + 1);
        for (uint32_t r = 0; r < a->f->ranks; r++)
            calls += (double)replay_blame_spent(b, r, 2 * s + 1);
        share[s] = calls > 0 ? fmax(1 - replay_analysis_rests(a->f->analysis, s) / calls, 0) : 1;
    }
    return share;
}

/* Waits of each site for what other ranks' calls take: `transfer`, as the replay has it. */
static void add_latency(struct account *a, double *ns)
{
    const struct findings_model *m = a->f->report->model;
    uint32_t n = 0;
    const struct replay_cause *c =
        a->f->analysis ? replay_blame_causes(a->f->analysis->blame, &n) : NULL;

    BASE_OWN double *transfer = a->f->analysis ? transfer_shares(a) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct bind_site *s = &a->f->bind->site[c[i].where / 2];
        if (c[i].between || findings_is_work(a->f, c[i].cause))
            continue;
        ns[m->place[s->terminal]] += c[i].ns * transfer[c[i].cause / 2];
        a->idle[c[i].waiter] |= s->call_kind == JOB_LIFE && c[i].ns > LEAST_SHARE * 1e9 * a->f->all->base / a->f->ranks;
    }
}

/* What findings have of receives beyond what these took was waited in probes: it is theirs. */
static void move_to_probes(struct findings *f)
{
    const struct findings_model *m = f->report->model;
    double beyond = 0;

    for (uint32_t i = 0; i < m->site_count; i++) {
        beyond += fmax(f->attributed[i] - f->time[i], 0);
        f->attributed[i] = fmin(f->attributed[i], f->time[i]);
    }
    for (uint32_t i = 0; i < m->site_count; i++)
        if (m->sites[i].call_kind == JOB_PROBE) {
            double moved = fmin(beyond, fmax(f->time[i] - f->attributed[i], 0));
            f->attributed[i] += moved;
            beyond -= moved;
        }
}

/* Were all calls of a site as short as the shortest one. */
static double least_time(const struct account *a, uint32_t site)
{
    const struct findings_site *s = &a->f->report->model->sites[site];
    double all = (double)s->time_ns;

    return s->spread.min_ns == UINT64_MAX || all <= 0
               ? 0 : (double)s->spread.min_ns * (double)s->count * a->f->time[site] / all;
}

static void split_calls(struct account *a)
{
    const struct findings_model *m = a->f->report->model;
    BASE_OWN double *latency = calloc(m->job->terminal_count + 1u, sizeof *latency);

    move_to_probes(a->f);
    add_latency(a, latency);
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct findings_site *s = &m->sites[i];
        enum finding_kind kind = kind_of_call(s->call_kind);
        double rest = fmax(a->f->time[i] - a->f->attributed[i], 0);
        bool end = kind == FINDINGS_START_AND_END, split = kind == FINDINGS_NOT_EXPLAINED || end;
        double transfer = split ? fmin(rest, (end ? 0 : least_time(a, i)) + latency[i]) : 0;
        a->transfer[i] = (struct remainder){ transfer, end ? FINDINGS_IDLE_RANKS : FINDINGS_TRANSFER };
        a->open[i] = (struct remainder){ rest - transfer, kind };
    }
}

/* Up to what ranks had no processor for, what is not explained is that. */
static double share_without_processor(const struct account *a)
{
    double open = 0, ready = findings_delay_share(a->f->report) * 1e9 * a->f->all->base;

    for (uint32_t i = 0; i < a->f->report->model->site_count; i++)
        open += a->open[i].kind == FINDINGS_NOT_EXPLAINED ? a->open[i].ns : 0;
    return open > 0 ? fmin(ready / open, 1) : 0;
}

/* The site that has most of a kind, whose place the line names; GRAMMAR_NONE: none has any. */
static uint32_t most_of(const struct account *a, const struct remainder *of, enum finding_kind kind)
{
    uint32_t most = GRAMMAR_NONE;

    for (uint32_t i = 0; i < a->f->report->model->site_count; i++)
        if (of[i].kind == kind && of[i].ns > 0 && (most == GRAMMAR_NONE || of[i].ns > of[most].ns))
            most = i;
    return most;
}

/* Other sites than `most` with a tenth of all that a kind has. */
static uint32_t others_of(const struct account *a, enum finding_kind kind, uint32_t most)
{
    double sum = 0;
    uint32_t more = 0;

    for (uint32_t i = 0; i < a->f->report->model->site_count; i++)
        sum += a->open[i].kind == kind ? a->open[i].ns : 0;
    for (uint32_t i = 0; i < a->f->report->model->site_count; i++)
        more += i != most && a->open[i].kind == kind && a->open[i].ns >= 0.1 * sum;
    return more;
}

/* A line at `terminal`, of the ranks that come to `of`. */
static void add_line(struct account *a, uint32_t terminal, uint32_t of, enum finding_kind kind, double ns,
                     uint32_t more)
{
    struct finding one = { .kind = kind, .seconds = ns / 1e9, .call = terminal, .more = more };

    findings_add_at(a->f, one, terminal, of, kind == FINDINGS_IDLE_RANKS ? a->idle : NULL);
}

/* A hundred places that are named alike make no line of this: left out, so that there are at most 10 000 to compare. */
static void add_at(struct account *a, uint32_t terminal, enum finding_kind kind, double ns)
{
    if (ns >= 0.01 * LEAST_SHARE * 1e9 * a->f->all->base)
        add_line(a, terminal, terminal, kind, ns, 0);
}

/* One line of a kind, with the place that has most of it. */
static void add_together(struct account *a, enum finding_kind kind, enum finding_kind as, double share)
{
    const struct findings_site *sites = a->f->report->model->sites;
    uint32_t most = share > 0 ? most_of(a, a->open, kind) : GRAMMAR_NONE;
    uint32_t more = most == GRAMMAR_NONE ? 0 : others_of(a, kind, most);

    for (uint32_t i = 0; most != GRAMMAR_NONE && i < a->f->report->model->site_count; i++)
        if (a->open[i].kind == kind)
            add_line(a, sites[most].terminal, sites[i].terminal, as, share * a->open[i].ns, more);
}

static void add_calls(struct account *a)
{
    double without = share_without_processor(a);

    for (uint32_t i = 0; i < a->f->report->model->site_count; i++)
        add_at(a, a->f->report->model->sites[i].terminal, a->transfer[i].kind, a->transfer[i].ns);
    add_together(a, FINDINGS_IO, FINDINGS_IO, 1);
    add_together(a, FINDINGS_COMMUNICATORS, FINDINGS_COMMUNICATORS, 1);
    add_together(a, FINDINGS_START_AND_END, FINDINGS_START_AND_END, 1);
    add_together(a, FINDINGS_NOT_EXPLAINED, FINDINGS_NO_PROCESSOR, without);
    add_together(a, FINDINGS_NOT_EXPLAINED, FINDINGS_NOT_EXPLAINED, 1 - without);
}

/* Whether a kind of a region has a finding already; of GRAMMAR_NONE: what all of them have of it, s. */
static double found_of(const struct account *a, enum finding_kind kind, uint32_t region)
{
    const struct report *r = a->f->report;
    double sum = 0;

    for (uint32_t i = 0; i < a->f->all->count; i++) {
        const struct finding *one = &a->f->all->finding[i];
        if (one->kind == kind && (region == GRAMMAR_NONE || r->model->place[one->call] == region))
            sum += one->seconds;
    }
    return sum;
}

static void add_regions(struct account *a)
{
    const struct findings_model *m = a->f->report->model;

    for (uint32_t i = m->all_sites - m->region_count; i < m->all_sites; i++) {
        const struct findings_site *g = &m->sites[i];
        if (found_of(a, FINDINGS_SMALL_REGIONS, i) > 0)
            continue;
        if (found_of(a, FINDINGS_UNEVEN_THREADS, i) <= 0)
            add_at(a, g->terminal, FINDINGS_UNEVEN_THREADS, findings_in_region(a->f, g, 1u << JOB_THREADS_UNEVEN));
        add_at(a, g->terminal, FINDINGS_THREADS_WAIT, findings_in_region(a->f, g, 1u << JOB_THREADS_WAIT));
        add_at(a, g->terminal, FINDINGS_FORK_AND_JOIN, findings_in_region(a->f, g, FINDINGS_FORKS));
    }
}

/* What first threads compute alone, outside of loops that have regions, too: before the call that most of it is. */
static void add_serial(struct account *a)
{
    const struct findings_model *m = a->f->report->model;
    const struct findings_site *most = NULL;
    double rest = m->efficiency.of.serial / m->efficiency.threads -
                  1e9 * found_of(a, FINDINGS_SERIAL_PART, GRAMMAR_NONE);

    for (const struct findings_site *s = m->sites; s < m->sites + m->all_sites; s++)
        if (s->gap_ns > (most ? most->gap_ns : 0))
            most = s;
    if (most && m->efficiency.threads > 1)
        add_at(a, most->terminal, FINDINGS_SERIAL_PART, rest);
}

/* Ranks that are over before the last one: at the call that most are over with. */
static void add_ended(struct account *a)
{
    const struct findings_model *m = a->f->report->model;
    struct finding one = { .kind = FINDINGS_ENDED_EARLY, .call = GRAMMAR_NONE,
                           .seconds = m->efficiency.of.ended / m->efficiency.threads / 1e9 };
    BASE_OWN bool *early = calloc(a->f->ranks + 1u, sizeof *early);
    uint64_t most = 0;

    for (uint32_t i = 0; i < m->site_count; i++)
        if (m->sites[i].call_kind == JOB_LIFE && !m->sites[i].launch && m->sites[i].time_ns >= most) {
            one.call = m->sites[i].terminal;
            most = m->sites[i].time_ns;
        }
    for (uint32_t i = 0; i < m->rank_count; i++)
        for (uint32_t k = m->ranks[i].rank; k < m->ranks[i].rank + m->ranks[i].ranks && k < a->f->ranks; k++)
            early[k] = (double)(m->ranks[i].wall_ns - m->ranks[i].launch_ns) < (1 - LEAST_SHARE) * m->base.wall_ns;
    if (one.call != GRAMMAR_NONE)
        findings_add_at(a->f, one, one.call, one.call, early);
}

/* In calls that the ranks' first threads do not make, or for a shorter time: at the one that others are in longest. */
static void add_other_threads(struct account *a)
{
    const struct findings_model *m = a->f->report->model;
    double rest = m->efficiency.of.mpi / m->efficiency.threads, most = 0;
    uint32_t where = GRAMMAR_NONE;

    for (uint32_t i = 0; i < m->site_count; i++) {
        double others = (double)m->sites[i].time_ns - a->f->time[i] / a->f->in_mpi;
        rest -= a->f->time[i];
        if (others > most && !m->sites[i].launch) {
            most = others;
            where = i;
        }
    }
    if (where != GRAMMAR_NONE && !m->unfinished_ns)
        add_at(a, m->sites[where].terminal, FINDINGS_OTHER_THREADS, rest);
}

/* Whether a terminal is the call in which a rank's first thread stood when the run died. */
static bool stood_in(const struct job *j, const struct job_end *end, uint32_t terminal)
{
    const struct job_terminal *t = &j->terminals[terminal];
    const struct job_frame *a = t->callsite == GRAMMAR_NONE ? NULL : job_innermost(j, t->callsite),
                           *b = end->callsite == GRAMMAR_NONE ? NULL : job_innermost(j, end->callsite);

    return end->inside && !end->thread && t->function == end->function && a && b && a->module == b->module &&
           a->offset == b->offset;
}

static void add_unfinished(struct account *a)
{
    const struct findings_model *m = a->f->report->model;
    const struct job_ends *ends = &m->job->ends;
    struct finding one = { .kind = FINDINGS_UNFINISHED, .call = GRAMMAR_NONE,
                           .seconds = (double)m->unfinished_ns / 1e9 };
    BASE_OWN bool *in = calloc(a->f->ranks + 1u, sizeof *in);

    for (uint32_t i = 0; i < ends->count; i++)
        for (uint32_t t = 0; t < m->job->terminal_count; t++)
            if (stood_in(m->job, &ends->of[i], t) && ends->of[i].rank < a->f->ranks) {
                one.call = one.call == GRAMMAR_NONE ? t : one.call;
                in[ends->of[i].rank] = true;
            }
    if (one.call != GRAMMAR_NONE)
        findings_add_at(a->f, one, one.call, one.call, in);
}

void findings_of_remainder(struct findings *f)
{
    size_t sites = f->report->job->terminal_count + 1u;

    if (isnan(f->all->lost))
        return;
    struct account a = { .f = f, .transfer = calloc(sites, sizeof *a.transfer), .open = calloc(sites, sizeof *a.open),
                         .idle = calloc(f->ranks + 1u, sizeof *a.idle) };
    split_calls(&a);
    add_calls(&a);
    add_regions(&a);
    add_serial(&a);
    add_other_threads(&a);
    add_ended(&a);
    add_unfinished(&a);
    free(a.transfer);
    free(a.open);
    free(a.idle);
}
