/* SPDX-License-Identifier: MIT */
/* Findings about parallel regions, and about messages that cost by their number. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "findings/efficiency.h"
#include "findings/parts.h"
#include "findings/ranges.h"
#include "findings/report.h"
#include "job/threads.h"

#define SMALL_WORK 20e3      /* ns of one execution: less is a small region, where most of it is fork, wait and join */
#define UNEVEN 0.1           /* of a region's time its threads wait for the last one */
#define SMALL_MESSAGE 1024   /* bytes */

static void add(struct findings *f, enum finding_kind kind, uint32_t site, double ns)
{
    uint32_t terminal = f->bind->site[site].terminal;

    if (ns >= LEAST_PART * f->all->base * 1e9)
        findings_add_at(f, (struct finding){ .kind = kind, .seconds = ns / 1e9, .call = terminal }, terminal,
                        terminal, NULL);
}

static void of_region(struct findings *f, uint32_t site)
{
    const struct bind_site *s = &f->bind->site[site];
    const struct findings_site *g = findings_site_of(f->report->model, s->terminal);
    const struct job_threads *t = job_threads_of_region(f->report->job, g->callsite);
    double all = t ? (double)job_threads_known(t) : 0;

    if (all <= 0 || t->threads < 2 || s->count <= 0)
        return;
    double work = (double)t->part[JOB_THREADS_WORK], wait = (double)t->part[JOB_THREADS_UNEVEN];
    if (s->call_ns / s->count * work / all < SMALL_WORK && work < 0.5 * all)
        add(f, FINDINGS_SMALL_REGIONS, site, findings_in_region(f, g, FINDINGS_LOST));
    else if (wait > UNEVEN * all)
        add(f, FINDINGS_UNEVEN_THREADS, site, findings_in_region(f, g, 1u << JOB_THREADS_UNEVEN));
}

/* --- What the first thread does alone between regions, in loops that have some --- */

static bool has_region(const struct job *j, const struct grammar_flat *g, const struct grammar_flat_rule *rule)
{
    for (uint32_t i = 0; i < rule->length; i++) {
        uint32_t s = g->nodes[rule->first + i].symbol;
        if (!grammar_is_rule(s) && s < j->terminal_count && j->terminals[s].kind == JOB_REGION)
            return true;
    }
    return false;
}

/* Of each site: the gaps before it in such loops, and all gaps before it. */
struct gaps { double inside, all; };

static void add_gaps(const struct findings *f, const struct grammar_flat *g, uint32_t rule, double share,
                     struct gaps *of)
{
    const struct job *j = f->report->job;
    bool turns = has_region(j, g, &g->rules[rule]);

    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++) {
        uint32_t symbol = g->nodes[n].symbol;
        if (grammar_is_rule(symbol) || symbol >= j->terminal_count)
            continue;
        struct gaps *site = &of[f->bind->site_of[symbol]];
        double gap = share * (double)g->stats[n].gap.sum;
        site->all += gap;
        site->inside += turns && (rule || j->terminals[symbol].kind == JOB_REGION) ? gap : 0;
    }
}

/* Of the members of a class those that are first threads, as a share. */
static double first_threads(const struct job_class *c)
{
    uint64_t members = findings_members(c), first = 0;

    for (uint32_t i = 0; i < c->member_ranges; i++)
        first += c->ranges[i].thread == 0 ? job_range_size(&c->ranges[i]) : 0;
    return members ? (double)first / (double)members : 0;
}

static void add_serial_part(struct findings *f, const struct gaps *of)
{
    double sum = 0, most = 0;
    uint32_t where = GRAMMAR_NONE;

    for (uint32_t s = 0; s < f->bind->site_count; s++) {
        double ns = of[s].all > 0 ? f->bind->site[s].gap_ns * of[s].inside / of[s].all : 0;
        sum += ns;
        if (ns > most) {
            most = ns;
            where = s;
        }
    }
    const struct findings_efficiency *e = &f->report->model->efficiency;
    if (where != GRAMMAR_NONE)
        add(f, FINDINGS_SERIAL_PART, where,
            fmin(sum * findings_serial_share(f->report) * (1 - 1.0 / e->threads), e->of.serial / e->threads));
}

