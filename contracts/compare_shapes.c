/* SPDX-License-Identifier: MIT */
/*
 * Structure of two jobs side by side: loops by body, rules and classes by hash. Terminals that belong together are
 * given one hash, so equal structure has equal hashes in both jobs although the program was rebuilt.
 *
 * A loop's body is hashed with all exponents taken as 1: it stays the same loop when its turns, or those of loops
 * inside, change.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "contracts/compare_parts.h"
#include "findings/ranges.h"
#include "job/turns.h"

static int hash_order(struct grammar_hash a, struct grammar_hash b)
{
    return BASE_ORDER(a.high, b.high) ?: BASE_ORDER(a.low, b.low);
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* --- Lists that grow --- */

struct turns_list { struct report_turns *item; size_t count; };
struct shape_list { struct report_shape *item; size_t count; };

static void add_turns(struct turns_list *l, struct report_turns t)
{
    base_must(base_array_more(&l->item, l->count, sizeof t));
    l->item[l->count++] = t;
}

static void add_shape(struct shape_list *l, struct report_shape s)
{
    base_must(base_array_more(&l->item, l->count, sizeof s));
    l->item[l->count++] = s;
}

/* --- One class --- */

struct lists {
    struct turns_list loops;
    struct shape_list rules[2], classes[2];
};

/* What is known of the rules of one class. */
struct rules {
    struct grammar_hash *exact, *body, whole; /* body: exponents aside */
    uint64_t *length;
    uint32_t *first; /* first terminal, GRAMMAR_NONE: lost events */
    struct report_usual *usual;
    const struct report_usual_event *events; /* lent */
};

static void rules_free(struct rules *r)
{
    free(r->exact);
    free(r->body);
    free(r->length);
    free(r->first);
    free(r->usual);
}

/* The terminal that each rule begins with, GRAMMAR_NONE for what has lost its order. */
static void first_terminals(const struct grammar_flat *g, uint32_t *first)
{
    uint32_t *order = calloc(g->rule_count + 1u, sizeof *order);
    bool ordered = grammar_flat_order(g, order);

    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t rule = ordered ? order[i] : i;
        const struct grammar_flat_rule *r = &g->rules[rule];
        uint32_t symbol = ordered && r->length ? g->nodes[r->first].symbol : GRAMMAR_LOST;
        first[rule] = grammar_is_rule(symbol) ? first[symbol & ~GRAMMAR_RULE]
                      : symbol == GRAMMAR_LOST ? GRAMMAR_NONE
                                               : symbol;
    }
    free(order);
}

static void rules_of(struct rules *r, const struct grammar_flat *g, const struct grammar_hash *terminal,
                     const struct report_usual_event *events)
{
    struct grammar_flat *once = grammar_flat_copy(g);

    *r = (struct rules){ .exact = calloc(g->rule_count + 1u, sizeof *r->exact),
                         .body = calloc(g->rule_count + 1u, sizeof *r->body),
                         .length = calloc(g->rule_count + 1u, sizeof *r->length),
                         .first = calloc(g->rule_count + 1u, sizeof *r->first),
                         .usual = calloc(g->rule_count + 1u, sizeof *r->usual),
                         .events = events };
    r->whole = grammar_flat_hash(g, terminal, r->exact);
    for (uint32_t n = 0; n < once->node_count; n++)
        once->nodes[n].exponent = 1;
    grammar_flat_hash(once, terminal, r->body);
    grammar_flat_destroy(once);
    grammar_flat_lengths(g, r->length);
    report_usual_rules(g, events, r->usual);
    first_terminals(g, r->first);
}

/* Exponents of other members than the first. */
static void add_trips(const struct job_class *e, const struct job_turn *t, int side, struct report_turns *l)
{
    uint64_t members = t->column == GRAMMAR_NONE ? 1 : report_members(e);

    for (uint64_t i = 0; i < members; i++) {
        uint64_t turns = t->column == GRAMMAR_NONE ? t->exponent : job_column_get(&e->columns[t->column], i);
        l->least[side] = turns < l->least[side] ? turns : l->least[side];
        l->most[side] = turns > l->most[side] ? turns : l->most[side];
        l->trips[side] += mixed(turns + 1) *
                          (t->column == GRAMMAR_NONE ? report_range_members(e, t->range_first, t->range_count) : i + 1);
    }
}

