/* SPDX-License-Identifier: MIT */
/*
 * One hypothesis. To advance is to climb from the terminal just seen to the first frame that has another turn or a next
 * node, and to go down to the first terminal from there: O(1) amortised, as many frames are pushed as are popped.
 */
#include <string.h>

#include "oracle/internal.h"

bool oracle_rooted(const struct oracle *o, const struct oracle_hypothesis *h)
{
    return h->depth == 0 || oracle_of(o, h)->rule[h->frames[0].node] == 0;
}

const struct oracle_hypothesis *oracle_heaviest(const struct oracle *o)
{
    const struct oracle_hypothesis *best = &o->now[0];

    for (uint32_t i = 1; i < o->count; i++)
        if (o->now[i].weight > best->weight)
            best = &o->now[i];
    return best;
}

void oracle_copy(struct oracle_hypothesis *to, const struct oracle_hypothesis *from)
{
    to->reference = from->reference;
    to->depth = from->depth;
    memcpy(to->frames, from->frames, from->depth * sizeof *from->frames);
}

bool oracle_same(const struct oracle_hypothesis *a, const struct oracle_hypothesis *b)
{
    uint32_t common = a->depth < b->depth ? a->depth : b->depth;

    if (a->reference != b->reference || (common == 0 && a->depth != b->depth))
        return false;
    for (uint32_t i = 1; i <= common; i++) {
        const struct oracle_frame *x = &a->frames[a->depth - i], *y = &b->frames[b->depth - i];
        if (x->node != y->node || x->turn != y->turn)
            return false;
    }
    return true;
}

static inline struct oracle_frame first_in(const struct grammar_flat *g, uint32_t rule)
{
    return (struct oracle_frame){ g->rules[rule & ~GRAMMAR_RULE].first, 0, 0 };
}

void oracle_enter(const struct oracle *o, struct oracle_hypothesis *h, uint32_t depth, struct oracle_frame frame)
{
    const struct grammar_flat *g = oracle_of(o, h)->grammar;

    h->depth = depth;
    for (;;) {
        oracle_push(o, h, frame);
        uint32_t symbol = g->nodes[frame.node].symbol;
        if (!grammar_is_rule(symbol))
            break;
        frame = first_in(g, symbol);
    }
}

uint32_t oracle_peek(const struct oracle *o, const struct oracle_hypothesis *h)
{
    const struct oracle_reference *ref = &o->reference[h->reference];
    const struct oracle_index *x = ref->index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;

    if (h->depth == 0)
        return x->first[0];
    for (uint32_t i = h->depth; i-- > 0;) {
        const struct oracle_frame *f = &h->frames[i];
        if (f->turn + 1 < oracle_turns(ref, f->node))
            return oracle_first(x, nodes[f->node].symbol);
        if (oracle_has_next(x, f->node))
            return oracle_first(x, nodes[f->node + 1].symbol);
    }
    return GRAMMAR_NONE;
}

/* A loop was left after `turns`. */
static void learn_trip(struct oracle_reference *ref, uint32_t node, uint64_t turns)
{
    struct oracle_trip *trip = &ref->trip[node];

    if (trip->effective == 0)
        trip->effective = trip->last = ref->index->grammar->nodes[node].exponent;
    if (turns == trip->last || trip->last == 0)
        trip->effective = turns;
    trip->last = turns;
}

void oracle_extended(struct oracle_trip *trip, uint64_t turns)
{
    trip->effective = turns < UINT64_MAX / 4 ? 2 * turns : turns;
    trip->last = 0;
}

void oracle_left(struct oracle_reference *ref, const struct oracle_hypothesis *h, uint32_t from)
{
    for (uint32_t i = from; i < h->depth; i++) {
        const struct oracle_frame *f = &h->frames[i];
        if (ref->index->grammar->nodes[f->node].exponent > 1 && !f->guessed)
            learn_trip(ref, f->node, f->turn + 1);
    }
}

bool oracle_advance(struct oracle *o, struct oracle_hypothesis *h, uint32_t terminal, bool learn)
{
    struct oracle_reference *ref = &o->reference[h->reference];
    const struct oracle_index *x = ref->index;
    const struct grammar_flat_node *nodes = x->grammar->nodes;
    bool any = terminal == GRAMMAR_NONE;

    for (uint32_t i = h->depth; i-- > 0;) {
        struct oracle_frame f = h->frames[i];
        bool again = f.turn + 1 < oracle_turns(ref, f.node);
        if (!again && !oracle_has_next(x, f.node))
            continue;
        uint32_t left = again ? i + 1 : i;
        f = again ? (struct oracle_frame){ f.node, f.guessed, f.turn + 1 } : (struct oracle_frame){ f.node + 1, 0, 0 };
        uint32_t symbol = nodes[f.node].symbol;
        if (!any && oracle_first(x, symbol) != terminal)
            return false;
        if (learn && left < h->depth)
            oracle_left(ref, h, left);
        h->frames[i] = f;
        h->depth = i + 1;
        if (grammar_is_rule(symbol))
            oracle_enter(o, h, i + 1, first_in(x->grammar, symbol));
        return true;
    }
    if (h->depth > 0 || x->first[0] == GRAMMAR_NONE || (!any && x->first[0] != terminal))
        return false;
    oracle_enter(o, h, 0, first_in(x->grammar, 0));
    return true;
}

/* Which of a full spare set is the lightest. */
static void find_lightest(struct oracle *o)
{
    o->lightest = 0;
    for (uint32_t i = 1; i < o->limit; i++)
        if (o->spare[i].weight < o->spare[o->lightest].weight)
            o->lightest = i;
}

struct oracle_hypothesis *oracle_slot(struct oracle *o, uint32_t reference, double weight, enum oracle_kind kind)
{
    struct oracle_hypothesis *h;

    o->steps++;
    o->found = weight > o->found ? weight : o->found;
    if (o->spare_count < o->limit) {
        h = &o->spare[o->spare_count++];
    } else {
        h = &o->spare[o->lightest];
        if (h->weight >= weight)
            return NULL;
    }
    h->reference = reference;
    h->weight = weight;
    h->kind = kind;
    h->age = 0;
    h->depth = 0;
    if (o->spare_count == o->limit)
        find_lightest(o);
    return h;
}
