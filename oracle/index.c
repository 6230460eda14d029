/* SPDX-License-Identifier: MIT */
/*
 * The index: lengths and mean times of rules, their prefix sums along each rule, and the uses of every symbol by weight.
 *
 * A use weighs how often the whole stream goes through it: expansions of the rule that it stands in, times its exponent.
 * Everything follows from one topological order of the rules, users first.
 */
#include <math.h>
#include <stdlib.h>

#include "oracle/internal.h"

struct weighted { double weight; uint32_t node; };

static int heavier_first(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Kahn's algorithm: a rule follows when all nodes that use it were seen. `left` has a zeroed entry a rule. */
static void order_rules(const struct grammar_flat *g, uint32_t *order, uint32_t *left)
{
    uint32_t done = 0, ready = 0;

    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            left[g->nodes[n].symbol & ~GRAMMAR_RULE]++;
    for (uint32_t r = 0; r < g->rule_count; r++)
        if (left[r] == 0)
            order[ready++] = r;
    for (; done < ready; done++) {
        const struct grammar_flat_rule *rule = &g->rules[order[done]];
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++)
            if (grammar_is_rule(g->nodes[n].symbol) && --left[g->nodes[n].symbol & ~GRAMMAR_RULE] == 0)
                order[ready++] = g->nodes[n].symbol & ~GRAMMAR_RULE;
    }
}

static double variance(const struct grammar_stats *s)
{
    double gap = grammar_moments_deviation(&s->gap, s->count);
    double duration = grammar_moments_deviation(&s->duration, s->count);
    return gap * gap + duration * duration;
}

static void fill_rule(struct oracle_index *x, uint32_t r)
{
    const struct grammar_flat *g = x->grammar;
    const struct grammar_flat_rule *rule = &g->rules[r];
    struct oracle_time sum = { 0, 0, 0 };
    uint64_t before = 0;

    x->first[r] = rule->length ? oracle_first(x, g->nodes[rule->first].symbol) : GRAMMAR_NONE;
    for (uint32_t n = rule->first; n < rule->first + rule->length; n++) {
        const struct grammar_stats *s = &g->stats[n];
        double turns = (double)g->nodes[n].exponent;
        struct oracle_time *mean = &x->mean[n];
        *mean = (struct oracle_time){ grammar_moments_mean(&s->gap, s->count),
                                      grammar_moments_mean(&s->duration, s->count), variance(s) };
        x->rule[n] = r;
        x->before[n] = before;
        x->elapsed[n] = sum;
        before += g->nodes[n].exponent * oracle_length(x, g->nodes[n].symbol);
        sum.gap += turns * mean->gap;
        sum.duration += turns * mean->duration;
        sum.variance += turns * mean->variance;
    }
    x->time[r] = sum;
}

static void measure_depth(struct oracle_index *x, uint32_t *depth)
{
    const struct grammar_flat *g = x->grammar;

    for (uint32_t i = g->rule_count; i-- > 0;) {
        const struct grammar_flat_rule *rule = &g->rules[x->order[i]];
        uint32_t deepest = 0;
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++)
            if (grammar_is_rule(g->nodes[n].symbol) && depth[g->nodes[n].symbol & ~GRAMMAR_RULE] > deepest)
                deepest = depth[g->nodes[n].symbol & ~GRAMMAR_RULE];
        depth[x->order[i]] = deepest + 1;
    }
    x->depth = depth[0];
}

/* Where the uses of a symbol are counted and found; NULL for GRAMMAR_LOST, which is never looked for. */
static uint32_t *use_slot(const struct oracle_index *x, uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        return &x->use_rule[symbol & ~GRAMMAR_RULE];
    return symbol < x->grammar->terminals ? &x->use_terminal[symbol] : NULL;
}

static uint32_t place(uint32_t *start, uint32_t count, uint32_t at)
{
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t here = start[i];
        start[i] = at;
        at += here;
    }
    return at;
}

static void unshift(uint32_t *start, uint32_t count, uint32_t at)
{
    for (uint32_t i = count; i > 0; i--)
        start[i] = start[i - 1];
    start[0] = at;
}

