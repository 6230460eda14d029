/* SPDX-License-Identifier: MIT */
#include "job/class.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pythia.h"
#include "job/relation.h"
#include "job/turns.h"

void job_class_clear(struct job_class *c)
{
    grammar_flat_destroy(c->grammar);
    free(c->spread);
    free(c->ranges);
    free(c->variants);
    free(c->turns);
    job_columns_free(c->columns, c->column_count);
    free(c->expanded);
    memset(c, 0, sizeof *c);
}

/* Total time of a node. */
static uint64_t node_time(const struct grammar_stats *s)
{
    return s->gap.sum + s->duration.sum;
}

/* Durations of each terminal, gathered at its first node. */
static int single_calls(struct job_class *c, uint32_t rank)
{
    const struct grammar_flat *g = c->grammar;
    BASE_OWN uint32_t *first = malloc(((size_t)g->terminals + 1) * sizeof *first);
    if (!first)
        return PYTHIA_ENOMEM;
    memset(first, 0xff, ((size_t)g->terminals + 1) * sizeof *first);
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t terminal = g->nodes[n].symbol;
        if (terminal >= g->terminals) /* a rule, or events without order */
            continue;
        if (first[terminal] == GRAMMAR_NONE)
            first[terminal] = n;
        c->spread[first[terminal]].call.least += g->stats[n].duration.sum;
    }
    for (uint32_t t = 0; t < g->terminals; t++)
        if (first[t] != GRAMMAR_NONE) {
            struct job_spread *s = &c->spread[first[t]];
            s->call = (struct job_extent){ s->call.least, s->call.least, rank, rank };
            s->call_square = (double)s->call.least * (double)s->call.least;
        }
    return 0;
}

static int single_spread(struct job_class *c, uint32_t rank)
{
    for (uint32_t n = 0; n < c->grammar->node_count; n++) {
        uint64_t time = node_time(&c->grammar->stats[n]);
        c->spread[n] = (struct job_spread){ .all = { time, time, rank, rank } };
    }
    return single_calls(c, rank);
}

/* The grammar's attributes become canonical models and, each, the only variant of its node and channel. */
static void single_variants(const struct job_starts *s, struct job_class *c, uint32_t rank, const uint32_t *modulus)
{
    struct grammar_flat *g = c->grammar;
    uint32_t count = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; k < g->nodes[n].attr_count; k++) {
            struct grammar_attr *a = &g->attrs[g->nodes[n].attr + k];
            bool ranks = job_relation_names_ranks(a) && g->nodes[n].symbol < g->terminals;
            uint32_t m = ranks ? modulus[g->nodes[n].symbol] : 0;
            job_relation_always(a, g->stats[n].count);
            c->variants[count++] = (struct job_variant){ .node = n,
                                                         .relations = job_relation_possible(s, a, m),
                                                         .sample_rank = rank,
                                                         .modulus = m,
                                                         .range_count = 1,
                                                         .attr = *a };
        }
    c->variant_count = count;
}

int job_class_single(const struct job *j, struct job_class *c, struct grammar_flat *g, struct grammar_hash hash,
                     uint32_t rank, uint32_t thread, const uint32_t *modulus)
{
    struct job_class single = { .hash = hash, .range_count = 1, .member_ranges = 1 };
    single.spread = calloc((size_t)g->node_count + 1, sizeof *single.spread);
    single.ranges = calloc(1, sizeof *single.ranges);
    single.variants = calloc((size_t)g->attr_count + 1, sizeof *single.variants);
    if (!single.spread || !single.ranges || !single.variants) {
        job_class_clear(&single);
        return PYTHIA_ENOMEM;
    }
    single.grammar = g;
    single.ranges[0] = (struct job_range){ .first = rank, .count = 1, .stride = 1, .thread = thread };
    if (single_spread(&single, rank) != 0) {
        single.grammar = NULL; /* still the caller's */
        job_class_clear(&single);
        return PYTHIA_ENOMEM;
    }
    single_variants(&j->starts, &single, rank, modulus);
    *c = single;
    return 0;
}

int job_class_copy(struct job_class *to, const struct job_class *from, const uint32_t *terminal_map,
                     uint32_t terminals)
{
    struct job_class copy = *from;
    copy.expanded = NULL;
    copy.grammar = grammar_flat_copy(from->grammar);
    copy.spread = base_array_copy(from->spread, from->grammar->node_count, sizeof *copy.spread);
    copy.ranges = base_array_copy(from->ranges, from->range_count, sizeof *copy.ranges);
    copy.variants = base_array_copy(from->variants, from->variant_count, sizeof *copy.variants);
    copy.turns = base_array_copy(from->turns, from->turn_count, sizeof *copy.turns);
    copy.columns = job_columns_copy(from);
    if (!copy.grammar || !copy.spread || !copy.ranges || !copy.variants || !copy.turns || !copy.columns) {
        job_class_clear(&copy);
        return PYTHIA_ENOMEM;
    }
    grammar_flat_renumber(copy.grammar, terminal_map, terminals);
    *to = copy;
    return 0;
}

/* Variants of one node and channel are neighbours; nodes and channels come in order. */
int job_class_samples(struct job_class *c)
{
    struct grammar_flat *g = c->grammar;
    uint32_t sample = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        g->nodes[n].attr = GRAMMAR_NONE;
        g->nodes[n].attr_count = 0;
    }
    for (uint32_t i = 0; i < c->variant_count; i++) {
        const struct job_variant *v = &c->variants[i];
        struct grammar_flat_node *node = &g->nodes[v->node];
        if (i && v->node == v[-1].node && v->attr.channel == v[-1].attr.channel)
            continue;
        if (i && (v->node < v[-1].node || (v->node == v[-1].node && v->attr.channel < v[-1].attr.channel)))
            return -1;
        if (!node->attr_count++)
            node->attr = sample;
        g->attrs[sample++] = v->attr;
    }
    return 0;
}
