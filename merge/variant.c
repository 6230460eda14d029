/* SPDX-License-Identifier: MIT */
/*
 * Grouping the members of a class by what they say of one node and channel. The idea is in class.h.
 *
 * Works on pieces: sets of members that are taken as one. Where a partition that one side already has holds for both,
 * the pieces are the variants of both; else the exact ones are taken apart into members, and all three relations tried.
 *
 *     four ranks send to  0 -> 3, 1 -> 3, 2 -> 3, 3 -> 0     joined: 0 with 1, 2 with 3, then these two
 *
 *     0 with 1    both alone: any relation goes; absolute makes one group                {0 1}: to 3
 *     2 with 3    absolute makes two, offset one: + 1, modulo 4                          {2 3}: + 1
 *     the two     each cuts the other's variant: four members. Absolute: {0 1 2} {3}.
 *                 Offset: 3, 2, 1, 1: {0} {1} {2 3}. Xor: 3, 2, 1, 3: {0 3} {1} {2}.
 *                 Absolute makes the fewest                                              {0 1 2}: to 3   {3}: to 0
 *
 * In a ring (0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0) offset joins both pairs, and then holds for both: nothing is taken apart.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/class.h"
#include "job/course.h"
#include "job/relation.h"
#include "merge/union.h"

enum { EACH_RELATION = JOB_ABSOLUTE | JOB_OFFSET | JOB_XOR };

struct piece {
    struct grammar_attr attr; /* model of the rank `of`; that of the first member by the relation `by` */
    struct job_set set;
    struct job_member first;
    uint32_t of, by, modulus, relations, group;
};

struct pieces {
    struct piece *piece;
    uint32_t count, courses;    /* groups of the last partition that have one */
    struct job_starts *starts;  /* of both sides */
    struct job_start_run *step; /* room for a course */
};

static struct piece piece_of(const struct job_class *c, const struct job_variant *v)
{
    return (struct piece){ .attr = v->attr,
                          .set = { c->ranges + v->range_first, v->range_count },
                          .first = job_ranges_first(c->ranges + v->range_first, v->range_count),
                          .of = v->sample_rank,
                          .by = JOB_ABSOLUTE,
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

static bool has_course(const struct piece *p)
{
    return p->attr.kind == GRAMMAR_ATTR_VARIES && p->attr.course < 0;
}

/* The course of the first member in the pieces' room: how many steps. */
static uint32_t course_of(const struct pieces *all, const struct piece *p)
{
    uint32_t count = has_course(p) ? job_course_steps(all->starts, p->attr.course, all->step) : 0;
    job_course_move(all->step, count, p->by, p->modulus, p->of, p->first.rank);
    return count;
}

/* What is equal on all members that follow one formula: what the relation makes of their model on rank 0. Of models
   that tell no value what tells them apart is a key: team sizes. Compared as bytes. */
struct key { int64_t value, count; uint32_t modulus, relation, kind, length; int64_t sizes[GRAMMAR_ATTR_KEYS]; };

static struct grammar_hash piece_key(const struct pieces *all, const struct piece *p, uint32_t relation)
{
    relation = p->relations & relation ? relation : (uint32_t)JOB_ABSOLUTE;
    struct key key = { .modulus = p->modulus, .relation = relation, .kind = p->attr.kind };
    uint32_t count = relation == JOB_ABSOLUTE && p->by == JOB_ABSOLUTE ? 0 : course_of(all, p);
    if (p->attr.kind == GRAMMAR_ATTR_CONSTANT) {
        key.value = job_relation_value(relation, p->modulus, p->attr.min, p->first.rank, 0);
        key.count = (int64_t)p->attr.count;
    } else if (p->attr.kind == GRAMMAR_ATTR_VARIES) {
        job_course_move(all->step, count, relation, p->modulus, p->first.rank, 0);
        key.value = count ? job_starts_name(all->step, count) : p->attr.course;
    } else {
        key.length = p->attr.length;
        for (uint32_t i = 0; i < p->attr.length; i++)
            key.sizes[i] = p->attr.key[i].value;
    }
    return job_hash_bytes(relation, &key, sizeof key);
}

/* Relations that hold between two pieces. */
static uint32_t agree(const struct pieces *all, const struct piece *a, const struct piece *b)
{
    uint32_t agreed = 0;
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR; relation <<= 1)
        if (a->relations & b->relations & relation &&
            job_hash_equal(piece_key(all, a, relation), piece_key(all, b, relation)))
            agreed |= relation;
    return agreed;
}

/* Counts, sums and extremes of both; `a` and `b` have the same key. */
static void add_totals(struct grammar_attr *a, const struct grammar_attr *b)
{
    if (a->kind == GRAMMAR_ATTR_CONSTANT || a->count == JOB_ALWAYS)
        return;
    a->count += b->count;
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)b->sum);
    a->min = b->min < a->min ? b->min : a->min;
    a->max = b->max > a->max ? b->max : a->max;
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_KEYED && i < a->length; i++) {
        a->key[i].count += b->key[i].count;
        a->key[i].sum += b->key[i].sum;
    }
}

