/* SPDX-License-Identifier: MIT */
#include "merge/joint.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/turns.h"

void merge_joint_clear(struct merge_joint *joint)
{
    free(joint->ranges.range);
    free(joint->variants);
    free(joint->samples);
    job_table_free(&joint->memo);
    free(joint->places);
    free(joint->turns);
    job_columns_free(joint->columns, joint->column_count);
    memset(joint, 0, sizeof *joint);
}

/* Variants of one node and channel from `at` on. */
static uint32_t run_length(const struct job_class *c, uint32_t at)
{
    uint32_t end = at;
    while (end < c->variant_count && c->variants[end].node == c->variants[at].node &&
           c->variants[end].attr.channel == c->variants[at].attr.channel)
        end++;
    return end - at;
}

/* Order of variants: node, then channel. */
static int variant_order(const struct job_class *a, uint32_t i, const struct job_class *b, uint32_t k)
{
    if (i == a->variant_count || k == b->variant_count)
        return i == a->variant_count ? 1 : -1;
    const struct job_variant *x = &a->variants[i], *y = &b->variants[k];
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->attr.channel < y->attr.channel ? -1 : x->attr.channel > y->attr.channel;
}

static int join_all_variants(struct merge_joint *out, const struct job_class *a, const struct job_class *b)
{
    uint32_t i = 0, k = 0;
    while (i < a->variant_count || k < b->variant_count) {
        int order = variant_order(a, i, b, k);
        uint32_t na = order <= 0 ? run_length(a, i) : 0, nb = order >= 0 ? run_length(b, k) : 0;
        uint32_t at = out->variant_count;
        int error = merge_variants_join(out, a, a->variants + i, na, b, b->variants + k, nb);
        if (!error)
            error = base_array_room(&out->samples, &out->sample_room, (uint64_t)out->sample_count + 1,
                                    sizeof *out->samples);
        if (error)
            return error;
        out->samples[out->sample_count++] = out->variants[at].attr;
        i += na;
        k += nb;
    }
    return 0;
}

int merge_class_join(const struct job_class *a, const struct job_class *b, struct merge_joint *out)
{
    struct merge_joint joint = { 0 };
    if (a->grammar->node_count != b->grammar->node_count || !job_hash_equal(a->hash, b->hash))
        return PYTHIA_EINVAL;
    int error = job_ranges_union(&joint.ranges, a->ranges, a->member_ranges, b->ranges, b->member_ranges);
    joint.member_ranges = joint.ranges.count;
    if (!error)
        error = merge_turns_join(&joint, a, b);
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
    if (from->call_min < into->call_min ||
        (from->call_min == into->call_min && from->call_min_rank < into->call_min_rank)) {
        into->call_min = from->call_min;
        into->call_min_rank = from->call_min_rank;
    }
    if (from->call_max > into->call_max ||
        (from->call_max == into->call_max && from->call_max_rank < into->call_max_rank)) {
        into->call_max = from->call_max;
        into->call_max_rank = from->call_max_rank;
    }
    into->call_square += from->call_square;
}

static void take_exponents(struct grammar_flat *g, const struct grammar_flat *from)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        g->nodes[n].exponent = from->nodes[n].exponent;
    g->events = from->events;
}

void merge_class_commit(struct job_class *a, const struct job_class *b, struct merge_joint *joint)
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
    struct job_member first = job_ranges_first(a->ranges, a->member_ranges);
    if (!job_class_bodiless(b) && job_member_before(job_ranges_first(b->ranges, b->member_ranges), first))
        take_exponents(g, b->grammar);
    free(a->ranges);
    a->ranges = joint->ranges.range;
    a->range_count = joint->ranges.count;
    a->member_ranges = joint->member_ranges;
    free(a->variants);
    a->variants = joint->variants;
    a->variant_count = joint->variant_count;
    free(a->turns);
    job_columns_free(a->columns, a->column_count);
    a->turns = joint->turns;
    a->turn_count = joint->turn_count;
    a->columns = joint->columns;
    a->column_count = joint->column_count;
    job_class_samples(a);
    joint->samples = NULL;
    joint->ranges.range = NULL;
    joint->variants = NULL;
    joint->turns = NULL;
    joint->columns = NULL;
    joint->column_count = 0;
    merge_joint_clear(joint);
}
