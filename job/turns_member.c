/* SPDX-License-Identifier: MIT */
/*
 * One member of a class whose members have exponents of their own: its grammar, its events, and who is like it.
 *
 * Its times are not known by themselves. A terminal takes at each of its places what it takes there on average over the
 * members; a rule takes what its body does by this member's exponents, in the proportion in which the node that uses it
 * takes more or less than the rule's other uses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "pythia.h"

/* --- Events --- */

uint64_t job_class_events(const struct job_class *c)
{
    uint64_t events = 0;
    for (uint32_t n = 0; n < c->grammar->node_count; n++)
        if (!grammar_is_rule(c->grammar->nodes[n].symbol) &&
            __builtin_add_overflow(events, c->grammar->stats[n].count, &events))
            return UINT64_MAX;
    return events;
}

void job_rule_uses(const struct job_class *c, uint64_t *uses)
{
    const struct grammar_flat *g = c->grammar;
    memset(uses, 0, g->rule_count * sizeof *uses);
    uses[0] = job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            uses[g->nodes[n].symbol & ~GRAMMAR_RULE] += g->stats[n].count;
}

static uint32_t rule_of(const struct grammar_flat *g, uint32_t node)
{
    return BASE_ARRAY_PLACE(g->rule_count, i, g->rules[i].first <= node) - 1;
}

double job_mean_turns(const struct job_class *c, uint32_t node)
{
    const struct grammar_flat *g = c->grammar;
    uint32_t first, turns = job_turns_of(c, node, &first), rule;
    if (turns && !c->expanded) {
        uint64_t *uses = malloc(((size_t)g->rule_count + 1) * sizeof *uses);
        if (uses)
            job_rule_uses(c, uses);
        ((struct job_class *)c)->expanded = uses; /* known to whom it belongs, not to its readers */
    }
    if (!turns || !c->expanded)
        return (double)g->nodes[node].exponent;
    rule = rule_of(g, node);
    return c->expanded[rule] ? (double)g->stats[node].count / (double)c->expanded[rule]
                             : (double)g->nodes[node].exponent;
}

/* --- A member's exponents --- */

static void take_exponents(const struct job_class *c, struct grammar_flat_node *nodes, uint32_t rank, uint32_t thread)
{
    for (uint32_t i = 0, end; i < c->turn_count; i = end) {
        end = job_turns_end(c, i);
        nodes[c->turns[i].node].exponent = job_turns_at(c, i, end, rank, thread);
    }
}

int job_members_uses(const struct job_class *c, uint64_t **uses)
{
    enum { MOST = 1 << 24 }; /* numbers */
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), rules = c->grammar->rule_count, i = 0;
    *uses = NULL;
    if (!c->turn_count || members > MOST / (rules + 1))
        return 0;
    struct grammar_flat own = *c->grammar;
    own.nodes = base_array_copy(own.nodes, own.node_count, sizeof *own.nodes);
    *uses = own.nodes ? malloc((members * rules + 1) * sizeof **uses) : NULL;
    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; *uses && job_walk_next(&w); i++) {
        take_exponents(c, own.nodes, w.at.rank, w.at.thread);
        grammar_flat_uses(&own, *uses + i * rules);
    }
    free(own.nodes);
    return *uses ? 0 : PYTHIA_ENOMEM;
}

uint64_t job_class_expands(const struct job_class *c)
{
    enum { MOST = 1 << 24 }; /* nodes */
    struct grammar_flat own = *c->grammar;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), events = 0;
    if (!c->turn_count || !own.rule_count || members > MOST / (own.node_count + 1))
        return job_turns_most_events(c);
    BASE_OWN uint64_t *length = malloc(own.rule_count * sizeof *length);
    own.nodes = base_array_copy(own.nodes, own.node_count, sizeof *own.nodes);
    bool known = length && own.nodes;
    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; known && job_walk_next(&w);) {
        take_exponents(c, own.nodes, w.at.rank, w.at.thread);
        grammar_flat_lengths(&own, length);
        known = !__builtin_add_overflow(events, length[0], &events);
    }
    free(own.nodes);
    return known ? events : job_turns_most_events(c);
}