/* Makes `a` stand for the members of both. They are of one group. */
static void add_piece(const struct pieces *all, struct piece *a, const struct piece *b)
{
    uint32_t relations = agree(all, a, b);
    bool second = job_member_before(b->first, a->first);
    struct piece first = second ? *b : *a;
    add_totals(&first.attr, &(second ? a : b)->attr);
    *a = first;
    a->relations = relations;
}

/* --- Partitions --- */

/* Numbers the groups of a partition in the order in which pieces come to them; how many in *groups. */
static int partition(struct pieces *all, uint32_t relation, uint32_t *groups)
{
    struct job_table table = { 0 };
    int error = job_table_reserve(&table, all->count);
    *groups = all->courses = 0;
    for (uint32_t i = 0; i < all->count && !error; i++) {
        struct grammar_hash key = piece_key(all, &all->piece[i], relation);
        all->piece[i].group = job_table_find(&table, key);
        if (all->piece[i].group == GRAMMAR_NONE) {
            all->piece[i].group = *groups;
            all->courses += has_course(&all->piece[i]);
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
static uint32_t uncut(const struct job_starts *starts, const struct merge_side *s)
{
    uint32_t uncut = EACH_RELATION;
    for (const struct job_variant *v = s->v; v < s->v + s->n; v++) {
        bool absolute = v->relations & JOB_ABSOLUTE; /* holds where another one is not possible */
        if (!alone(s->c, v))
            uncut &= v->relations | (absolute ? ~job_relation_possible(starts, &v->attr, v->modulus) : 0);
    }
    return uncut;
}

static uint32_t first_of(uint32_t relations)
{
    return relations & -relations;
}

/* --- From groups to variants --- */

BASE_COMPARISON(by_first, struct piece, BASE_UP(first.rank) ?: BASE_UP(first.thread))

BASE_COMPARISON(by_group, struct piece, BASE_UP(group) ?: by_first(a, b))

/* The model becomes that of the first member. */
static int settle_model(struct pieces *all, struct piece *p)
{
    uint32_t count = p->by != JOB_ABSOLUTE && p->of != p->first.rank ? course_of(all, p) : 0;
    return count ? job_starts_insert(all->starts, all->step, count, &p->attr.course) : 0;
}

static int emit_group(struct merge_union *out, struct job_ranges *scratch, uint32_t node, struct pieces *all,
                      const struct piece *a, uint32_t n)
{
    struct piece whole = a[0];
    for (uint32_t i = 1; i < n; i++)
        add_piece(all, &whole, &a[i]);
    scratch->count = 0;
    int error = settle_model(all, &whole);
    error = error ?: job_sets_join(scratch, &a->set, sizeof *a, n);
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
        error = emit_group(out, &scratch, node, all, all->piece + i, next - i);
    }
    free(scratch.range);
    return error;
}

/* --- Joining --- */

/* Each has its own, or too many members of one side had: none is kept, and none will be, whoever comes. */
static int give_courses_up(struct pieces *all, uint32_t *groups)
{
    for (struct piece *p = all->piece; p < all->piece + all->count; p++)
        if (has_course(p)) {
            p->attr.course = JOB_COURSE_MANY;
            p->relations = JOB_ABSOLUTE;
        }
    return partition(all, JOB_ABSOLUTE, groups);
}

static bool were_many(const struct pieces *all)
{
    for (const struct piece *p = all->piece; p < all->piece + all->count; p++)
        if (p->attr.kind == GRAMMAR_ATTR_VARIES && p->attr.course == JOB_COURSE_MANY)
            return true;
    return false;
}

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
    if (!error && (all->courses > JOB_COURSES || (all->courses && were_many(all))))
        error = give_courses_up(all, &groups);
    return error ?: emit(out, node, all);
}

/* Takes variants whose values are known apart into their members, ranges in `lone`; the others stay whole. */
static uint32_t take_apart(const struct pieces *all, struct piece *out, const struct job_class *c,
                           const struct job_variant *v, struct job_range *lone)
{
    *out = piece_of(c, v);
    if (!job_relation_exact(&v->attr) || (v->attr.kind == GRAMMAR_ATTR_VARIES && v->attr.count != JOB_ALWAYS))
        return 1;
    const struct piece whole = *out;
    uint32_t n = job_set_apart(&whole.set, lone);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = whole;
        out[i].set = (struct job_set){ &lone[i], 1 };
        out[i].first = (struct job_member){ lone[i].first, lone[i].thread };
        out[i].by = v->relations;
        if (v->attr.kind == GRAMMAR_ATTR_CONSTANT) {
            out[i].attr.min = job_variant_value(v, lone[i].first, v->attr.min);
            job_relation_canonical(&out[i].attr);
        }
        out[i].relations = has_course(&out[i])
                               ? job_relation_of_course(all->step, course_of(all, &out[i]), v->modulus)
                               : job_relation_possible(all->starts, &out[i].attr, v->modulus);
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
    struct pieces all = { .piece = malloc(size * sizeof *all.piece), .starts = out->starts,
                          .step = malloc(GRAMMAR_COURSE_STEPS * sizeof *all.step) };
    BASE_OWN struct job_range *lone = relation ? NULL : malloc(size * sizeof *lone);
    int error = all.piece && all.step && (relation || lone) ? 0 : PYTHIA_ENOMEM;
    for (int k = 0; k < 2; k++)
        for (const struct job_variant *v = side[k]->v; v < side[k]->v + side[k]->n && !error; v++)
            if (relation)
                all.piece[all.count++] = piece_of(side[k]->c, v);
            else
                all.count += take_apart(&all, all.piece + all.count, side[k]->c, v, lone + all.count);
    error = error ?: join_by(out, a->v->node, &all, relation ? relation : EACH_RELATION, enough);
    free(all.step);
    free(all.piece);
    return error;
}

/* The groups that one side has, if all of the other falls into them: then no relation makes fewer, nor does one before
   it make as few. */
int merge_variants_join(struct merge_union *out, const struct merge_side *a, const struct merge_side *b)
{
    if (!a->n || !b->n)
        return copy_variants(out, a->n ? a : b);
    uint32_t of_a = uncut(out->starts, a), of_b = uncut(out->starts, b), both = first_of(of_a & of_b);
    uint32_t enough = both == first_of(of_a) ? a->n : 0;
    if (both == first_of(of_b) && b->n > enough)
        enough = b->n;
    int error = both && enough ? join_pieces(out, a, b, both, enough) : 1;
    return error == 1 ? join_pieces(out, a, b, 0, 0) : error;
}
