/* SPDX-License-Identifier: MIT */
#include "grammar/flat.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const uint64_t LENGTH_MAX = UINT64_MAX >> 1;

struct grammar_flat *grammar_flat_create(uint32_t rules, uint32_t nodes, uint32_t attrs)
{
    struct grammar_flat *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->rule_count = rules;
    g->node_count = nodes;
    g->attr_count = attrs;
    g->rules = calloc((size_t)rules + 1, sizeof *g->rules);
    g->nodes = calloc((size_t)nodes + 1, sizeof *g->nodes);
    g->stats = calloc((size_t)nodes + 1, sizeof *g->stats);
    g->attrs = calloc((size_t)attrs + 1, sizeof *g->attrs);
    if (!g->rules || !g->nodes || !g->stats || !g->attrs) {
        grammar_flat_destroy(g);
        return NULL;
    }
    return g;
}

void grammar_flat_destroy(struct grammar_flat *g)
{
    if (!g)
        return;
    free(g->rules);
    free(g->nodes);
    free(g->stats);
    free(g->attrs);
    free(g->courses);
    free(g->steps);
    free(g);
}

struct grammar_flat *grammar_flat_copy(const struct grammar_flat *g)
{
    struct grammar_flat *c = grammar_flat_create(g->rule_count, g->node_count, g->attr_count);
    if (!c)
        return NULL;
    c->terminals = g->terminals;
    c->events = g->events;
    memcpy(c->rules, g->rules, g->rule_count * sizeof *g->rules);
    memcpy(c->nodes, g->nodes, g->node_count * sizeof *g->nodes);
    memcpy(c->stats, g->stats, g->node_count * sizeof *g->stats);
    memcpy(c->attrs, g->attrs, g->attr_count * sizeof *g->attrs);
    return c;
}

void grammar_flat_renumber(struct grammar_flat *g, const uint32_t *map, uint32_t terminals_after)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        if (!grammar_is_rule(g->nodes[n].symbol) && g->nodes[n].symbol != GRAMMAR_LOST)
            g->nodes[n].symbol = map[g->nodes[n].symbol];
    g->terminals = terminals_after;
}

/*
 * Rules in an order in which each comes after all that it uses. The canonical numbering is not one (a rule may be used
 * by a later one), so: depth-first with an explicit stack. order[] has rule_count entries.
 */
static int children_first(const struct grammar_flat *g, uint32_t *order)
{
    uint32_t *at = malloc(g->rule_count * 2 * sizeof *at), *stack = at ? at + g->rule_count : NULL;
    uint32_t depth = 0, done = 0;
    if (!at)
        return -1;
    memset(at, 0xff, g->rule_count * sizeof *at);
    at[0] = 0;
    stack[depth++] = 0;
    while (depth) {
        uint32_t r = stack[depth - 1];
        if (at[r] == g->rules[r].length) {
            order[done++] = r;
            depth--;
            continue;
        }
        uint32_t symbol = g->nodes[g->rules[r].first + at[r]++].symbol;
        if (grammar_is_rule(symbol) && at[symbol & ~GRAMMAR_RULE] == GRAMMAR_NONE) {
            at[symbol & ~GRAMMAR_RULE] = 0;
            stack[depth++] = symbol & ~GRAMMAR_RULE;
        }
    }
    free(at);
    return done == g->rule_count ? 0 : -1;
}

bool grammar_flat_order(const struct grammar_flat *g, uint32_t *order)
{
    return g->rule_count == 0 || children_first(g, order) == 0;
}

static uint64_t mul_saturated(uint64_t a, uint64_t b)
{
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) || r > LENGTH_MAX ? LENGTH_MAX : r;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a + b > LENGTH_MAX ? LENGTH_MAX : a + b;
}

void grammar_flat_lengths(const struct grammar_flat *g, uint64_t *length)
{
    uint32_t *order = malloc(g->rule_count * sizeof *order);
    memset(length, 0, g->rule_count * sizeof *length);
    if (!order || children_first(g, order)) {
        free(order);
        return;
    }
    for (uint32_t i = 0; i < g->rule_count; i++) {
        const struct grammar_flat_rule *r = &g->rules[order[i]];
        for (uint32_t n = r->first; n < r->first + r->length; n++) {
            uint32_t s = g->nodes[n].symbol;
            uint64_t one = grammar_is_rule(s) ? length[s & ~GRAMMAR_RULE] : 1;
            length[order[i]] = add_saturated(length[order[i]], mul_saturated(one, g->nodes[n].exponent));
        }
    }
    free(order);
}

