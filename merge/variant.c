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
    struct merge_set set;
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

/* --- Sets --- */

uint32_t merge_set_apart(const struct merge_set *s, struct job_range *out)
{
    uint32_t n = 0;
    for (const struct job_range *r = s->ranges; r < s->ranges + s->count; r++)
        for (uint64_t i = 0, size = job_range_size(r); i < size; i++)
            out[n++] = (struct job_range){ job_range_rank(r, i), 1, 1, r->thread, 0, 0, 0, 0 };
    return n;
}

static int member_order(const void *x, const void *y)
{
    const struct job_member *a = x, *b = y;
    return BASE_ORDER(a->thread, b->thread) ?: BASE_ORDER(a->rank, b->rank);
}

/* All members of n sets, in order. */
static int join_many(struct job_ranges *out, const char *sets, size_t apart, uint32_t n)
{
    uint64_t size = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct merge_set *s = (const void *)(sets + i * apart);
        size += job_ranges_size(s->ranges, s->count);
    }
    struct job_member *m = size > JOB_LIMIT ? NULL : malloc(size * sizeof *m);
    if (!m)
        return size > JOB_LIMIT ? PYTHIA_ELIMIT : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct merge_set *s = (const void *)(sets + i * apart);
        job_ranges_walk(s->ranges, s->count, m + at);
        at += job_ranges_size(s->ranges, s->count);
    }
    qsort(m, size, sizeof *m, member_order);
    int error = job_ranges_members(out, m, (uint32_t)size);
    free(m);
    return error;
}

int merge_sets_join(struct job_ranges *out, const struct merge_set *s, size_t apart, uint32_t n)
{
    const struct merge_set none = { NULL, 0 }, *other = n < 2 ? &none : (const void *)((const char *)s + apart);
    return n > 2 ? join_many(out, (const char *)s, apart, n)
                 : job_ranges_union(out, s->ranges, s->count, other->ranges, other->count);
}

/* --- Building the union --- */

static int remember_place(struct merge_union *out, struct grammar_hash hash, const struct job_range *r, uint32_t count)
{
    int error = job_table_reserve(&out->memo, 1);
    if (!error)
        error = base_array_room(&out->places, &out->place_room, (uint64_t)out->place_count + 1, sizeof *out->places);
    if (!error)
        error = base_array_room(&out->ranges.range, &out->ranges.room, (uint64_t)out->ranges.count + count, sizeof *r);
    if (error)
        return error;
    memcpy(out->ranges.range + out->ranges.count, r, count * sizeof *r);
    out->places[out->place_count] = (struct merge_place){ out->ranges.count, count };
    job_table_put(&out->memo, hash, out->place_count++);
    out->ranges.count += count;
    return 0;
}

int merge_union_set(struct merge_union *out, const struct job_range *r, uint32_t count, uint32_t *first)
{
    *first = 0;
    if (job_ranges_equal(r, count, out->ranges.range, out->member_ranges))
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
    int error = base_array_room(&out->variants, &out->variant_room, (uint64_t)out->variant_count + 1, sizeof v);
    error = error ?: merge_union_set(out, r, count, &v.range_first);
    v.range_count = count;
    if (!error)
        out->variants[out->variant_count++] = v;
    return error;
}

static int copy_variants(struct merge_union *out, const struct job_class *c, const struct job_variant *v, uint32_t n)
{
    int error = 0;
    for (uint32_t i = 0; i < n && !error; i++)
        error = append_variant(out, v[i], c->ranges + v[i].range_first, v[i].range_count);
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

/* Numbers the groups of a partition; how many in *groups. */
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
static bool unions_of(const struct job_class *c, const struct job_variant *v, uint32_t n, uint32_t relation)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t key = job_relation_possible(&v[i].attr, v[i].modulus) & relation ? relation : JOB_ABSOLUTE;
        if (!alone(c, &v[i]) && !(v[i].relations & key))
            return false;
    }
    return true;
}

/* --- From groups to variants --- */

static int piece_order(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    return BASE_ORDER(a->group, b->group) ?: (job_member_before(a->first, b->first) ? -1 : 1);
}

static int first_order(const void *x, const void *y)
{
    const struct piece *a = *(const struct piece *const *)x, *b = *(const struct piece *const *)y;
    return job_member_before(a->first, b->first) ? -1 : 1;
}

static int emit_group(struct merge_union *out, struct job_ranges *scratch, uint32_t node, const struct piece *a,
                      uint32_t n)
{
    struct piece whole = a[0];
    for (uint32_t i = 1; i < n; i++)
        add_piece(&whole, &a[i]);
    scratch->count = 0;
    int error = merge_sets_join(scratch, &a->set, sizeof *a, n);
    if (error)
        return error;
    struct job_variant v = { .node = node,
                             .relations = whole.relations,
                             .sample_rank = whole.first.rank,
                             .modulus = whole.modulus,
                             .attr = whole.attr };
    return append_variant(out, v, scratch->range, scratch->count);
}

static uint32_t group_length(const struct pieces *all, const struct piece *a)
{
    uint32_t n = 1;
    while (a + n < all->piece + all->count && a[n].group == a->group)
        n++;
    return n;
}

