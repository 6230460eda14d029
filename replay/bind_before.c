/* SPDX-License-Identifier: MIT */
/*
 * How long the gap at a node is, by what came before.
 *
 *     R -> … A^3 c      A -> a b       a comes after what is before A^3 once, twice after b
 *
 * A node's mean gap is of all of its expansions; the job says the mean of a terminal's gaps after each terminal
 * (job/digram.h), over all places. At a node that several terminals come before, how often each does follows from the
 * grammar, so that each gap is the node's mean times a factor, and their sum stays what it was.
 *
 * Cost: rules and their nodes once a role, times the terminals that come before a rule (at most MOST are told apart).
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "pythia.h"
#include "replay/bind_parts.h"

enum { MOST = 8 };

/* What comes before a rule or a node, and how often. */
struct mix { uint32_t count, terminal[MOST]; double times[MOST]; };

static void add(struct mix *m, uint32_t terminal, double times)
{
    uint32_t i = 0;

    while (i < m->count && m->terminal[i] != terminal)
        i++;
    if (i == MOST || times <= 0)
        return;
    if (i == m->count)
        m->terminal[m->count++] = terminal;
    m->times[i] += times;
}

static uint32_t last_of(uint32_t symbol, const uint32_t *last)
{
    return grammar_is_rule(symbol) ? last[symbol & ~GRAMMAR_RULE] : symbol;
}

/* What is known of the gaps at a node that comes after several. */
static void add_node(struct bind_role *r, const struct job *job, uint32_t node, const struct mix *m)
{
    double mean[MOST], sum = 0, times = 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct job_digram *d = job_digram_find(job, r->grammar->nodes[node].symbol, m->terminal[i]);
        mean[i] = d ? (double)d->gap.total / (double)d->gap.samples : -1;
        sum += d ? mean[i] * m->times[i] : 0;
        times += d ? m->times[i] : 0;
        known += d != NULL;
    }
    if (known < 2 || sum <= 0)
        return;
    base_must(base_array_room(&r->before, &r->before_room, (uint64_t)r->before_count + known, sizeof *r->before));
    for (uint32_t i = 0; i < m->count; i++)
        if (mean[i] >= 0)
            r->before[r->before_count++] =
                (struct bind_before){ node, m->terminal[i], (float)(mean[i] * times / sum) };
}

BASE_COMPARISON(by_node, struct bind_before, BASE_UP(node))

void bind_before_find(struct bind_role *r, const struct job *job)
{
    const struct grammar_flat *g = r->grammar;
    BASE_OWN uint32_t *order = calloc(g->rule_count + 1, sizeof *order),
                      *last = calloc(g->rule_count + 1, sizeof *last);
    BASE_OWN struct mix *before = calloc(g->rule_count + 1, sizeof *before);

    base_must(grammar_flat_order(g, order) ? 0 : PYTHIA_ENOMEM);
    for (uint32_t i = 0; i < g->rule_count; i++) {
        const struct grammar_flat_rule *rule = &g->rules[order[i]];
        last[order[i]] = rule->length ? last_of(g->nodes[rule->first + rule->length - 1].symbol, last) : GRAMMAR_NONE;
    }
    add(&before[0], GRAMMAR_NONE, 1);
    for (uint32_t i = g->rule_count; i-- > 0;) { /* users first */
        const struct grammar_flat_rule *rule = &g->rules[order[i]];
        struct mix m = before[order[i]];
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++) {
            const struct grammar_flat_node *node = &g->nodes[n];
            uint32_t end = last_of(node->symbol, last);
            add(&m, end, (double)r->uses[order[i]] * (double)(node->exponent - 1));
            if (!grammar_is_rule(node->symbol))
                add_node(r, job, n, &m);
            for (uint32_t k = 0; grammar_is_rule(node->symbol) && k < m.count; k++)
                add(&before[node->symbol & ~GRAMMAR_RULE], m.terminal[k], m.times[k]);
            m = (struct mix){ 0 };
            add(&m, end, (double)r->uses[order[i]]);
        }
    }
    BASE_SORT(r->before, r->before_count, by_node);
}

double bind_before_factor(const struct bind_role *r, uint32_t node, uint32_t before)
{
    uint32_t i = BASE_ARRAY_PLACE(r->before_count, k, r->before[k].node < node);

    for (; i < r->before_count && r->before[i].node == node; i++)
        if (r->before[i].before == before)
            return r->before[i].factor;
    return 1;
}
