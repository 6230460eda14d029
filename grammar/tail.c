/* SPDX-License-Identifier: MIT */
/*
 * Appending, by the tail where events repeat what the grammar has, else by the structural steps.
 *
 * A frame begins where the last two symbols are the first two of a rule's body: the steps would make a rule of them. It is
 * exact because what the steps would look up meanwhile is known: a pair with the prefix's new rule stands nowhere else.
 */
#include "grammar/internal.h"

/* A symbol at the end of the stream: an event, or a rule whose turn is complete. */
struct arrival {
    uint32_t symbol;
    uint64_t gap, duration;
    const struct grammar_event *event; /* NULL: a rule */
};

static void arrive(struct grammar *g, uint32_t n, const struct arrival *a)
{
    grammar_stats_add(&g->stats[n], a->gap, a->duration);
    if (a->event && a->event->channels)
        grammar_attrs_add(g, n, a->event);
}

static uint32_t new_node(struct grammar *g, const struct arrival *a)
{
    uint32_t n = grammar_node_take(g, a->symbol, 1);
    arrive(g, n, a);
    return n;
}

/* --- By the structural steps --- */

static void link_last(struct grammar *g, uint32_t n)
{
    uint32_t last = grammar_last(g, 0);
    grammar_insert_after(g, last, n);
    if (!grammar_is_guard(g, last)) {
        grammar_hint(&g->digram_hints, last);
        grammar_drain(g);
    }
}

static void append_plain(struct grammar *g, const struct arrival *a)
{
    uint32_t last = grammar_last(g, 0);
    if (!grammar_is_guard(g, last) && g->nodes[last].symbol == a->symbol) {
        grammar_exponent_add(g, last, 1);
        arrive(g, last, a);
    } else {
        link_last(g, new_node(g, a));
    }
    if (grammar_memory(g) > g->memory)
        grammar_coarsen(g);
}

/* --- Frames --- */

static void prefix_add(struct grammar_prefix *p, const struct grammar_moments *m, uint64_t exponent, uint64_t turn)
{
    double sum = (double)m->sum;
    p->turn += turn;
    p->sum += m->sum;
    p->min += m->min * exponent;
    p->max += m->max * exponent;
    p->square += m->square;
    p->squared_means += exponent == 1 ? sum * sum : sum * sum / (double)exponent;
}

/* The node `n` of the body is whole in this turn, its times `gap` and `duration`: to be called before they are added. */
static void frame_take(const struct grammar *g, struct grammar_frame *f, uint32_t n, uint64_t gap, uint64_t duration)
{
    const struct grammar_node *node = &g->nodes[n];
    prefix_add(&f->gap, &g->stats[n].gap, node->exponent, gap);
    prefix_add(&f->duration, &g->stats[n].duration, node->exponent, duration);
    f->length += node->exponent * grammar_symbol_length(g, node->symbol);
}

/* Takes the turns in `from`, a node outside all rings, as the body's node `n`. */
static void frame_join(struct grammar *g, struct grammar_frame *f, uint32_t n, uint32_t from)
{
    frame_take(g, f, n, g->stats[from].gap.sum, g->stats[from].duration.sum);
    grammar_stats_join(&g->stats[n], &g->stats[from]);
    grammar_attrs_join(g, n, from);
    grammar_node_give(g, from);
}

static void frame_join_head(struct grammar *g, struct grammar_frame *f)
{
    if (f->head == GRAMMAR_NONE)
        return;
    frame_join(g, f, grammar_first(g, f->rule), f->head);
    f->head = GRAMMAR_NONE;
}

/* Whether taking `n` away would leave its rule with one use, to be dissolved: the steps then extend it. */
static bool last_but_one_use(const struct grammar *g, uint32_t n)
{
    const struct grammar_node *node = &g->nodes[n];
    return grammar_is_rule(node->symbol) && g->rules[node->symbol & ~GRAMMAR_RULE].uses < node->exponent + 2;
}

