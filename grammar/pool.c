/* SPDX-License-Identifier: MIT */
/* The records of a growing grammar: nodes in rings, rules, attributes; each with a free list. */
#include "grammar/internal.h"

#include <assert.h>

/* --- Nodes --- */

static void use_add(struct grammar *g, uint32_t n)
{
    uint32_t symbol = g->nodes[n].symbol;
    if (!grammar_is_rule(symbol))
        return;
    struct grammar_rule *r = &g->rules[symbol & ~GRAMMAR_RULE];
    g->nodes[n].use_prev = GRAMMAR_NONE;
    g->nodes[n].use_next = r->use_head;
    if (r->use_head != GRAMMAR_NONE)
        g->nodes[r->use_head].use_prev = n;
    r->use_head = n;
    r->uses += g->nodes[n].exponent;
}

static void use_remove(struct grammar *g, uint32_t n)
{
    struct grammar_node *node = &g->nodes[n];
    if (!grammar_is_rule(node->symbol))
        return;
    struct grammar_rule *r = &g->rules[node->symbol & ~GRAMMAR_RULE];
    r->uses -= node->exponent;
    if (node->use_prev != GRAMMAR_NONE)
        g->nodes[node->use_prev].use_next = node->use_next;
    else
        r->use_head = node->use_next;
    if (node->use_next != GRAMMAR_NONE)
        g->nodes[node->use_next].use_prev = node->use_prev;
}

static uint32_t node_raw(struct grammar *g)
{
    uint32_t n = g->node_free;
    if (n != GRAMMAR_NONE)
        g->node_free = g->nodes[n].next;
    else
        n = g->node_top++;
    assert(n < g->node_limit);
    if (__builtin_expect(n >= g->node_ready, 0))
        g->node_ready = (uint32_t)base_arena_ahead(&g->node_arena, n + 1);
    g->nodes_used++;
    grammar_tally_clear(&g->nodes[n].stats);
    g->nodes[n].attr = GRAMMAR_NONE;
    return n;
}

uint32_t grammar_node_take(struct grammar *g, uint32_t symbol, uint64_t exponent)
{
    uint32_t n = node_raw(g);
    g->nodes[n].symbol = symbol;
    g->nodes[n].exponent = exponent;
    use_add(g, n);
    return n;
}

static void attrs_release(struct grammar *g, uint32_t n)
{
    for (uint32_t a = g->nodes[n].attr; a != GRAMMAR_NONE;) {
        uint32_t next = g->attrs[a].next;
        grammar_cell_give(g, a);
        a = next;
    }
    g->nodes[n].attr = GRAMMAR_NONE;
}

void grammar_node_give(struct grammar *g, uint32_t n)
{
    use_remove(g, n);
    attrs_release(g, n);
    g->nodes[n].symbol = GRAMMAR_NONE;
    g->nodes[n].exponent = 0;
    g->nodes[n].next = g->node_free;
    g->node_free = n;
    g->nodes_used--;
}

/* A node whose exponent reaches 0 is about to be given back: it must not be taken for a guard in between. */
void grammar_exponent_sub(struct grammar *g, uint32_t n, uint64_t k)
{
    g->nodes[n].exponent -= k;
    if (grammar_is_rule(g->nodes[n].symbol))
        g->rules[g->nodes[n].symbol & ~GRAMMAR_RULE].uses -= k;
}

/* --- Rules --- */

uint32_t grammar_rule_take(struct grammar *g)
{
    uint32_t r = g->rule_free;
    if (r != GRAMMAR_NONE)
        g->rule_free = g->rules[r].guard;
    else
        r = g->rule_top++;
    assert(r < g->rule_limit);
    uint32_t guard = node_raw(g);
    g->nodes[guard] = (struct grammar_node){
        .symbol = r | GRAMMAR_RULE, .prev = guard, .next = guard, .attr = GRAMMAR_NONE
    };
    g->rules[r] = (struct grammar_rule){.guard = guard, .use_head = GRAMMAR_NONE, .live = true};
    g->rules_used++;
    return r;
}

void grammar_rule_give(struct grammar *g, uint32_t rule)
{
    uint32_t guard = g->rules[rule].guard;
    g->nodes[guard].symbol = GRAMMAR_NONE; /* a guard is no use of its rule */
    g->nodes[guard].next = g->node_free;
    g->node_free = guard;
    g->nodes_used--;
    g->rules[rule].live = false;
    g->rules[rule].guard = g->rule_free;
    g->rule_free = rule;
    g->rules_used--;
}

/* --- Attributes --- */

