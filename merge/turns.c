/* SPDX-License-Identifier: MIT */
/*
 * Exponents of two classes of the same shape, joined: what differs between members becomes sets of members by value, or
 * a column where the sets would have too many ranges (job/turns.h).
 *
 * Cost of a node: linear in the sets' ranges where both sides have sets that join to few; else in the members, with
 * sorting.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "pythia.h"
#include "job/turns.h"
#include "merge/union.h"

/* The members of one side that have this exponent. */
struct part {
    uint64_t exponent;
    const struct job_range *ranges;
    uint32_t range_count;
};

static int by_exponent(const void *x, const void *y)
{
    const struct part *a = x, *b = y;
    return BASE_ORDER(a->exponent, b->exponent);
}

/* Sets of a side at a node, from its turns [first, first + count) on; 1 where it has a column. */
static int add_parts(struct part *part, uint32_t *n, const struct job_class *c, uint32_t first, uint32_t count,
                     uint64_t exponent)
{
    if (!count)
        part[(*n)++] = (struct part){ exponent, c->ranges, c->member_ranges };
    for (uint32_t i = first; i < first + count; i++) {
        const struct job_turn *t = &c->turns[i];
        if (t->column != GRAMMAR_NONE)
            return 1;
        part[(*n)++] = (struct part){ t->exponent, c->ranges + t->range_first, t->range_count };
    }
    return 0;
}

static uint64_t most_ranges(const struct merge_union *out)
{
    return JOB_TURN_RANGES + job_ranges_size(out->ranges.range, out->member_ranges) / JOB_TURN_RANGES;
}

/* --- Sets --- */

struct sets {
    struct job_ranges ranges;
    struct job_turn *turn; /* ranges of these, not yet of the union */
    uint32_t count, room;
};

static int add_set(struct sets *s, uint32_t node, uint64_t exponent, uint32_t first)
{
    int error = base_array_room(&s->turn, &s->room, (uint64_t)s->count + 1, sizeof *s->turn);
    if (!error)
        s->turn[s->count++] = (struct job_turn){ .node = node,
                                                 .range_first = first,
                                                 .range_count = s->ranges.count - first,
                                                 .column = GRAMMAR_NONE,
                                                 .exponent = exponent };
    return error;
}

/* Sets of both sides, at most one of each for an exponent. 1: too many ranges. */
static int join_parts(struct sets *s, uint32_t node, struct part *part, uint32_t n, uint64_t most)
{
    int error = 0;
    qsort(part, n, sizeof *part, by_exponent);
    for (uint32_t i = 0, k; i < n && !error; i = k) {
        uint32_t first = s->ranges.count;
        k = i + 1;
        bool both = k < n && part[k].exponent == part[i].exponent;
        error = job_ranges_union(&s->ranges, part[i].ranges, part[i].range_count, both ? part[k].ranges : NULL,
                                 both ? part[k].range_count : 0);
        k += both;
        if (!error)
            error = s->ranges.count > most ? 1 : add_set(s, node, part[i].exponent, first);
    }
    return error;
}

struct one { uint64_t exponent; struct job_member member; };

static int one_order(const void *x, const void *y)
{
    const struct one *a = x, *b = y;
    return BASE_ORDER(a->exponent, b->exponent) ?:
           (job_member_walked_before(a->member, b->member) ? -1 : job_member_walked_before(b->member, a->member));
}

/* The same of members one by one. */
static int join_ones(struct sets *s, uint32_t node, struct one *one, uint64_t n, uint64_t most)
{
    struct job_member *m = malloc((n + 1) * sizeof *m);
    int error = m ? 0 : PYTHIA_ENOMEM;
    if (m)
        qsort(one, n, sizeof *one, one_order);
    for (uint64_t i = 0, k; i < n && !error; i = k) {
        uint32_t first = s->ranges.count;
        for (k = i; k < n && one[k].exponent == one[i].exponent; k++)
            m[k - i] = one[k].member;
        error = job_ranges_members(&s->ranges, m, (uint32_t)(k - i));
        if (!error)
            error = s->ranges.count > most ? 1 : add_set(s, node, one[i].exponent, first);
    }
    free(m);
    return error;
}

static int put_sets(struct merge_union *out, const struct sets *s)
{
    int error = base_array_room(&out->turns, &out->turn_room, (uint64_t)out->turn_count + s->count, sizeof *out->turns);
    for (uint32_t i = 0; i < s->count && !error && s->count > 1; i++) {
        struct job_turn t = s->turn[i];
        error = merge_union_set(out, s->ranges.range + t.range_first, t.range_count, &t.range_first);
        out->turns[out->turn_count++] = t;
    }
    return error;
}

/* --- Columns --- */

