/* SPDX-License-Identifier: MIT */
/*
 * The tail's frames: how they begin, take events, and are written out (append.c says when).
 *
 * A frame begins where the last two symbols are the first two of a rule's body: the steps would make a rule of them.
 * Leaving these steps out is exact, because they would find nothing meanwhile: a pair that contains the prefix's new
 * rule stands nowhere else.
 */
#include "grammar/internal.h"

static void arrive(struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    grammar_tally_add(&g->nodes[n].stats, a->gap, a->duration);
    if (a->event && a->event->channels)
        grammar_attrs_add(g, n, a->event);
}

uint32_t grammar_arrival_node(struct grammar *g, const struct grammar_arrival *a)
{
    uint32_t n = grammar_node_take(g, a->symbol, 1);
    arrive(g, n, a);
    return n;
}

/* The same of what will probably be joined to `like`. */
static uint32_t arrival_like(struct grammar *g, const struct grammar_arrival *a, uint32_t like)
{
    uint32_t n = grammar_node_take(g, a->symbol, 1);
    if (a->event && a->event->channels && g->nodes[like].symbol == a->symbol)
        grammar_attrs_foretell(g, n, like);
    arrive(g, n, a);
    return n;
}

/* Where that symbol is first in what one in a ring expands to; else its first event. */
static uint32_t first_like(const struct grammar *g, uint32_t n, uint32_t symbol)
{
    while (g->nodes[n].symbol != symbol && grammar_is_rule(g->nodes[n].symbol))
        n = grammar_first(g, g->nodes[n].symbol & ~GRAMMAR_RULE);
    return n;
}

void grammar_arrival_count(struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    grammar_exponent_add(g, n, 1);
    arrive(g, n, a);
}

void grammar_link_last(struct grammar *g, uint32_t n)
{
    uint32_t last = grammar_last(g, 0);
    grammar_insert_after(g, last, n);
    if (!grammar_is_guard(g, last))
        grammar_hint(&g->digram_hints, last);
}

/* --- Frames --- */

/* Takes the turns in `from`, a node outside all rings, as the body's node `n`. */
static void frame_join(struct grammar *g, struct grammar_frame *f, uint32_t n, uint32_t from)
{
    f->gap += g->nodes[from].stats.gap.sum;
    f->duration += g->nodes[from].stats.duration.sum;
    grammar_tally_join(&g->nodes[n].stats, &g->nodes[from].stats);
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

/* Whether the pair at `found` begins a rule that the tail can repeat, with so many turns of its first symbol. */
static bool may_begin(const struct grammar *g, uint64_t turns, uint32_t found)
{
    uint32_t guard = g->nodes[found].prev, rule = g->nodes[guard].symbol & ~GRAMMAR_RULE;
    if (!grammar_is_guard(g, guard) || rule == 0 || g->nodes[found].exponent != turns ||
        g->tail.depth == GRAMMAR_FRAMES)
        return false;
    for (uint32_t i = 0; i < g->tail.depth; i++)
        if (g->tail.frame[i].rule == rule)
            return false;
    return true;
}

/* … with the node `first` as that. */
static bool may_begin_with(const struct grammar *g, uint32_t first, uint32_t found)
{
    return may_begin(g, g->nodes[first].exponent, found) && !last_but_one_use(g, first);
}

static void frame_begin(struct grammar *g, uint32_t head, uint32_t found)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth++];
    uint32_t guard = g->nodes[found].prev;
    grammar_prefetch(g, found);
    grammar_prefetch(g, g->nodes[found].next);
    grammar_prefetch(g, g->rules[g->nodes[guard].symbol & ~GRAMMAR_RULE].use_head); /* its next neighbour as a use */
    *f = (struct grammar_frame){ .rule = g->nodes[guard].symbol & ~GRAMMAR_RULE,
                                 .at = g->nodes[found].next,
                                 .head = head,
                                 .pending = GRAMMAR_NONE };
}

