/* SPDX-License-Identifier: MIT */
#include "merge/union.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"

void merge_union_clear(struct merge_union *both)
{
    job_class_clear(&both->c);
    free(both->ranges.range);
    free(both->attrs);
    job_table_free(&both->memo);
    free(both->places);
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
    int error = 0;
    for (uint32_t i = 0, k = 0; (i < a->variant_count || k < b->variant_count) && !error; out->samples++) {
        int order = variant_order(a, i, b, k);
        const struct merge_side x = { a, a->variants + i, order <= 0 ? run_length(a, i) : 0 };
        const struct merge_side y = { b, b->variants + k, order >= 0 ? run_length(b, k) : 0 };
        error = merge_variants_join(out, &x, &y);
        i += x.n;
        k += y.n;
    }
    if (!error)
        out->attrs = calloc((size_t)out->samples + 1, sizeof *out->attrs);
    return error || out->attrs ? error : PYTHIA_ENOMEM;
}

int merge_class_join(struct job_starts *starts, const struct job_class *a, const struct job_class *b,
                     struct merge_union *out)
{
    struct merge_union both = { .starts = starts };
    if (a->grammar->node_count != b->grammar->node_count || !job_hash_equal(a->hash, b->hash))
        return PYTHIA_EINVAL;
    int error = job_ranges_union(&both.ranges, a->ranges, a->member_ranges, b->ranges, b->member_ranges);
    both.c.member_ranges = both.ranges.count;
    error = error ?: merge_turns_join(&both, a, b);
    error = error ?: join_all_variants(&both, a, b);
    if (error) {
        merge_union_clear(&both);
        return error;
    }
    both.c.ranges = both.ranges.range;
    both.c.range_count = both.ranges.count;
    both.ranges.range = NULL;
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
    struct job_member first = job_ranges_first(a->ranges, a->member_ranges);
    if (!job_class_bodiless(b) && job_member_before(job_ranges_first(b->ranges, b->member_ranges), first))
        take_exponents(g, b->grammar);
    free(g->attrs);
    g->attrs = both->attrs;
    g->attr_count = both->samples;
    both->attrs = NULL;
    struct job_class had = *a;
    *a = both->c;
    a->hash = had.hash;
    a->grammar = g;
    a->spread = had.spread;
    had.grammar = NULL;
    had.spread = NULL;
    both->c = had; /* what it had goes with the union */
    job_class_samples(a);
    merge_union_clear(both);
}