void grammar_flat_uses(const struct grammar_flat *g, uint64_t *uses)
{
    uint32_t *order = malloc(g->rule_count * sizeof *order);
    memset(uses, 0, g->rule_count * sizeof *uses);
    if (!order || children_first(g, order)) {
        free(order);
        return;
    }
    uses[0] = 1;
    for (uint32_t i = g->rule_count; i-- > 0;) {
        const struct grammar_flat_rule *r = &g->rules[order[i]];
        for (uint32_t n = r->first; n < r->first + r->length; n++)
            if (grammar_is_rule(g->nodes[n].symbol)) {
                uint32_t s = g->nodes[n].symbol & ~GRAMMAR_RULE;
                uses[s] = add_saturated(uses[s], mul_saturated(uses[order[i]], g->nodes[n].exponent));
            }
    }
    free(order);
}

/* Where the users of a symbol are counted and found; NULL for what is never looked for. */
static uint32_t *user_slot(const struct grammar_flat *g, uint32_t *of_terminal, uint32_t *of_rule, uint32_t symbol)
{
    if (grammar_is_rule(symbol))
        return &of_rule[symbol & ~GRAMMAR_RULE];
    return of_terminal && symbol < g->terminals ? &of_terminal[symbol] : NULL;
}

/* Counts become where each begins. */
static uint32_t begins(uint32_t *start, uint32_t count, uint32_t at)
{
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t here = start[i];
        start[i] = at;
        at += here;
    }
    return at;
}

/* Ends become begins again. */
static void unshift(uint32_t *start, uint32_t count, uint32_t at)
{
    for (uint32_t i = count; i > 0; i--)
        start[i] = start[i - 1];
    start[0] = at;
}

void grammar_flat_users(const struct grammar_flat *g, uint32_t *of_terminal, uint32_t *of_rule, uint32_t *node)
{
    uint32_t of_terminals = 0, *slot;
    memset(of_rule, 0, ((size_t)g->rule_count + 1) * sizeof *of_rule);
    if (of_terminal)
        memset(of_terminal, 0, ((size_t)g->terminals + 1) * sizeof *of_terminal);
    for (uint32_t n = 0; n < g->node_count; n++)
        if ((slot = user_slot(g, of_terminal, of_rule, g->nodes[n].symbol)))
            ++*slot;
    if (of_terminal)
        of_terminals = begins(of_terminal, g->terminals, 0);
    begins(of_rule, g->rule_count, of_terminals);
    for (uint32_t n = 0; n < g->node_count; n++)
        if ((slot = user_slot(g, of_terminal, of_rule, g->nodes[n].symbol)))
            node[(*slot)++] = n;
    if (of_terminal)
        unshift(of_terminal, g->terminals, 0);
    unshift(of_rule, g->rule_count, of_terminals);
}

/* A symbol's part of its rule's hash input: what it is, and how often. */
struct hash_item { uint64_t low, high, exponent; };

static struct hash_item hash_item(const struct grammar_flat_node *node, const struct grammar_hash *terminal,
                                  const struct grammar_hash *rule)
{
    struct grammar_hash h = {GRAMMAR_LOST, GRAMMAR_LOST};
    if (grammar_is_rule(node->symbol))
        h = rule[node->symbol & ~GRAMMAR_RULE];
    else if (node->symbol != GRAMMAR_LOST)
        h = terminal[node->symbol];
    return (struct hash_item){h.low, h.high, node->exponent};
}

/* `item`: bytes of each node's item that count. */
static struct grammar_hash hash_rules(const struct grammar_flat *g, const struct grammar_hash *terminal_hash,
                                      size_t item, struct grammar_hash *rule_hash)
{
    struct grammar_hash zero = {0, 0}, root = zero;
    struct grammar_hash *hash = rule_hash ? rule_hash : malloc(g->rule_count * sizeof *hash);
    uint32_t *order = malloc(g->rule_count * sizeof *order);
    XXH3_state_t state;
    if (hash && order && !children_first(g, order)) {
        for (uint32_t i = 0; i < g->rule_count; i++) {
            const struct grammar_flat_rule *r = &g->rules[order[i]];
            XXH3_128bits_reset(&state);
            for (uint32_t n = r->first; n < r->first + r->length; n++) {
                struct hash_item h = hash_item(&g->nodes[n], terminal_hash, hash);
                XXH3_128bits_update(&state, &h, item);
            }
            XXH128_hash_t h = XXH3_128bits_digest(&state);
            hash[order[i]] = (struct grammar_hash){h.low64, h.high64};
        }
        root = hash[0];
    }
    free(order);
    if (hash != rule_hash)
        free(hash);
    return root;
}

struct grammar_hash grammar_flat_hash(const struct grammar_flat *g, const struct grammar_hash *terminal_hash,
                                      struct grammar_hash *rule_hash)
{
    return hash_rules(g, terminal_hash, sizeof(struct hash_item), rule_hash);
}

struct grammar_hash grammar_flat_shape(const struct grammar_flat *g, const struct grammar_hash *terminal_hash)
{
    return hash_rules(g, terminal_hash, offsetof(struct hash_item, exponent), NULL);
}
