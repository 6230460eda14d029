/* SPDX-License-Identifier: MIT */
/*
 * Pairs of successive events, counted in a grammar in one pass:
 *
 *   R -> init A^19 B      between init and A: once; from A's last event to its first: 18 times; between A and B: once
 *
 * so many times as the rule that they stand in is expanded, by all members of the class together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "findings/loops_parts.h"
#include "findings/ranges.h"
#include "job/turns.h"

struct pass {
    const struct job *j;
    const struct job_class *c;
    const struct grammar_flat *g;
    uint64_t members;
    uint32_t *stop_of;               /* of each terminal, in the table of all classes; GRAMMAR_NONE: none yet */
    uint32_t *first, *last;          /* terminals of each rule */
    uint64_t *expansions;            /* of each rule by all members */
    struct job_hops *out;
};

static uint32_t stop_of(struct pass *p, uint32_t terminal)
{
    if (terminal >= p->j->terminal_count) /* what lost its order */
        return GRAMMAR_NONE;
    if (p->stop_of[terminal] == GRAMMAR_NONE) {
        base_must(base_array_room(&p->out->stop, &p->out->stop_room, p->out->stop_count + 1u, sizeof *p->out->stop));
        p->out->stop[p->out->stop_count] = (struct job_stop){ .terminal = terminal,
                                                                  .path = p->j->terminals[terminal].callsite };
        p->stop_of[terminal] = p->out->stop_count++;
    }
    return p->stop_of[terminal];
}

static void add_hop(struct pass *p, uint32_t from, uint32_t to, uint64_t count)
{
    struct job_hops *o = p->out;
    uint32_t b = stop_of(p, to), a = from == GRAMMAR_NONE ? from : stop_of(p, from);
    if (b == GRAMMAR_NONE || !count)
        return;
    base_must(base_array_room(&o->hop, &o->hop_room, o->hop_count + 1u, sizeof *o->hop));
    o->hop[o->hop_count++] = (struct job_hop){ .from = a, .to = b, .mean = count % p->members || p->c->turn_count,
                                               .range_first = o->ranges.count, .range_count = p->c->member_ranges,
                                               .count = count };
    if (!o->hop[o->hop_count - 1].mean)
        o->hop[o->hop_count - 1].count /= p->members;
}

static uint32_t end_of(uint32_t symbol, const uint32_t *end)
{
    return grammar_is_rule(symbol) ? end[symbol & ~GRAMMAR_RULE] : symbol;
}

static void find_ends(struct pass *p)
{
    BASE_OWN uint32_t *order = malloc(((size_t)p->g->rule_count + 1) * sizeof *order);
    bool known = order && grammar_flat_order(p->g, order);
    for (uint32_t i = 0; known && i < p->g->rule_count; i++) {
        const struct grammar_flat_rule *x = &p->g->rules[order[i]];
        if (!x->length)
            continue;
        p->first[order[i]] = end_of(p->g->nodes[x->first].symbol, p->first);
        p->last[order[i]] = end_of(p->g->nodes[x->first + x->length - 1].symbol, p->last);
    }
}

static void add_times(struct pass *p, uint32_t node)
{
    uint32_t at = stop_of(p, p->g->nodes[node].symbol);
    const struct grammar_stats *s = &p->g->stats[node];
    if (at == GRAMMAR_NONE)
        return;
    p->out->stop[at].count += s->count;
    p->out->stop[at].gap_ns += s->gap.sum;
    p->out->stop[at].duration_ns += s->duration.sum;
}

static void pass_rule(struct pass *p, uint32_t rule)
{
    const struct grammar_flat_rule *x = &p->g->rules[rule];
    uint32_t before = GRAMMAR_NONE;
    for (uint32_t n = x->first; n < x->first + x->length; n++) {
        uint32_t symbol = p->g->nodes[n].symbol, first = end_of(symbol, p->first), last = end_of(symbol, p->last);
        if (!rule || n > x->first)
            add_hop(p, before, first, p->expansions[rule]);
        if (p->g->stats[n].count > p->expansions[rule])
            add_hop(p, last, first, p->g->stats[n].count - p->expansions[rule]);
        if (!grammar_is_rule(symbol))
            add_times(p, n);
        before = last;
    }
}

static void pass_class(struct pass *p)
{
    size_t rules = (size_t)p->g->rule_count + 1;
    p->first = malloc(rules * sizeof *p->first);
    p->last = malloc(rules * sizeof *p->last);
    memset(p->first, 0xff, rules * sizeof *p->first);
    memset(p->last, 0xff, rules * sizeof *p->last);
    p->expansions = malloc(rules * sizeof *p->expansions);
    job_rule_uses(p->c, p->expansions);
    find_ends(p);
    for (uint32_t r = 0; r < p->g->rule_count; r++)
        pass_rule(p, r);
    struct job_ranges *all = &p->out->ranges;
    base_must(base_array_room(&all->range, &all->room, (uint64_t)all->count + p->c->member_ranges, sizeof *all->range));
    memcpy(all->range + all->count, p->c->ranges, p->c->member_ranges * sizeof *all->range);
    all->count += p->c->member_ranges;
    free(p->first);
    free(p->last);
    free(p->expansions);
}

const struct job_hops *findings_hops(const struct job *j, struct job_hops *own)
{
    if (j->hops.stop_count)
        return &j->hops;
    struct pass p = { .j = j, .out = own, .stop_of = malloc(((size_t)j->terminal_count + 1) * sizeof *p.stop_of) };

    memset(p.stop_of, 0xff, ((size_t)j->terminal_count + 1) * sizeof *p.stop_of);
    for (uint32_t i = 0; i < j->class_count; i++) {
        p.c = &j->classes[i];
        p.g = p.c->grammar;
        p.members = findings_members(p.c);
        if (p.g && p.members && p.g->events)
            pass_class(&p);
    }
    free(p.stop_of);
    return own;
}
