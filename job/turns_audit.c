/* SPDX-License-Identifier: MIT */
/*
 * Audit of exponents that differ between members: each member's events, and how often all of them expand each node.
 *
 * Members differ in few nodes of a large grammar, so what is the same for all is looked at once. A rule *differs* where
 * its expansion does: a node of it has turns, or uses a rule that differs. Only its nodes that do are steps:
 *
 *     R -> a B^[19|20] C D     B -> x y     D -> z C^[1|7] z       R: 1 + 1 for a, C; steps B, D     D: 2; step C
 *
 * For some members at a time lengths go up these rules and expansions down them. How often all members expand the nodes
 * with turns follows, and from that, for all of the grammar at once, how often they expand everything else: below a
 * node with turns nobody asks who it was. So the cost is nodes + members x steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "job/check.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "pythia.h"

enum { LANES = 16 /* members at a time */ };

/* The exponents that differ, of all members: a row a node that has turns, a column a member in the order of
   job_ranges_walk. */
struct table {
    uint64_t members;
    uint32_t rows;
    uint32_t *node;     /* of each row, ascending */
    uint64_t *exponent; /* rows * members, row by row */
};

struct step {
    uint32_t row;      /* of the table, GRAMMAR_NONE: its exponent is the same for all */
    uint32_t inner;    /* place of the rule that it uses, GRAMMAR_NONE: what it uses is of the same length for all */
    uint64_t exponent, length;
};

/* A rule that differs; each stands after all that it uses. */
struct differing { uint32_t first, end; uint64_t length; /* steps; of its other nodes */ };

struct audit {
    const struct job_class *c;
    struct table table;
    bool tabled;            /* else there are too many exponents to look at each */
    uint64_t *most;         /* the largest exponent of each row */
    uint32_t *order;        /* of rules */
    uint32_t *row;          /* of nodes: of the table, or GRAMMAR_NONE */
    struct differing *rule;
    struct step *step;
    uint32_t rules, steps;
    uint64_t *all;          /* of each row: expansions by all members */
};

static void table_free(struct table *t)
{
    free(t->node);
    free(t->exponent);
}

/* 0, PYTHIA_ENOMEM, or PYTHIA_ELIMIT where it would have more than the numbers that are left; nothing is to be freed
   then. */
static int table_create(struct table *t, const struct job_class *c, uint64_t *numbers)
{
    memset(t, 0, sizeof *t);
    t->rows = job_turns_nodes(c);
    t->members = job_ranges_size(c->ranges, c->member_ranges);
    if (t->members > *numbers / (t->rows + 1))
        return PYTHIA_ELIMIT;
    *numbers -= t->members * (t->rows + 1);
    t->node = malloc(((size_t)t->rows + 1) * sizeof *t->node);
    t->exponent = calloc(t->rows * t->members + 1, sizeof *t->exponent); /* sets may overlap */
    int error = t->node && t->exponent ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0, row = 0; i < c->turn_count && !error; i = job_turns_end(c, i), row++) {
        t->node[row] = c->turns[i].node;
        error = job_turns_fill(c, t->node[row], t->exponent + t->members * row);
    }
    if (error)
        table_free(t);
    return error;
}

static void audit_free(struct audit *a)
{
    table_free(&a->table);
    free(a->order);
    free(a->row);
    free(a->rule);
    free(a->step);
    free(a->most);
    free(a->all);
}

/* A rule's nodes; its place where it differs, else GRAMMAR_NONE and its length. */
static uint32_t add_rule(struct audit *a, uint32_t rule, const uint32_t *place, uint64_t *length)
{
    const struct grammar_flat *g = a->c->grammar;
    struct differing d = { .first = a->steps };
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++) {
        uint32_t symbol = g->nodes[n].symbol, used = symbol & ~GRAMMAR_RULE;
        bool inside = grammar_is_rule(symbol);
        struct step s = { a->row[n], inside ? place[used] : GRAMMAR_NONE, g->nodes[n].exponent,
                          inside ? length[used] : 1 };
        if (s.row == GRAMMAR_NONE && s.inner == GRAMMAR_NONE)
            d.length += s.exponent * s.length;
        else
            a->step[a->steps++] = s;
    }
    d.end = a->steps;
    length[rule] = d.length;
    if (d.end == d.first)
        return GRAMMAR_NONE;
    a->rule[a->rules] = d;
    return a->rules++;
}

static int add_rules(struct audit *a)
{
    const struct grammar_flat *g = a->c->grammar;
    uint32_t *place = malloc(((size_t)g->rule_count + 1) * sizeof *place);
    uint64_t *length = malloc(((size_t)g->rule_count + 1) * sizeof *length);
    int error = place && length && grammar_flat_order(g, a->order) ? 0 : PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < g->rule_count && !error; i++)
        place[a->order[i]] = add_rule(a, a->order[i], place, length);
    free(place);
    free(length);
    return error;
}

