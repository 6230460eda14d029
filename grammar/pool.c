/* SPDX-License-Identifier: MIT */
/* The records of a growing grammar: nodes in rings, rules, attributes; each with a free list. */
#include "grammar/internal.h"

#include <assert.h>

#include "grammar/attr_formula.h"

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
    grammar_attr_start(a, (enum grammar_channel)channel, t->value[channel], t->ns, t->first);
    if (a->kind == GRAMMAR_ATTR_KEYED)
        a->key[0].count = t->count;
    a->count = t->count;
    a->last = t->last;
    a->sum = (int64_t)((uint64_t)t->value[channel] * t->count);
}

/* Foretold values: few are appended as if it was then, of many the formulas are known; a tuple's are a tuple. */
static void tuple_replay(struct grammar *g, uint32_t n, const struct grammar_tuple *t)
{
    const struct grammar_tuple *by = grammar_tuple_of(g, t->by);
    struct grammar_event e = { .duration = 0 };
    uint64_t now = g->events;
    if (by) {
        struct grammar_tuple own = *by;
        own.count = t->count;
        own.first = t->first;
        own.last = t->last;
        own.ns = t->ns;
        tuple_new(g, n, &own);
        return;
    }
    for (uint32_t c = g->nodes[t->by].attr; c != GRAMMAR_NONE && t->count > GRAMMAR_ATTR_SHORT; c = g->attrs[c].next) {
        struct grammar_attr *a = attr_new(g, n);
        if (a)
            grammar_attr_next(&g->attrs[c].attr, t->count, t->first, a);
    }
    if (t->count > GRAMMAR_ATTR_SHORT)
        return;
    for (uint64_t i = 0; i < t->count; i++) {
        e.channels = 0;
        for (uint32_t c = g->nodes[t->by].attr; c != GRAMMAR_NONE; c = g->attrs[c].next) {
            const struct grammar_attr *a = &g->attrs[c].attr;
            e.channels |= 1u << a->channel;
            e.value[a->channel] = grammar_attr_at(a, a->count + i);
        }
        g->events = t->first + i;
        grammar_attrs_add(g, n, &e);
    }
    g->events = now;
}

/* Another value comes, or other channels: a cell for each channel from now on. */
static void tuple_expand(struct grammar *g, uint32_t n)
{
    struct grammar_tuple t = *grammar_tuple_of(g, n);
    attrs_release(g, n);
    if (t.by != GRAMMAR_NONE && t.count)
        tuple_replay(g, n, &t);
    for (uint32_t left = t.by == GRAMMAR_NONE ? t.channels : 0; left; left &= left - 1) {
        struct grammar_attr *a = attr_new(g, n);
        if (a)
            tuple_attr(&t, (unsigned)__builtin_ctz(left), a);
    }
}

/* Whether both nodes are tuples of the same values, as far as they have any. Else neither is one afterwards. */
static bool tuples_agree(struct grammar *g, uint32_t n, uint32_t m)
{
    const struct grammar_tuple *a = grammar_tuple_of(g, n), *b = grammar_tuple_of(g, m);
    if (a && b && grammar_tuple_has(a, b->channels, b->value))
        return true;
    if (a)
        tuple_expand(g, n);
    if (b)
        tuple_expand(g, m);
    return false;
}

