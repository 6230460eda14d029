/* SPDX-License-Identifier: MIT */
/*
 * A class of the run that the profile has not, but for a trip count, or an event more: rule by rule.
 *
 *   profile   R -> i A^60 f      A -> s B^3       a rule is known again by its shape: terminals by what they are, rules by
 *   run       R -> i A^80 e f    A -> s B^5       their shapes, no exponents. Of R what is equal from either end is paired.
 *
 * Only calls have times of their own: each node of a terminal that the profile has in that place is mixed by one expansion's
 * mean. A rule's time is the sum of what is in it, so nodes of rules follow: from the innermost rule out, each use of a rule
 * is scaled by what the rule's time became. So times add up at every level, whatever was mixed inside.
 */
#include "merge/update.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/ranges.h"
#include "merge/joint.h"

/* --- Shapes --- */

static struct grammar_hash *shapes_of(const struct grammar_flat *g, const struct grammar_hash *terminal)
{
    struct grammar_flat *bare = grammar_flat_copy(g);
    struct grammar_hash *shape = malloc((g->rule_count + 1) * sizeof *shape);
    for (uint32_t n = 0; bare && n < bare->node_count; n++)
        bare->nodes[n].exponent = 1;
    if (!bare || !shape || job_hash_none(grammar_flat_hash(bare, terminal, shape))) {
        free(shape);
        shape = NULL;
    }
    grammar_flat_destroy(bare);
    return shape;
}

/* The same shape in a class: where a stream has been before is where it is looked for first. */
static struct grammar_hash in_class(struct grammar_hash shape, uint32_t class_index)
{
    return job_hash_pair(1, shape, (struct grammar_hash){ 0, 0 }, class_index);
}

static int add_place(struct merge_shapes *s, struct grammar_hash hash, uint32_t class_index, uint32_t rule)
{
    int error = job_table_reserve(&s->table, 1);
    if (job_table_find(&s->table, hash) != GRAMMAR_NONE)
        return error;
    if (!error)
        error = base_array_room(&s->places, &s->room, (uint64_t)s->count + 1, sizeof *s->places);
    if (error)
        return error;
    s->places[s->count] = (struct merge_place){ class_index, rule };
    job_table_put(&s->table, hash, s->count++);
    return 0;
}

int merge_shapes_open(struct merge_shapes *s, const struct job *profile)
{
    *s = (struct merge_shapes){ .classes = profile->class_count };
    s->shape = calloc(profile->class_count + 1, sizeof *s->shape);
    s->used = calloc(profile->class_count + 1, 1);
    int error = s->shape && s->used ? 0 : PYTHIA_ENOMEM;
    for (uint32_t c = 0; c < profile->class_count && !error; c++) {
        const struct grammar_flat *g = profile->classes[c].grammar;
        s->shape[c] = shapes_of(g, profile->terminal_hash);
        error = s->shape[c] ? 0 : PYTHIA_ENOMEM;
        for (uint32_t r = 0; r < g->rule_count && !error; r++) {
            error = add_place(s, in_class(s->shape[c][r], c), c, r);
            error = error ? error : add_place(s, s->shape[c][r], c, r);
        }
    }
    return error;
}

void merge_shapes_close(struct merge_shapes *s)
{
    for (uint32_t c = 0; s->shape && c < s->classes; c++)
        free(s->shape[c]);
    free(s->shape);
    free(s->used);
    free(s->places);
    job_table_free(&s->table);
}

/* --- Pairs of nodes --- */

struct pair { uint32_t class_index, node; }; /* of the profile; GRAMMAR_NONE: the run's alone */

struct near {
    const struct job *run, *profile;
    struct merge_shapes *shapes;
    struct job_class *c;
    struct grammar_hash *shape; /* of the rules of c */
    struct pair *pair;          /* of its nodes */
    uint32_t own;               /* the profile's class of its first member, GRAMMAR_NONE */
};

static struct grammar_hash node_shape(const struct grammar_flat_node *n, const struct grammar_hash *terminal,
                                      const struct grammar_hash *rule)
{
    if (n->symbol == GRAMMAR_LOST)
        return (struct grammar_hash){ GRAMMAR_LOST, GRAMMAR_LOST };
    return grammar_is_rule(n->symbol) ? rule[n->symbol & ~GRAMMAR_RULE] : terminal[n->symbol];
}

static bool same_node(const struct near *k, uint32_t node, uint32_t theirs)
{
    const struct grammar_flat *g = k->profile->classes[k->own].grammar;
    return job_hash_equal(node_shape(&k->c->grammar->nodes[node], k->run->terminal_hash, k->shape),
                            node_shape(&g->nodes[theirs], k->profile->terminal_hash, k->shapes->shape[k->own]));
}

