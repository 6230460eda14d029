/* SPDX-License-Identifier: MIT */
/*
 * How long each rank takes at each node: its own times where the job has them, else its class's means, with what the
 * rank's totals say beside.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "job/own.h"
#include "job/streams.h"
#include "job/turns.h"
#include "job/value.h"
#include "replay/bind_parts.h"

static struct bind_times mean_times(const struct grammar_stats *s)
{
    return (struct bind_times){ .gap = (float)grammar_moments_mean(&s->gap, s->count),
                           .call = (float)grammar_moments_mean(&s->duration, s->count),
                           .gap_deviation = (float)grammar_moments_deviation(&s->gap, s->count),
                           .call_deviation = (float)grammar_moments_deviation(&s->duration, s->count) };
}

static void find_rules(struct bind_role *r)
{
    const struct grammar_flat *g = r->grammar;

    r->uses = calloc(g->rule_count + 1, sizeof *r->uses);
    r->rule_of = calloc(g->node_count + 1, sizeof *r->rule_of);
    grammar_flat_uses(g, r->uses);
    for (uint32_t k = 0; k < g->rule_count; k++)
        for (uint32_t i = 0; i < g->rules[k].length; i++)
            r->rule_of[g->rules[k].first + i] = k;
}

/* --- Roles --- */

/* The role of a rank's main thread, which is of class c. */
static uint32_t find_role(struct replay_bind *b, uint32_t c, uint32_t rank)
{
    const struct job_class *class = &b->job->classes[c];
    uint64_t hash = job_turns_hash(class, rank, 0);

    for (uint32_t i = 0; i < b->role_count; i++)
        if (b->role[i].class_index == c && b->role[i].hash == hash &&
            job_turns_same(class, b->role[i].grammar, rank, 0))
            return i;
    base_must(base_array_room(&b->role, &b->role_room, b->role_count + 1u, sizeof *b->role));
    struct bind_role *r = &b->role[b->role_count];
    *r = (struct bind_role){ .class_index = c, .hash = hash, .grammar = class->grammar };
    if (class->turn_count)
        r->grammar = r->own = job_member_grammar(class, rank, 0);
    find_rules(r);
    bind_before_find(r, b->job);
    return b->role_count++;
}

double bind_visits(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    const struct bind_role *r = &b->role[b->rank[rank].role];

    return (double)r->uses[r->rule_of[node]] * (double)r->grammar->nodes[node].exponent;
}

/* What is left of a node's mean when those that have times of their own are taken out. */
static float rest_of(const struct grammar_moments *all, double count, double own, double left)
{
    return (float)fmax((grammar_moments_mean(all, (uint64_t)count) * count - own) / left, 0);
}

/*
 * Of each node of a class what its members take that have no times of their own there: its means are of all. A rank
 * that waits long in one call has its own there, and the others, which do not, would wait as long on average.
 */
static const struct bind_times *rest_times(struct replay_bind *b, uint32_t c)
{
    const struct grammar_flat *g = b->job->classes[c].grammar;
    struct own { double count, gap, call; } *own;

    b->others = b->others ?: calloc(b->job->class_count + 1u, sizeof *b->others);
    if (b->others[c])
        return b->others[c];
    own = calloc(g->node_count + 1u, sizeof *own);
    b->others[c] = calloc(g->node_count + 1u, sizeof **b->others);
    const struct job_own *row = b->job->own.row;
    for (uint32_t at = BASE_ARRAY_PLACE(b->job->own.count, i, row[i].class_index < c);
         at < b->job->own.count && row[at].class_index == c; at++) {
        const struct job_own *o = &row[at];
        if (o->thread || !o->ranks)
            continue;
        uint32_t at_role = find_role(b, c, o->rank); /* which may move all roles */
        const struct bind_role *role = &b->role[at_role];
        double visits = (double)role->uses[role->rule_of[o->node]] * (double)role->grammar->nodes[o->node].exponent;
        own[o->node].count += visits * o->ranks;
        own[o->node].gap += visits * (double)o->sum[JOB_OWN_GAP];
        own[o->node].call += visits * (double)o->sum[JOB_OWN_DURATION];
    }
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct grammar_stats *s = &g->stats[n];
        double all = (double)s->count, left = all - own[n].count;
        b->others[c][n] = mean_times(s);
        if (own[n].count > 0 && left > 0.5) {
            b->others[c][n].gap = rest_of(&s->gap, all, own[n].gap, left);
            b->others[c][n].call = rest_of(&s->duration, all, own[n].call, left);
        }
    }
    free(own);
    return b->others[c];
}

/* The rank's own times where the job has them. */
static bool own_times(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    struct bind_rank *r = &b->rank[rank];
    const struct job_own *o = job_own_of(b->job, r->class_index, node, rank, 0);

    if (!o || !o->ranks)
        return false;
    r->node[node] = (struct bind_times){ .gap = (float)job_own_mean(o, JOB_OWN_GAP),
                                    .call = (float)job_own_mean(o, JOB_OWN_DURATION),
                                    .gap_deviation = (float)job_own_mean(o, JOB_OWN_GAP_DEVIATION),
                                    .call_deviation = (float)job_own_mean(o, JOB_OWN_DURATION_DEVIATION) };
    return true;
}

