/* SPDX-License-Identifier: MIT */
/* Audits of a grammar at rest. The first takes hostile input: each step relies only on what earlier steps have
   shown. */
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
        if (t->channel >= GRAMMAR_CHANNELS || t->kind > GRAMMAR_ATTR_KEYED || (a && t[-1].channel >= t->channel))
            return refuse(why, size, "node %u: unknown or repeated attribute", n);
        if (t->kind == GRAMMAR_ATTR_KEYED && t->length > GRAMMAR_ATTR_KEYS)
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

/* A walk that enters rules as an expansion does, each once. */
struct walk {
    const struct grammar_flat *grammar;
    enum { NEW, OPEN, DONE } *state;
    uint32_t *at, *stack;   /* nodes seen of each rule; the rules that are open */
    uint32_t depth, seen;
    uint64_t *length;       /* events of what was seen of each rule */
    uint8_t *uses;          /* of each rule, 2 for more */
    char *why;
    size_t size;
};

/* A rule that was not entered before: numbers must come in order. */
static int flat_check_enter(struct walk *w, uint32_t s)
{
    if (s != w->seen++)
        return refuse(w->why, w->size, "rule %u is numbered out of order", s);
    w->state[s] = OPEN;
    w->stack[w->depth++] = s;
    return 0;
}

/* The rule on top, up to its end or to a rule that must be entered first. */
static int go_on(struct walk *w)
{
    uint32_t r = w->stack[w->depth - 1], i = w->at[r];
    const struct grammar_flat_rule *rule = &w->grammar->rules[r];
    uint64_t length = w->length[r];
    int error = 0;
    for (; i < rule->length; i++) {
        const struct grammar_flat_node *node = &w->grammar->nodes[rule->first + i];
        uint32_t s = node->symbol & ~GRAMMAR_RULE;
        uint64_t more = node->exponent;
        if (grammar_is_rule(node->symbol)) {
            if (w->state[s] != DONE) {
                error = w->state[s] == OPEN ? refuse(w->why, w->size, "rule %u contains itself", s)
                                            : flat_check_enter(w, s);
                break;
            }
            w->uses[s] = node->exponent > 1 || w->uses[s] ? 2 : 1;
            if (__builtin_mul_overflow(more, w->length[s], &more))
                more = INT64_MAX;
        }
        if (more >= INT64_MAX || (length += more) >= INT64_MAX)
            return refuse(w->why, w->size, "expands to 2^63 events or more");
    }
    w->at[r] = i;
    w->length[r] = length;
    if (i == rule->length) {
        w->state[r] = DONE;
        w->depth--;
    }
    return error;
}

/* No rule may be entered inside itself, and each but the root is used twice. */
static int walk(struct walk *w)
{
    uint32_t rules = w->grammar->rule_count;
    int error = flat_check_enter(w, 0);
    while (w->depth && !error)
        error = go_on(w);
    if (!error && w->seen != rules)
        error = refuse(w->why, w->size, "%u rules, %u in use", rules, w->seen);
    for (uint32_t r = 1; r < rules && !error; r++)
        if (w->uses[r] < 2)
            error = refuse(w->why, w->size, "rule %u is used once", r);
    return error;
}

/* The order of the rules, and what they expand to. */
static int check_walk(const struct grammar_flat *g, uint64_t *events, char *why, size_t size)
{
    size_t rules = g->rule_count;
    struct walk w = { .grammar = g, .why = why, .size = size };
    int error = PYTHIA_ENOMEM;
    w.state = calloc(rules, sizeof *w.state);
    w.at = calloc(rules, sizeof *w.at);
    w.stack = calloc(rules, sizeof *w.stack);
    w.length = calloc(rules, sizeof *w.length);
    w.uses = calloc(rules, sizeof *w.uses);
    if (w.state && w.at && w.stack && w.length && w.uses)
        error = walk(&w);
    else
        refuse(why, size, "out of memory");
    if (!error)
        *events = w.length[0];
    free(w.state);
    free(w.at);
    free(w.stack);
    free(w.length);
    free(w.uses);
    return error;
}

int grammar_flat_measure(struct grammar_flat *g, char *why, size_t size)
{
    int error = check_ranges(g, why, size);
    return error ?: check_walk(g, &g->events, why, size);
}

int grammar_flat_check(const struct grammar_flat *g, char *why, size_t size)
{
    uint64_t events = 0;
    int error = check_ranges(g, why, size);
    error = error ?: check_walk(g, &events, why, size);
    if (!error && events != g->events)
        error = refuse(why, size, "expands to %llu events, not %llu", (unsigned long long)events,
                       (unsigned long long)g->events);
    return error;
}