uint64_t job_members_count(const struct job_class *c, const uint64_t *uses, uint32_t node, uint32_t range_first,
                           uint32_t range_count)
{
    const struct grammar_flat *g = c->grammar;
    const struct job_range *r = c->ranges + range_first;
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), size = job_ranges_size(r, range_count), count = 0;
    uint32_t first, turns = job_turns_of(c, node, &first);
    if (size == members)
        return g->stats[node].count;
    if (!uses)
        return members ? g->stats[node].count / members * size : 0;
    for (struct job_walk w = { .range = r, .left = range_count }; job_walk_next(&w);) {
        uint64_t at = job_ranges_place(c->ranges, c->member_ranges, w.at.rank, w.at.thread);
        count += uses[at * g->rule_count + rule_of(g, node)] *
                 (turns ? job_turns_at(c, first, first + turns, w.at.rank, w.at.thread) : g->nodes[node].exponent);
    }
    return count;
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

/* Of rules: in their order, who uses them, how often they are expanded; of nodes: what they cost, then factors. */
struct scratch {
    uint32_t *order, *users_of, *user;
    uint64_t *uses;
    struct cost *cost;
};

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

/* A node that uses a rule takes what the rule takes with this member's exponents, in the proportion in which it takes
   more or less than the rule's other uses. */
static void fit_times(const struct job_class *c, struct grammar_flat *g, const struct scratch *s)
{
    const struct grammar_flat *all = c->grammar;
    struct cost *of = s->cost, *factor = of + g->node_count;
    grammar_flat_users(g, NULL, s->users_of, s->user);
    for (uint32_t n = 0; n < g->node_count; n++) {
        of[n] = cost_of(&all->stats[n]);
        factor[n] = (struct cost){ 1, 1 };
    }
    for (uint32_t i = 0; i < g->rule_count; i++) {
        uint32_t r = s->order[i], users = s->users_of[r + 1] - s->users_of[r];
        const uint32_t *user = s->user + s->users_of[r];
        struct cost own = rule_cost(g, r, of);
        double count = 0;
        for (uint32_t k = 0; k < users; k++)
            count += (double)all->stats[user[k]].count;
        struct cost mean = class_cost(c, r, count);
        for (uint32_t k = 0; k < users; k++) {
            struct cost *f = &factor[user[k]];
            *f = (struct cost){ ratio(own.gap, mean.gap), ratio(own.duration, mean.duration) };
            of[user[k]].gap *= f->gap;
            of[user[k]].duration *= f->duration;
        }
    }
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++)
            scale_stats(&g->stats[n], factor[n].gap, factor[n].duration, s->uses[r] * g->nodes[n].exponent);
}

static bool fit_member(const struct job_class *c, struct grammar_flat *g)
{
    size_t rules = (size_t)g->rule_count + 1, nodes = (size_t)g->node_count + 1;
    struct scratch s = { .order = calloc(2 * rules, sizeof *s.order), .user = calloc(nodes, sizeof *s.user),
                         .uses = calloc(2 * rules, sizeof *s.uses), .cost = calloc(2 * nodes, sizeof *s.cost) };
    bool fine = s.order && s.user && s.uses && s.cost && grammar_flat_order(g, s.order);
    if (fine) {
        uint64_t *length = s.uses + rules;
        s.users_of = s.order + rules;
        grammar_flat_lengths(g, length);
        grammar_flat_uses(g, s.uses);
        g->events = length[0];
        if (c->turn_count)
            fit_times(c, g, &s);
    }
    free(s.order);
    free(s.user);
    free(s.uses);
    free(s.cost);
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
    take_exponents(c, g->nodes, rank, thread);
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
    for (uint32_t i = 0, end; i < c->turn_count; i = end) {
        end = job_turns_end(c, i);
        *row++ = job_turns_at(c, i, end, rank, thread);
    }
}

uint32_t job_roles(const struct job_class *c, bool main_thread, uint32_t most, struct job_role *role)
{
    enum { LOOKED_AT = 1 << 10 }; /* of more members, some */
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges), seen = 0;
    uint32_t count = 0, nodes = job_turns_nodes(c);
    BASE_OWN uint64_t *own = malloc(((size_t)most + 1) * ((size_t)nodes + 1) * sizeof *own);
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
    return count;
}
