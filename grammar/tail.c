/* SPDX-License-Identifier: MIT */
/*
 * The tail's frames: how they begin and take events.
 *
 * A frame begins where the last two symbols are the first two of a rule's body: the steps would make a rule of them.
 * Leaving these steps out is exact, because they would find nothing meanwhile: a pair that contains the prefix's new
 * rule stands nowhere else.
 */
#include "grammar/internal.h"

static void tail_arrive(struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    grammar_tally_add(&g->nodes[n].stats, a->gap, a->duration);
    if (a->event && a->event->channels)
        grammar_attrs_add(g, n, a->event);
}

uint32_t grammar_arrival_node(struct grammar *g, const struct grammar_arrival *a)
{
    uint32_t n = grammar_node_take(g, a->symbol, 1);
    tail_arrive(g, n, a);
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
    tail_arrive(g, n, a);
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

static inline struct grammar_frame *frame_push(struct grammar *g, uint32_t head, uint32_t found)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth++];
    uint32_t guard = g->nodes[found].prev;
    *f = (struct grammar_frame){ .rule = g->nodes[guard].symbol & ~GRAMMAR_RULE,
                                 .at = g->nodes[found].next,
                                 .head = head,
                                 .pending = GRAMMAR_NONE };
    return f;
}

static void frame_begin(struct grammar *g, uint32_t head, uint32_t found)
{
    struct grammar_frame *f = frame_push(g, head, found);
    grammar_prefetch(g, found);
    grammar_prefetch(g, f->at);
    grammar_prefetch(g, g->rules[f->rule].use_head); /* its next neighbour as a use */
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
    tail_arrive(g, n, a);
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
        f->pending = grammar_arrival_node(g, a);
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

/* --- Before it is written out --- */

/* What is held gets a node. */
static void let_go(struct grammar *g)
{
    struct grammar_tail *t = &g->tail;
    if (!t->holds)
        return;
    t->holds = false;
    t->raw = grammar_arrival_node(g, &t->held);
}

void grammar_tail_flush(struct grammar *g)
{
    g->alone = &grammar_nothing;
    let_go(g);
    g->tail.flushing = true;
}

/* --- Taking --- */

static uint32_t find_pair(const struct grammar *g, uint32_t n, const struct grammar_arrival *a)
{
    return grammar_digrams_find(&g->digrams, g->nodes[n].symbol, a->symbol);
}

/* `last`, in R's ring or raw, and what arrives are the first two of a rule's body. */
static void tail_begin(struct grammar *g, uint32_t last, uint32_t found, const struct grammar_arrival *a)
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
    t->raw = t->holds ? like : grammar_arrival_node(g, a);
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
    if (found == GRAMMAR_NONE) {
        set_raw(g, a, last);
        g->alone = g->tail.holds && a->event ? &g->nodes[g->tail.raw] : &grammar_nothing;
        g->alone_behind = g->nodes[last].symbol;
        g->alone_since = g->digrams.added;
    } else if (may_begin_with(g, last, found))
        tail_begin(g, last, found, a);
    else
        return false;
    return true;
}

/* What is held is the first of a rule's body. */
static void begin_held(struct grammar *g)
{
    uint32_t n = g->tail.raw;
    g->tail.raw = GRAMMAR_NONE;
    g->tail.holds = false;
    g->events--; /* it came before the last event was noted */
    frame_count(g, frame_push(g, GRAMMAR_NONE, n), n, &g->tail.held);
    g->events++;
}

/* … and what arrives the second. */
static bool take_both(struct grammar *g, const struct grammar_arrival *a)
{
    if (g->nodes[g->nodes[g->tail.raw].next].symbol != a->symbol)
        return false;
    begin_held(g);
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
        tail_begin(g, raw, found, a);
        return true;
    }
    if (found != GRAMMAR_NONE || g->tail.depth || grammar_is_full(g))
        return false;
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

static inline bool tail_take(struct grammar *g, const struct grammar_arrival *a)
{
    if (g->tail.raw != GRAMMAR_NONE)
        return take_behind_raw(g, a);
    return g->tail.depth ? take_inside(g, a) : take_last(g, a);
}

