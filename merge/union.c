/* SPDX-License-Identifier: MIT */
#include "merge/union.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/turns.h"

void merge_union_clear(struct merge_union *both)
{
    free(both->ranges.range);
    free(both->variants);
    free(both->samples);
    job_table_free(&both->memo);
    free(both->places);
    free(both->turns);
    job_columns_free(both->columns, both->column_count);
    memset(both, 0, sizeof *both);
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
    return BASE_ORDER(x->node, y->node) ?: BASE_ORDER(x->attr.channel, y->attr.channel);
}

static int join_all_variants(struct merge_union *out, const struct job_class *a, const struct job_class *b)
{
    uint32_t i = 0, k = 0;
    while (i < a->variant_count || k < b->variant_count) {
        int order = variant_order(a, i, b, k);
        uint32_t na = order <= 0 ? run_length(a, i) : 0, nb = order >= 0 ? run_length(b, k) : 0;
        uint32_t at = out->variant_count;
        int error = merge_variants_join(out, a, a->variants + i, na, b, b->variants + k, nb);
        error = error ?: base_array_room(&out->samples, &out->sample_room, (uint64_t)out->sample_count + 1,
                                         sizeof *out->samples);
        if (error)
            return error;
        out->samples[out->sample_count++] = out->variants[at].attr;
        i += na;
        k += nb;
    }
    return 0;
}

int merge_class_join(const struct job_class *a, const struct job_class *b, struct merge_union *out)
{
    struct merge_union both = { 0 };
    if (a->grammar->node_count != b->grammar->node_count || !job_hash_equal(a->hash, b->hash))
        return PYTHIA_EINVAL;
    int error = job_ranges_union(&both.ranges, a->ranges, a->member_ranges, b->ranges, b->member_ranges);
    both.member_ranges = both.ranges.count;
    error = error ?: merge_turns_join(&both, a, b);
    error = error ?: join_all_variants(&both, a, b);
    if (error) {
        merge_union_clear(&both);
        return error;
    }
    *out = both;
    return 0;
}

static void spread_join(struct job_spread *into, const struct job_spread *from)
{
    job_extent_join(&into->all, &from->all);
    job_extent_join(&into->call, &from->call);
    into->call_square += from->call_square;
}

static void take_exponents(struct grammar_flat *g, const struct grammar_flat *from)
{
    for (uint32_t n = 0; n < g->node_count; n++)
        g->nodes[n].exponent = from->nodes[n].exponent;
    g->events = from->events;
}

void merge_class_commit(struct job_class *a, const struct job_class *b, struct merge_union *both)
{
    struct grammar_flat *g = a->grammar;
    for (uint32_t n = 0; n < g->node_count; n++) {
        grammar_stats_join(&g->stats[n], &b->grammar->stats[n]);
        spread_join(&a->spread[n], &b->spread[n]);
    }
    if (both->samples) { /* else there was none before either */
        free(g->attrs);
        g->attrs = both->samples;
        g->attr_count = both->sample_count;
    }
    struct job_member first = job_ranges_first(a->ranges, a->member_ranges);
    if (!job_class_bodiless(b) && job_member_before(job_ranges_first(b->ranges, b->member_ranges), first))
        take_exponents(g, b->grammar);
    free(a->ranges);
    a->ranges = both->ranges.range;
    a->range_count = both->ranges.count;
    a->member_ranges = both->member_ranges;
    free(a->variants);
    a->variants = both->variants;
    a->variant_count = both->variant_count;
    free(a->turns);
    free(a->expanded); /* of fewer members */
    a->expanded = NULL;
    job_columns_free(a->columns, a->column_count);
    a->turns = both->turns;
    a->turn_count = both->turn_count;
    a->columns = both->columns;
    a->column_count = both->column_count;
    job_class_samples(a);
    both->samples = NULL;
    both->ranges.range = NULL;
    both->variants = NULL;
    both->turns = NULL;
    both->columns = NULL;
    both->column_count = 0;
    merge_union_clear(both);
}
