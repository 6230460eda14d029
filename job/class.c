/* SPDX-License-Identifier: MIT */
#include "job/class.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/intern.h"
#include "job/relation.h"

void merge_class_clear(struct job_class_entry *c)
{
    grammar_flat_destroy(c->grammar);
    free(c->spread);
    free(c->ranges);
    free(c->variants);
    memset(c, 0, sizeof *c);
}

void merge_joint_clear(struct merge_joint *joint)
{
    free(joint->ranges.range);
    free(joint->variants);
    free(joint->samples);
    merge_table_free(&joint->memo);
    free(joint->places);
    memset(joint, 0, sizeof *joint);
}

/* Total time of a node. */
static uint64_t node_time(const struct grammar_stats *s)
{
    return s->gap.sum + s->duration.sum;
}

/* Durations of each terminal, gathered at its first node. */
static int single_calls(struct job_class_entry *c, uint32_t rank)
{
    const struct grammar_flat *g = c->grammar;
    uint32_t *first = malloc(((size_t)g->terminals + 1) * sizeof *first);
    if (!first)
        return PYTHIA_ENOMEM;
    memset(first, 0xff, ((size_t)g->terminals + 1) * sizeof *first);
    for (uint32_t n = 0; n < g->node_count; n++) {
        uint32_t terminal = g->nodes[n].symbol;
        if (terminal >= g->terminals) /* a rule, or events without order */
            continue;
        if (first[terminal] == GRAMMAR_NONE)
            first[terminal] = n;
        c->spread[first[terminal]].call_min += g->stats[n].duration.sum;
    }
    for (uint32_t t = 0; t < g->terminals; t++)
        if (first[t] != GRAMMAR_NONE) {
            struct job_spread *s = &c->spread[first[t]];
            s->call_max = s->call_min;
            s->call_min_rank = s->call_max_rank = rank;
            s->call_square = (double)s->call_min * (double)s->call_min;
        }
    free(first);
    return 0;
}

static int single_spread(struct job_class_entry *c, uint32_t rank)
{
    for (uint32_t n = 0; n < c->grammar->node_count; n++) {
        uint64_t time = node_time(&c->grammar->stats[n]);
        c->spread[n] = (struct job_spread){ .min = time, .max = time, .min_rank = rank, .max_rank = rank };
    }
    return single_calls(c, rank);
}

/* The grammar's attributes become canonical models and, each, the only variant of its node and channel. */
static void single_variants(struct job_class_entry *c, uint32_t rank, const uint32_t *modulus)
{
    struct grammar_flat *g = c->grammar;
    uint32_t count = 0;
    for (uint32_t n = 0; n < g->node_count; n++)
        for (uint32_t k = 0; k < g->nodes[n].attr_count; k++) {
            struct grammar_attr *a = &g->attrs[g->nodes[n].attr + k];
            uint32_t m = a->channel == GRAMMAR_PEER && g->nodes[n].symbol < g->terminals ? modulus[g->nodes[n].symbol] : 0;
            merge_relation_canonical(a);
            c->variants[count++] = (struct job_variant){ .node = n,
                                                         .relations = merge_relation_possible(a, m),
                                                         .sample_rank = rank,
                                                         .modulus = m,
                                                         .range_count = 1,
                                                         .attr = *a };
        }
    c->variant_count = count;
}

int merge_class_single(struct job_class_entry *c, struct grammar_flat *g, struct grammar_hash hash, uint32_t rank,
                       uint32_t thread, const uint32_t *modulus)
{
    struct job_class_entry single = { .hash = hash, .range_count = 1, .member_ranges = 1 };
    single.spread = calloc((size_t)g->node_count + 1, sizeof *single.spread);
    single.ranges = calloc(1, sizeof *single.ranges);
    single.variants = calloc((size_t)g->attr_count + 1, sizeof *single.variants);
    if (!single.spread || !single.ranges || !single.variants) {
        merge_class_clear(&single);
        return PYTHIA_ENOMEM;
    }
    single.grammar = g;
    single.ranges[0] = (struct job_range){ .first = rank, .count = 1, .stride = 1, .thread = thread };
    if (single_spread(&single, rank) != 0) {
        single.grammar = NULL; /* still the caller's */
        merge_class_clear(&single);
        return PYTHIA_ENOMEM;
    }
    single_variants(&single, rank, modulus);
    *c = single;
    return 0;
}

