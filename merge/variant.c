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

/* Whether no group of the partition by `relation` cuts through one of these variants. */
static bool unions_of(const struct merge_side *s, uint32_t relation)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t key = job_relation_possible(&s->v[i].attr, s->v[i].modulus) & relation ? relation : JOB_ABSOLUTE;
        if (!alone(s->c, &s->v[i]) && !(s->v[i].relations & key))
            return false;
    }
    return true;
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

/* --- The two ways of joining --- */

static void add_whole(struct pieces *all, const struct merge_side *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        all->piece[all->count++] = piece_of(s->c, &s->v[i]);
}

/* The relation whose partition the variants of one side, the pieces, are; 0 is an error (in *error). */
static uint32_t relation_of(const struct merge_side *s, struct pieces *all, int *error)
{
    uint32_t groups;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR; relation <<= 1) {
        if (!unions_of(s, relation))
            continue;
        if ((*error = partition(all, relation, &groups)))
            return 0;
        if (groups == all->count)
            return relation;
    }
    *error = 1; /* made by somebody else: look at the members */
    return 0;
}

/* The groups that side `a` has, if all of `b` falls into them: then no relation makes fewer. 1 where it does not. */
static int join_into(struct merge_union *out, const struct merge_side *a, const struct merge_side *b)
{
    struct pieces all = { malloc(((size_t)a->n + b->n) * sizeof *all.piece), 0 };
    uint32_t groups = 0;
    int error = 0;
    if (!all.piece)
        return PYTHIA_ENOMEM;
    add_whole(&all, a);
    uint32_t relation = relation_of(a, &all, &error);
    if (!error && !unions_of(b, relation))
        error = 1;
    if (!error) {
        add_whole(&all, b);
        qsort(all.piece, all.count, sizeof *all.piece, by_first);
        error = partition(&all, relation, &groups);
    }
    if (!error)
        error = groups == a->n ? emit(out, a->v->node, &all) : 1;
    free(all.piece);
    return error;
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

static int emit_best(struct merge_union *out, uint32_t node, struct pieces *all)
{
    uint32_t best = JOB_ABSOLUTE, fewest = UINT32_MAX, groups = 0;
    int error = 0;
    qsort(all->piece, all->count, sizeof *all->piece, by_first);
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR && !error; relation <<= 1) {
        error = partition(all, relation, &groups);
        if (groups < fewest) {
            best = relation;
            fewest = groups;
        }
    }
    error = error ?: partition(all, best, &groups);
    return error ?: emit(out, node, all);
}

static int join_members(struct merge_union *out, const struct merge_side *a, const struct merge_side *b)
{
    const struct merge_side *const side[] = { a, b };
    uint64_t size = members_of(a) + members_of(b);
    if (size > JOB_LIMIT)
        return PYTHIA_ELIMIT;
    struct pieces all = { malloc(size * sizeof *all.piece), 0 };
    struct job_range *lone = malloc(size * sizeof *lone);
    int error = all.piece && lone ? 0 : PYTHIA_ENOMEM;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < side[k]->n && !error; i++)
            all.count += take_apart(all.piece + all.count, side[k]->c, &side[k]->v[i], lone + all.count);
    error = error ?: emit_best(out, a->v->node, &all);
    free(lone);
    free(all.piece);
    return error;
}

int merge_variants_join(struct merge_union *out, const struct merge_side *a, const struct merge_side *b)
{
    if (!a->n || !b->n)
        return copy_variants(out, a->n ? a : b);
    int error = join_into(out, a, b);
    if (error == 1)
        error = join_into(out, b, a);
    return error == 1 ? join_members(out, a, b) : error;
}