/*
 * Where a class's means are all that is known, its ranks' totals still differ: what a rank computed more than
 * the mean of its class goes to the nodes in proportion to how much their gaps vary. That is right where one place is
 * uneven. Not where regions contain events: what is between those is no computation in the totals.
 */
static void spread_totals(struct replay_bind *b, uint32_t rank)
{
    struct bind_rank *r = &b->rank[rank];
    const struct grammar_flat *g = b->job->classes[r->class_index].grammar;
    const struct job_stream *s = job_find_stream(b->job, rank, 0);
    double mean = 0, varies = 0;

    if (!s)
        return;
    for (uint32_t n = 0; n < g->node_count; n++) {
        if (g->nodes[n].symbol < b->job->terminal_count && b->job->terminals[g->nodes[n].symbol].phase == JOB_OPEN)
            return;
        mean += bind_visits(b, rank, n) * r->node[n].gap;
        varies += bind_visits(b, rank, n) * r->node[n].gap_deviation;
    }
    double own = (double)job_stream_mean(s, s->wall_ns) - (double)job_stream_mean(s, s->mpi_ns) -
                 (double)job_stream_mean(s, s->omp_ns);
    for (uint32_t n = 0; n < g->node_count && varies > 0; n++) {
        double gap = r->node[n].gap + (own - mean) * r->node[n].gap_deviation / varies,
               least = (double)g->stats[n].gap.min;
        if (r->node[n].gap_deviation > 0)
            r->node[n].gap = (float)(gap > least ? gap : least);
    }
}

bool bind_is_alone(const struct replay_bind *b, uint32_t rank, uint32_t node, uint32_t symbol)
{
    const struct job_class *c = &b->job->classes[b->rank[rank].class_index];
    int64_t from = GRAMMAR_PEER_NULL;

    return b->job->terminals[symbol].peer_class == JOB_PEER_NULL &&
           (b->site[b->site_of[symbol]].what != BIND_SENDRECV ||
            (job_attr_value(b->job, c, node, GRAMMAR_SOURCE, rank, 0, JOB_SOMEWHERE, &from) == 0 &&
             from == GRAMMAR_PEER_NULL));
}

static void add_to_site(struct replay_bind *b, uint32_t rank, uint32_t n)
{
    const struct bind_rank *r = &b->rank[rank];
    const struct job_class *c = &b->job->classes[r->class_index];
    uint32_t symbol = c->grammar->nodes[n].symbol;
    double count = bind_visits(b, rank, n);
    struct bind_site *s = &b->site[b->site_of[symbol]];
    size_t at = (size_t)rank * b->site_count + b->site_of[symbol];
    const struct job_variant *v = job_variant(c, n, GRAMMAR_BYTES, rank, 0);
    int64_t reply;

    b->count[at] += count;
    b->alone[at] += bind_is_alone(b, rank, n, symbol) ? (float)count : 0;
    b->call[at] += count * r->node[n].call;
    s->count += count;
    s->gap_ns += count * r->node[n].gap;
    s->call_ns += count * r->node[n].call;
    if (job_attr_value(b->job, c, n, GRAMMAR_REPLY, rank, 0, JOB_SOMEWHERE, &reply) == 0 && reply == 1)
        s->answers = 1;
    if (v)
        s->bytes += count * job_attr_mean(&v->attr);
}

/* In a large job ranks of a block and class have the same times: those of one that came before; NULL without. */
static struct bind_times *alike(const struct replay_bind *b, uint32_t rank)
{
    enum { BACK = 32 };
    const struct job_stream *s = job_find_stream(b->job, rank, 0);

    for (uint32_t k = 1; b->job->info.block > 1 && k <= BACK && k <= rank; k++)
        if (b->rank[rank - k].class_index == b->rank[rank].class_index &&
            b->rank[rank - k].role == b->rank[rank].role && job_find_stream(b->job, rank - k, 0) == s)
            return b->rank[rank - k].node;
    return NULL;
}

void bind_times_find(struct replay_bind *b, uint32_t rank)
{
    struct bind_rank *r = &b->rank[rank];
    uint32_t c = r->class_index = job_stream_class(b->job, rank, 0);

    if (c == GRAMMAR_NONE)
        return;
    const struct grammar_flat *g = b->job->classes[c].grammar;
    r->role = find_role(b, c, rank);
    r->node = alike(b, rank);
    r->shared = r->node != NULL;
    if (!r->shared)
        r->node = calloc(g->node_count + 1, sizeof *r->node);
    const struct bind_times *rest = r->shared ? NULL : rest_times(b, c);
    bool own = false;
    for (uint32_t n = 0; n < g->node_count && !r->shared; n++)
        if (!grammar_is_rule(g->nodes[n].symbol)) {
            r->node[n] = rest[n];
            own |= own_times(b, rank, n);
            if (job_is_start(b->job, g->nodes[n].symbol)) /* the job runs from there on */
                r->node[n].call = r->node[n].call_deviation = 0;
        }
    if (!r->shared && !own)
        spread_totals(b, rank);
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < b->job->terminal_count)
            add_to_site(b, rank, n);
}
