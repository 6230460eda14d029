/* SPDX-License-Identifier: MIT */
/*
 * The growing grammar, as its own files see it.
 *
 * A rule is a ring of nodes closed by a guard; the uses of a rule are a list through the nodes that name it.
 *
 *        rule 1 (A)  guard ─> a ─> b^2 ─> guard              rule 0 (R)  guard ─> c ─> A^2 ─> d ─> A ─> guard
 *                                                                                      │            │
 *        rules[1].use_head ────────────────────────────────────────────────────────────┴── use_next ┘
 *
 * Structural work is a list of hints, "look at this node (rule) again": idempotent, so a stale one does no harm, and
 * the work can be drained at any pace. While hints are pending, invariants 1 to 3 may not hold; 4 and 5 always do.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "grammar/course.h"
#include "grammar/digram.h"
#include "grammar/grammar.h"
#include "grammar/node.h"
#include "grammar/tail.h"

struct grammar_rule {
    uint32_t guard;    /* free: the next free rule */
    uint32_t use_head;
    uint64_t uses;     /* exponents counted; R: 0 */
    uint64_t length;   /* of the expansion: what a rule expands to never changes. R: not kept */
    bool live;
};

/* Values of a node of which each occurrence had the same: what most nodes have. */
struct grammar_tuple {
    uint32_t channels; /* as in struct grammar_event */
    uint32_t stamp;    /* as long as its terminal's courses have this one, these are their values; 0: not known */
    uint64_t count;    /* as in struct grammar_attr, of each channel */
    uint64_t ns;       /* of all durations: they are kept by value of GRAMMAR_TEAM */
    int64_t value[GRAMMAR_CHANNELS];
};

/* A node's first cell with this bit is a tuple, its only one; else the cells are one for each channel. */
#define GRAMMAR_TUPLE (1u << 30)

struct grammar_attr_cell {
    uint32_t next;
    union {
        struct grammar_attr attr;
        struct grammar_tuple tuple;
        struct grammar_step step[GRAMMAR_CELL_STEPS];
    };
};

/* A stack of node or rule numbers in reserved memory. */
struct grammar_hints {
    struct base_arena arena;
    uint32_t *item;
    uint32_t count, room;
};

enum { GRAMMAR_BUDGET = 16, GRAMMAR_QUEUE = 32 };

/* What becomes of an event that was expected: one more of that node, at the end of R or raw; the next one of the
   innermost frame; held; with what is held the first two of a rule. */
enum grammar_expected { GRAMMAR_AGAIN, GRAMMAR_NEXT, GRAMMAR_HOLD, GRAMMAR_BOTH };
extern struct grammar_node grammar_nothing __attribute__((visibility("hidden"))); /* no event's */

/* Events that wait until the work of those before them is done. */
struct grammar_queue {
    uint32_t first, count;
    bool plain; /* the first one: the tail did not take it */
    struct grammar_event event[GRAMMAR_QUEUE];
};

struct grammar {
    /* What an expected event touches, together. */
    struct grammar_node *expected; /* an event like this one is taken with no look at anything else; tail.c says how */
    struct grammar_node *nodes;
    struct grammar_courses *courses; /* of each terminal */
    struct grammar_attr_cell *attrs;
    uint64_t events;
    uint32_t stamps;             /* of courses, taken by now */
    uint8_t expected_how;        /* enum grammar_expected */
    bool busy;                   /* there may be work left from earlier appends */
    struct base_arena node_arena, rule_arena, attr_arena, course_arena, window_arena;
    struct grammar_rule *rules;
    struct grammar_window *windows;
    uint32_t node_top, node_free, node_limit, node_ready, nodes_used; /* node_ready: memory is there for these */
    uint32_t rule_top, rule_free, rule_limit, rules_used;
    uint32_t attr_top, attr_free, attr_limit, attrs_used;
    uint32_t window_top, window_free, window_limit, windows_used;
    struct grammar_digrams digrams;
    struct grammar_tail tail;
    struct grammar_arrival late; /* a rule that waits until the tail is written out; symbol GRAMMAR_NONE: none */
    struct grammar_queue queue;
    struct grammar_node *alone;  /* is held when its event comes behind R's last node, … */
    uint32_t alone_behind;       /* … if that is this rule … */
    uint64_t alone_since;        /* … and digrams.added still this */
    uint64_t overruns;           /* pieces of work beyond an append's budget, because the queue was full */
    struct grammar_hints digram_hints, utility_hints, collapse_hints;
    uint64_t lost;
    uint32_t terminals; /* highest terminal + 1 */
    size_t memory;      /* cap, bytes */
    size_t most;        /* what the cap may grow to by bytes of the pool */
    _Atomic size_t *pool; /* bytes that are left for all grammars; NULL: the cap stays */
    size_t drawn;       /* bytes that it took from the pool */
};

