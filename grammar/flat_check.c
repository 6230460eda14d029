/* SPDX-License-Identifier: MIT */
/* Audits of a grammar at rest. The first takes hostile input: each step relies only on what earlier steps have shown. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "grammar/flat.h"
#include "pythia.h"

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return PYTHIA_EFORMAT;
}

static int check_attrs(const struct grammar_flat *g, uint32_t n, char *why, size_t size)
{
    const struct grammar_flat_node *node = &g->nodes[n];
    if (node->attr_count == 0)
        return 0;
    if (grammar_is_rule(node->symbol) || node->attr > g->attr_count || node->attr_count > g->attr_count - node->attr)
        return refuse(why, size, "node %u: attributes out of range", n);
    for (uint32_t a = 0; a < node->attr_count; a++) {
        const struct grammar_attr *t = &g->attrs[node->attr + a];
        unsigned most = t->kind == GRAMMAR_ATTR_KEYED ? GRAMMAR_ATTR_KEYS : GRAMMAR_ATTR_LENGTH;
        if (t->channel >= GRAMMAR_CHANNELS || t->kind > GRAMMAR_ATTR_KEYED || (a && t[-1].channel >= t->channel))
            return refuse(why, size, "node %u: unknown or repeated attribute", n);
        if (t->kind == GRAMMAR_ATTR_LIST && (t->length > most || t->period == 0 || t->period > t->length))
            return refuse(why, size, "node %u: attribute list of %u values, period %u", n, t->length, t->period);
        if (t->kind == GRAMMAR_ATTR_KEYED && t->length > most)
            return refuse(why, size, "node %u: attribute with %u keys", n, t->length);
    }
    return 0;
}

static int check_ranges(const struct grammar_flat *g, char *why, size_t size)
{
    uint64_t nodes = 0;
    if (g->rule_count == 0)
        return refuse(why, size, "no root rule");
    for (uint32_t r = 0; r < g->rule_count; r++) {
        if (g->rules[r].first != nodes || g->rules[r].length > g->node_count - nodes)
            return refuse(why, size, "rule %u: nodes out of range", r);
        if (r > 0 && g->rules[r].length < 2)
            return refuse(why, size, "rule %u: %u nodes", r, g->rules[r].length);
        nodes += g->rules[r].length;
    }
    if (nodes != g->node_count)
        return refuse(why, size, "%u nodes, rules hold %llu", g->node_count, (unsigned long long)nodes);
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t s = g->nodes[n].symbol;
        if (grammar_is_rule(s) ? (s & ~GRAMMAR_RULE) >= g->rule_count || s == GRAMMAR_RULE
                               : s >= g->terminals && s != GRAMMAR_LOST)
            return refuse(why, size, "node %u: unknown symbol %#x", n, s);
        if (g->nodes[n].exponent == 0 || g->nodes[n].exponent > INT64_MAX)
            return refuse(why, size, "node %u: exponent out of range", n);
        int error = check_attrs(g, n, why, size);
        if (error)
            return error;
    }
    return 0;
}

enum { NEW, OPEN, DONE };

/* A walk that enters rules as an expansion does: numbers must come in order, and no rule may be entered inside itself. */
static int walk(const struct grammar_flat *g, uint8_t *state, uint32_t *at, uint32_t *stack, char *why, size_t size)
{
    uint32_t depth = 0, seen = 1;
    state[0] = OPEN;
    stack[depth++] = 0;
    while (depth) {
        uint32_t r = stack[depth - 1];
        if (at[r] == g->rules[r].length) {
            state[r] = DONE;
            depth--;
            continue;
        }
        uint32_t symbol = g->nodes[g->rules[r].first + at[r]++].symbol, s = symbol & ~GRAMMAR_RULE;
        if (!grammar_is_rule(symbol) || state[s] == DONE)
            continue;
        if (state[s] == OPEN)
            return refuse(why, size, "rule %u contains itself", s);
        if (s != seen++)
            return refuse(why, size, "rule %u is numbered out of order", s);
        state[s] = OPEN;
        stack[depth++] = s;
    }
    return seen == g->rule_count ? 0 : refuse(why, size, "%u rules, %u in use", g->rule_count, seen);
}

static int check_order(const struct grammar_flat *g, char *why, size_t size)
{
    uint8_t *state = calloc(g->rule_count, 1);
    uint32_t *at = calloc((size_t)g->rule_count * 2, sizeof *at);
    int error = PYTHIA_ENOMEM;
    if (state && at)
        error = walk(g, state, at, at + g->rule_count, why, size);
    else
        refuse(why, size, "out of memory");
    free(state);
    free(at);
    return error;
}

static int check_lengths(const struct grammar_flat *g, char *why, size_t size)
{
    uint64_t *length = malloc(g->rule_count * sizeof *length), *uses = calloc(g->rule_count, sizeof *uses);
    int error = length && uses ? 0 : PYTHIA_ENOMEM;
    if (error)
        refuse(why, size, "out of memory");
    if (!error) {
        grammar_flat_lengths(g, length);
        if (length[0] == INT64_MAX)
            error = refuse(why, size, "expands to 2^63 events or more");
        else if (length[0] != g->events)
            error = refuse(why, size, "expands to %llu events, not %llu", (unsigned long long)length[0],
                           (unsigned long long)g->events);
    }
    for (uint32_t n = 0; !error && n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            uses[g->nodes[n].symbol & ~GRAMMAR_RULE] += g->nodes[n].exponent;
    for (uint32_t r = 1; !error && r < g->rule_count; r++)
        if (uses[r] < 2)
            error = refuse(why, size, "rule %u is used once", r);
    free(length);
    free(uses);
    return error;
}

int grammar_flat_check(const struct grammar_flat *g, char *why, size_t size)
{
    int error = check_ranges(g, why, size);
    error = error ? error : check_order(g, why, size);
    return error ? error : check_lengths(g, why, size);
}

struct times { uint64_t gap, duration; };

static void add_times(struct times *t, const struct grammar_stats *s)
{
    t->gap += s->gap.sum;
    t->duration += s->duration.sum;
}

int grammar_flat_check_stats(const struct grammar_flat *g, uint64_t members, char *why, size_t size)
{
    uint64_t *uses = malloc(g->rule_count * sizeof *uses);
    struct times *inside = calloc(g->rule_count, sizeof *inside), *outside = calloc(g->rule_count, sizeof *outside);
    int error = uses && inside && outside ? 0 : PYTHIA_ENOMEM;
    if (error)
        refuse(why, size, "out of memory");
    else
        grammar_flat_uses(g, uses);
    for (uint32_t r = 0; !error && r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; !error && n < g->rules[r].first + g->rules[r].length; n++) {
            const struct grammar_flat_node *node = &g->nodes[n];
            if (g->stats[n].count != uses[r] * node->exponent * members)
                error = refuse(why, size, "node %u: counts %llu expansions of %llu", n,
                               (unsigned long long)g->stats[n].count,
                               (unsigned long long)(uses[r] * node->exponent * members));
            add_times(&inside[r], &g->stats[n]);
            if (grammar_is_rule(node->symbol))
                add_times(&outside[node->symbol & ~GRAMMAR_RULE], &g->stats[n]);
        }
    for (uint32_t r = 1; !error && r < g->rule_count; r++)
        if (inside[r].gap != outside[r].gap || inside[r].duration != outside[r].duration)
            error = refuse(why, size, "rule %u: its times are not those of its uses", r);
    free(uses);
    free(inside);
    free(outside);
    return error;
}
