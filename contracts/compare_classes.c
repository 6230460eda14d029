/* SPDX-License-Identifier: MIT */
/*
 * Classes of two jobs side by side, by hash. Terminals that belong together are given one hash, so equal structure has
 * equal hashes in both jobs although the program was rebuilt.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "contracts/compare_parts.h"
#include "findings/ranges.h"

/* The terminal that a grammar begins with, GRAMMAR_NONE for what has lost its order. */
static uint32_t first_terminal(const struct grammar_flat *g)
{
    uint32_t symbol = GRAMMAR_RULE;
    while (grammar_is_rule(symbol)) {
        const struct grammar_flat_rule *r = &g->rules[symbol & ~GRAMMAR_RULE];
        symbol = r->length ? g->nodes[r->first].symbol : GRAMMAR_LOST;
    }
    return symbol == GRAMMAR_LOST ? GRAMMAR_NONE : symbol;
}

struct list { struct contracts_shape *item; uint32_t count; };

/* Sorted by hash. Classes with other exponents are others. */
static struct list classes_of(const struct job *j, const uint32_t *number)
{
    struct list l = { .item = calloc((size_t)j->class_count + 1, sizeof *l.item) };
    BASE_OWN struct grammar_hash *terminal = calloc((size_t)j->terminal_count + 1, sizeof *terminal);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        terminal[t] = (struct grammar_hash){ base_hash_mix(number[t] + 1u), base_hash_mix(~(uint64_t)number[t]) };
    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct job_class *e = &j->classes[i];
        if (!e->grammar)
            continue;
        struct grammar_hash hash = grammar_flat_hash(e->grammar, terminal, NULL);
        for (uint32_t k = 0; k < e->turn_count; k++)
            hash.low = base_hash_mix(hash.low ^ (e->turns[k].exponent + ((uint64_t)e->turns[k].node << 32)));
        l.item[l.count++] = (struct contracts_shape){ .hash = hash, .class_index = i, .length = e->grammar->events,
                                                      .terminal = first_terminal(e->grammar),
                                                      .members = findings_members(e) };
    }
    return l;
}

BASE_COMPARISON(by_hash, struct contracts_shape, BASE_UP(hash.high) ?: BASE_UP(hash.low))

static bool other_ranks(const struct contracts_comparison *c, const struct contracts_shape *a,
                        const struct contracts_shape *b)
{
    const struct job_class *x = &c->report[0]->job->classes[a->class_index];
    const struct job_class *y = &c->report[1]->job->classes[b->class_index];

    if (a->members != b->members)
        return true;
    return x->member_ranges == y->member_ranges &&
           memcmp(x->ranges, y->ranges, x->member_ranges * sizeof *x->ranges) != 0;
}

/* Keeps, of two sorted lists, what only one of them has. */
static void split(const struct contracts_comparison *c, struct contracts_shapes *into, struct list l[2])
{
    uint32_t at[2] = { 0, 0 };

    while (at[0] < l[0].count || at[1] < l[1].count) {
        int order = at[0] == l[0].count ? 1 : at[1] == l[1].count ? -1 : by_hash(&l[0].item[at[0]], &l[1].item[at[1]]);
        int side = order > 0;
        if (order == 0) {
            into->common++;
            into->moved += other_ranks(c, &l[0].item[at[0]++], &l[1].item[at[1]++]);
        } else {
            l[side].item[into->count[side]++] = l[side].item[at[side]];
            at[side]++;
        }
    }
    for (int side = 0; side < 2; side++)
        into->only[side] = l[side].item;
}

void contracts_compare_classes(struct contracts_comparison *c, uint32_t *const terminal[2])
{
    struct list l[2];

    for (int side = 0; side < 2; side++) {
        l[side] = classes_of(c->report[side]->job, terminal[side]);
        /* those that only frames without an equal told apart are one */
        l[side].count = (uint32_t)BASE_ARRAY_JOIN(l[side].item, l[side].count, by_hash, into, from,
                                                  into->members += from->members);
        l[side].count = contracts_by_timing(c) ? 0 : l[side].count;
    }
    split(c, &c->classes, l);
}
