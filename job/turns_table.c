/* SPDX-License-Identifier: MIT */
/*
 * Exponents of all members at once, for what needs each of them: how often which members expand a node, and the audit.
 */
#include <stdlib.h>
#include <string.h>

#include "job/check.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "pythia.h"

/*
 * The exponents that differ, of all members: a row a node that has turns, a column a member. Each member in turn takes
 * its own into a grammar of its own.
 */
struct table {
    uint64_t members;
    uint32_t rows;
    uint32_t *node;      /* of each row */
    uint64_t *exponent;  /* rows * members */
    struct grammar_flat own; /* nodes are its own, all else is the class's */
};

enum { TABLE_MOST = 1 << 27 }; /* numbers */

static void table_free(struct table *t)
{
    free(t->node);
    free(t->exponent);
    free(t->own.nodes);
}

/* 0, PYTHIA_ENOMEM, or PYTHIA_ELIMIT. */
static int table_create(struct table *t, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    memset(t, 0, sizeof *t);
    t->rows = job_turns_nodes(c);
    t->members = job_ranges_size(c->ranges, c->member_ranges);
    if (t->members > TABLE_MOST / (t->rows + 1))
        return PYTHIA_ELIMIT;
    t->node = malloc(((size_t)t->rows + 1) * sizeof *t->node);
    t->exponent = malloc((t->rows * t->members + 1) * sizeof *t->exponent);
    t->own = *g;
    t->own.nodes = malloc(((size_t)g->node_count + 1) * sizeof *t->own.nodes);
    int error = t->node && t->exponent && t->own.nodes ? 0 : PYTHIA_ENOMEM;
    if (!error)
        memcpy(t->own.nodes, g->nodes, g->node_count * sizeof *g->nodes);
    for (uint32_t i = 0, row = 0; i < c->turn_count && !error; i = job_turns_end(c, i), row++) {
        t->node[row] = c->turns[i].node;
        error = job_turns_fill(c, t->node[row], t->exponent + t->members * row);
    }
    if (error)
        table_free(t);
    return error;
}

/* The member's exponents are those of t->own. Whether they are the same as before. */
static bool table_take(struct table *t, uint64_t member)
{
    bool same = true;
    for (uint32_t row = 0; row < t->rows; row++) {
        uint64_t *now = &t->own.nodes[t->node[row]].exponent, next = t->exponent[t->members * row + member];
        same = same && *now == next;
        *now = next;
    }
    return same;
}

/* --- Occurrences --- */

struct job_counts {
    struct table table;
    uint32_t rules;
    uint32_t *rule_of; /* of nodes */
    uint64_t *uses;    /* members * rules */
};

void job_counts_destroy(struct job_counts *counts)
{
    if (!counts)
        return;
    table_free(&counts->table);
    free(counts->rule_of);
    free(counts->uses);
    free(counts);
}

int job_counts_create(const struct job_class *c, struct job_counts **counts)
{
    const struct grammar_flat *g = c->grammar;
    *counts = NULL;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    if (!c->turn_count || members > TABLE_MOST / 8 / (g->rule_count + 1))
        return 0;
    struct job_counts *x = calloc(1, sizeof *x);
    int error = x ? table_create(&x->table, c) : PYTHIA_ENOMEM;
    if (error) {
        free(x);
        return error == PYTHIA_ELIMIT ? 0 : error;
    }
    x->rules = g->rule_count;
    x->rule_of = malloc(((size_t)g->node_count + 1) * sizeof *x->rule_of);
    x->uses = malloc((members * g->rule_count + 1) * sizeof *x->uses);
    if (!x->rule_of || !x->uses) {
        job_counts_destroy(x);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t i = 0; i < g->rules[r].length; i++)
            x->rule_of[g->rules[r].first + i] = r;
    for (uint64_t m = 0; m < members; m++)
        if (table_take(&x->table, m) && m)
            memcpy(x->uses + m * x->rules, x->uses + (m - 1) * x->rules, x->rules * sizeof *x->uses);
        else
            grammar_flat_uses(&x->table.own, x->uses + m * x->rules);
    *counts = x;
    return 0;
}

uint64_t job_counts_of(const struct job_class *c, const struct job_counts *counts, uint32_t node, uint32_t range_first,
                       uint32_t range_count)
{
    const struct job_range *r = c->ranges + range_first;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), size = job_ranges_size(r, range_count), count = 0;
    uint32_t first, turns = job_turns_of(c, node, &first);
    if (size == members)
        return c->grammar->stats[node].count;
    if (!counts)
        return members ? c->grammar->stats[node].count / members * size : 0;
    for (uint32_t k = 0; k < range_count; k++)
        for (uint64_t i = 0, n = job_range_size(&r[k]); i < n; i++) {
            uint32_t rank = job_range_rank(&r[k], i);
            uint64_t at = job_ranges_place(c->ranges, c->member_ranges, rank, r[k].thread);
            uint64_t exponent = turns ? job_turns_at(c, first, first + turns, rank, r[k].thread)
                                      : c->grammar->nodes[node].exponent;
            count += counts->uses[at * counts->rules + counts->rule_of[node]] * exponent;
        }
    return count;
}

