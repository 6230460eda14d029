/* SPDX-License-Identifier: MIT */
#include "replay/whole.h"

struct walk {
    const struct replay_source *source;
    const struct grammar_flat *grammar;
    uint32_t rank, steps;
    struct replay_whole *out;
};

static bool add_op(struct replay_whole *w, const struct replay_op *op, uint64_t times)
{
    uint32_t i = 0;

    if (op->kind != REPLAY_COMPUTE)
        return false;
    while (i < w->count && (w->op[i].place != op->place || w->op[i].computes != op->computes))
        i++;
    if (i == REPLAY_WHOLE_OPS)
        return false;
    if (i == w->count) {
        w->op[i] = *op;
        w->op[i].ns = 0;
        w->count++;
    }
    w->op[i].ns += op->ns * (int64_t)times;
    return true;
}

/* What is before the first turn and before the later ones is taken at its mean. */
static const struct replay_moment after_any = { 0, 0, REPLAY_AFTER_ANY };

static bool add_node(struct walk *w, uint32_t node, uint64_t times)
{
    const struct grammar_flat_node *n = &w->grammar->nodes[node];
    struct replay_op op[REPLAY_OPS];

    if (++w->steps > REPLAY_WHOLE_STEPS)
        return false;
    times *= n->exponent;
    if (grammar_is_rule(n->symbol)) {
        const struct grammar_flat_rule *r = &w->grammar->rules[n->symbol & ~GRAMMAR_RULE];
        for (uint32_t i = r->first; i < r->first + r->length; i++)
            if (!add_node(w, i, times))
                return false;
        return true;
    }
    if (w->source->cycle(w->source->context, w->rank, node) != 1)
        return false;
    uint32_t count = w->source->event(w->source->context, w->rank, node, after_any, op);
    w->out->events += times;
    for (uint32_t i = 0; i < count; i++)
        if (!add_op(w->out, &op[i], times))
            return false;
    return true;
}

bool replay_whole_node(const struct replay_source *s, uint32_t rank, uint32_t node, struct replay_whole *out)
{
    struct walk w = { .source = s, .grammar = s->grammar(s->context, rank), .rank = rank, .out = out };

    out->count = 0;
    out->events = 0;
    return add_node(&w, node, 1);
}
