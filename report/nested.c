/* SPDX-License-Identifier: MIT */
/*
 * Time inside spans that contain others. Such a span is an opening and a closing event without duration; what it did
 * itself is in the gaps between the events inside, the closing one included:
 *
 *     omp parallel{   |gap| MPI_Barrier |gap| omp parallel}        both gaps are time of the region
 *
 * Which span a gap belongs to depends on where a rule is expanded, so the classes that have such spans are walked,
 * event by event. Of very long ones the first WALK events stand for the rest.
 */
#include <stdlib.h>

#include "report/model.h"
#include "report/ranges.h"

enum { WALK = 1 << 24, DEEPEST = 64 };

static bool has_spans(const struct job *j, const struct grammar_flat *g)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < j->terminal_count && j->terminals[g->nodes[n].symbol].phase == JOB_OPEN)
            return true;
    return false;
}

/* Mean gaps, summed by the terminal that opened the span around. */
static void walk(const struct job *j, const struct grammar_flat *g, uint64_t limit, double *inside)
{
    uint32_t open[DEEPEST], depth = 0;
    struct grammar_cursor c;

    for (int more = grammar_cursor_open(&c, g); more && c.index < limit; more = grammar_cursor_next(&c)) {
        const struct grammar_stats *s = &g->stats[c.node];
        unsigned phase = c.terminal < j->terminal_count ? j->terminals[c.terminal].phase : JOB_LEAF;
        if (depth && depth <= DEEPEST)
            inside[open[depth - 1]] += grammar_moments_mean(&s->gap, s->count);
        if (phase == JOB_OPEN && depth++ < DEEPEST)
            open[depth - 1] = c.terminal;
        else if (phase == JOB_CLOSE && depth)
            depth--;
    }
    grammar_cursor_close(&c);
}

static void add_time(struct report_model *m, const uint32_t *place, uint32_t terminal, uint64_t ns)
{
    m->gap_ns -= ns < m->gap_ns ? ns : m->gap_ns;
    if (m->job->terminals[terminal].kind != JOB_REGION) {
        m->sites[place[terminal]].time_ns += ns;
        return;
    }
    struct report_region *r = &m->regions[place[terminal]];
    r->time_ns += ns;
    r->nested_ns += ns;
}

static void add_class(struct report_model *m, const uint32_t *place, const struct job_class *c, double *inside)
{
    uint64_t limit = WALK / m->job->class_count + 1;
    double scale = (double)report_members(c);

    for (uint32_t t = 0; t < m->job->terminal_count; t++)
        inside[t] = 0;
    walk(m->job, c->grammar, limit, inside);
    if (c->turn_count && c->grammar->events)
        scale *= report_class_events(c) / (double)c->grammar->events;
    if (c->grammar->events > limit)
        scale *= (double)c->grammar->events / (double)limit;
    for (uint32_t t = 0; t < m->job->terminal_count; t++)
        if (inside[t] > 0)
            add_time(m, place, t, inside[t] * scale < 1e18 ? (uint64_t)(inside[t] * scale + 0.5) : (uint64_t)1e18);
}

/* Durations by team size are those of spans with nothing inside; the others share the time evenly. */
static void share_among_teams(struct report_region *r)
{
    uint64_t nested = 0;

    for (uint32_t k = 0; k < r->team_count; k++)
        nested += r->teams[k].nested;
    for (uint32_t k = 0; k < r->team_count; k++)
        r->teams[k].time_ns += report_scale((int64_t)r->nested_ns, r->teams[k].nested, nested);
}

void report_model_add_nested(struct report_model *m, const uint32_t *place)
{
    double *inside = calloc((size_t)m->job->terminal_count + 1, sizeof *inside);

    for (uint32_t i = 0; i < m->job->class_count; i++) {
        const struct job_class *c = &m->job->classes[i];
        if (c->grammar && has_spans(m->job, c->grammar))
            add_class(m, place, c, inside);
    }
    for (uint32_t i = 0; i < m->region_count; i++)
        share_among_teams(&m->regions[i]);
    free(inside);
}