/* Counting sort by symbol, then each symbol's uses by weight. */
static void sort_uses(struct oracle_index *x, struct weighted *sorted)
{
    const struct grammar_flat *g = x->grammar;

    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t *slot = use_slot(x, g->nodes[n].symbol);
        if (slot)
            ++*slot;
    }
    uint32_t of_terminals = place(x->use_terminal, g->terminals, 0);
    uint32_t all = place(x->use_rule, g->rule_count, of_terminals);
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t *slot = use_slot(x, g->nodes[n].symbol);
        if (slot)
            sorted[(*slot)++] = (struct weighted){ (double)x->uses[x->rule[n]] * (double)g->nodes[n].exponent, n };
    }
    unshift(x->use_terminal, g->terminals, 0);
    unshift(x->use_rule, g->rule_count, of_terminals);
    for (uint32_t t = 0; t < g->terminals; t++)
        qsort(sorted + x->use_terminal[t], x->use_terminal[t + 1] - x->use_terminal[t], sizeof *sorted, heavier_first);
    for (uint32_t r = 0; r < g->rule_count; r++)
        qsort(sorted + x->use_rule[r], x->use_rule[r + 1] - x->use_rule[r], sizeof *sorted, heavier_first);
    for (uint32_t i = 0; i < all; i++)
        x->use[i] = sorted[i].node;
}

static int allocate(struct oracle_index *x)
{
    size_t rules = x->grammar->rule_count, nodes = x->grammar->node_count, terminals = x->grammar->terminals;

    x->order = calloc(rules, sizeof *x->order);
    x->length = calloc(rules, sizeof *x->length);
    x->uses = calloc(rules, sizeof *x->uses);
    x->first = calloc(rules, sizeof *x->first);
    x->time = calloc(rules, sizeof *x->time);
    x->rule = calloc(nodes + 1, sizeof *x->rule);
    x->before = calloc(nodes + 1, sizeof *x->before);
    x->mean = calloc(nodes + 1, sizeof *x->mean);
    x->elapsed = calloc(nodes + 1, sizeof *x->elapsed);
    x->use_terminal = calloc(terminals + 1, sizeof *x->use_terminal);
    x->use_rule = calloc(rules + 1, sizeof *x->use_rule);
    x->use = calloc(nodes + 1, sizeof *x->use);
    return x->order && x->length && x->uses && x->first && x->time && x->rule && x->before && x->mean && x->elapsed &&
           x->use_terminal && x->use_rule && x->use;
}

struct oracle_index *oracle_index_create(const struct grammar_flat *g)
{
    struct oracle_index *x = calloc(1, sizeof *x);
    uint32_t *scratch = calloc((size_t)g->rule_count + 1, sizeof *scratch);
    struct weighted *sorted = calloc((size_t)g->node_count + 1, sizeof *sorted);

    if (x)
        x->grammar = g;
    if (!x || !scratch || !sorted || !allocate(x)) {
        oracle_index_destroy(x);
        x = NULL;
        goto free_scratch;
    }
    order_rules(g, x->order, scratch);
    grammar_flat_lengths(g, x->length);
    grammar_flat_uses(g, x->uses);
    for (uint32_t i = g->rule_count; i-- > 0;)
        fill_rule(x, x->order[i]);
    x->rule[g->node_count] = GRAMMAR_NONE;
    measure_depth(x, scratch);
    sort_uses(x, sorted);
free_scratch:
    free(scratch);
    free(sorted);
    return x;
}

void oracle_index_destroy(struct oracle_index *x)
{
    if (!x)
        return;
    free(x->order);
    free(x->length);
    free(x->uses);
    free(x->first);
    free(x->time);
    free(x->rule);
    free(x->before);
    free(x->mean);
    free(x->elapsed);
    free(x->use_terminal);
    free(x->use_rule);
    free(x->use);
    free(x);
}

const struct grammar_flat *oracle_index_grammar(const struct oracle_index *x)
{
    return x->grammar;
}

uint32_t oracle_index_uses(const struct oracle_index *x, uint32_t symbol, const uint32_t **use)
{
    uint32_t *slot = use_slot(x, symbol);

    if (!slot)
        return 0;
    *use = x->use + slot[0];
    return slot[1] - slot[0];
}
