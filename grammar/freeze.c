/* SPDX-License-Identifier: MIT */
/* The growing grammar, brought to its canonical form at rest. */
#include <stdlib.h>

#include "grammar/internal.h"

/* One pass that numbers rules in the order in which an expansion of R first enters them. */
struct numbering {
    uint32_t *number;  /* of each live rule, GRAMMAR_NONE while not seen */
    uint32_t *order;   /* rule of each number */
    uint32_t *resume;  /* stack: node at which the walk goes on */
    uint32_t count, depth;
};

static void number_rules(const struct grammar *g, struct numbering *w)
{
    uint32_t n = grammar_first(g, 0);
    w->number[0] = 0;
    w->order[w->count++] = 0;
    for (;;) {
        if (grammar_is_guard(g, n)) {
            if (w->depth == 0)
                return;
            n = w->resume[--w->depth];
            continue;
        }
        uint32_t symbol = g->nodes[n].symbol, rule = symbol & ~GRAMMAR_RULE;
        uint32_t next = g->nodes[n].next;
        if (grammar_is_rule(symbol) && w->number[rule] == GRAMMAR_NONE) {
            w->number[rule] = w->count;
            w->order[w->count++] = rule;
            w->resume[w->depth++] = next;
            next = grammar_first(g, rule);
        }
        n = next;
    }
}

static int compare_channels(const void *a, const void *b)
{
    return (int)((const struct grammar_attr *)a)->channel - (int)((const struct grammar_attr *)b)->channel;
}

/* A model counts the occurrences that have its channel, and whoever reads it counts all: where these differ, not all
   have the value. */
static void freeze_attrs(const struct grammar *g, uint32_t n, struct grammar_flat *f, struct grammar_flat_node *to)
{
    uint32_t first = f->attr_count;
    to->attr_count = grammar_attrs_count(g, n);
    grammar_attrs_copy(g, n, f->attrs + first);
    for (uint32_t i = 0; i < to->attr_count; i++)
        if (f->attrs[first + i].kind == GRAMMAR_ATTR_CONSTANT &&
            f->attrs[first + i].count != f->stats[to - f->nodes].count)
            grammar_attr_vary(&f->attrs[first + i]);
    f->attr_count += to->attr_count;
    to->attr = to->attr_count ? first : GRAMMAR_NONE;
    qsort(f->attrs + first, to->attr_count, sizeof *f->attrs, compare_channels);
}

static void freeze_rule(const struct grammar *g, const struct numbering *w, uint32_t rule, struct grammar_flat *f)
{
    struct grammar_flat_rule *r = &f->rules[w->number[rule]];
    uint32_t guard = g->rules[rule].guard;
    r->first = f->node_count;
    for (uint32_t n = g->nodes[guard].next; n != guard; n = g->nodes[n].next) {
        struct grammar_flat_node *to = &f->nodes[f->node_count];
        uint32_t symbol = g->nodes[n].symbol;
        to->symbol = grammar_is_rule(symbol) ? w->number[symbol & ~GRAMMAR_RULE] | GRAMMAR_RULE : symbol;
        to->exponent = g->nodes[n].exponent;
        f->stats[f->node_count++] = grammar_tally_stats(&g->nodes[n].stats);
        freeze_attrs(g, n, f, to);
    }
    r->length = f->node_count - r->first;
}

struct grammar_flat *grammar_freeze(struct grammar *g)
{
    grammar_settle(g);
    uint32_t attrs = 0;
    for (uint32_t n = 0; n < g->node_top; n++)
        attrs += g->nodes[n].symbol != GRAMMAR_NONE ? grammar_attrs_count(g, n) : 0;
    struct grammar_flat *f = grammar_flat_create(g->rules_used, grammar_nodes(g), attrs);
    struct numbering w = {.number = malloc(3 * (size_t)g->rule_top * sizeof *w.number)};
    if (!f || !w.number || grammar_courses_freeze(g, f) != 0) {
        grammar_flat_destroy(f);
        free(w.number);
        return NULL;
    }
    w.order = w.number + g->rule_top;
    w.resume = w.order + g->rule_top;
    for (uint32_t r = 0; r < g->rule_top; r++)
        w.number[r] = GRAMMAR_NONE;
    number_rules(g, &w);
    f->node_count = f->attr_count = 0;
    for (uint32_t i = 0; i < w.count; i++)
        freeze_rule(g, &w, w.order[i], f);
    f->terminals = g->terminals > GRAMMAR_LOST ? GRAMMAR_LOST : g->terminals;
    f->events = g->events;
    free(w.number);
    return f;
}
