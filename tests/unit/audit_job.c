/* SPDX-License-Identifier: MIT */
/*
 * Audit of what Pythia itself wrote or merged, beside job_check(): figures agree with each other. Readers of files do
 * not rely on it. Each member's grammar is made and counted, so that the audit shares nothing with what merged it.
 */
#include <stdlib.h>

#include "job/check.h"
#include "job/job.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "pythia.h"
#include "tests/unit/audit.h"

/* One member has `events`, and expands each node as often as all[] becomes more. */
static void count_member(const struct grammar_flat *g, uint64_t *uses, uint64_t *all, uint64_t *events)
{
    uint64_t length = 0;
    grammar_flat_uses(g, uses);
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            all[n] += uses[r] * g->nodes[n].exponent;
            length += grammar_is_rule(g->nodes[n].symbol) ? 0 : uses[r] * g->nodes[n].exponent;
        }
    *events = length;
}

static int compare_counts(const struct grammar_flat *g, const uint64_t *all, char *why, size_t size)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->stats[n].count != all[n])
            return job_refuse(why, size, "node %u: counts %llu expansions of %llu", n,
                          (unsigned long long)g->stats[n].count, (unsigned long long)all[n]);
    return 0;
}

int audit_times(const struct grammar_flat *g, char *why, size_t size)
{
    struct { uint64_t gap, duration; } *more = calloc(g->rule_count, sizeof *more); /* inside than outside */
    int error = 0;
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            uint32_t used = g->nodes[n].symbol & ~GRAMMAR_RULE;
            more[r].gap += g->stats[n].gap.sum;
            more[r].duration += g->stats[n].duration.sum;
            if (!grammar_is_rule(g->nodes[n].symbol))
                continue;
            more[used].gap -= g->stats[n].gap.sum;
            more[used].duration -= g->stats[n].duration.sum;
        }
    for (uint32_t r = 1; r < g->rule_count && !error; r++)
        if (more[r].gap || more[r].duration)
            error = job_refuse(why, size, "rule %u: its times are not those of its uses", r);
    free(more);
    return error;
}

int audit_counts(const struct grammar_flat *g, char *why, size_t size)
{
    uint64_t *uses = calloc(g->rule_count, sizeof *uses), *all = calloc(g->node_count + 1u, sizeof *all), events;
    count_member(g, uses, all, &events);
    int error = compare_counts(g, all, why, size);
    free(uses);
    free(all);
    return error;
}

/* events[m]: of the m-th member, in the order of job_ranges_walk. */
static int audit_class(const struct job_class *c, uint64_t *events, char *why, size_t size)
{
    const struct grammar_flat *g = c->grammar;
    uint64_t *uses = calloc(g->rule_count, sizeof *uses), *all = calloc(g->node_count + 1u, sizeof *all);
    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; job_walk_next(&w); events++) {
        struct grammar_flat *own = job_member_grammar(c, w.at.rank, w.at.thread);
        count_member(own, uses, all, events);
        job_member_free(own);
    }
    int error = compare_counts(g, all, why, size);
    error = error ? error : audit_times(g, why, size);
    free(uses);
    free(all);
    return error;
}

/* Where each record is of one stream it has its member's events; where not, all have those of all. */
static int audit_streams(const struct job *j, uint32_t class_index, const uint64_t *events, char *why, size_t size)
{
    const struct job_class *c = &j->classes[class_index];
    for (uint32_t i = 0; i < j->stream_count && j->info.block == 1; i++) {
        const struct job_stream *s = &j->streams[i];
        if (s->class_index == class_index &&
            s->events != events[job_ranges_place(c->ranges, c->member_ranges, s->rank, s->thread)])
            return job_refuse(why, size, "stream %u: %llu events", i, (unsigned long long)s->events);
    }
    return 0;
}

int audit_job(const struct job *j, char *why, size_t size)
{
    uint64_t all = 0, streams = 0;
    int error = job_check(j, why, size);
    for (uint32_t i = 0; i < j->class_count && !error; i++) {
        uint64_t members = job_ranges_size(j->classes[i].ranges, j->classes[i].member_ranges);
        uint64_t *events = calloc(members + 1, sizeof *events);
        error = audit_class(&j->classes[i], events, why, size);
        error = error ? error : audit_streams(j, i, events, why, size);
        for (uint64_t m = 0; m < members; m++)
            all += events[m];
        free(events);
    }
    for (uint32_t i = 0; i < j->stream_count; i++)
        streams += j->streams[i].events;
    if (!error && all != streams)
        error = job_refuse(why, size, "streams have other numbers of events than their classes");
    return error;
}
