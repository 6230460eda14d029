/* SPDX-License-Identifier: MIT */
#include "job/turns.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/check.h"
#include "job/intern.h"

/* --- Columns --- */

uint64_t job_column_get(const struct job_column *c, uint64_t member)
{
    const unsigned char *at = c->data + member * c->width;
    uint64_t v = 0;
    for (uint32_t i = 0; i < c->width; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

int job_column_make(struct job_column *c, const uint64_t *number, uint64_t count)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < count; i++)
        all |= number[i];
    c->width = all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
    c->data = malloc(count * c->width + 1);
    if (!c->data)
        return PYTHIA_ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < c->width; k++)
            c->data[i * c->width + k] = (unsigned char)(number[i] >> (8 * k));
    return 0;
}

void job_columns_free(struct job_column *columns, uint32_t count)
{
    for (uint32_t i = 0; columns && i < count; i++)
        free(columns[i].data);
    free(columns);
}

struct job_column *job_columns_copy(const struct job_class *c)
{
    uint64_t members = c->column_count ? job_ranges_size(c->ranges, c->member_ranges) : 0;
    struct job_column *copy = calloc((size_t)c->column_count + 1, sizeof *copy);
    for (uint32_t i = 0; copy && i < c->column_count; i++) {
        copy[i] = (struct job_column){ c->columns[i].width, malloc(members * c->columns[i].width + 1) };
        if (!copy[i].data) {
            job_columns_free(copy, c->column_count);
            return NULL;
        }
        memcpy(copy[i].data, c->columns[i].data, members * c->columns[i].width);
    }
    return copy;
}

/* --- One member --- */

uint64_t job_ranges_place(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread)
{
    uint64_t place = 0;
    for (const struct job_range *end = r + count; r < end; place += job_range_size(r++))
        if (job_ranges_contain(r, 1, rank, thread)) {
            uint32_t at = rank - r->first, l = r->planes ? at / r->plane_stride : 0;
            l = l < r->planes ? l : r->planes;
            at -= l * r->plane_stride;
            uint32_t k = r->rows ? at / r->row_stride : 0;
            k = k < r->rows ? k : r->rows;
            at -= k * r->row_stride;
            return place + ((uint64_t)l * ((uint64_t)r->rows + 1) + k) * r->count + at / r->stride;
        }
    return place;
}

uint32_t job_turns_of(const struct job_class *c, uint32_t node, uint32_t *first)
{
    uint32_t low = 0, high = c->turn_count, count = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->turns[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low + count < c->turn_count && c->turns[low + count].node == node)
        count++;
    return count;
}

/* Of the turns [first, first + count) of one node. */
static uint64_t member_turn(const struct job_class *c, uint32_t first, uint32_t count, uint32_t rank, uint32_t thread)
{
    for (const struct job_turn *t = c->turns + first; t < c->turns + first + count; t++) {
        if (t->column != GRAMMAR_NONE)
            return job_column_get(&c->columns[t->column],
                                  job_ranges_place(c->ranges, c->member_ranges, rank, thread));
        if (job_ranges_contain(c->ranges + t->range_first, t->range_count, rank, thread))
            return t->exponent;
    }
    return 1; /* no member */
}

uint64_t job_turns(const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread)
{
    uint32_t first, count = job_turns_of(c, node, &first);
    return count ? member_turn(c, first, count, rank, thread) : c->grammar->nodes[node].exponent;
}

void job_turns_extent(const struct job_class *c, uint32_t node, uint64_t *least, uint64_t *most)
{
    uint32_t first, count = job_turns_of(c, node, &first);
    *least = *most = c->grammar->nodes[node].exponent;
    for (const struct job_turn *t = c->turns + first; t < c->turns + first + count; t++) {
        uint64_t members = t->column == GRAMMAR_NONE ? 1 : job_ranges_size(c->ranges, c->member_ranges);
        for (uint64_t i = 0; i < members; i++) {
            uint64_t turns = t->column == GRAMMAR_NONE ? t->exponent : job_column_get(&c->columns[t->column], i);
            *least = turns < *least ? turns : *least;
            *most = turns > *most ? turns : *most;
        }
    }
}

/* --- All members --- */

static bool before(const struct job_member *a, const struct job_member *b)
{
    return a->thread != b->thread ? a->thread < b->thread : a->rank < b->rank;
}

