/* SPDX-License-Identifier: MIT */
/*
 * Grouping the members of a class by what they say of one node and channel. The idea is in class.h.
 *
 * Works on pieces: sets of members that are taken as one. Where a partition that one side already has holds for both,
 * the pieces are the variants of both; else the exact ones are taken apart into members, and all three relations tried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/class.h"
#include "job/relation.h"
#include "merge/union.h"

enum { EACH_RELATION = JOB_ABSOLUTE | JOB_OFFSET | JOB_XOR };

struct piece {
    struct grammar_attr attr; /* model of the sample */
    struct job_set set;
    struct job_member first; /* the sample: its first member */
    uint32_t modulus, relations, group;
};

struct pieces {
    struct piece *piece;
    uint32_t count;
};

static struct piece piece_of(const struct job_class *c, const struct job_variant *v)
{
    return (struct piece){ .attr = v->attr,
                          .set = { c->ranges + v->range_first, v->range_count },
                          .first = job_ranges_first(c->ranges + v->range_first, v->range_count),
                          .modulus = v->modulus,
                          .relations = v->relations };
}

/* --- Building the union --- */

static int remember_place(struct merge_union *out, struct grammar_hash hash, const struct job_range *r, uint32_t count)
{
    struct merge_place place = { out->ranges.count, count };
    int error = job_table_reserve(&out->memo, 1);
    error = error ?: base_array_append(&out->ranges.range, &out->ranges.count, &out->ranges.room, r, count, sizeof *r);
    error = error ?: base_array_append(&out->places, &out->place_count, &out->place_room, &place, 1, sizeof place);
    if (!error)
        job_table_put(&out->memo, hash, out->place_count - 1);
    return error;
}

int merge_union_set(struct merge_union *out, const struct job_range *r, uint32_t count, uint32_t *first)
{
    *first = 0;
    if (job_ranges_equal(r, count, out->ranges.range, out->c.member_ranges))
        return 0;
    struct grammar_hash hash = job_hash_bytes(0, r, count * sizeof *r);
    uint32_t place = job_table_find(&out->memo, hash);
    if (place == GRAMMAR_NONE) {
        int error = remember_place(out, hash, r, count);
        if (error)
            return error;
        place = out->place_count - 1;
    }
    *first = out->places[place].first;
    return 0;
}

/* Appends one variant; its ranges are `r`, shared with equal sets in the union. */
static int append_variant(struct merge_union *out, struct job_variant v, const struct job_range *r, uint32_t count)
{
    int error = merge_union_set(out, r, count, &v.range_first);
    v.range_count = count;
    return error ?: base_array_append(&out->c.variants, &out->c.variant_count, &out->variant_room, &v, 1, sizeof v);
}

static int copy_variants(struct merge_union *out, const struct merge_side *s)
{
    int error = 0;
    for (const struct job_variant *v = s->v; v < s->v + s->n && !error; v++)
        error = append_variant(out, *v, s->c->ranges + v->range_first, v->range_count);
    return error;
}

/* --- Joining models --- */

/* Adds what is known of members without exact values; `a` and `b` have the same key. */
static void add_inexact(struct grammar_attr *a, const struct grammar_attr *b)
{
    a->count += b->count;
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)b->sum);
    a->first = b->first < a->first ? b->first : a->first;
    a->last = b->last > a->last ? b->last : a->last;
    a->min = b->min < a->min ? b->min : a->min;
    a->max = b->max > a->max ? b->max : a->max;
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_KEYED && i < a->length; i++) {
        a->key[i].count += b->key[i].count;
        a->key[i].sum += b->key[i].sum;
    }
}

/* Makes `a` stand for the members of both. They are of one group. */
static void add_piece(struct piece *a, const struct piece *b)
{
    a->relations = job_relation_agree(a->relations & b->relations, a->modulus, &a->attr, a->first.rank, &b->attr,
                                        b->first.rank);
    struct grammar_attr inexact = a->attr;
    add_inexact(&inexact, &b->attr);
    if (job_member_before(b->first, a->first)) {
        a->first = b->first;
        a->attr = b->attr;
    }
    if (!job_relation_exact(&a->attr)) {
        a->attr = inexact;
        a->relations = JOB_ABSOLUTE;
    }
}

/* --- Partitions --- */

static struct grammar_hash piece_key(const struct piece *a, uint32_t relation)
{
    struct job_relation_key key;
    job_relation_key(&a->attr, a->modulus, relation, a->first.rank, &key);
    return job_hash_bytes(relation, &key, sizeof key);
}

/* Numbers the groups of a partition in the order in which pieces come to them; how many in *groups. */
static int partition(struct pieces *all, uint32_t relation, uint32_t *groups)
{
    struct job_table table = { 0 };
    int error = job_table_reserve(&table, all->count);
    *groups = 0;
    for (uint32_t i = 0; i < all->count && !error; i++) {
        struct grammar_hash key = piece_key(&all->piece[i], relation);
        all->piece[i].group = job_table_find(&table, key);
        if (all->piece[i].group == GRAMMAR_NONE) {
            all->piece[i].group = *groups;
            job_table_put(&table, key, (*groups)++);
        }
    }
    job_table_free(&table);
    return error;
}

static bool alone(const struct job_class *c, const struct job_variant *v)
{
    return v->range_count == 1 && c->ranges[v->range_first].count == 1;
}

/* The relations of which no group cuts through one of these variants. The first makes just these, as it makes the
   fewest: what is kept of a side was chosen so. */