static void turn(struct grammar *g, uint32_t rule, uint64_t gap, uint64_t duration)
{
    g->tail.turn = (struct grammar_arrival){rule | GRAMMAR_RULE, gap, duration, NULL};
    g->tail.turned = true;
}

static inline void frame_count(struct grammar *g, struct grammar_frame *f, uint32_t n, const struct grammar_arrival *a)
{
    f->gap += a->gap;
    f->duration += a->duration;
    arrive(g, n, a);
}

/* The innermost frame takes what it expects. */
static void frame_arrive(struct grammar *g, const struct grammar_arrival *a)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    uint32_t n = f->at;
    if (g->nodes[n].exponent == 1) {
        frame_join_head(g, f);
        frame_count(g, f, n, a);
    } else if (f->pending == GRAMMAR_NONE) {
        f->pending = arrival_like(g, a, n);
        return;
    } else {
        grammar_arrival_count(g, f->pending, a);
        if (g->nodes[f->pending].exponent < g->nodes[n].exponent)
            return;
        frame_join_head(g, f);
        frame_join(g, f, n, f->pending);
        f->pending = GRAMMAR_NONE;
    }
    f->at = g->nodes[n].next;
    if (grammar_is_guard(g, f->at)) {
        g->tail.depth--;
        turn(g, f->rule, f->gap, f->duration);
    }
}

/* --- Writing the tail out --- */

/* The sum of the means' squares, which is a quotient: of one expansion a node its sum's square. */
static void walk_sums(struct grammar_sums *to, grammar_square_t *means, const struct grammar_sums *s, uint64_t exponent)
{
    to->sum += s->sum;
    to->min += s->min * exponent;
    to->max += s->max * exponent;
    to->square += s->square;
    *means += grammar_square_mean(s->sum, exponent);
}

/* Sums the next nodes of the prefix up. Returns true when that was all. */
static bool walk_prefix(struct grammar *g, const struct grammar_frame *f)
{
    struct grammar_prefix *p = &g->tail.prefix;
    if (p->next == GRAMMAR_NONE)
        *p = (struct grammar_prefix){ .next = grammar_first(g, f->rule) };
    for (int i = 0; i < GRAMMAR_WALK && p->next != f->at; i++) {
        const struct grammar_node *node = &g->nodes[p->next];
        walk_sums(&p->stats.gap, &p->gap_means, &node->stats.gap, node->exponent);
        walk_sums(&p->stats.duration, &p->duration_means, &node->stats.duration, node->exponent);
        p->length += node->exponent * grammar_symbol_length(g, node->symbol);
        p->next = node->next;
    }
    return p->next == f->at;
}

/* Over the rule's `n` earlier expansions, without this turn: sums are exact, extremes stay bounds, squares are in
   proportion. */
static struct grammar_sums prefix_sums(const struct grammar_sums *s, grammar_square_t means, uint64_t turn, uint64_t n)
{
    uint64_t sum = s->sum - turn;
    if (n <= 1)
        return (struct grammar_sums){sum, sum, sum, grammar_square_of(sum)};
    grammar_square_t equal = means / (n + 1), excess = s->square > equal ? s->square - equal : 0;
    return (struct grammar_sums){sum, s->min, s->max, grammar_square_mean(sum, n) + excess / (n + 1) * n};
}

/* Cuts the nodes before f->at off into a rule of their own, whose use takes their place. */
static uint32_t cut_prefix(struct grammar *g, const struct grammar_frame *f)
{
    struct grammar_prefix *p = &g->tail.prefix;
    uint64_t expansions = g->nodes[f->at].stats.count / g->nodes[f->at].exponent;
    uint32_t first = grammar_first(g, f->rule), last = g->nodes[f->at].prev, outer = g->rules[f->rule].guard;
    uint32_t rule = grammar_rule_take(g), guard = g->rules[rule].guard;
    grammar_unregister(g, last);
    g->rules[rule].length = p->length;
    g->nodes[guard].next = first;
    g->nodes[first].prev = guard;
    g->nodes[guard].prev = last;
    g->nodes[last].next = guard;
    g->nodes[outer].next = f->at;
    g->nodes[f->at].prev = outer;
    uint32_t use = grammar_node_take(g, rule | GRAMMAR_RULE, 1);
    g->nodes[use].stats.count = expansions;
    g->nodes[use].stats.gap = prefix_sums(&p->stats.gap, p->gap_means, f->gap, expansions);
    g->nodes[use].stats.duration = prefix_sums(&p->stats.duration, p->duration_means, f->duration, expansions);
    grammar_insert_after(g, outer, use);
    grammar_hint(&g->digram_hints, use);
    p->next = GRAMMAR_NONE;
    return rule;
}

