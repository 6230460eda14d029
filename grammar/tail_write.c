/* SPDX-License-Identifier: MIT */
/* The tail is written out: a prefix of a rule's body becomes a rule (append.c says when). */
#include "grammar/internal.h"

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