/* Whether the pair at `found` begins a rule that the tail can repeat, with `first` as its first node. */
static bool may_begin(const struct grammar *g, uint32_t first, uint32_t found)
{
    uint32_t guard = g->nodes[found].prev, rule = g->nodes[guard].symbol & ~GRAMMAR_RULE;
    if (!grammar_is_guard(g, guard) || rule == 0 || g->nodes[found].exponent != g->nodes[first].exponent ||
        g->tail.depth == GRAMMAR_FRAMES || last_but_one_use(g, first))
        return false;
    for (uint32_t i = 0; i < g->tail.depth; i++)
        if (g->tail.frame[i].rule == rule)
            return false;
    return true;
}

static void frame_begin(struct grammar *g, uint32_t head, uint32_t found)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth++];
    uint32_t guard = g->nodes[found].prev;
    *f = (struct grammar_frame){.rule = g->nodes[guard].symbol & ~GRAMMAR_RULE, .at = g->nodes[found].next, .head = head,
                                .pending = GRAMMAR_NONE};
}

/* The innermost frame takes what it expects. */
static void frame_arrive(struct grammar *g, const struct arrival *a)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    uint32_t n = f->at;
    if (g->nodes[n].exponent == 1) {
        frame_join_head(g, f);
        frame_take(g, f, n, a->gap, a->duration);
        arrive(g, n, a);
    } else if (f->pending == GRAMMAR_NONE) {
        f->pending = new_node(g, a);
        return;
    } else {
        grammar_exponent_add(g, f->pending, 1);
        arrive(g, f->pending, a);
        if (g->nodes[f->pending].exponent < g->nodes[n].exponent)
            return;
        frame_join_head(g, f);
        frame_join(g, f, n, f->pending);
        f->pending = GRAMMAR_NONE;
    }
    f->at = g->nodes[n].next;
}

/* --- Writing the tail out --- */

/* Moments of the prefix over the rule's `n` earlier expansions: see compose_moments in steps.c. */
static void prefix_moments(const struct grammar_prefix *p, uint64_t n, struct grammar_moments *m)
{
    m->sum = p->sum;
    if (n <= 1) {
        m->min = m->max = m->sum;
        m->square = (double)m->sum * (double)m->sum;
        return;
    }
    double count = (double)n, variance = p->square - p->squared_means / count, mean = (double)p->sum / count;
    m->square = count * mean * mean + (variance > 0 ? variance : 0);
    m->min = p->min;
    m->max = p->max;
}

/* Cuts the nodes before f->at off into a rule of their own, whose use takes their place. */
static uint32_t cut_prefix(struct grammar *g, const struct grammar_frame *f)
{
    uint64_t expansions = g->stats[f->at].count / g->nodes[f->at].exponent;
    uint32_t first = grammar_first(g, f->rule), last = g->nodes[f->at].prev, outer = g->rules[f->rule].guard;
    uint32_t rule = grammar_rule_take(g), guard = g->rules[rule].guard;
    grammar_unregister(g, last);
    g->rules[rule].length = f->length;
    g->nodes[guard].next = first;
    g->nodes[first].prev = guard;
    g->nodes[guard].prev = last;
    g->nodes[last].next = guard;
    g->nodes[outer].next = f->at;
    g->nodes[f->at].prev = outer;
    uint32_t use = grammar_node_take(g, rule | GRAMMAR_RULE, 1);
    g->stats[use].count = expansions;
    prefix_moments(&f->gap, expansions, &g->stats[use].gap);
    prefix_moments(&f->duration, expansions, &g->stats[use].duration);
    grammar_insert_after(g, outer, use);
    grammar_hint(&g->digram_hints, use);
    return rule;
}

static void frame_flush(struct grammar *g, const struct grammar_frame *f)
{
    if (f->head != GRAMMAR_NONE) {
        link_last(g, f->head);
    } else {
        struct arrival a = {cut_prefix(g, f) | GRAMMAR_RULE, f->gap.turn, f->duration.turn, NULL};
        link_last(g, new_node(g, &a));
        grammar_drain(g);
    }
    if (f->pending != GRAMMAR_NONE)
        link_last(g, f->pending);
}

void grammar_tail_flush(struct grammar *g)
{
    uint32_t depth = g->tail.depth, raw = g->tail.raw;
    g->tail.depth = 0;
    g->tail.raw = GRAMMAR_NONE;
    for (uint32_t i = 0; i < depth; i++)
        frame_flush(g, &g->tail.frame[i]);
    if (raw != GRAMMAR_NONE)
        link_last(g, raw);
}

