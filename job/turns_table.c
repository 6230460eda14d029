/* SPDX-License-Identifier: MIT */
/* Exponents of all members at once, and how often which members expand a node. */
#include "job/turns_table.h"

#include <stdlib.h>
#include <string.h>

#include "job/ranges.h"
#include "pythia.h"

void job_turn_table_free(struct job_turn_table *t)
{
    free(t->node);
    free(t->exponent);
}

int job_turn_table_create(struct job_turn_table *t, const struct job_class *c)
{
    memset(t, 0, sizeof *t);
    t->rows = job_turns_nodes(c);
    t->members = job_ranges_size(c->ranges, c->member_ranges);
    if (t->members > JOB_TURN_TABLE / (t->rows + 1))
        return PYTHIA_ELIMIT;
    t->node = malloc(((size_t)t->rows + 1) * sizeof *t->node);
    t->exponent = malloc((t->rows * t->members + 1) * sizeof *t->exponent);
    int error = t->node && t->exponent ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0, row = 0; i < c->turn_count && !error; i = job_turns_end(c, i), row++) {
        t->node[row] = c->turns[i].node;
        error = job_turns_fill(c, t->node[row], t->exponent + t->members * row);
    }
    if (error)
        job_turn_table_free(t);
    return error;
}

/* --- Occurrences --- */

/* Each member in turn takes its exponents into a grammar of its own. */
enum { COUNTS_MOST = 1 << 24 }; /* numbers */
struct job_counts {
    struct job_turn_table table;
    struct grammar_flat own; /* nodes are its own, all else is the class's */
    uint32_t rules;
    uint32_t *rule_of; /* of nodes */
    uint64_t *uses;    /* members * rules */
};

void job_counts_destroy(struct job_counts *counts)
{
    if (!counts)
        return;
    job_turn_table_free(&counts->table);
    free(counts->own.nodes);
    free(counts->rule_of);
    free(counts->uses);
    free(counts);
}

/* The member's exponents are those of its own grammar. Whether they are the same as before. */
static bool take_exponents(struct job_counts *x, uint64_t member)
{
    const struct job_turn_table *t = &x->table;
    bool same = true;
    for (uint32_t row = 0; row < t->rows; row++) {
        uint64_t *now = &x->own.nodes[t->node[row]].exponent, next = t->exponent[t->members * row + member];
        same = same && *now == next;
        *now = next;
    }
    return same;
}

int job_counts_create(const struct job_class *c, struct job_counts **counts)
{
    const struct grammar_flat *g = c->grammar;
    *counts = NULL;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    if (!c->turn_count || members > COUNTS_MOST / (g->rule_count + 1))
        return 0;
    struct job_counts *x = calloc(1, sizeof *x);
    int error = x ? job_turn_table_create(&x->table, c) : PYTHIA_ENOMEM;
    if (error) {
        free(x);
        return error == PYTHIA_ELIMIT ? 0 : error;
    }
    x->rules = g->rule_count;
    x->own = *g;
    x->own.nodes = malloc(((size_t)g->node_count + 1) * sizeof *x->own.nodes);
    x->rule_of = malloc(((size_t)g->node_count + 1) * sizeof *x->rule_of);
    x->uses = malloc((members * g->rule_count + 1) * sizeof *x->uses);
    if (!x->own.nodes || !x->rule_of || !x->uses) {
        job_counts_destroy(x);
        return PYTHIA_ENOMEM;
    }
    memcpy(x->own.nodes, g->nodes, g->node_count * sizeof *g->nodes);
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t i = 0; i < g->rules[r].length; i++)
            x->rule_of[g->rules[r].first + i] = r;
    for (uint64_t m = 0; m < members; m++)
        if (take_exponents(x, m) && m)
            memcpy(x->uses + m * x->rules, x->uses + (m - 1) * x->rules, x->rules * sizeof *x->uses);
        else
            grammar_flat_uses(&x->own, x->uses + m * x->rules);
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