static struct grammar_attr *attr_of(struct grammar *g, uint32_t n, unsigned channel)
{
    for (uint32_t a = g->nodes[n].attr; a != GRAMMAR_NONE; a = g->attrs[a].next)
        if (g->attrs[a].attr.channel == channel)
            return &g->attrs[a].attr;
    return NULL;
}

uint32_t grammar_cell_take(struct grammar *g)
{
    uint32_t a = g->attr_free;
    if (a != GRAMMAR_NONE)
        g->attr_free = g->attrs[a].next;
    else if (g->attr_top < g->attr_limit)
        a = g->attr_top++;
    else
        return GRAMMAR_NONE;
    g->attrs_used++;
    return a;
}

void grammar_cell_give(struct grammar *g, uint32_t cell)
{
    g->attrs[cell].next = g->attr_free;
    g->attr_free = cell;
    g->attrs_used--;
}

/* A new cell at the head of n's list; NULL when full: the attribute is then not modelled. */
static struct grammar_attr *attr_new(struct grammar *g, uint32_t n)
{
    uint32_t a = grammar_cell_take(g);
    if (a == GRAMMAR_NONE)
        return NULL;
    g->attrs[a].next = g->nodes[n].attr;
    g->nodes[n].attr = a;
    return &g->attrs[a].attr;
}

/* Each channel is at most once in a list. */
void grammar_attrs_add(struct grammar *g, uint32_t n, const struct grammar_event *e)
{
    uint32_t left = e->channels;
    for (uint32_t i = g->nodes[n].attr; i != GRAMMAR_NONE && left; i = g->attrs[i].next) {
        struct grammar_attr *a = &g->attrs[i].attr;
        if (!(left >> a->channel & 1))
            continue;
        left &= ~(1u << a->channel);
        if (!grammar_attr_repeat(a, e->value[a->channel], g->events))
            grammar_attr_add(a, e->value[a->channel], e->duration, g->events);
    }
    for (; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct grammar_attr *a = attr_new(g, n);
        if (a)
            grammar_attr_start(a, (enum grammar_channel)c, e->value[c], e->duration, g->events);
    }
}

void grammar_attrs_join(struct grammar *g, uint32_t into, uint32_t from)
{
    for (uint32_t f = g->nodes[from].attr; f != GRAMMAR_NONE; f = g->attrs[f].next) {
        struct grammar_attr *a = attr_of(g, into, g->attrs[f].attr.channel);
        if (a)
            grammar_attr_join(a, &g->attrs[f].attr);
        else if ((a = attr_new(g, into)) != NULL)
            *a = g->attrs[f].attr;
    }
}

void grammar_attrs_weave(struct grammar *g, uint32_t into, uint32_t from)
{
    for (uint32_t f = g->nodes[from].attr; f != GRAMMAR_NONE; f = g->attrs[f].next) {
        struct grammar_attr *a = attr_of(g, into, g->attrs[f].attr.channel);
        if (a)
            grammar_attr_weave(a, g->nodes[into].exponent, &g->attrs[f].attr, g->nodes[from].exponent);
    }
}

void grammar_attrs_split(struct grammar *g, uint32_t n, uint64_t part, uint64_t whole, bool front, uint32_t to)
{
    for (uint32_t a = g->nodes[n].attr; a != GRAMMAR_NONE; a = g->attrs[a].next) {
        struct grammar_attr *out = attr_new(g, to);
        if (out)
            grammar_attr_split(&g->attrs[a].attr, part, whole, front, out);
    }
}

static void shrink_keys(struct grammar_attr *a, uint64_t part, uint64_t whole)
{
    for (unsigned k = 0; k < a->length; k++) {
        a->key[k].sum = grammar_share(a->key[k].sum, part, whole);
        a->key[k].count = grammar_share(a->key[k].count, part, whole);
    }
}

void grammar_attrs_shrink(struct grammar *g, uint32_t n, uint64_t count)
{
    for (uint32_t c = g->nodes[n].attr; c != GRAMMAR_NONE; c = g->attrs[c].next) {
        struct grammar_attr *a = &g->attrs[c].attr;
        int64_t value;
        if (a->count == count || a->count == 0)
            continue;
        if (a->kind == GRAMMAR_ATTR_KEYED)
            shrink_keys(a, count, a->count);
        else if (!grammar_attr_constant(a, &value))
            a->kind = GRAMMAR_ATTR_VARIES;
        a->sum = a->sum < 0 ? -(int64_t)grammar_share(-(uint64_t)a->sum, count, a->count)
                            : (int64_t)grammar_share((uint64_t)a->sum, count, a->count);
        a->count = count;
    }
}
