/* SPDX-License-Identifier: MIT */
/*
 * The references' events as a list, as far as there is room: from the start, or, of a long reference, pieces spread over
 * it. So the second source knows what usually follows in the references, too, and a place in the list that looks like the
 * present is a position to go on from.
 */
#include <string.h>

#include "oracle/internal.h"

enum { PIECES = 8 }; /* of a reference for which there is not enough room */

/* The last node of the rule that begins at or before event `at` of the rule. */
static uint32_t node_at(const struct oracle_index *x, uint32_t rule, uint64_t at)
{
    const struct grammar_flat_rule *r = &x->grammar->rules[rule];
    uint32_t low = r->first, high = r->first + r->length;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (x->before[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
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
        if (h->depth == o->capacity) { /* as oracle_enter */
            uint32_t keep = o->capacity / 2;
            memmove(h->frames, h->frames + h->depth - keep, keep * sizeof *h->frames);
            h->depth = keep;
        }
        h->frames[h->depth++] = (struct oracle_frame){ node, 0, into / length };
        event = into % length;
        rule = symbol & ~GRAMMAR_RULE;
    } while (grammar_is_rule(symbol));
}

static void teach_piece(struct oracle *o, uint32_t reference, uint64_t from, uint64_t events)
{
    struct oracle_live *past = o->mix->past;
    const struct oracle_index *x = o->reference[reference].index;
    struct oracle_hypothesis *h = &o->spare[o->limit]; /* scratch */

    if (past->text.pieces == ORACLE_TEXT_PIECES || events == 0)
        return;
    h->reference = reference;
    oracle_seek(o, h, from);
    oracle_live_piece(past, reference, from);
    do {
        uint32_t node = h->frames[h->depth - 1].node, terminal = x->grammar->nodes[node].symbol;
        const struct oracle_time *t = &x->mean[node];
        if (!oracle_live_teach(past, terminal >= GRAMMAR_LOST ? GRAMMAR_NONE : terminal, (uint64_t)t->gap,
                               (uint64_t)t->duration))
            return;
    } while (--events > 0 && oracle_advance(o, h, GRAMMAR_NONE, false));
}

void oracle_teach(struct oracle *o)
{
    uint64_t all = 0, room = o->mix->past->text.fixed;

    for (uint32_t r = 0; r < o->references; r++)
        all += o->reference[r].index->length[0];
    for (uint32_t r = 0; r < o->references && all > 0; r++) {
        uint64_t length = o->reference[r].index->length[0];
        uint64_t share = all <= room ? length : (uint64_t)((double)room * ((double)length / (double)all));
        uint64_t pieces = share >= length ? 1 : PIECES;
        for (uint64_t p = 0; p < pieces; p++)
            teach_piece(o, r, length / pieces * p, share / pieces);
    }
    oracle_live_start(o->mix->past);
}