static void write_prefix(struct grammar *g, struct grammar_frame *f)
{
    if (f->head != GRAMMAR_NONE) {
        grammar_link_last(g, f->head);
    } else {
        struct grammar_arrival a = {cut_prefix(g, f) | GRAMMAR_RULE, f->gap, f->duration, NULL};
        grammar_link_last(g, grammar_arrival_node(g, &a));
    }
    f->rule = GRAMMAR_NONE;
}

/* What is held gets a node. */
static void let_go(struct grammar *g)
{
    struct grammar_tail *t = &g->tail;
    if (!t->holds)
        return;
    t->holds = false;
    g->events--; /* it came before the last event was noted */
    t->raw = arrival_like(g, &t->held, t->raw);
    g->events++;
}

void grammar_tail_flush(struct grammar *g)
{
    let_go(g);
    for (uint32_t i = 0; i < g->tail.depth; i++) {
        grammar_attrs_write(g, g->tail.frame[i].head, GRAMMAR_NONE);
        grammar_attrs_write(g, g->tail.frame[i].pending, GRAMMAR_NONE);
    }
    grammar_attrs_write(g, g->tail.raw, GRAMMAR_NONE);
    g->tail.flushing = true;
}

bool grammar_tail_write(struct grammar *g)
{
    struct grammar_tail *t = &g->tail;
    if (!t->flushing)
        return false;
    if (t->written < t->depth) {
        struct grammar_frame *f = &t->frame[t->written];
        if (f->rule != GRAMMAR_NONE) {
            if (f->head == GRAMMAR_NONE && !walk_prefix(g, f))
                return true;
            write_prefix(g, f);
            t->written += f->pending == GRAMMAR_NONE;
        } else {
            grammar_link_last(g, f->pending);
            t->written++;
        }
        return true;
    }
    t->depth = t->written = 0;
    t->flushing = false;
    if (t->raw == GRAMMAR_NONE)
        return false;
    grammar_link_last(g, t->raw);
    t->raw = GRAMMAR_NONE;
    return true;
}

/* --- Taking --- */

static uint32_t find_pair(const struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    return grammar_digrams_find(&g->digrams, g->nodes[n].symbol, a->symbol);
}

/* `last`, in R's ring or raw, and what arrives are the first two of a rule's body. */
static void begin(struct grammar *g, uint32_t last, uint32_t found, const struct grammar_arrival *a)
{
    if (last == g->tail.raw) {
        g->tail.raw = GRAMMAR_NONE;
    } else {
        grammar_unregister(g, g->nodes[last].prev);
        grammar_unlink(g, last);
    }
    grammar_attrs_write(g, last, found);
    frame_begin(g, last, found);
    frame_arrive(g, a);
}

static bool one_more(struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    if (g->nodes[n].symbol != a->symbol)
        return false;
    grammar_arrival_count(g, n, a);
    return true;
}

/* A symbol whose pair with what precedes it is new: after a turn, or before the first one, of the rule at `n` it is
   probably what that begins with. */
static void set_raw(struct grammar *g, const struct grammar_arrival *a, uint32_t n)
{
    struct grammar_tail *t = &g->tail;
    uint32_t like = first_like(g, n, a->symbol);
    t->holds = g->nodes[like].symbol == a->symbol && g->nodes[g->nodes[like].next].exponent == 1 &&
               may_begin(g, 1, like);
    t->raw = t->holds ? like : arrival_like(g, a, like);
    if (!t->holds)
        return;
    t->held = *a;
    if (a->event) {
        t->event = *a->event;
        t->held.event = &t->event;
    }
}