static int audit_create(struct audit *a, const struct job_class *c, uint64_t *numbers)
{
    const struct grammar_flat *g = c->grammar;
    *a = (struct audit){ .c = c };
    int error = table_create(&a->table, c, numbers);
    a->tabled = !error;
    if (error && error != PYTHIA_ELIMIT)
        return error;
    a->order = malloc(((size_t)g->rule_count + 1) * sizeof *a->order);
    a->row = malloc(((size_t)g->node_count + 1) * sizeof *a->row);
    a->rule = malloc(((size_t)g->rule_count + 1) * sizeof *a->rule);
    a->step = malloc(((size_t)g->node_count + 1) * sizeof *a->step);
    a->all = calloc((size_t)c->turn_count + 1, sizeof *a->all);
    a->most = calloc((size_t)c->turn_count + 1, sizeof *a->most);
    error = a->order && a->row && a->rule && a->step && a->all && a->most ? 0 : PYTHIA_ENOMEM;
    if (!error)
        memset(a->row, 0xff, g->node_count * sizeof *a->row);
    uint64_t least;
    for (uint32_t i = 0, row = 0; i < c->turn_count && !error; i = job_turns_end(c, i), row++) {
        a->row[c->turns[i].node] = row;
        job_turns_extent(c, c->turns[i].node, &least, &a->most[row]);
    }
    error = error ?: add_rules(a);
    if (error)
        audit_free(a);
    return error;
}

/* --- Some members --- */

struct lanes { uint64_t of[LANES]; };

/* What `width` members have at a step, from `member` on. */
static void take(const struct audit *a, const struct step *s, uint64_t member, unsigned width, struct lanes *exponent)
{
    if (s->row == GRAMMAR_NONE) {
        for (unsigned k = 0; k < LANES; k++)
            exponent->of[k] = s->exponent;
        return;
    }
    memset(exponent, 0, sizeof *exponent);
    memcpy(exponent->of, a->table.exponent + a->table.members * s->row + member, width * sizeof *exponent->of);
}

/* Lengths of the rules that differ, the last one being that of all. */
static void go_up(const struct audit *a, uint64_t member, unsigned width, struct lanes *length)
{
    for (uint32_t r = 0; r < a->rules; r++) {
        struct lanes exponent;
        for (unsigned k = 0; k < LANES; k++)
            length[r].of[k] = a->rule[r].length;
        for (const struct step *s = a->step + a->rule[r].first; s < a->step + a->rule[r].end; s++) {
            take(a, s, member, width, &exponent);
            for (unsigned k = 0; k < LANES; k++)
                length[r].of[k] += exponent.of[k] * (s->inner != GRAMMAR_NONE ? length[s->inner].of[k] : s->length);
        }
    }
}

/* Expansions of the rules that differ, the last one being the root; adds those of nodes with turns. */
static void go_down(struct audit *a, uint64_t member, unsigned width, struct lanes *uses)
{
    memset(uses, 0, a->rules * sizeof *uses);
    for (unsigned k = 0; k < width; k++)
        uses[a->rules - 1].of[k] = 1;
    for (uint32_t r = a->rules; r-- > 0;) {
        struct lanes exponent;
        for (const struct step *s = a->step + a->rule[r].first; s < a->step + a->rule[r].end; s++) {
            take(a, s, member, width, &exponent);
            for (unsigned k = 0; k < LANES; k++)
                exponent.of[k] *= uses[r].of[k];
            for (unsigned k = 0; k < LANES && s->row != GRAMMAR_NONE; k++)
                a->all[s->row] += exponent.of[k];
            for (unsigned k = 0; k < LANES && s->inner != GRAMMAR_NONE; k++)
                uses[s->inner].of[k] += exponent.of[k];
        }
    }
}

/* All members: `events` of each, or (NULL) a->all. */
static int go_through(struct audit *a, uint64_t *events)
{
    struct lanes *of = malloc(((size_t)a->rules + 1) * sizeof *of);
    for (uint64_t m = 0; m < a->table.members && of; m += LANES) {
        unsigned width = a->table.members - m < LANES ? (unsigned)(a->table.members - m) : LANES;
        if (!events) {
            go_down(a, m, width, of);
            continue;
        }
        go_up(a, m, width, of);
        for (unsigned k = 0; k < width; k++)
            events[m + k] = of[a->rules - 1].of[k];
    }
    free(of);
    return of ? 0 : PYTHIA_ENOMEM;
}

int job_members_events(const struct job_class *c, uint64_t *events)
{
    struct audit a;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), numbers = JOB_TURNS_TABLE;
    for (uint64_t i = 0; i < members && !c->turn_count; i++)
        events[i] = c->grammar->events;
    int error = c->turn_count ? audit_create(&a, c, &numbers) : 0;
    if (!c->turn_count || error)
        return error;
    error = a.tabled ? go_through(&a, events) : PYTHIA_ELIMIT;
    audit_free(&a);
    return error;
}

/* --- The audit --- */

/* Of a column, or of a set: none is 0, none above 2^63 - 1. */
static bool exponents_sane(const struct job_class *c, const struct job_turn *t, uint64_t members)
{
    if (t->column == GRAMMAR_NONE)
        return t->exponent && t->exponent <= INT64_MAX;
    for (uint64_t i = 0; i < members; i++)
        if (job_column_get(&c->columns[t->column], i) - 1 >= INT64_MAX)
            return false;
    return true;
}

