/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "replay/collective.h"
#include "replay/feed.h"

/* The depth of a grammar's rules: rules are numbered so that a rule's users come before it. */
static uint32_t depth_of(const struct grammar_flat *g)
{
    uint32_t deepest = 1, *depth = calloc(g->rule_count, sizeof *depth);

    if (!depth)
        return 0;
    for (uint32_t pass = 0, changed = 1; changed && pass < g->rule_count; pass++) {
        changed = 0;
        for (uint32_t r = 0; r < g->rule_count; r++)
            for (uint32_t i = 0; i < g->rules[r].length; i++) {
                uint32_t s = g->nodes[g->rules[r].first + i].symbol;
                if (grammar_is_rule(s) && depth[s & ~GRAMMAR_RULE] < depth[r] + 1) {
                    depth[s & ~GRAMMAR_RULE] = depth[r] + 1;
                    changed = 1;
                }
            }
    }
    for (uint32_t r = 0; r < g->rule_count; r++)
        if (depth[r] + 1 > deepest)
            deepest = depth[r] + 1;
    free(depth);
    return deepest;
}

/* A terminal's nodes may each have a channel that follows a course: what begins anew for all of them. */
static void add_course(struct replay_feed *f, uint32_t nodes, uint32_t terminal, const struct replay_cycle *c)
{
    uint32_t i = nodes;

    while (i < f->changes && f->change[i].count != f->grammar->node_count + terminal)
        i++;
    struct replay_change *to = &f->change[i];
    if (i == f->changes) {
        *to = (struct replay_change){ f->grammar->node_count + terminal, *c };
        f->changes++;
        return;
    }
    to->cycle.period = replay_cycle_both(to->cycle.period, c->period);
    to->cycle.from = to->cycle.from > c->from ? to->cycle.from : c->from;
}

/* Counts occurrences only where they matter. */
static void find_changes(struct replay_feed *f)
{
    const struct replay_source *s = f->source;
    const struct grammar_flat *g = f->grammar;
    uint32_t nodes;

    f->change = calloc(2 * (size_t)g->node_count + 1, sizeof *f->change);
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t period = grammar_is_rule(g->nodes[n].symbol) ? 1 : s->cycle(s->context, f->rank, n);
        if (period != 1)
            f->change[f->changes++] = (struct replay_change){ n, { 0, period } };
    }
    nodes = f->changes;
    for (uint32_t n = 0; s->course && n < g->node_count; n++) {
        struct replay_cycle c;
        if (g->nodes[n].symbol < g->terminals && s->course(s->context, f->rank, n, &c))
            add_course(f, nodes, g->nodes[n].symbol, &c);
    }
    f->seen = f->changes ? calloc((size_t)g->node_count + g->terminals, sizeof *f->seen) : NULL;
}

/* Goes down to the first terminal of the symbol that the last frame is at. */
static void descend(struct replay_feed *f)
{
    for (uint32_t symbol; grammar_is_rule(symbol = f->grammar->nodes[f->frame[f->depth - 1].node].symbol);) {
        uint32_t rule = symbol & ~GRAMMAR_RULE;
        f->frame[f->depth++] = (struct replay_frame){ .rule = rule, .node = f->grammar->rules[rule].first };
    }
}

void replay_feed_open(struct replay_feed *f, const struct replay_source *s, uint32_t rank)
{
    memset(f, 0, sizeof *f);
    f->source = s;
    f->rank = rank;
    f->last_source = REPLAY_NOWHERE;
    f->before = GRAMMAR_NONE;
    f->grammar = s->grammar(s->context, rank);
    if (!f->grammar || f->grammar->rules[0].length == 0) {
        f->ended = true;
        return;
    }
    f->room = depth_of(f->grammar);
    f->frame = calloc(f->room, sizeof *f->frame);
    find_changes(f);
    f->frame[f->depth++] = (struct replay_frame){ .node = f->grammar->rules[0].first };
    f->events = UINT64_MAX; /* before the first */
}

void replay_feed_close(struct replay_feed *f)
{
    free(f->frame);
    free(f->seen);
    free(f->change);
    f->frame = NULL;
    f->seen = NULL;
    f->change = NULL;
    f->changes = 0;
    f->ended = true;
}

/* To the next node or turn. False: that was the last. */
static bool advance(struct replay_feed *f)
{
    while (f->depth) {
        struct replay_frame *at = &f->frame[f->depth - 1];
        const struct grammar_flat_rule *rule = &f->grammar->rules[at->rule];
        if (++at->turn < f->grammar->nodes[at->node].exponent) {
            f->turned = f->depth;
            break;
        }
        if (at->node + 1 < rule->first + rule->length) {
            at->node++;
            at->turn = 0;
            break;
        }
        f->depth--;
    }
    return f->depth > 0;
}

static bool next_event(struct replay_feed *f)
{
    if (f->ended)
        return false;
    if (f->events != UINT64_MAX && !advance(f)) {
        f->ended = true;
        return false;
    }
    f->op_next = f->step = 0;
    descend(f);
    f->events++;
    uint32_t node = f->frame[f->depth - 1].node, symbol = f->grammar->nodes[node].symbol;
    uint64_t i = f->seen ? f->seen[node]++ : 0;
    uint64_t nth = f->seen && symbol < f->grammar->terminals ? f->seen[f->grammar->node_count + symbol]++ : 0;
    struct replay_moment at = { i, nth, f->before };
    f->op_count = f->source->event(f->source->context, f->rank, node, at, f->op);
    f->before = symbol;
    return true;
}

/* The next primitive of the collective. */
static bool collective_step(struct replay_feed *f, const struct replay_op *op, struct replay_op *out)
{
    void *context = f->source->context;

    if (op->shape == REPLAY_NEAR)
        return f->source->neighbour(context, f->rank, op, &f->step, out);
    if (!replay_collective_step(op, &f->step, out))
        return false;
    out->peer = f->source->member(context, op->group, f->rank, out->peer);
    return true;
}

bool replay_feed_next(struct replay_feed *f, struct replay_op *out)
{
    f->turned = 0;
    for (;;) {
        while (f->op_next == f->op_count)
            if (!next_event(f))
                return false;
        const struct replay_op *op = &f->op[f->op_next];
        if (op->kind != REPLAY_COLLECTIVE) {
            f->op_next++;
            *out = *op;
            if (out->peer == REPLAY_SOURCE)
                out->peer = f->last_source;
            return true;
        }
        if (collective_step(f, op, out))
            return true;
        f->op_next++;
        f->step = 0;
    }
}