static void tuple_join(struct grammar_tuple *into, const struct grammar_tuple *from)
{
    into->count += from->count;
    into->ns += from->ns;
    into->first = from->first < into->first ? from->first : into->first;
    into->last = from->last > into->last ? from->last : into->last;
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

bool grammar_varies_next(const struct grammar *g, enum grammar_channel channel)
{
    const struct grammar_tail *t = &g->tail;
    uint32_t n = t->holds ? g->nodes[t->raw].next
                 : t->depth > t->written ? t->frame[t->depth - 1].at
                                         : grammar_last(g, 0);
    uint32_t cell = n == GRAMMAR_NONE ? n : g->nodes[n].attr;
    for (cell = cell != GRAMMAR_NONE && cell & GRAMMAR_TUPLE ? GRAMMAR_NONE : cell; cell != GRAMMAR_NONE;
         cell = g->attrs[cell].next)
        if (g->attrs[cell].attr.channel == channel)
            return g->attrs[cell].attr.kind == GRAMMAR_ATTR_VARIES;
    return false;
}

void grammar_tuple_next(const struct grammar *g, struct grammar_tuple *t)
{
    for (uint32_t i = g->nodes[t->by].attr; i != GRAMMAR_NONE; i = g->attrs[i].next) {
        const struct grammar_attr *a = &g->attrs[i].attr;
        if (a->kind == GRAMMAR_ATTR_LIST || a->ramp.step)
            t->value[a->channel] = grammar_attr_at(a, a->count + t->count);
    }
}

/* What the models of t->by say next. False: not all of them say something. */
static bool foretell(const struct grammar *g, struct grammar_tuple *t)
{
    const struct grammar_tuple *by = grammar_tuple_of(g, t->by);
    t->channels = by ? by->channels : 0;
    for (uint32_t left = t->channels; left; left &= left - 1)
        t->value[__builtin_ctz(left)] = by->value[__builtin_ctz(left)];
    for (uint32_t i = by ? GRAMMAR_NONE : g->nodes[t->by].attr; i != GRAMMAR_NONE; i = g->attrs[i].next) {
        const struct grammar_attr *a = &g->attrs[i].attr;
        if (!grammar_attr_exact(a))
            return false;
        t->channels |= 1u << a->channel;
        t->value[a->channel] = grammar_attr_at(a, a->count);
        t->varies |= a->kind == GRAMMAR_ATTR_LIST || a->ramp.step;
    }
    return true;
}

void grammar_attrs_foretell(struct grammar *g, uint32_t n, uint32_t m)
{
    uint32_t cell = g->nodes[m].attr == GRAMMAR_NONE ? GRAMMAR_NONE : grammar_cell_take(g);
    if (cell == GRAMMAR_NONE)
        return;
    struct grammar_tuple *t = &g->attrs[cell].tuple;
    t->by = m;
    t->varies = false;
    t->count = t->ns = 0;
    t->first = g->events;
    if (foretell(g, t))
        g->nodes[n].attr = cell | GRAMMAR_TUPLE;
    else
        grammar_cell_give(g, cell);
}

void grammar_attrs_write(struct grammar *g, uint32_t n, uint32_t by)
{
    const struct grammar_tuple *t = n == GRAMMAR_NONE ? NULL : grammar_tuple_of(g, n);
    if (t && t->by != GRAMMAR_NONE && t->by != by)
        tuple_expand(g, n);
}

/* The values are others than the tuple's, or there is none. Each channel is at most once in a list. */
void grammar_attrs_anew(struct grammar *g, uint32_t n, const struct grammar_event *e)
{
    uint32_t left = e->channels;
    grammar_attrs_write(g, n, GRAMMAR_NONE);
    if (g->nodes[n].attr == GRAMMAR_NONE && !(left >> GRAMMAR_TEAM & 1 && e->value[GRAMMAR_TEAM] == -1)) {
        struct grammar_tuple t = {
            .channels = left, .by = GRAMMAR_NONE, .count = 1, .first = g->events, .last = g->events,
            .ns = e->duration };
        for (; left; left &= left - 1)
            t.value[__builtin_ctz(left)] = e->value[__builtin_ctz(left)];
        tuple_new(g, n, &t);
        return;
    }
    if (grammar_tuple_of(g, n))
        tuple_expand(g, n);
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

/* What node `n` had next has come. */
static void take_foretold(struct grammar *g, uint32_t n, const struct grammar_tuple *told)
{
    struct grammar_tuple *t = grammar_tuple_of(g, n);
    if (t)
        tuple_join(t, told);
    for (uint32_t i = t ? GRAMMAR_NONE : g->nodes[n].attr; i != GRAMMAR_NONE; i = g->attrs[i].next)
        grammar_attr_go_on(&g->attrs[i].attr, told->count, told->last);
}

void grammar_attrs_join(struct grammar *g, uint32_t into, uint32_t from)
{
    struct grammar_tuple *t = grammar_tuple_of(g, from);
    if (t && t->by == into) {
        take_foretold(g, into, t);
        return;
    }
    grammar_attrs_write(g, from, GRAMMAR_NONE);
    t = grammar_tuple_of(g, from);
    if (t && g->nodes[into].attr == GRAMMAR_NONE) {
        tuple_new(g, into, t);
        return;
    }
    if (g->nodes[from].attr == GRAMMAR_NONE)
        return;
    if (tuples_agree(g, into, from)) {
        tuple_join(grammar_tuple_of(g, into), t);
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

void grammar_attrs_weave(struct grammar *g, uint32_t into, uint32_t from)
{
    if (g->nodes[from].attr == GRAMMAR_NONE)
        return;
    if (tuples_agree(g, into, from)) {
        tuple_join(grammar_tuple_of(g, into), grammar_tuple_of(g, from));
        return;
    }
    for (uint32_t f = g->nodes[from].attr; f != GRAMMAR_NONE; f = g->attrs[f].next) {
        struct grammar_attr *a = attr_of(g, into, g->attrs[f].attr.channel);
        if (a)
            grammar_attr_weave(a, g->nodes[into].exponent, &g->attrs[f].attr, g->nodes[from].exponent);
    }
}

/* The same as grammar_attr_split() of each channel. False: that has to do it. */
static bool tuple_split(struct grammar *g, uint32_t n, uint64_t part, uint64_t whole, bool front, uint32_t to)
{
    struct grammar_tuple *a = grammar_tuple_of(g, n), *out;
    if (!a || g->nodes[to].attr != GRAMMAR_NONE || part == 0 || part >= whole || a->count == 0 || a->count % whole)
        return false;
    out = tuple_new(g, to, a);
    if (!out)
        return false;
    struct grammar_tuple *head = front ? out : a, *tail = front ? a : out;
    uint64_t all = a->count;
    head->count = all / whole * part;
    tail->count = all - head->count;
    out->ns = grammar_share(a->ns, out->count, all);
    a->ns -= out->ns;
    head->last -= whole - part;
    tail->first += part;
    return true;
}

void grammar_attrs_split(struct grammar *g, uint32_t n, uint64_t part, uint64_t whole, bool front, uint32_t to)
{
    if (tuple_split(g, n, part, whole, front, to))
        return;
    if (grammar_tuple_of(g, n))
        tuple_expand(g, n);
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
    struct grammar_tuple *t = grammar_tuple_of(g, n);
    if (t) {
        t->ns = t->count ? grammar_share(t->ns, count, t->count) : 0;
        t->count = t->count ? count : 0;
        return;
    }
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