static uint32_t uncut(const struct merge_side *s)
{
    uint32_t uncut = EACH_RELATION;
    for (const struct job_variant *v = s->v; v < s->v + s->n; v++) {
        bool absolute = v->relations & JOB_ABSOLUTE; /* holds where another one is not possible */
        if (!alone(s->c, v))
            uncut &= v->relations | (absolute ? ~job_relation_possible(&v->attr, v->modulus) : 0);
    }
    return uncut;
}

static uint32_t first_of(uint32_t relations)
{
    return relations & -relations;
}

/* --- From groups to variants --- */

static int by_first(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    return BASE_ORDER(a->first.rank, b->first.rank) ?: BASE_ORDER(a->first.thread, b->first.thread);
}

static int by_group(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    return BASE_ORDER(a->group, b->group) ?: by_first(x, y);
}

static int emit_group(struct merge_union *out, struct job_ranges *scratch, uint32_t node, const struct piece *a,
                      uint32_t n)
{
    struct piece whole = a[0];
    for (uint32_t i = 1; i < n; i++)
        add_piece(&whole, &a[i]);
    scratch->count = 0;
    int error = job_sets_join(scratch, &a->set, sizeof *a, n);
    if (error)
        return error;
    struct job_variant v = { .node = node,
                             .relations = whole.relations,
                             .sample_rank = whole.first.rank,
                             .modulus = whole.modulus,
                             .attr = whole.attr };
    return append_variant(out, v, scratch->range, scratch->count);
}

/* Appends the groups as variants, in the order of their first members: pieces were in that order when they got them. */
static int emit(struct merge_union *out, uint32_t node, struct pieces *all)
{
    struct job_ranges scratch = { 0 };
    int error = 0;
    qsort(all->piece, all->count, sizeof *all->piece, by_group);
    for (uint32_t i = 0, next; i < all->count && !error; i = next) {
        for (next = i + 1; next < all->count && all->piece[next].group == all->piece[i].group; next++)
            ;
        error = emit_group(out, &scratch, node, all->piece + i, next - i);
    }
    free(scratch.range);
    return error;
}

/* --- Joining --- */

/* By the relation that makes the fewest groups; where so many are `enough`, by the first that makes these, 1: none. */
static int join_by(struct merge_union *out, uint32_t node, struct pieces *all, uint32_t relations, uint32_t enough)
{
    uint32_t best = 0, fewest = UINT32_MAX, groups = 0;
    int error = 0;
    qsort(all->piece, all->count, sizeof *all->piece, by_first);
    for (; relations && !error; relations -= first_of(relations)) {
        error = partition(all, first_of(relations), &groups);
        if (groups == enough)
            return error ?: emit(out, node, all);
        best = groups < fewest ? first_of(relations) : best;
        fewest = groups < fewest ? groups : fewest;
    }
    if (enough)
        return error ?: 1;
    error = error ?: partition(all, best, &groups);
    return error ?: emit(out, node, all);
}

/* Takes exact variants apart into their members, ranges in `lone`; the others stay whole. */
static uint32_t take_apart(struct piece *out, const struct job_class *c, const struct job_variant *v,
                           struct job_range *lone)
{
    *out = piece_of(c, v);
    if (!job_relation_exact(&v->attr))
        return 1;
    const struct job_set whole = out->set;
    uint32_t n = job_set_apart(&whole, lone);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (struct piece){ .set = { &lone[i], 1 },
                                 .first = { lone[i].first, lone[i].thread },
                                 .modulus = v->modulus };
        job_relation_take(v, lone[i].first, &out[i].attr);
        out[i].relations = job_relation_possible(&out[i].attr, v->modulus);
    }
    return n;
}

static uint64_t members_of(const struct merge_side *s)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < s->n; i++)
        size += job_ranges_size(s->c->ranges + s->v[i].range_first, s->v[i].range_count);
    return size;
}

/* Pieces of both sides: variants, which `relation` does not cut, or (0) their members, by any. Returns as join_by. */
static int join_pieces(struct merge_union *out, const struct merge_side *a, const struct merge_side *b,
                       uint32_t relation, uint32_t enough)
{
    const struct merge_side *const side[] = { a, b };
    uint64_t size = relation ? (uint64_t)a->n + b->n : members_of(a) + members_of(b);
    if (size > JOB_LIMIT)
        return PYTHIA_ELIMIT;
    struct pieces all = { malloc(size * sizeof *all.piece), 0 };
    struct job_range *lone = relation ? NULL : malloc(size * sizeof *lone);
    int error = all.piece && (relation || lone) ? 0 : PYTHIA_ENOMEM;
    for (int k = 0; k < 2; k++)
        for (const struct job_variant *v = side[k]->v; v < side[k]->v + side[k]->n && !error; v++)
            if (relation)
                all.piece[all.count++] = piece_of(side[k]->c, v);
            else
                all.count += take_apart(all.piece + all.count, side[k]->c, v, lone + all.count);
    error = error ?: join_by(out, a->v->node, &all, relation ? relation : EACH_RELATION, enough);
    free(lone);
    free(all.piece);
    return error;
}

/* The groups that one side has, if all of the other falls into them: then no relation makes fewer, nor does one before
   it make as few. */
int merge_variants_join(struct merge_union *out, const struct merge_side *a, const struct merge_side *b)
{
    if (!a->n || !b->n)
        return copy_variants(out, a->n ? a : b);
    uint32_t of_a = uncut(a), of_b = uncut(b), both = first_of(of_a & of_b);
    uint32_t enough = both == first_of(of_a) ? a->n : 0;
    if (both == first_of(of_b) && b->n > enough)
        enough = b->n;
    int error = both && enough ? join_pieces(out, a, b, both, enough) : 1;
    return error == 1 ? join_pieces(out, a, b, 0, 0) : error;
}