/* Of the roots what is equal from the begin, and then from the end. */
static void pair_roots(struct near *k)
{
    if (k->own == GRAMMAR_NONE)
        return;
    const struct grammar_flat_rule *ours = &k->c->grammar->rules[0], *theirs = &k->profile->classes[k->own].grammar->rules[0];
    uint32_t least = ours->length < theirs->length ? ours->length : theirs->length, head = 0, tail = 0;
    while (head < least && same_node(k, ours->first + head, theirs->first + head))
        head++;
    while (tail < least - head &&
           same_node(k, ours->first + ours->length - 1 - tail, theirs->first + theirs->length - 1 - tail))
        tail++;
    for (uint32_t i = 0; i < ours->length; i++)
        if (i < head)
            k->pair[ours->first + i] = (struct pair){ k->own, theirs->first + i };
        else if (ours->length - 1 - i < tail)
            k->pair[ours->first + i] = (struct pair){ k->own, theirs->first + theirs->length - ours->length + i };
}

static void pair_rules(struct near *k)
{
    const struct grammar_flat *g = k->c->grammar;
    for (uint32_t r = 0; r < g->rule_count; r++) {
        uint32_t at = k->own == GRAMMAR_NONE ? GRAMMAR_NONE
                                             : job_table_find(&k->shapes->table, in_class(k->shape[r], k->own));
        at = at == GRAMMAR_NONE ? job_table_find(&k->shapes->table, k->shape[r]) : at;
        if (at == GRAMMAR_NONE)
            continue;
        const struct merge_place *p = &k->shapes->places[at];
        uint32_t first = k->profile->classes[p->first].grammar->rules[p->count].first;
        for (uint32_t i = 0; i < g->rules[r].length; i++)
            k->pair[g->rules[r].first + i] = (struct pair){ p->first, first + i };
    }
}

/* --- Times --- */

struct sums { double gap, duration; };

static struct sums rule_sums(const struct grammar_flat *g, uint32_t rule)
{
    struct sums s = { 0, 0 };
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++) {
        s.gap += (double)g->stats[n].gap.sum;
        s.duration += (double)g->stats[n].duration.sum;
    }
    return s;
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 1;
}

static void scale_moments(struct grammar_moments *m, double factor)
{
    m->sum = merge_mix_whole((double)m->sum * factor);
    m->min = merge_mix_whole((double)m->min * factor);
    m->max = merge_mix_whole((double)m->max * factor + 1);
    m->square *= factor * factor;
}

static void scale_node(struct near *k, uint32_t n, const struct sums *factor)
{
    struct grammar_stats *s = &k->c->grammar->stats[n];
    double before = (double)s->gap.sum + (double)s->duration.sum;
    scale_moments(&s->gap, factor->gap);
    scale_moments(&s->duration, factor->duration);
    double all = quotient((double)s->gap.sum + (double)s->duration.sum, before);
    k->c->spread[n].min = merge_mix_whole((double)k->c->spread[n].min * all);
    k->c->spread[n].max = merge_mix_whole((double)k->c->spread[n].max * all + 1);
}

static void mix_node(struct near *k, uint32_t n, double share)
{
    const struct job_class *p = &k->profile->classes[k->pair[n].class_index];
    const struct grammar_stats *theirs = &p->grammar->stats[k->pair[n].node];
    const struct job_spread *spread = &p->spread[k->pair[n].node];
    struct grammar_stats *ours = &k->c->grammar->stats[n];
    double members = (double)job_ranges_size(k->c->ranges, k->c->member_ranges) /
                     (double)job_ranges_size(p->ranges, p->member_ranges);
    struct merge_mix m = { share, 1 - share, (double)ours->count / (double)theirs->count, 0 };
    m.member = m.scale / members;
    merge_mix_moments(&m, &ours->gap, &theirs->gap);
    merge_mix_moments(&m, &ours->duration, &theirs->duration);
    k->c->spread[n].min = merge_mix_lower(&m, k->c->spread[n].min, spread->min);
    k->c->spread[n].max = merge_mix_upper(&m, k->c->spread[n].max, spread->max);
    k->shapes->used[k->pair[n].class_index] = 1;
}

