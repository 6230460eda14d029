/* SPDX-License-Identifier: MIT */
/* Walks the expansion with a stack of (node, turn): one frame a level, at most as deep as there are rules. */
#include <stdlib.h>

#include "grammar/flat.h"

struct frame { uint32_t node, end; uint64_t turn; };

struct cursor_state {
    uint64_t *occurrences; /* of each node, then of each terminal */
    uint32_t depth;
    struct frame frame[];  /* rule_count of them */
};

static void descend(struct grammar_cursor *c, uint32_t rule)
{
    struct cursor_state *s = c->state;
    const struct grammar_flat *g = c->grammar;
    for (;;) {
        const struct grammar_flat_rule *r = &g->rules[rule];
        s->frame[s->depth++] = (struct frame){r->first, r->first + r->length, 0};
        uint32_t symbol = g->nodes[r->first].symbol;
        if (!grammar_is_rule(symbol))
            return;
        rule = symbol & ~GRAMMAR_RULE;
    }
}

static void cursor_settle(struct grammar_cursor *c)
{
    struct cursor_state *s = c->state;
    const struct frame *f = &s->frame[s->depth - 1];
    c->node = f->node;
    c->terminal = c->grammar->nodes[f->node].symbol;
    c->turn = f->turn;
    c->occurrence = s->occurrences[f->node]++;
    c->nth = c->terminal < c->grammar->terminals ? s->occurrences[c->grammar->node_count + c->terminal]++ : 0;
}

int grammar_cursor_open(struct grammar_cursor *c, const struct grammar_flat *g)
{
    struct cursor_state *s;
    c->grammar = g;
    c->index = 0;
    c->state = NULL;
    if (g->rules[0].length == 0)
        return 0;
    c->state = s = malloc(sizeof *s + g->rule_count * sizeof s->frame[0]);
    if (!s)
        return 0;
    s->depth = 0;
    s->occurrences = calloc((size_t)g->node_count + g->terminals, sizeof *s->occurrences);
    if (!s->occurrences) {
        grammar_cursor_close(c);
        return 0;
    }
    descend(c, 0);
    cursor_settle(c);
    return 1;
}

int grammar_cursor_next(struct grammar_cursor *c)
{
    struct cursor_state *s = c->state;
    const struct grammar_flat *g = c->grammar;
    while (s->depth) {
        struct frame *f = &s->frame[s->depth - 1];
        if (++f->turn == g->nodes[f->node].exponent) {
            f->turn = 0;
            if (++f->node == f->end) {
                s->depth--;
                continue;
            }
        }
        if (grammar_is_rule(g->nodes[f->node].symbol))
            descend(c, g->nodes[f->node].symbol & ~GRAMMAR_RULE);
        c->index++;
        cursor_settle(c);
        return 1;
    }
    return 0;
}

void grammar_cursor_close(struct grammar_cursor *c)
{
    struct cursor_state *s = c->state;
    if (s)
        free(s->occurrences);
    free(s);
    c->state = NULL;
}
