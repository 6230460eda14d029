/* SPDX-License-Identifier: MIT */
/*
 * The next event of a set: for each node which one after it in its rule contains the set, so that rules without one are
 * passed in a step. The last few sets are remembered.
 */
#include "oracle/internal.h"

/* For each node the next one in its rule, itself included, that contains the set: rules from the innermost out. */
static void index_set(const struct oracle_reference *ref, uint32_t *next, const uint8_t *set, uint32_t terminals)
{
    const struct oracle_index *x = ref->index;
    const struct grammar_flat *g = x->grammar;

    for (uint32_t i = g->rule_count; i-- > 0;) {
        const struct grammar_flat_rule *r = &g->rules[x->order[i]];
        uint32_t found = GRAMMAR_NONE;
        for (uint32_t n = r->first + r->length; n-- > r->first;) {
            uint32_t s = g->nodes[n].symbol;
            bool in = grammar_is_rule(s) ? next[g->rules[s & ~GRAMMAR_RULE].first] != GRAMMAR_NONE
                                         : s < terminals && set[s];
            next[n] = found = in ? n : found;
        }
    }
}

static bool equal_set(const uint8_t *kept, const uint8_t *set, uint32_t count, uint32_t terminals)
{
    uint32_t common = count < terminals ? count : terminals;

    for (uint32_t t = 0; t < common; t++)
        if (kept[t] != (set[t] != 0))
            return false;
    for (uint32_t t = common; t < terminals; t++)
        if (kept[t])
            return false;
    return true;
}

/* Which of the remembered sets this is; the one used least recently makes room. O(grammar) when new. */
static int find_set(struct oracle *o, const uint8_t *set, uint32_t count)
{
    int oldest = 0;

    for (int i = 0; i < ORACLE_SETS; i++) {
        if (o->set_used[i] && equal_set(o->set[i], set, count, o->terminals)) {
            o->set_used[i] = ++o->set_clock;
            return i;
        }
        if (o->set_used[i] < o->set_used[oldest])
            oldest = i;
    }
    for (uint32_t t = 0; t < o->terminals; t++)
        o->set[oldest][t] = t < count && set[t];
    for (uint32_t r = 0; r < o->references; r++)
        index_set(&o->reference[r], o->reference[r].next[oldest], o->set[oldest], o->terminals);
    o->set_used[oldest] = ++o->set_clock;
    return oldest;
}

/* Events before the first of the set in a symbol that contains one. */
static uint64_t first_in(const struct oracle_index *x, const uint32_t *next, uint32_t symbol)
{
    uint64_t distance = 0;

    while (grammar_is_rule(symbol)) {
        uint32_t n = next[x->grammar->rules[symbol & ~GRAMMAR_RULE].first];
        distance += x->before[n];
        symbol = x->grammar->nodes[n].symbol;
    }
    return distance;
}

static bool contains(const struct oracle_index *x, const uint32_t *next, const uint8_t *set, uint32_t symbol,
                     uint32_t terminals)
{
    if (!grammar_is_rule(symbol))
        return symbol < terminals && set[symbol];
    return next[x->grammar->rules[symbol & ~GRAMMAR_RULE].first] != GRAMMAR_NONE;
}

/* Distance from `h` to the first of the set, 0: none that can be seen. Past the top of a partial hypothesis its
   heaviest uses are followed. */
static uint64_t next_of(const struct oracle *o, const struct oracle_hypothesis *h, int which)
{
    const struct oracle_reference *ref = &o->reference[h->reference];
    const struct oracle_index *x = ref->index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    const uint32_t *next = ref->next[which], *use;
    uint32_t rule = 0, above = 0;
    uint64_t passed = 0;

    if (h->depth == 0)
        return contains(x, next, o->set[which], GRAMMAR_RULE, o->terminals) && x->length[0]
                   ? first_in(x, next, GRAMMAR_RULE) + 1 : 0;
    for (uint32_t i = h->depth; above < ORACLE_DEPTH;) {
        struct oracle_frame f;
        if (i > 0) {
            f = h->frames[--i];
        } else if (rule == 0 || oracle_index_uses(x, GRAMMAR_RULE | rule, &use) == 0) {
            return 0;
        } else {
            f = (struct oracle_frame){ use[0], 1, nodes[use[0]].exponent / 2 };
            above++;
        }
        uint32_t symbol = nodes[f.node].symbol;
        uint64_t length = oracle_length(x, symbol), effective = oracle_turns(ref, f.node);
        uint64_t left = effective > f.turn + 1 ? effective - f.turn - 1 : 0;
        if (left && contains(x, next, o->set[which], symbol, o->terminals))
            return passed + first_in(x, next, symbol) + 1;
        passed += left * length;
        rule = x->rule[f.node];
        uint64_t end = x->before[f.node] + nodes[f.node].exponent * length;
        if (oracle_has_next(x, f.node) && next[f.node + 1] != GRAMMAR_NONE) {
            uint32_t n = next[f.node + 1];
            return passed + x->before[n] - end + first_in(x, next, nodes[n].symbol) + 1;
        }
        passed += x->length[rule] - end;
    }
    return 0;
}

/* Those that say the same count together: with the first of them. */
static uint64_t most_likely(const struct oracle *o, const uint64_t *at, double *all)
{
    double weight[ORACLE_HYPOTHESES], best = 0;
    uint64_t chosen = 0;

    *all = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t first = 0;
        while (at[first] != at[i])
            first++;
        weight[i] = 0;
        weight[first] += o->now[i].weight;
        *all += o->now[i].weight;
    }
    for (uint32_t i = 0; i < o->count; i++)
        if (weight[i] > best) {
            best = weight[i];
            chosen = at[i];
        }
    return chosen;
}

int oracle_next(struct oracle *o, const uint8_t *set, uint32_t count, uint64_t horizon, uint64_t *distance,
                struct oracle_answer *answer)
{
    uint64_t at[ORACLE_HYPOTHESES];
    double all, weight;

    oracle_clear(answer);
    if (o->count == 0)
        return 1;
    int which = find_set(o, set, count);
    for (uint32_t i = 0; i < o->count; i++) {
        at[i] = next_of(o, &o->now[i], which);
        if (horizon && at[i] > horizon)
            at[i] = 0;
    }
    uint64_t chosen = most_likely(o, at, &all);
    if (chosen == 0 || oracle_ask_some(o, chosen, at, o->set[which], answer, &weight) != 0)
        return 1;
    *distance = chosen;
    answer->probability = oracle_position_worth(o, chosen, weight / all);
    return 0;
}