/* Where `wanted` stands among the members, at or after `from`. */
static uint64_t find_member(const struct job_member *m, uint64_t from, uint64_t count, const struct job_member *wanted)
{
    uint64_t low = from, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (before(&m[middle], wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `m`: the members of the class. */
static int fill_set(const struct job_class *c, const struct job_turn *t, const struct job_member *m, uint64_t members,
                    uint64_t *exponent)
{
    uint64_t size = job_ranges_size(c->ranges + t->range_first, t->range_count), at = 0;
    struct job_member *own = malloc((size + 1) * sizeof *own);
    if (!own)
        return PYTHIA_ENOMEM;
    job_ranges_walk(c->ranges + t->range_first, t->range_count, own);
    for (uint64_t i = 0; i < size; i++) {
        at = find_member(m, at, members, &own[i]);
        if (at < members && !before(&own[i], &m[at]))
            exponent[at++] = t->exponent;
    }
    free(own);
    return 0;
}

static int fill_node(const struct job_class *c, uint32_t first, uint32_t count, const struct job_member *m,
                     uint64_t members, uint64_t *exponent)
{
    int error = 0;
    for (uint32_t i = first; i < first + count && !error; i++)
        if (c->turns[i].column == GRAMMAR_NONE)
            error = fill_set(c, &c->turns[i], m, members, exponent);
        else
            for (uint64_t k = 0; k < members; k++)
                exponent[k] = job_column_get(&c->columns[c->turns[i].column], k);
    return error;
}

static struct job_member *members_of(const struct job_class *c, uint64_t *count)
{
    *count = job_ranges_size(c->ranges, c->member_ranges);
    struct job_member *m = malloc((*count + 1) * sizeof *m);
    if (m)
        job_ranges_walk(c->ranges, c->member_ranges, m);
    return m;
}

int job_turns_fill(const struct job_class *c, uint32_t node, uint64_t *exponent)
{
    uint64_t members;
    uint32_t first, count = job_turns_of(c, node, &first);
    struct job_member *m = count ? members_of(c, &members) : NULL;
    int error = count ? (m ? fill_node(c, first, count, m, members, exponent) : PYTHIA_ENOMEM) : 0;
    if (!count) {
        members = job_ranges_size(c->ranges, c->member_ranges);
        for (uint64_t i = 0; i < members; i++)
            exponent[i] = c->grammar->nodes[node].exponent;
    }
    free(m);
    return error;
}

/*
 * The exponents that differ, of all members: a row a node that has turns, a column a member. Each member in turn takes
 * its own into a grammar of its own.
 */
struct table {
    uint64_t members;
    uint32_t rows;
    uint32_t *node;      /* of each row */
    uint64_t *exponent;  /* rows * members */
    struct job_member *member;
    struct grammar_flat own; /* nodes are its own, all else is the class's */
};

enum { TABLE_MOST = 1 << 27 }; /* numbers */

static void table_free(struct table *t)
{
    free(t->node);
    free(t->exponent);
    free(t->member);
    free(t->own.nodes);
}

static uint32_t nodes_with_turns(const struct job_class *c)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < c->turn_count; i++)
        rows += !i || c->turns[i].node != c->turns[i - 1].node;
    return rows;
}

/* 0, PYTHIA_ENOMEM, or PYTHIA_ELIMIT. */
static int table_create(struct table *t, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    memset(t, 0, sizeof *t);
    t->rows = nodes_with_turns(c);
    t->members = job_ranges_size(c->ranges, c->member_ranges);
    if (t->members > TABLE_MOST / (t->rows + 1))
        return PYTHIA_ELIMIT;
    t->node = malloc(((size_t)t->rows + 1) * sizeof *t->node);
    t->exponent = malloc((t->rows * t->members + 1) * sizeof *t->exponent);
    t->member = members_of(c, &t->members);
    t->own = *g;
    t->own.nodes = malloc(((size_t)g->node_count + 1) * sizeof *t->own.nodes);
    int error = t->node && t->exponent && t->member && t->own.nodes ? 0 : PYTHIA_ENOMEM;
    if (!error)
        memcpy(t->own.nodes, g->nodes, g->node_count * sizeof *g->nodes);
    for (uint32_t i = 0, k, row = 0; i < c->turn_count && !error; i = k) {
        for (k = i + 1; k < c->turn_count && c->turns[k].node == c->turns[i].node; k++)
            ;
        t->node[row] = c->turns[i].node;
        error = fill_node(c, i, k - i, t->member, t->members, t->exponent + t->members * row++);
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

/* --- Events --- */

uint64_t job_class_events(const struct job_class *c)
{
    uint64_t events = 0;
    for (uint32_t n = 0; n < c->grammar->node_count; n++)
        if (!grammar_is_rule(c->grammar->nodes[n].symbol))
            events += c->grammar->stats[n].count;
    return events;
}

uint64_t job_member_events(const struct job_class *c, uint32_t rank, uint32_t thread)
{
    struct grammar_flat *g = c->turn_count ? job_member_grammar(c, rank, thread) : NULL;
    uint64_t events = g ? g->events : c->grammar->events;
    job_member_free(g);
    return events;
}

/* Expansions of the rule that a node stands in, by all members. */
static double rule_count(const struct job_class *c, uint32_t node)
{
    const struct grammar_flat *g = c->grammar;
    uint32_t rule = 0;
    double count = 0;
    while (rule + 1 < g->rule_count && g->rules[rule + 1].first <= node)
        rule++;
    if (!rule)
        return (double)job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol == (GRAMMAR_RULE | rule))
            count += (double)g->stats[n].count;
    return count;
}

double job_mean_turns(const struct job_class *c, uint32_t node)
{
    uint32_t first;
    double all = job_turns_of(c, node, &first) ? rule_count(c, node) : 0;
    return all > 0 ? (double)c->grammar->stats[node].count / all : (double)c->grammar->nodes[node].exponent;
}

/* --- A member's grammar --- */

/* What one expansion takes. */
struct cost { double gap, duration; };

static struct cost cost_of(const struct grammar_stats *s)
{
    return (struct cost){ grammar_moments_mean(&s->gap, s->count), grammar_moments_mean(&s->duration, s->count) };
}

static void scale_moments(struct grammar_moments *m, double factor, double count, double all)
{
    double share = all > 0 ? count / all : 0;
    m->sum = (uint64_t)((double)m->sum * share * factor);
    m->min = (uint64_t)((double)m->min * factor);
    m->max = (uint64_t)((double)m->max * factor);
    m->square *= share * factor * factor;
}

/* The node's statistics for one member, which expands it `count` times, each `gap` and `duration` times as long. */
static void scale_stats(struct grammar_stats *s, double gap, double duration, uint64_t count)
{
    scale_moments(&s->gap, gap, (double)count, (double)s->count);
    scale_moments(&s->duration, duration, (double)count, (double)s->count);
    s->count = count;
}

/* What one expansion of a rule takes by these exponents and costs. */
static struct cost rule_cost(const struct grammar_flat *g, uint32_t rule, const struct cost *of)
{
    struct cost sum = { 0, 0 };
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++) {
        sum.gap += (double)g->nodes[n].exponent * of[n].gap;
        sum.duration += (double)g->nodes[n].exponent * of[n].duration;
    }
    return sum;
}

/* What it takes for all members on average: its nodes' sums by its expansions. */
static struct cost class_cost(const struct job_class *c, uint32_t rule, double count)
{
    const struct grammar_flat *g = c->grammar;
    struct cost sum = { 0, 0 };
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++) {
        sum.gap += (double)g->stats[n].gap.sum;
        sum.duration += (double)g->stats[n].duration.sum;
    }
    return count > 0 ? (struct cost){ sum.gap / count, sum.duration / count } : sum;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

/* A node that uses a rule takes what the rule takes with this member's exponents, in the proportion in which it takes
   more or less than the rule's other uses. */
static void fit_times(const struct job_class *c, struct grammar_flat *g, const uint32_t *order, const uint64_t *uses,
                      struct cost *of, struct cost *factor)
{
    const struct grammar_flat *all = c->grammar;
    for (uint32_t n = 0; n < g->node_count; n++) {
        of[n] = cost_of(&all->stats[n]);
        factor[n] = (struct cost){ 1, 1 };
    }
    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t r = order[i];
        struct cost own = rule_cost(g, r, of);
        double count = 0;
        for (uint32_t n = 0; n < g->node_count; n++)
            if (g->nodes[n].symbol == (GRAMMAR_RULE | r))
                count += (double)all->stats[n].count;
        struct cost mean = class_cost(c, r, count);
        for (uint32_t n = 0; n < g->node_count && r; n++)
            if (g->nodes[n].symbol == (GRAMMAR_RULE | r)) {
                factor[n] = (struct cost){ ratio(own.gap, mean.gap), ratio(own.duration, mean.duration) };
                of[n].gap *= factor[n].gap;
                of[n].duration *= factor[n].duration;
            }
    }
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++)
            scale_stats(&g->stats[n], factor[n].gap, factor[n].duration, uses[r] * g->nodes[n].exponent);
}

