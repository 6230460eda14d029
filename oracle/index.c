/* SPDX-License-Identifier: MIT */
/*
 * The index: lengths of rules, mean times of nodes and their prefix sums along each rule, and the uses of every symbol
 * by weight.
 *
 * A use weighs how often the whole stream goes through it: expansions of the rule that it stands in, times its
 * exponent. A question looks at the heaviest few, so only these are sorted: one pass, whatever the number of uses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "oracle/internal.h"

/* --- Structure --- */

/* A walk from the root, each rule after all that it uses. The grammar was checked: no rule contains itself. */
struct walk {
    uint32_t *at, *stack, *depth; /* of rules: nodes seen; the ones around; frames below, 0: not known yet */
    uint32_t height, done;
};

/* Goes on in the rule on top, up to a node whose own rule must come first. True: the rule ended. */
static bool walk_rule(struct oracle_index *x, struct walk *w, uint32_t r)
{
    const struct grammar_flat *g = x->grammar;
    const struct grammar_flat_rule *rule = &g->rules[r];
    uint64_t length = x->length[r];
    uint32_t i, deepest = w->depth[r];

    for (i = w->at[r]; i < rule->length; i++) {
        uint32_t n = rule->first + i, symbol = g->nodes[n].symbol, inner = symbol & ~GRAMMAR_RULE;
        if (grammar_is_rule(symbol)) {
            if (w->depth[inner] == 0) {
                w->stack[w->height++] = inner;
                break;
            }
            deepest = w->depth[inner] > deepest ? w->depth[inner] : deepest;
        } else if (symbol < g->terminals) {
            x->known[symbol] = 1;
        }
        x->rule[n] = r;
        x->before[n] = length;
        length += g->nodes[n].exponent * oracle_length(x, symbol);
    }
    x->length[r] = length;
    w->depth[r] = deepest;
    w->at[r] = i;
    return i == rule->length;
}

static void walk(struct oracle_index *x, struct walk *w)
{
    const struct grammar_flat *g = x->grammar;

    w->stack[w->height++] = 0;
    while (w->height > 0) {
        uint32_t r = w->stack[w->height - 1];
        if (!walk_rule(x, w, r))
            continue;
        x->first[r] = g->rules[r].length ? oracle_first(x, g->nodes[g->rules[r].first].symbol) : GRAMMAR_NONE;
        x->order[g->rule_count - ++w->done] = r;
        w->depth[r]++;
        w->height--;
    }
    x->depth = w->depth[0];
}

/* Expansions: no more than there are events. */
static void count_uses(struct oracle_index *x)
{
    const struct grammar_flat *g = x->grammar;

    x->uses[0] = 1;
    for (uint32_t i = 0; i < g->rule_count; i++) {
        const struct grammar_flat_rule *rule = &g->rules[x->order[i]];
        uint64_t uses = x->uses[x->order[i]];
        for (uint32_t n = rule->first; n < rule->first + rule->length; n++)
            if (grammar_is_rule(g->nodes[n].symbol))
                x->uses[g->nodes[n].symbol & ~GRAMMAR_RULE] += uses * g->nodes[n].exponent;
    }
}

static int measure(struct oracle_index *x)
{
    size_t rules = x->grammar->rule_count;
    uint32_t *scratch = calloc(3 * rules + 1, sizeof *scratch);

    if (!scratch)
        return 0;
    walk(x, &(struct walk){ scratch, scratch + rules, scratch + 2 * rules, 0, 0 });
    count_uses(x);
    x->rule[x->grammar->node_count] = GRAMMAR_NONE;
    free(scratch);
    return 1;
}

/* --- Times --- */

static void fill_times(const struct oracle_index *x)
{
    const struct grammar_flat *g = x->grammar;
    struct grammar_time sum = { 0, 0, 0 };

    for (uint32_t n = 0; n < g->node_count; n++) {
        struct grammar_time mean = grammar_stats_time(&g->stats[n]);
        if (n == g->rules[x->rule[n]].first)
            sum = (struct grammar_time){ 0, 0, 0 };
        x->mean[n] = (struct oracle_time){ mean.gap, mean.duration, mean.variance };
        x->elapsed[n] = (struct oracle_time){ sum.gap, sum.duration, sum.variance };
        grammar_time_add(&sum, (double)g->nodes[n].exponent, &mean);
    }
}

/* --- Uses --- */

/* Where the uses of a symbol are found; NULL for GRAMMAR_LOST, which is never looked for. */
static uint32_t *use_slot(const struct oracle_index *x, uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        return &x->use_rule[symbol & ~GRAMMAR_RULE];
    return symbol < x->grammar->terminals ? &x->use_terminal[symbol] : NULL;
}

struct weighted { double weight; uint32_t node; };

static bool heavier(const struct weighted *a, const struct weighted *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->node < b->node;
}

static double weight_of(const struct oracle_index *x, uint32_t node)
{
    return (double)x->uses[x->rule[node]] * (double)x->grammar->nodes[node].exponent;
}