/* Both lines of a node that will be needed soon: where little repeats, nodes are all over the memory, and a step that
   waited for them one after the other would take microseconds. GRAMMAR_NONE is legal. */
static inline void grammar_prefetch(const struct grammar *g, uint32_t n)
{
    if (n != GRAMMAR_NONE) {
        __builtin_prefetch(&g->nodes[n], 1);
        __builtin_prefetch((const char *)&g->nodes[n] + 64, 1);
    }
}

static inline bool grammar_is_guard(const struct grammar *g, uint32_t n)
{
    return g->nodes[n].exponent == 0;
}

static inline uint32_t grammar_first(const struct grammar *g, uint32_t rule)
{
    return g->nodes[g->rules[rule].guard].next;
}

static inline uint32_t grammar_last(const struct grammar *g, uint32_t rule)
{
    return g->nodes[g->rules[rule].guard].prev;
}

static inline uint64_t grammar_symbol_length(const struct grammar *g, uint32_t symbol)
{
    return grammar_is_rule(symbol) ? g->rules[symbol & ~GRAMMAR_RULE].length : 1;
}

/* grammar_memory, without what waits. */
static inline size_t grammar_memory_used(const struct grammar *g)
{
    return (size_t)g->nodes_used * sizeof *g->nodes + (size_t)g->rules_used * sizeof *g->rules +
           (size_t)g->attrs_used * sizeof *g->attrs + (size_t)g->windows_used * sizeof *g->windows +
           grammar_digrams_memory(&g->digrams);
}

/* grammar.c: more from the pool; false: there is none. */
bool grammar_draw(struct grammar *g);

/* At the cap, and nothing to raise it with. */
static inline bool grammar_is_full(struct grammar *g)
{
    return __builtin_expect(grammar_memory_used(g) > g->memory, 0) && !grammar_draw(g);
}

static inline void grammar_insert_after(struct grammar *g, uint32_t at, uint32_t n)
{
    uint32_t next = g->nodes[at].next;
    g->nodes[n].prev = at;
    g->nodes[n].next = next;
    g->nodes[at].next = n;
    g->nodes[next].prev = n;
}

static inline void grammar_unlink(struct grammar *g, uint32_t n)
{
    uint32_t prev = g->nodes[n].prev, next = g->nodes[n].next;
    g->nodes[prev].next = next;
    g->nodes[next].prev = prev;
}

/* Changes an exponent and the uses of the node's rule with it. */
static inline void grammar_exponent_add(struct grammar *g, uint32_t n, uint64_t k)
{
    g->nodes[n].exponent += k;
    if (grammar_is_rule(g->nodes[n].symbol))
        g->rules[g->nodes[n].symbol & ~GRAMMAR_RULE].uses += k;
}

static inline void grammar_hint(struct grammar_hints *h, uint32_t what)
{
    if (h->count < h->room) /* room for more hints than there are nodes: never full in practice */
        h->item[h->count++] = what;
}

/* pool.c: nodes, rules, attributes. Fail only at the hard limit, which the soft cap keeps away. */
uint32_t grammar_node_take(struct grammar *g, uint32_t symbol, uint64_t exponent);
void grammar_node_give(struct grammar *g, uint32_t n); /* unlinked already; its uses, attributes released */
uint32_t grammar_rule_take(struct grammar *g);
void grammar_rule_give(struct grammar *g, uint32_t rule);
/* The opposite of grammar_exponent_add. */
void grammar_exponent_sub(struct grammar *g, uint32_t n, uint64_t k);
/* A cell of the attributes' pool; GRAMMAR_NONE: there is none. */
uint32_t grammar_cell_take(struct grammar *g);
void grammar_cell_give(struct grammar *g, uint32_t cell);
void grammar_attrs_anew(struct grammar *g, uint32_t n, const struct grammar_event *e);
static inline struct grammar_tuple *grammar_tuple_of(const struct grammar *g, uint32_t n)
{
    uint32_t cell = g->nodes[n].attr;
    return cell != GRAMMAR_NONE && cell & GRAMMAR_TUPLE ? &g->attrs[cell & ~GRAMMAR_TUPLE].tuple : NULL;
}
static inline bool grammar_tuple_has(const struct grammar_tuple *t, uint32_t channels, const int64_t *value)
{
    if (t->channels != channels)
        return false;
    for (; channels; channels &= channels - 1)
        if (t->value[__builtin_ctz(channels)] != value[__builtin_ctz(channels)])
            return false;
    return true;
}
static inline void grammar_tuple_add(struct grammar_tuple *t, const struct grammar_event *e)
{
    t->count++;
    t->ns += e->duration;
}
/* One more occurrence. */
static inline void grammar_attrs_add(struct grammar *g, uint32_t n, const struct grammar_event *e)
{
    struct grammar_tuple *t = grammar_tuple_of(g, n);
    if (__builtin_expect(t && grammar_tuple_has(t, e->channels, e->value), 1))
        grammar_tuple_add(t, e);
    else
        grammar_attrs_anew(g, n, e);
}
/* How many attributes a node has; writes them out. */
uint32_t grammar_attrs_count(const struct grammar *g, uint32_t n);
void grammar_attrs_copy(const struct grammar *g, uint32_t n, struct grammar_attr *to);
void grammar_attrs_join(struct grammar *g, uint32_t into, uint32_t from);
/* Of the `total` occurrences of `n` so many go to `to`: what not all of them have varies then, in both. */
void grammar_attrs_split(struct grammar *g, uint32_t n, uint64_t total, uint64_t count, uint32_t to);
/* The node's values are those of `count` of its `total` occurrences only. */
void grammar_attrs_shrink(struct grammar *g, uint32_t n, uint64_t total, uint64_t count);