/* Behind R's ring. */
static bool take_last(struct grammar *g, const struct grammar_arrival *a)
{
    uint32_t last = grammar_last(g, 0);
    if (grammar_is_guard(g, last))
        return false;
    if (one_more(g, last, a))
        return true;
    uint32_t found = find_pair(g, last, a);
    if (found == GRAMMAR_NONE)
        set_raw(g, a, last);
    else if (may_begin_with(g, last, found))
        begin(g, last, found, a);
    else
        return false;
    return true;
}

/* What is held and what arrives are the first two of a rule's body. */
static bool take_both(struct grammar *g, const struct grammar_arrival *a)
{
    uint32_t n = g->tail.raw;
    if (g->nodes[g->nodes[n].next].symbol != a->symbol)
        return false;
    g->tail.raw = GRAMMAR_NONE;
    g->tail.holds = false;
    frame_begin(g, GRAMMAR_NONE, n);
    g->events--; /* it came before the last event was noted */
    frame_count(g, &g->tail.frame[g->tail.depth - 1], n, &g->tail.held);
    g->events++;
    frame_arrive(g, a);
    return true;
}

/* Behind a symbol whose pair with what precedes it is new. */
static bool take_behind_raw(struct grammar *g, const struct grammar_arrival *a)
{
    if (g->tail.holds && take_both(g, a))
        return true;
    let_go(g);
    uint32_t raw = g->tail.raw, last = grammar_last(g, 0);
    if (one_more(g, raw, a))
        return true;
    uint32_t found = find_pair(g, raw, a);
    if (found != GRAMMAR_NONE && may_begin_with(g, raw, found)) {
        begin(g, raw, found, a);
        return true;
    }
    if (found != GRAMMAR_NONE || g->tail.depth || grammar_is_full(g))
        return false;
    grammar_attrs_write(g, raw, GRAMMAR_NONE);
    grammar_insert_after(g, last, raw);
    if (!grammar_is_guard(g, last)) /* it was looked for when raw came */
        grammar_digrams_find_or_add(&g->digrams, g->nodes[last].symbol, g->nodes[raw].symbol, last);
    g->tail.raw = grammar_arrival_node(g, a);
    return true;
}

/* In a frame. What it does not expect may be the first of the rule that it expects. */
static bool take_inside(struct grammar *g, const struct grammar_arrival *a)
{
    const struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    uint32_t symbol = g->nodes[f->at].symbol;
    if (symbol == a->symbol)
        frame_arrive(g, a);
    else if (grammar_is_rule(symbol) && a->event)
        set_raw(g, a, f->at);
    else
        return false;
    return true;
}

static inline bool take(struct grammar *g, const struct grammar_arrival *a)
{
    if (g->tail.raw != GRAMMAR_NONE)
        return take_behind_raw(g, a);
    return g->tail.depth ? take_inside(g, a) : take_last(g, a);
}

bool grammar_tail_take(struct grammar *g, const struct grammar_arrival *a)
{
    return take(g, a);
}

bool grammar_tail_turn(struct grammar *g, struct grammar_arrival *a)
{
    if (!g->tail.turned)
        return false;
    g->tail.turned = false;
    *a = g->tail.turn;
    return true;
}

/* Turns that are complete, one within the other. There is nothing else to do meanwhile. */
static __attribute__((noinline)) void take_turns(struct grammar *g)
{
    struct grammar_arrival a;
    while (grammar_tail_turn(g, &a))
        if (!grammar_tail_take(g, &a)) {
            grammar_tail_flush(g);
            g->late = a;
            grammar_work(g);
            return;
        }
}

__attribute__((flatten)) void grammar_append(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_arrival a = grammar_arrival_of(e);
    grammar_courses_note(g, e);
    if (__builtin_expect(g->busy, 0) || !take(g, &a)) {
        grammar_append_late(g, e);
        return;
    }
    grammar_note(g, e);
    if (g->tail.turned)
        take_turns(g);
}
