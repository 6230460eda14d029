/* SPDX-License-Identifier: MIT */
/*
 * What is usual of times (job/extremes.h): of one event, of one turn of each rule, with the variance of one.
 *
 * A rule's turn is made of its events as usual as they are: the time of a turn itself is of all, also of those that a
 * busy machine made longer. Where one of two jobs does not know what is usual (older files), it is the mean in both.
 */
#include <stdlib.h>

#include "contracts/compare_parts.h"
#include "job/extremes.h"

static struct report_usual of_moments(const struct grammar_moments *m, uint64_t count)
{
    double deviation = grammar_moments_deviation(m, count);

    return (struct report_usual){ grammar_moments_mean(m, count), deviation * deviation };
}

static struct report_usual of_extremes(const struct job_extremes *e, enum job_usual mean, enum job_usual deviation)
{
    double off = (double)e->usual[deviation] / (double)e->count;

    return (struct report_usual){ (double)e->usual[mean] / (double)e->count, off * off };
}

static bool knows(const struct job *j)
{
    for (uint32_t i = 0; i < j->extremes.count; i++)
        if (j->extremes.of[i].usual[JOB_USUAL_GAP] || j->extremes.of[i].usual[JOB_USUAL_DURATION])
            return true;
    return false;
}

struct report_usual_event *report_usual_events(const struct job *j, const struct job *other)
{
    bool both = knows(j) && knows(other);
    struct report_usual_event *of = calloc(j->terminal_count + 1u, sizeof *of);
    struct grammar_stats *all = calloc(j->terminal_count + 1u, sizeof *all);

    for (uint32_t k = 0; k < j->class_count; k++) {
        const struct grammar_flat *g = j->classes[k].grammar;
        for (uint32_t n = 0; g && n < g->node_count; n++)
            if (g->nodes[n].symbol < j->terminal_count)
                grammar_stats_join(&all[g->nodes[n].symbol], &g->stats[n]);
    }
    for (uint32_t t = 0; t < j->terminal_count; t++)
        of[t] = (struct report_usual_event){ of_moments(&all[t].gap, all[t].count),
                                             of_moments(&all[t].duration, all[t].count) };
    for (uint32_t i = 0; both && i < j->extremes.count; i++) {
        const struct job_extremes *e = &j->extremes.of[i];
        if (e->usual[JOB_USUAL_GAP] || e->usual[JOB_USUAL_DURATION])
            of[e->terminal] = (struct report_usual_event){
                of_extremes(e, JOB_USUAL_GAP, JOB_USUAL_GAP_DEVIATION),
                of_extremes(e, JOB_USUAL_DURATION, JOB_USUAL_DURATION_DEVIATION) };
    }
    free(all);
    return of;
}

static void add(struct report_usual *to, double times, const struct report_usual *one)
{
    to->mean += times * one->mean;
    to->variance += times * one->variance;
}

struct report_usual report_usual_symbol(const struct report_usual_event *events, const struct report_usual *rules,
                                        uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        return rules[symbol & ~GRAMMAR_RULE];
    if (symbol == GRAMMAR_LOST)
        return (struct report_usual){ 0, 0 };
    return (struct report_usual){ events[symbol].gap.mean + events[symbol].duration.mean,
                                  events[symbol].gap.variance + events[symbol].duration.variance };
}

void report_usual_rules(const struct grammar_flat *g, const struct report_usual_event *events,
                        struct report_usual *rules)
{
    uint32_t *order = malloc((g->rule_count + 1u) * sizeof *order);
    double *expansions = calloc(g->rule_count + 1u, sizeof *expansions);

    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            expansions[g->nodes[n].symbol & ~GRAMMAR_RULE] += (double)g->stats[n].count;
    bool ordered = grammar_flat_order(g, order);
    for (uint32_t i = 0; ordered && i < g->rule_count; i++) {
        const struct grammar_flat_rule *r = &g->rules[order[i]];
        for (uint32_t n = r->first; n < r->first + r->length && expansions[order[i]] > 0; n++) {
            struct report_usual one = report_usual_symbol(events, rules, g->nodes[n].symbol);
            add(&rules[order[i]], (double)g->stats[n].count / expansions[order[i]], &one);
        }
    }
    free(expansions);
    free(order);
}