/* steps.c: the structural steps. */
void grammar_unregister(struct grammar *g, uint32_t n); /* the digram that begins at n leaves the table, if it is n's */
bool grammar_step(struct grammar *g);                   /* works one hint off; false: there is none */
void grammar_drain(struct grammar *g);

/* append.c. work: some of what is left to do. late: an event that the tail does not take, or that waits for others. */
void grammar_work(struct grammar *g);
void grammar_append_late(struct grammar *g, const struct grammar_event *e);
/* An event was taken. */
static inline void grammar_note(struct grammar *g, const struct grammar_event *e)
{
    if (e->terminal >= g->terminals)
        g->terminals = e->terminal + 1;
    g->events++;
}
static inline struct grammar_arrival grammar_arrival_of(const struct grammar_event *e)
{
    return (struct grammar_arrival){e->terminal, e->gap, e->duration, e};
}
/* Settle: all work is done, all is written out. append_plain: by the steps alone, only for a grammar that has
   never been appended to otherwise. */
void grammar_settle(struct grammar *g);
void grammar_append_plain(struct grammar *g, const struct grammar_event *event);

/* course.c: the terminal's event, which is about to be appended and is not as expected; all courses are given up: the
   order of what was is lost; the frozen form, -1: out of memory. */
void grammar_courses_add(struct grammar *g, const struct grammar_event *e);
void grammar_courses_leave(struct grammar *g);
/* While it has this stamp a terminal has one value in each channel; 0: it has steps, or there are no more stamps. */
uint32_t grammar_courses_stamp(struct grammar *g, struct grammar_courses *c);
int grammar_courses_freeze(const struct grammar *g, struct grammar_flat *f);
static inline void grammar_course_go_on(const struct grammar *g, struct grammar_courses *c, unsigned channel)
{
    struct grammar_course *of = &c->of[channel];
    uint32_t at = (of->at + 1u) % GRAMMAR_COURSE_WINDOW;
    if (at == of->noted % GRAMMAR_COURSE_WINDOW) {
        at = (at - of->back) % GRAMMAR_COURSE_WINDOW;
        of->shift = (int64_t)((uint64_t)of->shift + (uint64_t)of->plus);
    }
    of->at = (uint16_t)at;
    c->expected[channel] = (int64_t)((uint64_t)g->windows[of->window].value[at] + (uint64_t)of->shift);
}
/* As below, of an event that has the values of a node's tuple; whose stamp says whether to look. */
static inline bool grammar_courses_stay(struct grammar *g, const struct grammar_event *e, const struct grammar_tuple *t)
{
    if (!t->stamp) /* a terminal that has no courses, maybe */
        return false;
    struct grammar_courses *c = &g->courses[e->terminal];
    if (c->stamp != t->stamp)
        return false;
    c->events++;
    return true;
}
/* Whether the event, which is about to be appended, is as expected; then that is done with. */
static inline bool grammar_courses_go_on(struct grammar *g, const struct grammar_event *e)
{
    if (e->terminal >= GRAMMAR_COURSE_TERMINALS)
        return true;
    struct grammar_courses *c = &g->courses[e->terminal];
    if (__builtin_expect((e->channels & GRAMMAR_COURSE_CHANNELS) != c->channels, 0))
        return false;
    for (uint32_t left = c->watched; left; left &= left - 1) {
        size_t channel = (size_t)(unsigned)__builtin_ctz(left);
        if (__builtin_expect(e->value[channel] != c->expected[channel], 0))
            return false;
    }
    c->events++;
    for (uint32_t left = c->going; left; left &= left - 1)
        grammar_course_go_on(g, c, (unsigned)__builtin_ctz(left));
    return true;
}

/* coarsen.c */
void grammar_coarsen(struct grammar *g);