static bool fit_member(const struct job_class *c, struct grammar_flat *g)
{
    uint32_t *order = calloc((size_t)g->rule_count + 1, sizeof *order);
    uint64_t *uses = calloc((size_t)g->rule_count + 1, sizeof *uses);
    uint64_t *length = calloc((size_t)g->rule_count + 1, sizeof *length);
    struct cost *of = calloc(2 * ((size_t)g->node_count + 1), sizeof *of);
    bool fine = order && uses && length && of && grammar_flat_order(g, order);
    if (fine) {
        grammar_flat_lengths(g, length);
        grammar_flat_uses(g, uses);
        g->events = length[0];
        if (c->turn_count)
            fit_times(c, g, order, uses, of, of + g->node_count + 1);
    }
    free(order);
    free(uses);
    free(length);
    free(of);
    return fine;
}

struct grammar_flat *job_member_grammar(const struct job_class *c, uint32_t rank, uint32_t thread)
{
    const struct grammar_flat *from = c->grammar;
    struct grammar_flat *g = grammar_flat_create(from->rule_count, from->node_count, 0);
    if (!g)
        return NULL;
    g->terminals = from->terminals;
    memcpy(g->rules, from->rules, from->rule_count * sizeof *from->rules);
    memcpy(g->nodes, from->nodes, from->node_count * sizeof *from->nodes);
    memcpy(g->stats, from->stats, from->node_count * sizeof *from->stats);
    free(g->attrs);
    g->attrs = from->attrs;
    g->attr_count = from->attr_count;
    for (uint32_t i = 0, k; i < c->turn_count; i = k) {
        for (k = i + 1; k < c->turn_count && c->turns[k].node == c->turns[i].node; k++)
            ;
        g->nodes[c->turns[i].node].exponent = member_turn(c, i, k - i, rank, thread);
    }
    if (!fit_member(c, g)) {
        job_member_free(g);
        return NULL;
    }
    return g;
}

