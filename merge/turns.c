/* SPDX-License-Identifier: MIT */
/*
 * Exponents of two classes of the same shape, joined: what differs between members becomes sets of members by value, or
 * a column where the sets would have too many ranges (job/turns.h).
 *
 * Cost of a node: linear in the sets' ranges where both sides have sets that join to few; else in the members, with
 * sorting.
 */
#include <stdlib.h>

#include "base/order.h"
#include "pythia.h"
#include "job/turns.h"
#include "merge/union.h"

/* Members of one side that have this exponent. */
struct part {
    uint64_t exponent;
    struct job_set set;
};

struct parts {
    struct part *part;
    struct job_range *lone; /* of members that stand alone */
    uint32_t count;
};

BASE_COMPARISON(by_exponent, struct part, BASE_UP(exponent))

/* --- Sides --- */

/* A side: its class, the node's turns there, and its exponent where it has none. */
struct side {
    const struct job_class *c;
    uint32_t first, count;
    uint64_t exponent;
};

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

static uint64_t members_of(const struct side *s)
{
    return job_ranges_size(s->c->ranges, s->c->member_ranges);
}

/* NULL: it has none. */
static const struct job_column *column_of(const struct side *s)
{
    uint32_t column = s->count ? s->c->turns[s->first].column : GRAMMAR_NONE;
    return column == GRAMMAR_NONE ? NULL : &s->c->columns[column];
}

static uint64_t parts_of(const struct side *s)
{
    return column_of(s) ? members_of(s) : s->count ? s->count : 1;
}

/* Its sets, or each member alone; there is room. */
static void add_side(struct parts *p, const struct side *s)
{
    const struct job_set all = { s->c->ranges, s->c->member_ranges };
    const struct job_column *column = column_of(s);
    struct job_range *lone = p->lone + p->count;
    if (!s->count)
        p->part[p->count++] = (struct part){ s->exponent, all };
    for (uint32_t i = 0, n = column ? job_set_apart(&all, lone) : 0; i < n; i++)
        p->part[p->count++] = (struct part){ job_column_get(column, i), { &lone[i], 1 } };
    for (const struct job_turn *t = s->c->turns + s->first; !column && t < s->c->turns + s->first + s->count; t++)
        p->part[p->count++] = (struct part){ t->exponent, { s->c->ranges + t->range_first, t->range_count } };
}

/* --- A node --- */

static int put_turn(struct merge_union *out, const struct job_turn *t)
{
    return base_array_append(&out->c.turns, &out->c.turn_count, &out->turn_room, t, 1, sizeof *t);
}

/* Parts in the order of their exponents become a set for each, none where it is one for all. 1: too many ranges. */
static int put_sets(struct merge_union *out, uint32_t node, const struct parts *p)
{
    uint64_t most = JOB_TURN_RANGES + job_ranges_size(out->ranges.range, out->c.member_ranges) / JOB_TURN_RANGES;
    struct job_ranges sets = { 0 };
    uint32_t before = out->c.turn_count;
    int error = 0;
    for (uint32_t i = 0, next; i < p->count && !error; i = next) {
        struct job_turn t = { node, sets.count, 0, GRAMMAR_NONE, p->part[i].exponent };
        for (next = i + 1; next < p->count && p->part[next].exponent == t.exponent; next++)
            ;
        error = job_sets_join(&sets, &p->part[i].set, sizeof *p->part, next - i);
        t.range_count = sets.count - t.range_first;
        if (!error)
            error = sets.count > most ? 1 : put_turn(out, &t);
    }
    if (error || out->c.turn_count == before + 1)
        out->c.turn_count = before;
    for (uint32_t i = before; i < out->c.turn_count && !error; i++)
        error = merge_union_set(out, sets.range + out->c.turns[i].range_first, out->c.turns[i].range_count,
                                &out->c.turns[i].range_first);
    free(sets.range);
    return error;
}

/* All members, each with its exponent. */
static int put_column(struct merge_union *out, uint32_t node, const struct parts *p, uint64_t members)
{
    BASE_OWN struct job_member *m = malloc((members + 1) * sizeof *m);
    BASE_OWN uint64_t *number = calloc(members + 1, sizeof *number);
    int error = m && number ? base_array_room(&out->c.columns, &out->column_room, (uint64_t)out->c.column_count + 1,
                                              sizeof *out->c.columns)
                            : PYTHIA_ENOMEM;
    if (!error)
        job_ranges_walk(out->ranges.range, out->c.member_ranges, m);
    for (const struct part *q = p->part; q < p->part + p->count && !error; q++)
        job_members_put(m, members, &q->set, q->exponent, number);
    error = error ?: job_column_make(&out->c.columns[out->c.column_count], number, members);
    error = error ?: put_turn(out, &(struct job_turn){ .node = node, .column = out->c.column_count++ });
    return error;
}

static int join_node(struct merge_union *out, uint32_t node, const struct side *a, const struct side *b)
{
    uint64_t members = members_of(a) + members_of(b), parts = parts_of(a) + parts_of(b);
    struct parts p = { 0 };
    int error = parts > JOB_LIMIT ? PYTHIA_ELIMIT : 0;
    if (!error) {
        p.part = malloc((parts + 1) * sizeof *p.part);
        p.lone = malloc((parts + 1) * sizeof *p.lone);
        error = p.part && p.lone ? 0 : PYTHIA_ENOMEM;
    }
    if (!error) {
        add_side(&p, a);
        add_side(&p, b);
        qsort(p.part, p.count, sizeof *p.part, by_exponent);
        error = put_sets(out, node, &p);
    }
    if (error == 1)
        error = members > JOB_LIMIT ? PYTHIA_ELIMIT : put_column(out, node, &p, members);
    free(p.part);
    free(p.lone);
    return error;
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