/* --- Appending --- */

static uint32_t find_pair(const struct grammar *g, uint32_t n, const struct arrival *a)
{
    return grammar_digrams_find(&g->digrams, g->nodes[n].symbol, a->symbol);
}

/* `last`, in R's ring or raw, and what arrives are the first two of a rule's body. */
static void begin(struct grammar *g, uint32_t last, uint32_t found, const struct arrival *a)
{
    if (last == g->tail.raw) {
        g->tail.raw = GRAMMAR_NONE;
    } else {
        grammar_unregister(g, g->nodes[last].prev);
        grammar_unlink(g, last);
    }
    frame_begin(g, last, found);
    frame_arrive(g, a);
}

static bool one_more(struct grammar *g, uint32_t n, const struct arrival *a)
{
    if (g->nodes[n].symbol != a->symbol)
        return false;
    grammar_exponent_add(g, n, 1);
    arrive(g, n, a);
    return true;
}

/* Behind R's ring. */
static bool take_last(struct grammar *g, const struct arrival *a)
{
    uint32_t last = grammar_last(g, 0);
    if (grammar_is_guard(g, last))
        return false;
    if (one_more(g, last, a))
        return true;
    uint32_t found = find_pair(g, last, a);
    if (found == GRAMMAR_NONE)
        g->tail.raw = new_node(g, a);
    else if (may_begin(g, last, found))
        begin(g, last, found, a);
    else
        return false;
    return true;
}

/* Behind a symbol whose pair with what precedes it is new. */
static bool take_behind_raw(struct grammar *g, const struct arrival *a)
{
    uint32_t raw = g->tail.raw;
    if (one_more(g, raw, a))
        return true;
    uint32_t found = find_pair(g, raw, a);
    if (found != GRAMMAR_NONE && may_begin(g, raw, found)) {
        begin(g, raw, found, a);
        return true;
    }
    if (found != GRAMMAR_NONE || g->tail.depth || grammar_memory(g) > g->memory)
        return false;
    link_last(g, raw);
    g->tail.raw = new_node(g, a);
    return true;
}

/* In a frame. What it does not expect may be the first of the rule that it expects. */
static bool take_inside(struct grammar *g, const struct arrival *a)
{
    const struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    uint32_t symbol = g->nodes[f->at].symbol;
    if (symbol == a->symbol)
        frame_arrive(g, a);
    else if (grammar_is_rule(symbol) && a->event)
        g->tail.raw = new_node(g, a);
    else
        return false;
    return true;
}

static bool take(struct grammar *g, const struct arrival *a)
{
    if (g->tail.raw != GRAMMAR_NONE)
        return take_behind_raw(g, a);
    return g->tail.depth ? take_inside(g, a) : take_last(g, a);
}

static bool turn_is_complete(const struct grammar *g)
{
    return g->tail.depth && grammar_is_guard(g, g->tail.frame[g->tail.depth - 1].at);
}

/* A complete turn is a symbol of the frame around it, or of R. */
static void complete(struct grammar *g)
{
    while (turn_is_complete(g)) {
        const struct grammar_frame *f = &g->tail.frame[--g->tail.depth];
        struct arrival a = {f->rule | GRAMMAR_RULE, f->gap.turn, f->duration.turn, NULL};
        if (!take(g, &a)) {
            grammar_tail_flush(g);
            append_plain(g, &a);
        }
    }
}

static void note(struct grammar *g, const struct grammar_event *e)
{
    if (e->terminal >= g->terminals)
        g->terminals = e->terminal + 1;
    g->events++;
}

void grammar_append(struct grammar *g, const struct grammar_event *e)
{
    struct arrival a = {e->terminal, e->gap, e->duration, e};
    if (take(g, &a)) {
        complete(g);
    } else {
        grammar_tail_flush(g);
        append_plain(g, &a);
    }
    note(g, e);
}

void grammar_append_plain(struct grammar *g, const struct grammar_event *e)
{
    struct arrival a = {e->terminal, e->gap, e->duration, e};
    append_plain(g, &a);
    note(g, e);
}