void job_member_free(struct grammar_flat *g)
{
    if (g)
        g->attrs = NULL;
    grammar_flat_destroy(g);
}

/* --- Roles --- */

/* Exponents of a member at the nodes that have turns; `row` has as many as these nodes. */
static void take_row(const struct job_class *c, uint32_t rank, uint32_t thread, uint64_t *row)
{
    for (uint32_t i = 0, k; i < c->turn_count; i = k) {
        for (k = i + 1; k < c->turn_count && c->turns[k].node == c->turns[i].node; k++)
            ;
        *row++ = member_turn(c, i, k - i, rank, thread);
    }
}

uint32_t job_roles(const struct job_class *c, bool main_thread, uint32_t most, struct job_role *role)
{
    enum { LOOKED_AT = 1 << 10 }; /* of more members, some */
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), seen = 0;
    uint32_t count = 0, nodes = nodes_with_turns(c);
    uint64_t *own = malloc(((size_t)most + 1) * ((size_t)nodes + 1) * sizeof *own);
    for (uint32_t r = 0; own && r < c->member_ranges; r++) {
        const struct job_range *range = &c->ranges[r];
        uint64_t size = job_range_size(range), step = members / LOOKED_AT + 1;
        if ((range->thread == 0) != main_thread)
            continue;
        for (uint64_t i = 0; i < size && seen < LOOKED_AT; i += c->turn_count ? step : size, seen++) {
            struct job_role here = { job_range_rank(range, i), range->thread, c->turn_count ? step : size };
            uint64_t *mine = own + (size_t)most * nodes;
            uint32_t k = 0;
            here.members = size - i < here.members ? size - i : here.members;
            take_row(c, here.rank, here.thread, mine);
            while (k < count && c->turn_count && memcmp(own + (size_t)k * nodes, mine, nodes * sizeof *mine) != 0)
                k++;
            if (k < count) {
                role[k].members += here.members;
            } else if (count < most) {
                memcpy(own + (size_t)count * nodes, mine, nodes * sizeof *mine);
                role[count++] = here;
            }
        }
    }
    free(own);
    return count;
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
            uint64_t exponent = turns ? member_turn(c, first, turns, rank, r[k].thread) : c->grammar->nodes[node].exponent;
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

static int check_first(const struct job_class *c, char *why, size_t size)
{
    struct job_member first = job_ranges_first(c->ranges, c->member_ranges);
    for (uint32_t i = 0; i < c->turn_count; i++)
        if ((!i || c->turns[i].node != c->turns[i - 1].node) &&
            job_turns(c, c->turns[i].node, first.rank, first.thread) != c->grammar->nodes[c->turns[i].node].exponent)
            return job_refuse(why, size, "node %u: its exponent is not that of the first member", c->turns[i].node);
    return 0;
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
    return error ? error : check_first(c, why, size);
}

int job_turns_check(const struct job_class *c, char *why, size_t size)
{
    int error = 0;
    uint32_t columns = 0;
    for (uint32_t i = 0, k; i < c->turn_count && !error; i = k) {
        for (k = i + 1; k < c->turn_count && c->turns[k].node == c->turns[i].node; k++)
            ;
        if ((c->grammar->rule_count && c->turns[i].node >= c->grammar->node_count) || (i && c->turns[i].node < c->turns[i - 1].node))
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