/* --- The audit --- */

/* Sets were audited: they are of members, and canonical. */
static int check_sets(const struct job_class *c, uint32_t first, uint32_t end, char *why, size_t size)
{
    uint64_t covered = 0, members = job_ranges_size(c->ranges, c->member_ranges);
    uint32_t node = c->turns[first].node;
    for (uint32_t i = first; i < end; i++) {
        const struct job_turn *t = &c->turns[i];
        bool column = t->column != GRAMMAR_NONE;
        if (column ? t->column >= c->column_count || t->exponent || t->range_count || end - first != 1 : !t->exponent)
            return job_refuse(why, size, "exponents of node %u", node);
        if (i > first && t[-1].exponent >= t->exponent)
            return job_refuse(why, size, "exponents of node %u out of order", node);
        covered += column ? members : job_ranges_size(c->ranges + t->range_first, t->range_count);
    }
    if (covered != members || (end - first == 1 && c->turns[first].column == GRAMMAR_NONE))
        return job_refuse(why, size, "exponents of node %u: not one for each member", node);
    return 0;
}

/* Sums over the members of what each expands. */
static int add_members(struct table *t, uint64_t *sum, char *why, size_t size)
{
    const struct grammar_flat *g = &t->own;
    uint64_t *uses = malloc(2 * ((size_t)g->rule_count + 1) * sizeof *uses);
    uint64_t *length = uses ? uses + g->rule_count + 1 : NULL;
    int error = uses ? 0 : PYTHIA_ENOMEM;
    for (uint64_t m = 0; m < t->members && !error; m++) {
        bool same = table_take(t, m) && m;
        for (uint32_t row = 0; row < t->rows && !error; row++)
            if (g->nodes[t->node[row]].exponent == 0 || g->nodes[t->node[row]].exponent > INT64_MAX)
                error = job_refuse(why, size, "exponents of node %u: out of range", t->node[row]);
        if (error)
            break;
        if (!same) {
            grammar_flat_uses(g, uses);
            grammar_flat_lengths(g, length);
            if (length[0] >= INT64_MAX)
                error = job_refuse(why, size, "a member expands to 2^63 events or more");
        }
        for (uint32_t r = 0; r < g->rule_count; r++)
            for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++)
                sum[n] += uses[r] * g->nodes[n].exponent;
    }
    free(uses);
    return error;
}

static int check_counts(const struct job_class *c, char *why, size_t size)
{
    const struct grammar_flat *g = c->grammar;
    struct table t;
    uint64_t *sum = calloc((size_t)g->node_count + 1, sizeof *sum);
    int error = sum ? table_create(&t, c) : PYTHIA_ENOMEM;
    if (error == PYTHIA_ELIMIT)
        job_refuse(why, size, "more members with exponents of their own than can be looked at");
    if (error) {
        free(sum);
        return error;
    }
    error = add_members(&t, sum, why, size);
    for (uint32_t n = 0; n < g->node_count && !error; n++)
        if (sum[n] != g->stats[n].count)
            error = job_refuse(why, size, "node %u: counts %llu expansions of %llu", n,
                               (unsigned long long)g->stats[n].count, (unsigned long long)sum[n]);
    table_free(&t);
    free(sum);
    struct job_member first = job_ranges_first(c->ranges, c->member_ranges);
    if (!error && !job_turns_same(c, g, first.rank, first.thread))
        error = job_refuse(why, size, "exponents are not those of the first member");
    return error;
}

int job_turns_check(const struct job_class *c, char *why, size_t size)
{
    int error = 0;
    uint32_t columns = 0;
    for (uint32_t i = 0, k; i < c->turn_count && !error; i = k) {
        k = job_turns_end(c, i);
        if ((c->grammar->rule_count && c->turns[i].node >= c->grammar->node_count) ||
            (i && c->turns[i].node < c->turns[i - 1].node))
            error = job_refuse(why, size, "exponents of node %u: out of order", c->turns[i].node);
        else
            error = check_sets(c, i, k, why, size);
        if (!error && c->turns[i].column != GRAMMAR_NONE && c->turns[i].column != columns++)
            error = job_refuse(why, size, "columns out of order");
    }
    if (!error && columns != c->column_count)
        error = job_refuse(why, size, "columns of no node");
    if (error || !c->turn_count || c->grammar->rule_count == 0)
        return error;
    return check_counts(c, why, size);
}
