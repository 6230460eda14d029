/* SPDX-License-Identifier: MIT */
/*
 * Spreads: the shortest and longest execution of each call and region, and how even its total time is over the ranks. A
 * class keeps, for each terminal, the sum of the squares of its members' totals and the extremes (struct job_spread),
 * so that the coefficient of variation over all ranks is exact without any rank's own times:
 *
 *     cov = sqrt(squares / streams - mean^2) / mean          over the streams that have the call
 *
 * Not known where several terminals of a class are one call (on two communicators, say), for only sums of each are
 * kept, and where spans contain others, whose time is in gaps.
 */
#include <math.h>
#include <stdlib.h>

#include "findings/model.h"
#include "findings/ranges.h"

struct tally {
    double square;
    uint32_t last_class; /* + 1: the one that was counted last */
    bool unknown;
};

static void add_worst(struct findings_spread *s, uint64_t ns, uint32_t rank)
{
    if (s->worst_rank != GRAMMAR_NONE && (ns < s->worst_ns || (ns == s->worst_ns && rank >= s->worst_rank)))
        return;
    s->worst_ns = ns;
    s->worst_rank = rank;
}

static void add_node(struct findings_spread *s, struct tally *t, const struct job_terminal *terminal,
                     const struct job_class *c, uint32_t class_index, uint32_t node)
{
    const struct grammar_stats *stats = &c->grammar->stats[node];
    const struct job_spread *own = &c->spread[node];

    if (t->last_class != class_index + 1) {
        s->streams += findings_members(c);
        t->last_class = class_index + 1;
    } else if (own->call.most) {
        t->unknown = true; /* another terminal of the same call in this class */
    }
    if (terminal->phase != JOB_LEAF) {
        t->unknown = true;
        return;
    }
    if (stats->count && stats->duration.min < s->min_ns)
        s->min_ns = stats->duration.min;
    if (stats->count && stats->duration.max > s->max_ns)
        s->max_ns = stats->duration.max;
    if (own->call.most)
        add_worst(s, own->call.most, own->call.most_rank);
    t->square += own->call_square;
}

static void finish(struct findings_spread *s, const struct tally *t, uint64_t time_ns)
{
    double mean = s->streams ? (double)time_ns / (double)s->streams : 0;
    double variance = s->streams ? t->square / (double)s->streams - mean * mean : 0;

    s->cov = t->unknown ? -1 : mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
    if (t->unknown || !time_ns)
        s->worst_rank = GRAMMAR_NONE;
    if (s->worst_rank == GRAMMAR_NONE)
        s->worst_ns = 0;
}

static void add_class(struct findings_model *m, struct tally *tally, uint32_t index)
{
    const struct job_class *c = &m->job->classes[index];

    for (uint32_t n = 0; c->grammar && n < c->grammar->node_count; n++) {
        uint32_t terminal = c->grammar->nodes[n].symbol;
        if (terminal >= m->job->terminal_count)
            continue;
        const struct job_terminal *t = &m->job->terminals[terminal];
        add_node(&findings_site_of(m, terminal)->spread, &tally[m->place[terminal]], t, c, index, n);
    }
}

void findings_model_add_spreads(struct findings_model *m)
{
    const struct findings_spread none = { .min_ns = UINT64_MAX, .worst_rank = GRAMMAR_NONE };
    BASE_OWN struct tally *tally = calloc((size_t)m->all_sites + 1, sizeof *tally);

    for (uint32_t i = 0; i < m->all_sites; i++)
        m->sites[i].spread = none;
    for (uint32_t c = 0; c < m->job->class_count; c++)
        add_class(m, tally, c);
    for (uint32_t i = 0; i < m->all_sites; i++)
        finish(&m->sites[i].spread, &tally[i], m->sites[i].time_ns);
}