static void *duplicate(const void *from, uint64_t count, size_t size)
{
    void *to = malloc((count + 1) * size);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

int merge_class_copy(struct job_class_entry *to, const struct job_class_entry *from, const uint32_t *terminal_map,
                     uint32_t terminals)
{
    struct job_class_entry copy = *from;
    copy.grammar = grammar_flat_copy(from->grammar);
    copy.spread = duplicate(from->spread, from->grammar->node_count, sizeof *copy.spread);
    copy.ranges = duplicate(from->ranges, from->range_count, sizeof *copy.ranges);
    copy.variants = duplicate(from->variants, from->variant_count, sizeof *copy.variants);
    if (!copy.grammar || !copy.spread || !copy.ranges || !copy.variants) {
        merge_class_clear(&copy);
        return PYTHIA_ENOMEM;
    }
    grammar_flat_renumber(copy.grammar, terminal_map, terminals);
    *to = copy;
    return 0;
}

/* --- Joining --- */

/* Variants of one node and channel from `at` on. */
static uint32_t run_length(const struct job_class_entry *c, uint32_t at)
{
    uint32_t end = at;
    while (end < c->variant_count && c->variants[end].node == c->variants[at].node &&
           c->variants[end].attr.channel == c->variants[at].attr.channel)
        end++;
    return end - at;
}

/* Order of variants: node, then channel. */
static int variant_order(const struct job_class_entry *a, uint32_t i, const struct job_class_entry *b, uint32_t k)
{
    if (i == a->variant_count || k == b->variant_count)
        return i == a->variant_count ? 1 : -1;
    const struct job_variant *x = &a->variants[i], *y = &b->variants[k];
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->attr.channel < y->attr.channel ? -1 : x->attr.channel > y->attr.channel;
}

static int join_all_variants(struct merge_joint *out, const struct job_class_entry *a, const struct job_class_entry *b)
{
    uint32_t i = 0, k = 0;
    while (i < a->variant_count || k < b->variant_count) {
        int order = variant_order(a, i, b, k);
        uint32_t na = order <= 0 ? run_length(a, i) : 0, nb = order >= 0 ? run_length(b, k) : 0;
        uint32_t at = out->variant_count;
        int error = merge_variants_join(out, a, a->variants + i, na, b, b->variants + k, nb);
        if (!error)
            error = merge_room(&out->samples, &out->sample_room, (uint64_t)out->sample_count + 1, sizeof *out->samples);
        if (error)
            return error;
        out->samples[out->sample_count++] = out->variants[at].attr;
        i += na;
        k += nb;
    }
    return 0;
}

int merge_class_join(const struct job_class_entry *a, const struct job_class_entry *b, struct merge_joint *out)
{
    struct merge_joint joint = { 0 };
    if (a->grammar->node_count != b->grammar->node_count || !merge_hash_equal(a->hash, b->hash))
        return PYTHIA_EINVAL;
    int error = merge_ranges_union(&joint.ranges, a->ranges, a->member_ranges, b->ranges, b->member_ranges);
    joint.member_ranges = joint.ranges.count;
    if (!error)
        error = join_all_variants(&joint, a, b);
    if (error) {
        merge_joint_clear(&joint);
        return error;
    }
    *out = joint;
    return 0;
}

static void spread_join(struct job_spread *into, const struct job_spread *from)
{
    if (from->min < into->min || (from->min == into->min && from->min_rank < into->min_rank)) {
        into->min = from->min;
        into->min_rank = from->min_rank;
    }
    if (from->max > into->max || (from->max == into->max && from->max_rank < into->max_rank)) {
        into->max = from->max;
        into->max_rank = from->max_rank;
    }
    if (from->call_min < into->call_min || (from->call_min == into->call_min && from->call_min_rank < into->call_min_rank)) {
        into->call_min = from->call_min;
        into->call_min_rank = from->call_min_rank;
    }
    if (from->call_max > into->call_max || (from->call_max == into->call_max && from->call_max_rank < into->call_max_rank)) {
        into->call_max = from->call_max;
        into->call_max_rank = from->call_max_rank;
    }
    into->call_square += from->call_square;
}

/* Variants of one node and channel are neighbours; nodes and channels come in order. */
int merge_place_samples(struct job_class_entry *c)
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

void merge_class_commit(struct job_class_entry *a, const struct job_class_entry *b, struct merge_joint *joint)
{
    struct grammar_flat *g = a->grammar;
    for (uint32_t n = 0; n < g->node_count; n++) {
        grammar_stats_join(&g->stats[n], &b->grammar->stats[n]);
        spread_join(&a->spread[n], &b->spread[n]);
    }
    if (joint->samples) { /* else there was none before either */
        free(g->attrs);
        g->attrs = joint->samples;
        g->attr_count = joint->sample_count;
    }
    free(a->ranges);
    a->ranges = joint->ranges.range;
    a->range_count = joint->ranges.count;
    a->member_ranges = joint->member_ranges;
    free(a->variants);
    a->variants = joint->variants;
    a->variant_count = joint->variant_count;
    merge_place_samples(a);
    joint->samples = NULL;
    joint->ranges.range = NULL;
    joint->variants = NULL;
    merge_joint_clear(joint);
}