/* The heaviest, in order; returns how many. */
static uint32_t choose(const struct oracle_index *x, const uint32_t *use, uint32_t count,
                       struct weighted best[ORACLE_PLACES])
{
    uint32_t chosen = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct weighted w = { weight_of(x, use[i]), use[i] };
        uint32_t k = chosen;
        if (chosen == ORACLE_PLACES && !heavier(&w, &best[--k]))
            continue;
        for (; k > 0 && heavier(&w, &best[k - 1]); k--)
            best[k] = best[k - 1];
        best[k] = w;
        chosen += chosen < ORACLE_PLACES;
    }
    return chosen;
}

/* Puts the heaviest first; the others keep their order behind them. */
static void put_first(const struct oracle_index *x, uint32_t *use, uint32_t count)
{
    struct weighted best[ORACLE_PLACES];
    uint32_t chosen = choose(x, use, count, best), to = count;

    if (chosen == count) {
        for (uint32_t i = 0; i < chosen; i++)
            use[i] = best[i].node;
        return;
    }
    uint32_t taken[ORACLE_PLACES], left = chosen; /* the chosen ones in the order of the nodes */
    for (uint32_t i = 0; i < chosen; i++) {
        uint32_t k = i;
        for (; k > 0 && taken[k - 1] > best[i].node; k--)
            taken[k] = taken[k - 1];
        taken[k] = best[i].node;
    }
    for (uint32_t i = count; i-- > 0;)
        if (left > 0 && use[i] == taken[left - 1])
            left--;
        else
            use[--to] = use[i];
    for (uint32_t i = 0; i < chosen; i++)
        use[i] = best[i].node;
}

/* By symbol, then each symbol's heaviest first. */
static void sort_uses(struct oracle_index *x)
{
    const struct grammar_flat *g = x->grammar;

    grammar_flat_users(g, x->use_terminal, x->use_rule, x->use);
    for (uint32_t t = 0; t < g->terminals; t++)
        put_first(x, x->use + x->use_terminal[t], x->use_terminal[t + 1] - x->use_terminal[t]);
    for (uint32_t r = 0; r < g->rule_count; r++)
        put_first(x, x->use + x->use_rule[r], x->use_rule[r + 1] - x->use_rule[r]);
}

static void need_uses(const struct oracle_index *x)
{
    struct oracle_index *own = (struct oracle_index *)x;

    base_lock_take(&own->lock, BASE_LOCK_INDEX);
    if (!atomic_load_explicit(&own->sorted, memory_order_relaxed)) {
        sort_uses(own);
        atomic_store_explicit(&own->sorted, true, memory_order_release);
    }
    base_lock_release(&own->lock, BASE_LOCK_INDEX);
}

uint32_t oracle_index_uses(const struct oracle_index *x, uint32_t symbol, const uint32_t **use)
{
    uint32_t *slot = use_slot(x, symbol);

    if (!slot)
        return 0;
    if (!atomic_load_explicit(&x->sorted, memory_order_acquire))
        need_uses(x);
    *use = x->use + slot[0];
    return slot[1] - slot[0];
}

/* --- Life --- */

/* What is filled later costs nothing until then. */
static int allocate(struct oracle_index *x)
{
    size_t rules = x->grammar->rule_count, nodes = x->grammar->node_count, terminals = x->grammar->terminals;

    x->order = calloc(rules, sizeof *x->order);
    x->length = calloc(rules, sizeof *x->length);
    x->uses = calloc(rules, sizeof *x->uses);
    x->first = calloc(rules, sizeof *x->first);
    x->rule = calloc(nodes + 1, sizeof *x->rule);
    x->before = calloc(nodes + 1, sizeof *x->before);
    x->known = calloc(terminals + 1, sizeof *x->known);
    x->mean = calloc(nodes + 1, sizeof *x->mean);
    x->elapsed = calloc(nodes + 1, sizeof *x->elapsed);
    x->use_terminal = calloc(terminals + 1, sizeof *x->use_terminal);
    x->use_rule = calloc(rules + 1, sizeof *x->use_rule);
    x->use = calloc(nodes + 1, sizeof *x->use);
    return x->order && x->length && x->uses && x->first && x->rule && x->before && x->known && x->mean && x->elapsed &&
           x->use_terminal && x->use_rule && x->use;
}

struct oracle_index *oracle_index_create(const struct grammar_flat *g)
{
    struct oracle_index *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->grammar = g;
    pthread_mutex_init(&x->lock, NULL);
    if (!allocate(x) || !measure(x)) {
        oracle_index_destroy(x);
        return NULL;
    }
    fill_times(x);
    return x;
}

void oracle_index_destroy(struct oracle_index *x)
{
    if (!x)
        return;
    pthread_mutex_destroy(&x->lock);
    free(x->order);
    free(x->length);
    free(x->uses);
    free(x->first);
    free(x->rule);
    free(x->before);
    free(x->known);
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