/* Appends the groups as variants, in the order of their first members. */
static int emit(struct merge_union *out, uint32_t node, struct pieces *all, uint32_t groups)
{
    const struct piece **head = malloc(groups * sizeof *head);
    struct job_ranges scratch = { 0 };
    uint32_t at = 0;
    int error = head ? 0 : PYTHIA_ENOMEM;
    if (error)
        return error;
    qsort(all->piece, all->count, sizeof *all->piece, piece_order);
    for (uint32_t g = 0; g < groups; at += group_length(all, head[g++]))
        head[g] = &all->piece[at];
    qsort(head, groups, sizeof *head, first_order);
    for (uint32_t g = 0; g < groups && !error; g++)
        error = emit_group(out, &scratch, node, head[g], group_length(all, head[g]));
    free(scratch.range);
    free(head);
    return error;
}

/* --- The three ways of joining --- */

/* One formula for everybody: 0, an error, or 1 where there is none. */
static int join_single(struct merge_union *out, const struct job_class *a, const struct job_variant *va,
                       const struct job_class *b, const struct job_variant *vb)
{
    struct piece pair[2] = { piece_of(a, va), piece_of(b, vb) };
    struct job_ranges scratch = { 0 };
    if (va->modulus != vb->modulus || va->attr.kind != vb->attr.kind || !job_relation_exact(&va->attr))
        return 1;
    if (!job_relation_agree(va->relations & vb->relations, va->modulus, &va->attr, pair[0].first.rank, &vb->attr,
                              pair[1].first.rank))
        return 1;
    int error = emit_group(out, &scratch, va->node, pair, 2);
    free(scratch.range);
    return error;
}

/* The relation whose partition the variants of one side are; 0 is an error (in *error). */
static uint32_t relation_of(const struct job_class *c, const struct job_variant *v, struct pieces *all, int *error)
{
    uint32_t groups;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR; relation <<= 1) {
        if (!unions_of(c, v, all->count, relation))
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
static int join_into(struct merge_union *out, const struct job_class *a, const struct job_variant *va, uint32_t na,
                     const struct job_class *b, const struct job_variant *vb, uint32_t nb)
{
    struct pieces all = { malloc(((size_t)na + nb) * sizeof *all.piece), na };
    uint32_t groups = 0;
    int error = 0;
    if (!all.piece)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < na; i++)
        all.piece[i] = piece_of(a, &va[i]);
    uint32_t relation = relation_of(a, va, &all, &error);
    if (!error && !unions_of(b, vb, nb, relation))
        error = 1;
    for (uint32_t i = 0; i < nb; i++)
        all.piece[na + i] = piece_of(b, &vb[i]);
    all.count = na + nb;
    error = error ?: partition(&all, relation, &groups);
    if (!error)
        error = groups == na ? emit(out, va->node, &all, groups) : 1;
    free(all.piece);
    return error;
}

/* Takes exact variants apart into their members, ranges in `lone`; the others stay whole. */
static uint32_t take_apart(struct piece *out, const struct job_class *c, const struct job_variant *v,
                           struct job_range *lone)
{
    struct piece whole = piece_of(c, v);
    *out = whole;
    if (!job_relation_exact(&v->attr))
        return 1;
    uint32_t n = merge_set_apart(&whole.set, lone);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (struct piece){ .set = { &lone[i], 1 },
                                 .first = { lone[i].first, lone[i].thread },
                                 .modulus = v->modulus };
        job_relation_take(v, lone[i].first, &out[i].attr);
        out[i].relations = job_relation_possible(&out[i].attr, v->modulus);
    }
    return n;
}

static uint64_t members_of(const struct job_class *c, const struct job_variant *v, uint32_t n)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < n; i++)
        size += job_ranges_size(c->ranges + v[i].range_first, v[i].range_count);
    return size;
}

static int emit_best(struct merge_union *out, uint32_t node, struct pieces *all)
{
    uint32_t best = JOB_ABSOLUTE, fewest = 0, groups = 0;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR; relation <<= 1) {
        int error = partition(all, relation, &groups);
        if (error)
            return error;
        if (relation == JOB_ABSOLUTE || groups < fewest) {
            best = relation;
            fewest = groups;
        }
    }
    int error = partition(all, best, &groups);
    return error ?: emit(out, node, all, groups);
}

static int join_members(struct merge_union *out, const struct job_class *a, const struct job_variant *va,
                        uint32_t na, const struct job_class *b, const struct job_variant *vb, uint32_t nb)
{
    uint64_t size = members_of(a, va, na) + members_of(b, vb, nb);
    if (size > JOB_LIMIT)
        return PYTHIA_ELIMIT;
    struct pieces all = { malloc(size * sizeof *all.piece), 0 };
    struct job_range *lone = malloc(size * sizeof *lone);
    int error = all.piece && lone ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < na && !error; i++)
        all.count += take_apart(all.piece + all.count, a, &va[i], lone + all.count);
    for (uint32_t i = 0; i < nb && !error; i++)
        all.count += take_apart(all.piece + all.count, b, &vb[i], lone + all.count);
    if (!error)
        error = emit_best(out, na ? va->node : vb->node, &all);
    free(lone);
    free(all.piece);
    return error;
}

int merge_variants_join(struct merge_union *out, const struct job_class *a, const struct job_variant *va,
                        uint32_t na, const struct job_class *b, const struct job_variant *vb, uint32_t nb)
{
    int error = 1;
    if (!na || !nb)
        return na ? copy_variants(out, a, va, na) : copy_variants(out, b, vb, nb);
    if (na == 1 && nb == 1)
        error = join_single(out, a, va, b, vb);
    if (error == 1)
        error = join_into(out, a, va, na, b, vb, nb);
    if (error == 1)
        error = join_into(out, b, vb, nb, a, va, na);
    return error == 1 ? join_members(out, a, va, na, b, vb, nb) : error;
}