/* Node `n` as a loop. Counts of a node are those of all members. */
static struct report_turns loop_of(const struct job_class *e, const struct rules *r,
                                   const struct grammar_hash *terminal, int side, uint32_t class_index, uint32_t n)
{
    const struct grammar_flat *g = e->grammar;
    uint32_t symbol = g->nodes[n].symbol;
    uint64_t turns = g->nodes[n].exponent;
    bool rule = grammar_is_rule(symbol);
    uint32_t first, sets = job_turns_of(e, n, &first);
    struct report_turns l = { .body = rule ? r->body[symbol & ~GRAMMAR_RULE] : terminal[symbol] };

    l.present[side] = true;
    l.class_index[side] = class_index;
    l.node[side] = n;
    l.terminal[side] = rule ? r->first[symbol & ~GRAMMAR_RULE] : symbol;
    l.terminal[!side] = GRAMMAR_NONE;
    l.executions[side] = g->stats[n].count / turns;
    l.turns[side] = g->stats[n].count;
    l.least[side] = l.most[side] = turns;
    l.length[side] = rule ? r->length[symbol & ~GRAMMAR_RULE] : 1;
    l.trips[side] = mixed(turns + 1) * l.executions[side];
    if (sets)
        l.executions[side] = (uint64_t)((double)g->stats[n].count / job_mean_turns(e, n) + 0.5);
    for (uint32_t i = first; i < first + sets; i++)
        add_trips(e, &e->turns[i], side, &l);
    l.time_ns[side] = (double)g->stats[n].gap.sum + (double)g->stats[n].duration.sum;
    struct report_usual one = report_usual_symbol(r->events, r->usual, symbol);
    l.usual[side] = one.mean;
    l.error[side] = one.mean > 0 && l.turns[side] ? sqrt(one.variance / (double)l.turns[side]) / one.mean : 0;
    return l;
}

static void add_class(struct lists *lists, const struct job_class *e, const struct grammar_hash *terminal,
                      const struct report_usual_event *events, int side, uint32_t index)
{
    const struct grammar_flat *g = e->grammar;
    struct rules r;

    rules_of(&r, g, terminal, events);
    for (uint32_t i = 0; i < e->turn_count; i++) /* classes with other exponents are others */
        r.whole.low = mixed(r.whole.low ^ (e->turns[i].exponent + ((uint64_t)e->turns[i].node << 32)));
    uint64_t members = report_members(e);
    for (uint32_t i = 0; i < g->rule_count; i++) /* R is the class */
        add_shape(i ? &lists->rules[side] : &lists->classes[side],
                  (struct report_shape){ .hash = i ? r.exact[i] : r.whole,
                                         .class_index = index,
                                         .rule = i,
                                         .terminal = r.first[i],
                                         .length = r.length[i],
                                         .members = members });
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].exponent > 1 && g->nodes[n].symbol != GRAMMAR_LOST)
            add_turns(&lists->loops, loop_of(e, &r, terminal, side, index, n));
    rules_free(&r);
}

static void add_job(struct report_comparison *c, struct lists *lists, int side, const uint32_t *number)
{
    const struct job *j = c->report[side]->job;
    struct grammar_hash *terminal = calloc((size_t)j->terminal_count + 1, sizeof *terminal);
    struct report_usual_event *events = report_usual_events(j, c->report[!side]->job);

    for (uint32_t t = 0; t < j->terminal_count; t++) {
        if (report_waits(j, t)) /* a turn is what the rank itself takes */
            events[t].duration = (struct report_usual){ 0, 0 };
        terminal[t] = (struct grammar_hash){ mixed(number[t] + 1u), mixed(~(uint64_t)number[t]) };
    }
    for (uint32_t i = 0; i < j->class_count; i++)
        if (j->classes[i].grammar)
            add_class(lists, &j->classes[i], terminal, events, side, i);
    free(events);
    free(terminal);
}

/* --- Loops of both --- */

static int by_body(const void *a, const void *b)
{
    const struct report_turns *x = a, *y = b;
    int side = x->present[0] ? 0 : 1;

    return hash_order(x->body, y->body) ?: BASE_ORDER(y->present[0], x->present[0]) ?:
           BASE_ORDER(x->class_index[side], y->class_index[side]) ?: BASE_ORDER(x->node[side], y->node[side]);
}