/* Sets were audited: they are of members, and canonical. */
static int check_sets(const struct job_class *c, uint32_t first, uint32_t end, uint64_t members, char *why,
                      size_t size)
{
    uint64_t covered = 0;
    uint32_t node = c->turns[first].node;
    for (uint32_t i = first; i < end; i++) {
        const struct job_turn *t = &c->turns[i];
        bool column = t->column != GRAMMAR_NONE;
        if (column && (t->column >= c->column_count || t->exponent || t->range_count || end - first != 1))
            return job_refuse(why, size, "exponents of node %u", node);
        if (!exponents_sane(c, t, members))
            return job_refuse(why, size, "exponents of node %u: out of range", node);
        if (i > first && t[-1].exponent >= t->exponent)
            return job_refuse(why, size, "exponents of node %u out of order", node);
        covered += column ? members : job_ranges_size(c->ranges + t->range_first, t->range_count);
    }
    if (covered != members || (end - first == 1 && c->turns[first].column == GRAMMAR_NONE))
        return job_refuse(why, size, "exponents of node %u: not one for each member", node);
    return 0;
}

int job_turns_check(const struct job_class *c, char *why, size_t size)
{
    int error = 0;
    uint32_t columns = 0;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t i = 0, k; i < c->turn_count && !error; i = k) {
        k = job_turns_end(c, i);
        if ((c->grammar->rule_count && c->turns[i].node >= c->grammar->node_count) ||
            (i && c->turns[i].node < c->turns[i - 1].node))
            error = job_refuse(why, size, "exponents of node %u: out of order", c->turns[i].node);
        else
            error = check_sets(c, i, k, members, why, size);
        if (!error && c->turns[i].column != GRAMMAR_NONE && c->turns[i].column != columns++)
            error = job_refuse(why, size, "columns out of order");
    }
    return !error && columns != c->column_count ? job_refuse(why, size, "columns of no node") : error;
}

/* What all members expand, node by node, from the root down: all that is below nodes with turns follows from these. */
static int compare_counts(const struct audit *a, char *why, size_t size)
{
    const struct grammar_flat *g = a->c->grammar;
    uint64_t *uses = calloc((size_t)g->rule_count + 1, sizeof *uses);
    int error = uses ? 0 : PYTHIA_ENOMEM;
    if (uses)
        uses[0] = a->table.members;
    for (uint32_t i = g->rule_count; i-- > 0 && !error;) {
        const struct grammar_flat_rule *r = &g->rules[a->order[i]];
        for (uint32_t n = r->first; n < r->first + r->length && !error; n++) {
            uint64_t count = a->row[n] != GRAMMAR_NONE ? a->all[a->row[n]] : uses[a->order[i]] * g->nodes[n].exponent;
            if (count != g->stats[n].count)
                error = job_refuse(why, size, "node %u: counts %llu expansions of %llu", n,
                                   (unsigned long long)g->stats[n].count, (unsigned long long)count);
            if (grammar_is_rule(g->nodes[n].symbol))
                uses[g->nodes[n].symbol & ~GRAMMAR_RULE] += count;
        }
    }
    free(uses);
    return error;
}

/* Where nobody looks at each: no node has been expanded less often than there are members. */
static int compare_least(const struct audit *a, char *why, size_t size)
{
    const struct grammar_flat *g = a->c->grammar;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->stats[n].count < a->table.members)
            return job_refuse(why, size, "node %u: counts %llu expansions by %llu members", n,
                              (unsigned long long)g->stats[n].count, (unsigned long long)a->table.members);
    return 0;
}

/* Events if all members had the largest exponents of all of them everywhere: there are no more, and nothing wraps. */
static bool largest_sane(const struct audit *a)
{
    double *length = calloc((size_t)a->rules + 1, sizeof *length), events = INFINITY;
    for (uint32_t r = 0; r < a->rules && length; r++) {
        length[r] = (double)a->rule[r].length;
        for (const struct step *s = a->step + a->rule[r].first; s < a->step + a->rule[r].end; s++)
            length[r] += (double)(s->row == GRAMMAR_NONE ? s->exponent : a->most[s->row]) *
                         (s->inner == GRAMMAR_NONE ? (double)s->length : length[s->inner]);
        events = length[r];
    }
    free(length);
    return events * (double)a->table.members < 0x1p63;
}

int job_turns_check_counts(const struct job_class *c, uint64_t *numbers, char *why, size_t size)
{
    struct job_member first = job_ranges_first(c->ranges, c->member_ranges);
    struct audit a;
    if (!job_turns_same(c, c->grammar, first.rank, first.thread))
        return job_refuse(why, size, "exponents are not those of the first member");
    int error = audit_create(&a, c, numbers);
    if (error)
        return error;
    if (!largest_sane(&a))
        error = job_refuse(why, size, "its members may expand to 2^63 events or more");
    else
        error = a.tabled ? go_through(&a, NULL) ?: compare_counts(&a, why, size) : compare_least(&a, why, size);
    audit_free(&a);
    return error;
}
