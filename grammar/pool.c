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
    uint32_t a = g->nodes[n].attr;
    if (grammar_tuple_of(g, n)) {
        grammar_cell_give(g, a & ~GRAMMAR_TUPLE);
        a = GRAMMAR_NONE;
    }
    while (a != GRAMMAR_NONE) {
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

/* --- Tuples --- */

/* A node without attributes gets that one; NULL when full. */
static struct grammar_tuple *tuple_new(struct grammar *g, uint32_t n, const struct grammar_tuple *t)
{
    uint32_t cell = grammar_cell_take(g);
    if (cell == GRAMMAR_NONE)
        return NULL;
    g->nodes[n].attr = cell | GRAMMAR_TUPLE;
    g->attrs[cell].tuple = *t;
    return &g->attrs[cell].tuple;
}

static void tuple_attr(const struct grammar_tuple *t, unsigned channel, struct grammar_attr *a)
{
    grammar_attr_start(a, (enum grammar_channel)channel, t->value[channel], t->ns);
    if (a->kind == GRAMMAR_ATTR_KEYED)
        a->key[0].count = t->count;
    a->count = t->count;
    a->sum = (int64_t)((uint64_t)t->value[channel] * t->count);
}

/* Another value comes, or other channels: a cell for each channel from now on. */
static void pool_tuple_expand(struct grammar *g, uint32_t n)
{
    struct grammar_tuple t = *grammar_tuple_of(g, n);
    attrs_release(g, n);
    for (uint32_t left = t.channels; left; left &= left - 1) {
        struct grammar_attr *a = attr_new(g, n);
        if (a)
            tuple_attr(&t, (unsigned)__builtin_ctz(left), a);
    }
}

/* Whether both nodes are tuples of the same values. Else neither is one afterwards. */
static bool tuples_agree(struct grammar *g, uint32_t n, uint32_t m)
{
    const struct grammar_tuple *a = grammar_tuple_of(g, n), *b = grammar_tuple_of(g, m);
    if (a && b && grammar_tuple_has(a, b->channels, b->value))
        return true;
    if (a)
        pool_tuple_expand(g, n);
    if (b)
        pool_tuple_expand(g, m);
    return false;
}

/* --- Attributes of nodes --- */

uint32_t grammar_attrs_count(const struct grammar *g, uint32_t n)
{
    const struct grammar_tuple *t = grammar_tuple_of(g, n);
    uint32_t count = 0;
    if (t)
        return (uint32_t)__builtin_popcount(t->channels);
    for (uint32_t a = g->nodes[n].attr; a != GRAMMAR_NONE; a = g->attrs[a].next)
        count++;
    return count;
}

void grammar_attrs_copy(const struct grammar *g, uint32_t n, struct grammar_attr *to)
{
    const struct grammar_tuple *t = grammar_tuple_of(g, n);
    for (uint32_t left = t ? t->channels : 0; left; left &= left - 1)
        tuple_attr(t, (unsigned)__builtin_ctz(left), to++);
    for (uint32_t a = t ? GRAMMAR_NONE : g->nodes[n].attr; a != GRAMMAR_NONE; a = g->attrs[a].next)
        *to++ = g->attrs[a].attr;
}

bool grammar_keeps_next(const struct grammar *g, enum grammar_channel channel)
{
    const struct grammar_tail *t = &g->tail;
    uint32_t n = t->holds ? g->nodes[t->raw].next
                 : t->depth > t->written ? t->frame[t->depth - 1].at
                                         : grammar_last(g, 0);
    uint32_t terminal = n == GRAMMAR_NONE ? n : g->nodes[n].symbol;
    const struct grammar_courses *c = terminal < GRAMMAR_COURSE_TERMINALS ? &g->courses[terminal] : NULL;
    return !c || c->watched >> channel & 1 || !(c->channels >> channel & 1);
}

/* The values are others than the tuple's, or there is none. Each channel is at most once in a list. */
void grammar_attrs_anew(struct grammar *g, uint32_t n, const struct grammar_event *e)
{
    uint32_t left = e->channels;
    if (g->nodes[n].attr == GRAMMAR_NONE && !(left >> GRAMMAR_TEAM & 1 && e->value[GRAMMAR_TEAM] == -1)) {
        struct grammar_tuple t = { .channels = left, .count = 1, .ns = e->duration };
        for (; left; left &= left - 1)
            t.value[__builtin_ctz(left)] = e->value[__builtin_ctz(left)];
        tuple_new(g, n, &t);
        return;
    }
    if (grammar_tuple_of(g, n))
        pool_tuple_expand(g, n);
    for (uint32_t i = g->nodes[n].attr; i != GRAMMAR_NONE && left; i = g->attrs[i].next) {
        struct grammar_attr *a = &g->attrs[i].attr;
        if (!(left >> a->channel & 1))
            continue;
        left &= ~(1u << a->channel);
        grammar_attr_add(a, e->value[a->channel], e->duration);
    }
    for (; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct grammar_attr *a = attr_new(g, n);
        if (a)
            grammar_attr_start(a, (enum grammar_channel)c, e->value[c], e->duration);
    }
}

void grammar_attrs_join(struct grammar *g, uint32_t into, uint32_t from)
{
    const struct grammar_tuple *t = grammar_tuple_of(g, from);
    if (g->nodes[from].attr == GRAMMAR_NONE)
        return;
    if (t && g->nodes[into].attr == GRAMMAR_NONE) {
        tuple_new(g, into, t);
        return;
    }
    if (tuples_agree(g, into, from)) {
        grammar_tuple_of(g, into)->count += t->count;
        grammar_tuple_of(g, into)->ns += t->ns;
        return;
    }
    for (uint32_t f = g->nodes[from].attr; f != GRAMMAR_NONE; f = g->attrs[f].next) {
        struct grammar_attr *a = attr_of(g, into, g->attrs[f].attr.channel);
        if (a)
            grammar_attr_join(a, &g->attrs[f].attr);
        else if ((a = attr_new(g, into)) != NULL)
            *a = g->attrs[f].attr;
    }
}

/* The same as grammar_attr_split() of each channel. False: that has to do it. */
static bool tuple_split(struct grammar *g, uint32_t n, uint64_t total, uint64_t count, uint32_t to)
{
    struct grammar_tuple *a = grammar_tuple_of(g, n), *out;
    if (!a || a->count != total || !(out = tuple_new(g, to, a)))
        return false;
    out->count = count;
    out->ns = total ? grammar_share(a->ns, count, total) : 0;
    a->count -= count;
    a->ns -= out->ns;
    return true;
}

/* Of `total` occurrences `count` leave, it is not known which: *out. */
static void attr_leave(struct grammar_attr *a, uint64_t total, uint64_t count, struct grammar_attr *out)
{
    bool all = a->count == total;
    if (!all && a->kind == GRAMMAR_ATTR_CONSTANT)
        grammar_attr_vary(a);
    grammar_attr_split(a, all ? count : grammar_share(a->count, count, total), out);
}

void grammar_attrs_split(struct grammar *g, uint32_t n, uint64_t total, uint64_t count, uint32_t to)
{
    if (tuple_split(g, n, total, count, to))
        return;
    if (grammar_tuple_of(g, n))
        pool_tuple_expand(g, n);
    for (uint32_t a = g->nodes[n].attr; a != GRAMMAR_NONE; a = g->attrs[a].next) {
        struct grammar_attr *out = attr_new(g, to);
        if (out)
            attr_leave(&g->attrs[a].attr, total, count, out);
    }
}

void grammar_attrs_shrink(struct grammar *g, uint32_t n, uint64_t total, uint64_t count)
{
    struct grammar_tuple *t = grammar_tuple_of(g, n);
    struct grammar_attr left;
    if (t && t->count != total) {
        pool_tuple_expand(g, n);
        t = NULL;
    }
    if (t) {
        t->ns = total ? grammar_share(t->ns, count, total) : 0;
        t->count = count;
    }
    for (uint32_t c = t || total <= count ? GRAMMAR_NONE : g->nodes[n].attr; c != GRAMMAR_NONE; c = g->attrs[c].next) {
        attr_leave(&g->attrs[c].attr, total, count, &left);
        g->attrs[c].attr = left;
    }
}