static void join_loops(struct report_turns *into, const struct report_turns *from)
{
    for (int side = 0; side < 2; side++) {
        if (!from->present[side])
            continue;
        if (!into->present[side]) {
            into->present[side] = true;
            into->class_index[side] = from->class_index[side];
            into->node[side] = from->node[side];
            into->terminal[side] = from->terminal[side];
            into->length[side] = from->length[side];
            into->least[side] = from->least[side];
        }
        into->least[side] = from->least[side] < into->least[side] ? from->least[side] : into->least[side];
        into->most[side] = from->most[side] > into->most[side] ? from->most[side] : into->most[side];
        into->executions[side] += from->executions[side];
        double all = (double)into->turns[side] + (double)from->turns[side];
        if (all > 0)
            into->usual[side] += (from->usual[side] - into->usual[side]) * (double)from->turns[side] / all;
        into->error[side] = fmax(into->error[side], from->error[side]);
        into->turns[side] += from->turns[side];
        into->trips[side] += from->trips[side];
        into->time_ns[side] += from->time_ns[side];
    }
}

static double most_time(const struct report_turns *l)
{
    return l->time_ns[0] > l->time_ns[1] ? l->time_ns[0] : l->time_ns[1];
}

static int by_time(const void *a, const void *b)
{
    double x = most_time(a), y = most_time(b);

    return BASE_ORDER(y, x) ?: by_body(a, b);
}

static void make_loops(struct report_comparison *c, struct turns_list *l)
{
    if (l->count)
        qsort(l->item, l->count, sizeof *l->item, by_body);
    for (size_t i = 0; i < l->count; i++)
        if (c->loop_count && !hash_order(l->item[c->loop_count - 1].body, l->item[i].body))
            join_loops(&l->item[c->loop_count - 1], &l->item[i]);
        else
            l->item[c->loop_count++] = l->item[i];
    if (c->loop_count)
        qsort(l->item, c->loop_count, sizeof *l->item, by_time);
    c->loops = l->item;
}

bool report_loop_changed(const struct report_comparison *c, const struct report_turns *l)
{
    if (report_by_timing(c))
        return false;
    if (!l->present[0] || !l->present[1])
        return true;
    return !c->scaled && l->trips[0] != l->trips[1];
}

/* --- Rules and classes of both --- */

static int by_hash(const void *a, const void *b)
{
    const struct report_shape *x = a, *y = b;

    return hash_order(x->hash, y->hash) ?: BASE_ORDER(x->class_index, y->class_index) ?: BASE_ORDER(x->rule, y->rule);
}

/* Sorted, each structure once. Classes that only unmapped frames told apart are one. */
static void unite(struct shape_list *l)
{
    size_t kept = 0;

    if (l->count)
        qsort(l->item, l->count, sizeof *l->item, by_hash);
    for (size_t i = 0; i < l->count; i++)
        if (kept && !hash_order(l->item[kept - 1].hash, l->item[i].hash))
            l->item[kept - 1].members += l->item[i].members;
        else
            l->item[kept++] = l->item[i];
    l->count = kept;
}

static bool other_ranks(const struct report_comparison *c, const struct report_shape *a, const struct report_shape *b)
{
    const struct job_class *x = &c->report[0]->job->classes[a->class_index];
    const struct job_class *y = &c->report[1]->job->classes[b->class_index];

    if (a->members != b->members)
        return true;
    return x->member_ranges == y->member_ranges &&
           memcmp(x->ranges, y->ranges, x->member_ranges * sizeof *x->ranges) != 0;
}

/* Keeps, of two sorted lists, what only one of them has. */
static void split(const struct report_comparison *c, struct report_shapes *into, struct shape_list l[2], bool classes)
{
    size_t at[2] = { 0, 0 };

    while (at[0] < l[0].count || at[1] < l[1].count) {
        int order = at[0] == l[0].count ? 1 : at[1] == l[1].count ? -1 : 0;
        if (order == 0)
            order = hash_order(l[0].item[at[0]].hash, l[1].item[at[1]].hash);
        if (order == 0) {
            into->common++;
            into->moved += classes && other_ranks(c, &l[0].item[at[0]], &l[1].item[at[1]]);
            at[0]++;
            at[1]++;
        } else {
            int side = order > 0;
            l[side].item[into->count[side]++] = l[side].item[at[side]];
            at[side]++;
        }
    }
    for (int side = 0; side < 2; side++)
        into->only[side] = l[side].item;
}

void report_compare_shapes(struct report_comparison *c, uint32_t *const terminal[2])
{
    struct lists l = { { 0 }, { { 0 } }, { { 0 } } };

    for (int side = 0; side < 2; side++)
        add_job(c, &l, side, terminal[side]);
    make_loops(c, &l.loops);
    for (int side = 0; side < 2; side++) {
        unite(&l.rules[side]);
        unite(&l.classes[side]);
    }
    for (int side = 0; side < 2 && report_by_timing(c); side++)
        l.rules[side].count = l.classes[side].count = 0;
    split(c, &c->rules, l.rules, false);
    split(c, &c->classes, l.classes, true);
}
