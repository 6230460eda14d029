/* SPDX-License-Identifier: MIT */
/*
 * At the memory cap: the oldest half of R becomes one node GRAMMAR_LOST^n, n events whose times are kept and whose
 * order is not. What repeats in the recent half keeps its rules; rules that only the old half used go.
 *
 * The rules that stay give up the statistics of the expansions that went, in proportion, so that sums still agree at
 * every level: one pass over the grammar, users before used.
 */
#include "grammar/internal.h"

#include <string.h>

/* What leaves a rule: expansions, and their times. */
struct leaving { uint64_t count, gap, duration; };

struct farewell {
    struct base_arena arena;
    struct leaving *rule; /* by rule number; NULL without memory: sums then keep what is gone */
    uint32_t *order, *stack, *at;
};

static uint64_t events_of(const struct grammar *g, uint32_t n)
{
    return g->nodes[n].exponent * grammar_symbol_length(g, g->nodes[n].symbol);
}

static uint32_t lost_node(const struct grammar *g)
{
    uint32_t first = grammar_first(g, 0);
    return g->nodes[first].symbol == GRAMMAR_LOST ? first : GRAMMAR_NONE;
}

static void coarsen_leave(struct farewell *f, uint32_t symbol, uint64_t count, uint64_t gap, uint64_t duration)
{
    if (!f->rule || !grammar_is_rule(symbol))
        return;
    struct leaving *l = &f->rule[symbol & ~GRAMMAR_RULE];
    l->count += count;
    l->gap += gap;
    l->duration += duration;
}

static void fold_node(struct grammar *g, uint32_t lost, uint32_t n, struct farewell *f)
{
    const struct grammar_tally *s = &g->nodes[n].stats;
    uint64_t events = events_of(g, n);
    coarsen_leave(f, g->nodes[n].symbol, g->nodes[n].exponent, s->gap.sum, s->duration.sum);
    g->nodes[lost].stats.count += events;
    grammar_sums_fold(&g->nodes[lost].stats.gap, &s->gap, events);
    grammar_sums_fold(&g->nodes[lost].stats.duration, &s->duration, events);
    g->nodes[lost].exponent += events;
    g->lost += events;
    if (grammar_is_rule(g->nodes[n].symbol))
        grammar_hint(&g->utility_hints, g->nodes[n].symbol & ~GRAMMAR_RULE);
    grammar_unregister(g, n);
    grammar_unlink(g, n);
    grammar_node_give(g, n);
}

/* --- The pass over the rules that stay --- */

/* Live rules, users before used: the reverse of a depth-first postorder. Returns their number; they end order[top). */
static uint32_t users_first(const struct grammar *g, struct farewell *f)
{
    uint32_t first = g->rule_top;
    memset(f->at, 0xff, g->rule_top * sizeof *f->at);
    for (uint32_t root = 0; root < g->rule_top; root++) {
        uint32_t depth = 0;
        if (!g->rules[root].live || f->at[root] != GRAMMAR_NONE)
            continue;
        f->at[root] = grammar_first(g, root);
        f->stack[depth++] = root;
        while (depth) {
            uint32_t r = f->stack[depth - 1], n = f->at[r];
            if (grammar_is_guard(g, n)) {
                f->order[--first] = r;
                depth--;
                continue;
            }
            f->at[r] = g->nodes[n].next;
            uint32_t symbol = g->nodes[n].symbol, s = symbol & ~GRAMMAR_RULE;
            if (grammar_is_rule(symbol) && f->at[s] == GRAMMAR_NONE) {
                f->at[s] = grammar_first(g, s);
                f->stack[depth++] = s;
            }
        }
    }
    return first;
}

/* Takes from s the part of `leaving` (of `total`) that falls between `before` and `before` + its sum: parts add up. */
static uint64_t shrink_sums(struct grammar_sums *s, uint64_t leaving, uint64_t total, uint64_t before)
{
    if (total == 0)
        return 0;
    uint64_t part = grammar_share(leaving, before + s->sum, total) - grammar_share(leaving, before, total);
    grammar_sums_shrink(s, part);
    return part;
}

static void shrink_rule(struct grammar *g, uint32_t rule, struct farewell *f)
{
    const struct leaving *l = &f->rule[rule];
    uint32_t guard = g->rules[rule].guard;
    uint64_t gap = 0, duration = 0, gap_before = 0, duration_before = 0;
    for (uint32_t n = g->nodes[guard].next; n != guard; n = g->nodes[n].next) {
        gap += g->nodes[n].stats.gap.sum;
        duration += g->nodes[n].stats.duration.sum;
    }
    for (uint32_t n = g->nodes[guard].next; n != guard; n = g->nodes[n].next) {
        struct grammar_tally *s = &g->nodes[n].stats;
        uint64_t count = l->count * g->nodes[n].exponent, gap_sum = s->gap.sum, duration_sum = s->duration.sum;
        uint64_t g_part = shrink_sums(&s->gap, l->gap, gap, gap_before);
        uint64_t d_part = shrink_sums(&s->duration, l->duration, duration, duration_before);
        s->count -= count;
        gap_before += gap_sum;
        duration_before += duration_sum;
        coarsen_leave(f, g->nodes[n].symbol, count, g_part, d_part);
        grammar_attrs_shrink(g, n, s->count + count, s->count);
    }
}

/* Not from malloc: an append may come from inside of it. */
static void farewell_open(const struct grammar *g, struct farewell *f)
{
    bool there = base_arena_open(&f->arena, sizeof *f->rule + 3 * sizeof *f->order, g->rule_top) == 0;
    f->rule = there ? f->arena.base : NULL;
    f->order = there ? (uint32_t *)(f->rule + g->rule_top) : NULL;
    f->stack = there ? f->order + g->rule_top : NULL;
    f->at = there ? f->stack + g->rule_top : NULL;
}

static void farewell_close(struct grammar *g, struct farewell *f)
{
    if (f->rule)
        for (uint32_t i = users_first(g, f); i < g->rule_top; i++)
            if (f->order[i] != 0 && f->rule[f->order[i]].count)
                shrink_rule(g, f->order[i], f);
    base_arena_close(&f->arena);
}

static uint32_t root_length(const struct grammar *g)
{
    uint32_t count = 0, guard = g->rules[0].guard;
    for (uint32_t n = g->nodes[guard].next; n != guard; n = g->nodes[n].next)
        count++;
    return count;
}

void grammar_coarsen(struct grammar *g)
{
    grammar_drain(g);
    grammar_courses_leave(g);
    uint32_t guard = g->rules[0].guard, lost = lost_node(g), length = root_length(g);
    uint32_t fold = length > 8 ? length / 2 : length;
    if (lost != GRAMMAR_NONE) {
        grammar_unregister(g, lost);
        fold -= fold == length;
    } else {
        lost = grammar_node_take(g, GRAMMAR_LOST, 1);
        g->nodes[lost].exponent = 0;
        grammar_insert_after(g, guard, lost);
    }
    struct farewell farewell;
    farewell_open(g, &farewell);
    while (fold-- && g->nodes[lost].next != guard)
        fold_node(g, lost, g->nodes[lost].next, &farewell);
    farewell_close(g, &farewell);
    grammar_hint(&g->digram_hints, lost);
    grammar_drain(g);
}
