/* SPDX-License-Identifier: MIT */
/*
 * The references' events as a list, as far as there is room: from the start, or, of a long reference, pieces spread
 * over it. So the second source knows what usually follows in the references, too, and a place in the list that looks
 * like the present is a position to go on from.
 *
 * The list is made from the first event on that the reference did not foresee, some at each event: until then nobody
 * asks for it.
 */
#include <string.h>

#include "oracle/internal.h"

enum {
    PIECES = 8,  /* of a reference for which there is not enough room */
    AT_ONCE = 64 /* events of it, at an event */
};

/* The last node of the rule that begins at or before event `at` of the rule. */
static uint32_t node_at(const struct oracle_index *x, uint32_t rule, uint64_t at)
{
    const struct grammar_flat_rule *r = &x->grammar->rules[rule];

    return oracle_node_between(x, r->first, r->first + r->length, at);
}

void oracle_seek(const struct oracle *o, struct oracle_hypothesis *h, uint64_t event)
{
    const struct oracle_index *x = oracle_of(o, h);
    uint32_t rule = 0, symbol;

    h->depth = 0;
    do {
        uint32_t node = node_at(x, rule, event);
        symbol = x->grammar->nodes[node].symbol;
        uint64_t length = oracle_length(x, symbol), into = event - x->before[node];
        oracle_push(o, h, (struct oracle_frame){ node, 0, into / length });
        event = into % length;
        rule = symbol & ~GRAMMAR_RULE;
    } while (grammar_is_rule(symbol));
}

/* The event after that of `h`, with the reference's own trip counts, whatever this run has shown. False: not known. */
static bool walk(const struct oracle *o, struct oracle_hypothesis *h)
{
    const struct oracle_index *x = oracle_of(o, h);

    for (uint32_t i = h->depth; i-- > 0;) {
        struct oracle_frame f = h->frames[i];
        if (f.turn + 1 < x->grammar->nodes[f.node].exponent)
            f.turn++;
        else if (oracle_has_next(x, f.node))
            f = (struct oracle_frame){ f.node + 1, 0, 0 };
        else
            continue;
        oracle_enter(o, h, i, f);
        return true;
    }
    return false;
}

/* Whatever a file says: a number that 64 bits hold, and sums of them. */
static uint64_t whole(double ns)
{
    return ns < 1e12 ? (uint64_t)ns : (uint64_t)1e12;
}

/* Events of a reference, from number `from` on. */
static void preload_run(struct oracle *o, uint32_t reference, uint64_t from, uint64_t events)
{
    const struct oracle_index *x = o->reference[reference].index;
    struct oracle_hypothesis *h = &o->spare[o->limit]; /* scratch */
    bool there = false;

    h->reference = reference;
    for (uint64_t i = 0; i < events; i++) {
        there = there && walk(o, h);
        if (!there)
            oracle_seek(o, h, from + i);
        there = true;
        uint32_t node = h->frames[h->depth - 1].node, terminal = x->grammar->nodes[node].symbol;
        const struct oracle_time *t = oracle_mean(x, node);
        oracle_past_preload(o->mixer.past, terminal >= GRAMMAR_LOST ? GRAMMAR_NONE : terminal, whole(t->gap),
                            whole(t->duration));
    }
}

void oracle_preload_more(struct oracle *o)
{
    const struct oracle_history *t = &o->mixer.past->history;
    uint64_t events = AT_ONCE;

    while (events > 0 && t->preloaded < t->fixed) {
        const struct oracle_history_piece *p = oracle_history_origin(t, t->preloaded);
        uint64_t left = oracle_history_end(t, p) - t->preloaded, now = left < events ? left : events;
        preload_run(o, p->reference, p->event + (t->preloaded - p->place), now);
        events -= now;
    }
}

void oracle_preload(struct oracle *o)
{
    struct oracle_history *history = &o->mixer.past->history;
    uint64_t all = 0, room = history->fixed;

    for (uint32_t r = 0; r < o->references; r++)
        if (__builtin_add_overflow(all, o->reference[r].index->length[0], &all))
            all = UINT64_MAX;
    for (uint32_t r = 0; r < o->references && all > 0; r++) {
        uint64_t length = o->reference[r].index->length[0];
        uint64_t share = all <= room ? length : (uint64_t)((double)room * ((double)length / (double)all));
        uint64_t pieces = share >= length ? 1 : PIECES;
        for (uint64_t p = 0; p < pieces; p++)
            oracle_history_plan(history, r, length / pieces * p, share / pieces);
    }
    oracle_past_start(o->mixer.past);
}