static void of_serial_part(struct findings *f)
{
    const struct job *j = f->report->job;

    if (f->report->model->efficiency.threads < 2)
        return;
    BASE_OWN struct gaps *of = calloc(f->bind->site_count + 1u, sizeof *of);
    for (uint32_t c = 0; c < j->class_count; c++) {
        double share = first_threads(&j->classes[c]);
        for (uint32_t r = 0; share > 0 && r < j->classes[c].grammar->rule_count; r++)
            add_gaps(f, j->classes[c].grammar, r, share, of);
    }
    add_serial_part(f, of);
}

void findings_of_regions(struct findings *f)
{
    if (!f->report->model->efficiency.measured) /* what too little was looked into tells nothing */
        return;
    for (uint32_t s = 0; s < f->bind->site_count; s++)
        if (f->bind->site[s].what == BIND_REGION)
            of_region(f, s);
    of_serial_part(f);
}

/* --- Messages --- */

void findings_of_messages(struct findings *f)
{
    for (uint32_t s = 0; s < f->bind->site_count; s++) {
        const struct bind_site *site = &f->bind->site[s];
        double waits = replay_blame_waits(f->analysis->blame, 2 * s + 1), spent = 0;
        bool sends = site->what == BIND_SEND || site->what == BIND_ISEND || site->what == BIND_SENDRECV;
        if (!sends || site->count < 1000.0 * f->ranks || site->bytes > SMALL_MESSAGE * site->count)
            continue;
        for (uint32_t r = 0; r < f->ranks; r++)
            spent += (double)replay_blame_spent(f->analysis->blame, r, 2 * s + 1);
        double *attributed = &f->attributed[f->report->model->place[site->terminal]],
               ns = fmin(f->in_mpi * (spent - waits), f->time[f->report->model->place[site->terminal]] - *attributed);
        add(f, FINDINGS_MANY_SMALL_MESSAGES, s, ns);
        *attributed += ns >= LEAST_PART * f->all->base * 1e9 ? ns : 0;
    }
}

/* --- Team sizes --- */

const struct findings_team *findings_best_team(const struct findings_site *g)
{
    const struct findings_team *best = NULL;

    for (uint32_t k = 0; k < g->team_count; k++)
        if (g->teams[k].size > 0 && g->teams[k].compared && (!best || g->teams[k].gain_ns > best->gain_ns))
            best = &g->teams[k];
    return best;
}

double findings_team_efficiency(const struct findings_team *t)
{
    return t->size > 0 && t->like_ns > 0 ? t->alone_ns / t->like_ns / (double)t->size : -1;
}

double findings_fork_share(const struct findings_model *m, const struct findings_team *t)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < m->region_count; i++)
        for (uint32_t k = 0; k < m->regions[i].team_count; k++)
            if (m->regions[i].teams[k].size == t->size && m->regions[i].teams[k].least_ns < least)
                least = m->regions[i].teams[k].least_ns;
    double mean = findings_mean(t->time_ns, t->count);
    if (t->size < 1 || least == UINT64_MAX || mean <= 0)
        return -1;
    return (double)least < mean ? (double)least / mean : 1;
}

void findings_reason(const struct report *r, const struct job_region *g, char *text, size_t size)
{
    const char *what = job_proof_text(g->proof);
    if (g->where == GRAMMAR_NONE) {
        snprintf(text, size, "%s", what);
        return;
    }
    const struct findings_place *p = findings_resolve(r->resolver, g->where, 0, FINDINGS_ENTRY);
    if (p->file && p->line && p->function)
        snprintf(text, size, "%s at %s:%" PRIu32 " in %s", what, p->file, p->line, p->function);
    else if (p->function)
        snprintf(text, size, "%s in %s, %s+0x%" PRIx64, what, p->function, p->module, p->offset);
    else
        snprintf(text, size, "%s at %s+0x%" PRIx64, what, p->module, p->offset);
    base_clean(text);
}