bool grammar_tail_take(struct grammar *g, const struct grammar_arrival *a)
{
    return tail_take(g, a);
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
static void take_turns(struct grammar *g)
{
    struct grammar_arrival a;
    while (grammar_tail_turn(g, &a))
        if (!tail_take(g, &a)) {
            grammar_tail_flush(g);
            g->late = a;
            grammar_work(g);
            return;
        }
}

/* --- What is expected --- */

struct grammar_node grammar_nothing = {.symbol = GRAMMAR_NONE};

static inline void expect_at(struct grammar *g, struct grammar_node *node, enum grammar_expected how)
{
    g->expected = node;
    g->expected_how = (uint8_t)how;
}

/* The first event of what `n` expands to would be held, as set_raw() does. */
static void expect_held(struct grammar *g, uint32_t n)
{
    while (grammar_is_rule(g->nodes[n].symbol))
        n = grammar_first(g, g->nodes[n].symbol & ~GRAMMAR_RULE);
    if (g->nodes[g->nodes[n].next].exponent == 1 && may_begin(g, 1, n))
        expect_at(g, &g->nodes[n], GRAMMAR_HOLD);
}

static void expect_node(struct grammar *g, uint32_t n, enum grammar_expected how)
{
    if (!grammar_is_rule(g->nodes[n].symbol))
        expect_at(g, &g->nodes[n], how);
}

/* Behind R's ring. What was held behind a rule the last time is held there again. */
static void expect_last(struct grammar *g)
{
    uint32_t last = grammar_last(g, 0), symbol = g->nodes[last].symbol;
    if (grammar_is_guard(g, last))
        return;
    if (!grammar_is_rule(symbol))
        expect_node(g, last, GRAMMAR_AGAIN);
    else if (g->alone_behind == symbol && g->alone_since == g->digrams.added)
        expect_at(g, g->alone, GRAMMAR_HOLD);
}

/* In a frame. */
static void expect_inside(struct grammar *g, const struct grammar_frame *f)
{
    if (grammar_is_rule(g->nodes[f->at].symbol))
        expect_held(g, f->at);
    else if (g->nodes[f->at].exponent == 1 && f->head == GRAMMAR_NONE && f->pending == GRAMMAR_NONE)
        expect_node(g, f->at, GRAMMAR_NEXT);
}

/* Where the next event goes, if nothing else is to be done with it. */
static void expect(struct grammar *g)
{
    const struct grammar_tail *t = &g->tail;
    g->expected = &grammar_nothing;
    if (g->busy || t->flushing || t->turned)
        return;
    if (t->holds)
        expect_node(g, g->nodes[t->raw].next, GRAMMAR_BOTH);
    else if (t->raw != GRAMMAR_NONE)
        expect_node(g, t->raw, GRAMMAR_AGAIN);
    else if (t->depth)
        expect_inside(g, &t->frame[t->depth - 1]);
    else
        expect_last(g);
}

/* As set_raw(): the expected event is the first of a rule. */
static __attribute__((noinline)) void hold_expected(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_tail *t = &g->tail;
    struct grammar_node *next = &g->nodes[g->expected->next];
    t->raw = (uint32_t)(g->expected - g->nodes);
    t->holds = true;
    t->event = *e;
    t->held = (struct grammar_arrival){e->terminal, e->gap, e->duration, &t->event};
    g->events++;
    expect_at(g, grammar_is_rule(next->symbol) ? &grammar_nothing : next, GRAMMAR_BOTH);
}

/* The innermost frame has come to what is no single event. */
static __attribute__((noinline, flatten)) void expect_further(struct grammar *g)
{
    struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    if (grammar_is_guard(g, f->at)) {
        g->tail.depth--;
        turn(g, f->rule, f->gap, f->duration);
        take_turns(g);
    }
    expect(g);
}

/* As tail_take() does it, once the courses are done with. `t`: the node's tuple, which has the event's values; NULL: it
   is not known to have one. */
static inline __attribute__((always_inline)) void take_expected(struct grammar *g, const struct grammar_event *e,
                                                                struct grammar_tuple *t)
{
    struct grammar_node *node = g->expected;
    bool again = g->expected_how == GRAMMAR_AGAIN;
    if (g->expected_how >= GRAMMAR_HOLD) {
        if (g->expected_how == GRAMMAR_HOLD) {
            hold_expected(g, e);
            return;
        }
        begin_held(g);
    }
    node->exponent += again;
    grammar_tally_add(&node->stats, e->gap, e->duration);
    if (t)
        grammar_tuple_add(t, e);
    else if (e->channels)
        grammar_attrs_add(g, (uint32_t)(node - g->nodes), e);
    g->events++;
    if (again)
        return;
    struct grammar_frame *f = &g->tail.frame[g->tail.depth - 1];
    const struct grammar_node *next = &g->nodes[node->next];
    f->gap += e->gap;
    f->duration += e->duration;
    f->at = node->next;
    if (__builtin_expect(next->exponent != 1 || grammar_is_rule(next->symbol), 0)) {
        expect_further(g);
        return;
    }
    expect_at(g, &g->nodes[f->at], GRAMMAR_NEXT);
}

static __attribute__((noinline, flatten)) void append_unexpected(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_arrival a = grammar_arrival_of(e);
    g->expected = &grammar_nothing;
    if (__builtin_expect(g->busy, 0) || !tail_take(g, &a)) {
        grammar_append_late(g, e);
    } else {
        grammar_note(g, e);
        if (g->tail.turned)
            take_turns(g);
    }
    expect(g);
}

/* What is not as it was at that node. Out of the way: what needs no call keeps no register. */
static __attribute__((noinline)) void append_other(struct grammar *g, const struct grammar_event *e)
{
    bool expected = g->expected->symbol == e->terminal;
    struct grammar_tuple *t = expected ? grammar_tuple_of(g, (uint32_t)(g->expected - g->nodes)) : NULL;
    if (t && !grammar_tuple_has(t, e->channels, e->value))
        t = NULL;
    if (!grammar_courses_go_on(g, e))
        grammar_courses_add(g, e);
    else if (t && e->terminal < GRAMMAR_COURSE_TERMINALS)
        t->stamp = grammar_courses_stamp(g, &g->courses[e->terminal]);
    if (expected)
        take_expected(g, e, t);
    else
        append_unexpected(g, e);
}

__attribute__((flatten)) void grammar_append(struct grammar *g, const struct grammar_event *e)
{
    struct grammar_node *node = g->expected;
    struct grammar_tuple *t = NULL;
    if (__builtin_expect(node->symbol == e->terminal, 1) &&
        (e->channels ? (t = grammar_tuple_of(g, (uint32_t)(node - g->nodes))) &&
                       grammar_tuple_has(t, e->channels, e->value) && grammar_courses_stay(g, e, t)
                     : grammar_courses_go_on(g, e)))
        take_expected(g, e, t);
    else
        append_other(g, e);
}