/* Users before what they use; `order` has room for all rules. 0 or PYTHIA_ENOMEM. */
static int users_first(const struct grammar_flat *g, uint32_t *order)
{
    uint32_t *users = calloc(g->rule_count, sizeof *users), end = 1;
    if (!users)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            users[g->nodes[n].symbol & ~GRAMMAR_RULE]++;
    order[0] = 0;
    for (uint32_t i = 0; i < end; i++)
        for (uint32_t n = g->rules[order[i]].first; n < g->rules[order[i]].first + g->rules[order[i]].length; n++)
            if (grammar_is_rule(g->nodes[n].symbol) && --users[g->nodes[n].symbol & ~GRAMMAR_RULE] == 0)
                order[end++] = g->nodes[n].symbol & ~GRAMMAR_RULE;
    free(users);
    return 0;
}

/* One rule, whose inner rules are done: what its times became. */
static struct sums mix_rule(struct near *k, uint32_t rule, const struct sums *factor, double share)
{
    const struct grammar_flat *g = k->c->grammar;
    struct sums before = rule_sums(g, rule);
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++)
        if (grammar_is_rule(g->nodes[n].symbol))
            scale_node(k, n, &factor[g->nodes[n].symbol & ~GRAMMAR_RULE]);
        else if (k->pair[n].class_index != GRAMMAR_NONE)
            mix_node(k, n, share);
    struct sums after = rule_sums(g, rule);
    return (struct sums){ quotient(after.gap, before.gap), quotient(after.duration, before.duration) };
}

/* What a member spent in a call at all of its nodes follows what the call's nodes became. */
static int scale_calls(struct near *k, const double *before)
{
    const struct grammar_flat *g = k->c->grammar;
    double *after = calloc((size_t)g->terminals + 1, sizeof *after);
    if (!after)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < g->terminals)
            after[g->nodes[n].symbol] += (double)g->stats[n].duration.sum;
    for (uint32_t n = 0; n < g->node_count; n++) {
        struct job_spread *s = &k->c->spread[n];
        if (g->nodes[n].symbol >= g->terminals || !s->call_max)
            continue;
        double factor = quotient(after[g->nodes[n].symbol], before[g->nodes[n].symbol]);
        s->call_min = merge_mix_whole((double)s->call_min * factor);
        s->call_max = merge_mix_whole((double)s->call_max * factor);
        s->call_square *= factor * factor;
    }
    free(after);
    return 0;
}

static bool is_call(const struct near *k, uint32_t n)
{
    return !grammar_is_rule(k->c->grammar->nodes[n].symbol);
}

/* Whether most of the class's events were paired. */
static bool similar(const struct near *k)
{
    double events = 0, paired = 0;
    for (uint32_t n = 0; n < k->c->grammar->node_count; n++)
        if (is_call(k, n)) {
            events += (double)k->c->grammar->stats[n].count;
            paired += k->pair[n].class_index != GRAMMAR_NONE ? (double)k->c->grammar->stats[n].count : 0;
        }
    return 2 * paired > events;
}

static int mix_times(struct near *k, double share, double *all)
{
    const struct grammar_flat *g = k->c->grammar;
    uint32_t *order = malloc(g->rule_count * sizeof *order);
    struct sums *factor = malloc(g->rule_count * sizeof *factor);
    double *calls = calloc((size_t)g->terminals + 1, sizeof *calls);
    int error = order && factor && calls ? users_first(g, order) : PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < g->node_count && !error; n++)
        if (g->nodes[n].symbol < g->terminals)
            calls[g->nodes[n].symbol] += (double)g->stats[n].duration.sum;
    struct sums before = rule_sums(g, 0);
    for (uint32_t i = g->rule_count; i-- > 0 && !error;)
        factor[order[i]] = mix_rule(k, order[i], factor, share);
    error = error ? error : scale_calls(k, calls);
    error = error ? error : merge_settle_rules(k->c->grammar);
    struct sums after = rule_sums(g, 0);
    *all = quotient(after.gap + after.duration, before.gap + before.duration);
    free(order);
    free(factor);
    free(calls);
    return error;
}

int merge_near_mix(const struct job *run, struct job_class *c, const struct job *profile, struct merge_shapes *s,
                   double share, double *factor)
{
    struct job_member first = job_ranges_first(c->ranges, c->member_ranges);
    struct near k = { run, profile, s, c, shapes_of(c->grammar, run->terminal_hash),
                      malloc((c->grammar->node_count + 1) * sizeof *k.pair),
                      job_stream_class(profile, first.rank, first.thread) };
    int error = k.shape && k.pair ? 0 : PYTHIA_ENOMEM;
    *factor = 0;
    if (!error) {
        memset(k.pair, 0xff, c->grammar->node_count * sizeof *k.pair);
        pair_roots(&k);
        pair_rules(&k);
        error = similar(&k) ? mix_times(&k, share, factor) : 0;
    }
    free(k.shape);
    free(k.pair);
    return error;
}