static int put_column(struct merge_union *out, uint32_t node, const uint64_t *number, uint64_t members)
{
    int error = base_array_room(&out->columns, &out->column_room, (uint64_t)out->column_count + 1,
                                sizeof *out->columns);
    if (!error)
        error = base_array_room(&out->turns, &out->turn_room, (uint64_t)out->turn_count + 1, sizeof *out->turns);
    if (!error)
        error = job_column_make(&out->columns[out->column_count], number, members);
    if (!error)
        out->turns[out->turn_count++] = (struct job_turn){ .node = node, .column = out->column_count++ };
    return error;
}

/* Exponents of the members of a side, each with its member. */
static int list_side(const struct job_class *c, uint32_t node, uint64_t exponent, bool same, struct one *one,
                     uint64_t members)
{
    uint64_t *number = malloc((members + 1) * sizeof *number);
    struct job_member *m = malloc((members + 1) * sizeof *m);
    int error = number && m ? 0 : PYTHIA_ENOMEM;
    if (!error && !same)
        error = job_turns_fill(c, node, number);
    if (!error)
        job_ranges_walk(c->ranges, c->member_ranges, m);
    for (uint64_t i = 0; i < members && !error; i++)
        one[i] = (struct one){ same ? exponent : number[i], m[i] };
    free(number);
    free(m);
    return error;
}

/* Both sides in the order of the members. */
static void weave(const struct one *a, uint64_t na, const struct one *b, uint64_t nb, uint64_t *number)
{
    for (uint64_t i = 0, k = 0; i < na || k < nb;) {
        bool left = k == nb || (i < na && job_member_walked_before(a[i].member, b[k].member));
        *number++ = left ? a[i++].exponent : b[k++].exponent;
    }
}

/* --- A node --- */

/* A side: its class, the node's turns there, and its exponent where it has none. */
struct side {
    const struct job_class *c;
    uint32_t first, count;
    uint64_t exponent;
};

static int join_members(struct merge_union *out, uint32_t node, const struct side *a, const struct side *b)
{
    uint64_t na = job_ranges_size(a->c->ranges, a->c->member_ranges), most = most_ranges(out);
    uint64_t nb = job_ranges_size(b->c->ranges, b->c->member_ranges);
    if (na + nb > JOB_LIMIT)
        return PYTHIA_ELIMIT;
    struct one *one = malloc((na + nb + 1) * sizeof *one);
    uint64_t *number = malloc((na + nb + 1) * sizeof *number);
    struct sets s = { 0 };
    int error = one && number ? 0 : PYTHIA_ENOMEM;
    if (!error)
        error = list_side(a->c, node, a->exponent, !a->count, one, na);
    if (!error)
        error = list_side(b->c, node, b->exponent, !b->count, one + na, nb);
    if (!error) {
        weave(one, na, one + na, nb, number);
        error = join_ones(&s, node, one, na + nb, most);
        error = error == 1 ? put_column(out, node, number, na + nb) : error ? error : put_sets(out, &s);
    }
    free(s.ranges.range);
    free(s.turn);
    free(one);
    free(number);
    return error;
}

static int join_node(struct merge_union *out, uint32_t node, const struct side *a, const struct side *b)
{
    struct sets s = { 0 };
    uint32_t n = 0;
    struct part *part = malloc(((size_t)a->count + b->count + 2) * sizeof *part);
    int error = part ? 0 : PYTHIA_ENOMEM;
    if (!error)
        error = add_parts(part, &n, a->c, a->first, a->count, a->exponent);
    if (!error)
        error = add_parts(part, &n, b->c, b->first, b->count, b->exponent);
    if (!error)
        error = join_parts(&s, node, part, n, most_ranges(out));
    if (!error)
        error = put_sets(out, &s);
    free(part);
    free(s.ranges.range);
    free(s.turn);
    return error == 1 ? join_members(out, node, a, b) : error;
}

/* Turns of a node, from *at on, which is moved on. */
static struct side side_at(const struct job_class *c, uint32_t node, const struct grammar_flat *exponents, uint32_t *at)
{
    struct side s = { c, *at, 0, exponents->nodes[node].exponent };
    while (*at < c->turn_count && c->turns[*at].node == node) {
        (*at)++;
        s.count++;
    }
    return s;
}

int merge_turns_join(struct merge_union *out, const struct job_class *a, const struct job_class *b)
{
    const struct grammar_flat *theirs = job_class_bodiless(b) ? a->grammar : b->grammar;
    uint32_t i = 0, k = 0;
    int error = 0;
    for (uint32_t n = 0; n < a->grammar->node_count && !error; n++) {
        struct side x = side_at(a, n, a->grammar, &i), y = side_at(b, n, theirs, &k);
        if (x.count || y.count || x.exponent != y.exponent)
            error = join_node(out, n, &x, &y);
    }
    return error;
}
