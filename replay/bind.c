/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "job/value.h"
#include "job/define.h"
#include "job/own.h"
#include "job/run.h"
#include "job/group.h"
#include "job/starts.h"
#include "job/streams.h"
#include "job/turns.h"
#include "replay/bind.h"
#include "replay/calls.h"

enum { EAGER = 4096 }; /* bytes: longer messages wait for their receiver */

/* Means of one occurrence on one rank, ns. */
struct times { float gap, gap_deviation, call, call_deviation; };

/* Members of a class with the same exponents. */
struct role {
    uint32_t class_index;
    uint64_t hash;                /* of the exponents that differ */
    const struct grammar_flat *grammar;
    struct grammar_flat *own;     /* NULL: the class's */
    uint64_t *uses;               /* expansions of each rule */
    uint32_t *rule_of;            /* the rule that a node is in */
};

/* Of each rank, for its class's nodes. */
struct rank_times {
    uint32_t class_index, role;
    bool shared;
    struct times *node;
    struct replay_run one; /* of the wait that the rank is at */
};

struct replay_bind {
    const struct job *job;
    const struct replay_resize *resize; /* NULL: ranks are those that were recorded */
    struct replay_source source;
    struct bind_network network;
    const struct bind_change *change;
    uint32_t *site_of;          /* of each terminal */
    struct bind_site *site;
    double *extra, *mean;       /* of each site; of each place: work, over the ranks that have it */
    uint32_t site_count;
    struct role *role;
    uint32_t role_count, role_room;
    struct rank_times *rank;
    double *count, *call;       /* ranks x sites */
    float *rest;                /* the same: what a rank's calls take beyond `extra` … */
    double extra_share, rest_share; /* how much of both is counted */
};

/* --- Sites: terminals of one function at one callsite --- */

static uint32_t find_site(struct replay_bind *b, struct base_hash *sites, uint32_t terminal)
{
    const struct job_terminal *t = &b->job->terminals[terminal];
    uint64_t key = (uint64_t)t->function << 32 | t->callsite;
    uint64_t hash = base_hash_mix(base_hash_mix(key ^ base_hash_secret()) ^ t->kind);
    uint32_t at = base_hash_start(hash), s;

    while ((s = base_hash_next(sites, hash, &at)) != BASE_HASH_NONE) {
        const struct job_terminal *u = &b->job->terminals[b->site[s].terminal];
        if (u->function == t->function && u->callsite == t->callsite && u->kind == t->kind)
            return s;
    }
    b->site[b->site_count] =
        (struct bind_site){ .terminal = terminal, .what = replay_call_what(b->job, t), .call_kind = t->call_kind };
    base_hash_put(sites, hash, b->site_count);
    return b->site_count++;
}

static bool find_sites(struct replay_bind *b)
{
    uint32_t n = b->job->terminal_count;
    struct base_hash sites = { 0 };

    b->site_of = calloc(n + 1, sizeof *b->site_of);
    b->site = calloc(n + 1, sizeof *b->site);
    b->extra = calloc(n + 1, sizeof *b->extra);
    b->mean = calloc(2 * (size_t)n + 2, sizeof *b->mean);
    bool fine = b->site_of && b->site && b->extra && b->mean && base_hash_reserve(&sites, n) == 0;
    for (uint32_t t = 0; fine && t < n; t++) {
        b->site_of[t] = find_site(b, &sites, t);
        if (b->job->terminals[t].peer_class == JOB_PEER_ANY)
            b->site[b->site_of[t]].any = 1;
    }
    base_hash_close(&sites);
    return fine;
}

/* --- Times --- */

/* The recorded rank whose rules and times hold for a rank. */
static uint32_t like(const struct replay_bind *b, uint32_t rank)
{
    return b->resize ? b->resize->like[rank] : rank;
}

static struct times mean_times(const struct grammar_stats *s)
{
    return (struct times){ .gap = (float)grammar_moments_mean(&s->gap, s->count),
                           .call = (float)grammar_moments_mean(&s->duration, s->count),
                           .gap_deviation = (float)grammar_moments_deviation(&s->gap, s->count),
                           .call_deviation = (float)grammar_moments_deviation(&s->duration, s->count) };
}

static bool find_rules(struct role *r)
{
    const struct grammar_flat *g = r->grammar;

    r->uses = calloc(g->rule_count + 1, sizeof *r->uses);
    r->rule_of = calloc(g->node_count + 1, sizeof *r->rule_of);
    if (!r->uses || !r->rule_of)
        return false;
    grammar_flat_uses(g, r->uses);
    for (uint32_t k = 0; k < g->rule_count; k++)
        for (uint32_t i = 0; i < g->rules[k].length; i++)
            r->rule_of[g->rules[k].first + i] = k;
    return true;
}

/* --- Roles --- */

static uint64_t exponents_hash(const struct job_class *c, uint32_t rank)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < c->turn_count; i++)
        if (!i || c->turns[i].node != c->turns[i - 1].node)
            hash = base_hash_mix(hash ^ job_turns(c, c->turns[i].node, rank, 0));
    return hash;
}

static bool same_exponents(const struct job_class *c, const struct grammar_flat *g, uint32_t rank)
{
    for (uint32_t i = 0; i < c->turn_count; i++)
        if ((!i || c->turns[i].node != c->turns[i - 1].node) &&
            job_turns(c, c->turns[i].node, rank, 0) != g->nodes[c->turns[i].node].exponent)
            return false;
    return true;
}

/* The role of a rank's main thread, which is of class c; GRAMMAR_NONE: out of memory. */
static uint32_t find_role(struct replay_bind *b, uint32_t c, uint32_t rank)
{
    const struct job_class *class = &b->job->classes[c];
    uint64_t hash = exponents_hash(class, rank);

    for (uint32_t i = 0; i < b->role_count; i++)
        if (b->role[i].class_index == c && b->role[i].hash == hash && same_exponents(class, b->role[i].grammar, rank))
            return i;
    if (base_array_room(&b->role, &b->role_room, b->role_count + 1u, sizeof *b->role) != 0)
        return GRAMMAR_NONE;
    struct role *r = &b->role[b->role_count];
    *r = (struct role){ .class_index = c, .hash = hash, .grammar = class->grammar };
    if (class->turn_count)
        r->grammar = r->own = job_member_grammar(class, rank, 0);
    b->role_count++;
    return r->grammar && find_rules(r) ? b->role_count - 1 : GRAMMAR_NONE;
}

/* How often a rank comes to a node. */
static double visits(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    const struct role *r = &b->role[b->rank[rank].role];

    return (double)r->uses[r->rule_of[node]] * (double)r->grammar->nodes[node].exponent;
}

/* The rank's own times where the job has them. */
static bool own_times(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    struct rank_times *r = &b->rank[rank];
    const struct job_own *o = job_own_of(b->job, r->class_index, node, like(b, rank), 0);

    if (!o || !o->ranks)
        return false;
    r->node[node] = (struct times){ .gap = (float)job_own_mean(o, JOB_OWN_GAP),
                                    .call = (float)job_own_mean(o, JOB_OWN_DURATION),
                                    .gap_deviation = (float)job_own_mean(o, JOB_OWN_GAP_DEVIATION),
                                    .call_deviation = (float)job_own_mean(o, JOB_OWN_DURATION_DEVIATION) };
    return true;
}

/*
 * Where a class's means are all that is known, its ranks' totals still differ: what a rank computed more than
 * the mean of its class goes to the nodes in proportion to how much their gaps vary. That is right where one place is
 * uneven.
 */
static void spread_totals(struct replay_bind *b, uint32_t rank)
{
    struct rank_times *r = &b->rank[rank];
    const struct grammar_flat *g = b->job->classes[r->class_index].grammar;
    const struct job_stream *s = job_find_stream(b->job, like(b, rank), 0);
    double mean = 0, varies = 0;

    if (!s)
        return;
    for (uint32_t n = 0; n < g->node_count; n++) {
        mean += visits(b, rank, n) * r->node[n].gap;
        varies += visits(b, rank, n) * r->node[n].gap_deviation;
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

static void add_to_site(struct replay_bind *b, uint32_t rank, uint32_t n)
{
    const struct rank_times *r = &b->rank[rank];
    const struct job_class *c = &b->job->classes[r->class_index];
    uint32_t symbol = c->grammar->nodes[n].symbol;
    double count = visits(b, rank, n);
    struct bind_site *s = &b->site[b->site_of[symbol]];
    size_t at = (size_t)rank * b->site_count + b->site_of[symbol];
    const struct job_variant *v = job_variant(c, n, GRAMMAR_BYTES, like(b, rank), 0);
    int64_t reply;

    b->count[at] += count;
    b->call[at] += count * r->node[n].call;
    s->count += count;
    s->gap_ns += count * r->node[n].gap;
    s->call_ns += count * r->node[n].call;
    if (job_attr_value(b->job, c, n, GRAMMAR_REPLY, like(b, rank), 0, 0, &reply) == 0 && reply == 1)
        s->answers = 1;
    if (v)
        s->bytes += count * job_attr_mean(&v->attr);
}

/* In a large job ranks of a block and class have the same times, and those that are like one rank: those of one that
   came before; NULL without. */
static struct times *alike(const struct replay_bind *b, uint32_t rank)
{
    enum { BACK = 32 };
    const struct job_stream *s = job_find_stream(b->job, like(b, rank), 0);
    uint32_t back = b->resize ? rank : BACK;

    for (uint32_t k = 1; (b->resize || b->job->info.block > 1) && k <= back && k <= rank; k++)
        if (b->rank[rank - k].class_index == b->rank[rank].class_index &&
            b->rank[rank - k].role == b->rank[rank].role && job_find_stream(b->job, like(b, rank - k), 0) == s)
            return b->rank[rank - k].node;
    return NULL;
}

static bool find_times(struct replay_bind *b, uint32_t rank)
{
    struct rank_times *r = &b->rank[rank];
    uint32_t c = r->class_index = job_stream_class(b->job, like(b, rank), 0);

    if (c == GRAMMAR_NONE)
        return true;
    const struct grammar_flat *g = b->job->classes[c].grammar;
    r->role = find_role(b, c, like(b, rank));
    if (r->role == GRAMMAR_NONE)
        return false;
    r->node = alike(b, rank);
    r->shared = r->node != NULL;
    if (!r->shared && !(r->node = calloc(g->node_count + 1, sizeof *r->node)))
        return false;
    bool own = false;
    for (uint32_t n = 0; n < g->node_count && !r->shared; n++)
        if (!grammar_is_rule(g->nodes[n].symbol)) {
            r->node[n] = mean_times(&g->stats[n]);
            own |= own_times(b, rank, n);
        }
    if (!r->shared && !own)
        spread_totals(b, rank);
    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].symbol < b->job->terminal_count)
            add_to_site(b, rank, n);
    return true;
}

/* --- Events --- */

/* The rank of the job whom `peer` in the channel's values means. */
static uint32_t world_rank(const struct replay_bind *b, uint32_t rank, uint32_t node, enum grammar_channel channel,
                           const struct job_terminal *t, int64_t peer)
{
    int64_t world = t->comm == GRAMMAR_NONE ? GRAMMAR_PEER_NONE : job_comm_world(b->job, t->comm, like(b, rank), peer);

    if (peer == GRAMMAR_PEER_ANY)
        return REPLAY_ANY;
    if (b->resize)
        world = replay_resize_peer(
            b->resize,
            job_variant(&b->job->classes[b->rank[rank].class_index], node, channel, like(b, rank), 0), rank, world);
    return world >= 0 && world < (int64_t)b->source.ranks ? (uint32_t)world : REPLAY_NOWHERE;
}

static int64_t value(const struct replay_bind *b, uint32_t rank, uint32_t node, enum grammar_channel channel,
                     uint64_t i, int64_t none)
{
    const struct job_class *c = &b->job->classes[b->rank[rank].class_index];
    int64_t v;

    if (job_attr_value(b->job, c, node, channel, like(b, rank), 0, i, &v) == 0)
        return v;
    const struct job_variant *variant = job_variant(c, node, channel, like(b, rank), 0);
    if (channel == GRAMMAR_BYTES && variant)
        return (int64_t)job_attr_mean(&variant->attr);
    return none;
}

/* Which channels a message's values are in. */
struct half { enum grammar_channel peer, bytes, tag; };
static const struct half out_half = { GRAMMAR_PEER, GRAMMAR_BYTES, GRAMMAR_INDEX };
static const struct half in_half = { GRAMMAR_SOURCE, GRAMMAR_RECEIVED, GRAMMAR_SOURCE_TAG };

/* A message's operation: whom, how much, which tag. */
static struct replay_op message(const struct replay_bind *b, uint32_t rank, uint32_t node, uint64_t i,
                                const struct job_terminal *t, enum replay_kind kind, uint32_t place,
                                const struct half *half)
{
    int64_t bytes = value(b, rank, node, half->bytes, i, 1), tag = value(b, rank, node, half->tag, i, 0), reply;
    const struct job_class *c = &b->job->classes[b->rank[rank].class_index];
    bool receives = kind == REPLAY_RECV || kind == REPLAY_IRECV;
    int64_t peer = t->peer_class == JOB_PEER_ANY && receives ? GRAMMAR_PEER_ANY
                                                             : value(b, rank, node, half->peer, i, GRAMMAR_PEER_NONE);
    struct replay_op op = { .kind = (uint8_t)kind, .place = place, .bytes = bytes > 0 ? (uint64_t)bytes : 1,
                            .tag = (uint32_t)(tag * 64 + (t->comm & 63)) & 0x7fffffff };

    op.partner = t->peer_class == JOB_PEER_SELF ? rank : world_rank(b, rank, node, half->peer, t, peer);
    if (op.partner == REPLAY_NOWHERE && !receives &&
        job_attr_value(b->job, c, node, GRAMMAR_REPLY, like(b, rank), 0, i, &reply) == 0 && reply == 1)
        op.partner = REPLAY_SOURCE;
    if (op.partner == REPLAY_NOWHERE && peer == GRAMMAR_PEER_NONE && receives)
        op.partner = REPLAY_ANY;
    return op;
}

/* Without a communicator all ranks take part (MPI_Finalize); of one whose members are not known the rank alone. */
static struct replay_op collective(const struct replay_bind *b, uint32_t rank, uint32_t node, uint64_t i,
                                   const struct job_terminal *t, uint32_t place)
{
    int64_t bytes = value(b, rank, node, GRAMMAR_BYTES, i, 1), root = value(b, rank, node, GRAMMAR_PEER, i, 0);
    struct replay_op op = { .kind = REPLAY_COLLECTIVE, .shape = replay_call_shape(b->job, t), .place = place,
                            .finals = b->site[place / 2].what == BIND_FINALIZE, .group = t->comm, .me = rank,
                            .size = b->source.ranks, .partner = root >= 0 ? (uint32_t)root : 0,
                            .bytes = bytes > 0 ? (uint64_t)bytes : 1, .tag = 0x80000000u | (t->comm & 0xffffffu) };
    struct job_members m;

    if (t->comm == GRAMMAR_NONE)
        return op;
    int64_t me = job_comm_rank(b->job, t->comm, like(b, rank));
    bool known = me >= 0 && job_comm_members(b->job, t->comm, like(b, rank), &m) && m.size > 0;
    if (b->resize && known && m.size > 1) {
        int64_t to = replay_resize_peer(b->resize, NULL, rank, root);
        op.partner = to >= 0 ? (uint32_t)to : 0;
        return op;
    }
    op.me = known ? (uint32_t)me : 0;
    op.size = known ? m.size : 1;
    return op;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A sum of uniform variables: mean 0, variance 1, never far off. */
static double chance(uint64_t seed)
{
    double sum = 0;
    for (uint64_t k = 0; k < 12; k++)
        sum += (double)(mix(seed * 12 + k + 0x9e3779b97f4a7c15u) >> 11) / 9007199254740992.0;
    return sum - 6;
}

/* The rank's work at a place, with the changes. */
static double work_of(const struct replay_bind *b, uint32_t rank, uint32_t node, uint32_t place, double ns,
                      double deviation)
{
    const struct bind_change *c = b->change;
    const struct bind_site *site = &b->site[place / 2];

    if (!c)
        return ns;
    if (c->balance_all || c->balance == place / 2)
        ns = b->mean[place];
    if (c->seed && site->count > 0)
        ns += chance(mix(c->seed) + ((uint64_t)rank * 1000003 + node) * 2 + place % 2) * deviation /
              sqrt(1 + site->count / b->source.ranks);
    if (c->speed)
        ns /= c->speed[rank];
    return ns > 0 ? ns : 0;
}

/* What a call takes with the changes, that took `ns`. */
static double cost_of(const struct replay_bind *b, double ns)
{
    const struct bind_change *c = b->change;

    if (c && c->no_extra)
        return 0;
    return c && c->network ? ns + c->network->overhead - b->network.overhead : ns;
}

static double extra_of(const struct replay_bind *b, uint32_t rank, uint32_t site)
{
    return cost_of(b, b->extra_share * b->extra[site] +
                          b->rest_share * (double)b->rest[(size_t)rank * b->site_count + site]);
}

static struct replay_op spent(uint32_t place, double ns, bool computes)
{
    return (struct replay_op){
        .kind = REPLAY_COMPUTE, .computes = computes, .place = place, .ns = (int64_t)(ns > 0 ? ns + 0.5 : 0)
    };
}

static struct replay_op waits(const struct replay_bind *b, uint32_t rank, uint32_t node, uint64_t i,
                              enum bind_what what, uint32_t place)
{
    struct replay_op op = { .kind = REPLAY_WAIT,
                            .place = place,
                            .back = what == BIND_WAIT_ALL ? REPLAY_BACK_ALL : REPLAY_BACK_OLDEST };
    const struct job_class *c = &b->job->classes[b->rank[rank].class_index];
    const struct job_start_run *runs = NULL;
    struct job_start_run one;
    uint32_t count = 0;

    if (job_completes(b->job, c, node, like(b, rank), 0, i, &one, &runs, &count) != 0)
        return op;
    b->rank[rank].one = (struct replay_run){ one.distance, one.step, one.count };
    op.back = (int32_t)count;
    op.runs = runs == &one ? &b->rank[rank].one : (const struct replay_run *)runs;
    return op;
}

_Static_assert(sizeof(struct replay_run) == sizeof(struct job_start_run), "runs are taken as they are");

/* The call when it did not have to wait, ns. */
static double shortest(const struct replay_bind *b, uint32_t rank, uint32_t node)
{
    return (double)b->job->classes[b->rank[rank].class_index].grammar->stats[node].duration.min;
}

static uint32_t call_ops(const struct replay_bind *b, uint32_t rank, uint32_t node, uint64_t i,
                         const struct job_terminal *t, uint32_t site, struct replay_op *op)
{
    enum bind_what what = (enum bind_what)b->site[site].what;
    uint32_t place = 2 * site + 1, n = 0;
    double call = b->rank[rank].node[node].call;

    switch (what) {
    case BIND_SEND:
        op[n++] = message(b, rank, node, i, t, REPLAY_SEND, place, &out_half);
        op[n] = spent(place, op[0].bytes <= EAGER ? cost_of(b, call) : extra_of(b, rank, site), false);
        return n + 1;
    case BIND_ISEND:
    case BIND_IRECV:
        op[n++] = message(b, rank, node, i, t, what == BIND_ISEND ? REPLAY_ISEND : REPLAY_IRECV, place, &out_half);
        op[n++] = spent(place, cost_of(b, call), false);
        return n;
    case BIND_RECV:
        op[n++] = message(b, rank, node, i, t, REPLAY_RECV, place, &out_half);
        break;
    case BIND_SENDRECV:
        op[n++] = message(b, rank, node, i, t, REPLAY_IRECV, place, &in_half);
        op[n++] = message(b, rank, node, i, t, REPLAY_ISEND, place, &out_half);
        op[n++] = (struct replay_op){ .kind = REPLAY_WAIT, .place = place, .back = REPLAY_BACK_OWN };
        break;
    case BIND_WAIT_ONE:
    case BIND_WAIT_ALL:
        op[n++] = waits(b, rank, node, i, what, place);
        break;
    case BIND_ICOLLECTIVE:
        op[n] = collective(b, rank, node, i, t, place);
        op[n++].starts = 1;
        op[n++] = spent(place, cost_of(b, call), false);
        return n;
    case BIND_PROBE:
        op[n++] = spent(place, cost_of(b, shortest(b, rank, node)), false);
        return n;
    case BIND_COLLECTIVE:
    case BIND_FINALIZE:
        op[n++] = collective(b, rank, node, i, t, place);
        break;
    default:
        op[n++] = spent(place, b->change && b->change->no_extra ? 0 : call, false);
        return n;
    }
    op[n++] = spent(place, extra_of(b, rank, site), false);
    return n;
}

static uint32_t event(void *context, uint32_t rank, uint32_t node, uint64_t i, struct replay_op *op)
{
    const struct replay_bind *b = context;
    const struct times *t = &b->rank[rank].node[node];
    uint32_t symbol = b->job->classes[b->rank[rank].class_index].grammar->nodes[node].symbol;

    if (symbol >= b->job->terminal_count) {
        op[0] = spent(2 * b->site_count, t->gap + t->call, true);
        return 1;
    }
    const struct job_terminal *terminal = &b->job->terminals[symbol];
    uint32_t site = b->site_of[symbol], n = 0;

    op[n++] = spent(2 * site, work_of(b, rank, node, 2 * site, t->gap, t->gap_deviation), true);
    if (terminal->phase == JOB_LEAF && terminal->kind == JOB_CALL)
        n += call_ops(b, rank, node, i, terminal, site, op + n);
    else
        op[n++] = spent(2 * site + 1, work_of(b, rank, node, 2 * site + 1, t->call, t->call_deviation), true);
    return n;
}

static uint32_t cycle(void *context, uint32_t rank, uint32_t node)
{
    const struct replay_bind *b = context;
    const struct job_class *c = &b->job->classes[b->rank[rank].class_index];
    uint32_t whole = 1;

    for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++) {
        const struct job_variant *v = job_variant(c, node, (enum grammar_channel)channel, like(b, rank), 0);
        int64_t constant;
        if (!v || v->attr.kind == GRAMMAR_ATTR_VARIES || v->attr.kind == GRAMMAR_ATTR_KEYED ||
            channel == GRAMMAR_TEAM || grammar_attr_constant(&v->attr, &constant))
            continue;
        if (v->attr.period == 0)
            return 0;
        uint32_t a = whole, p = v->attr.period;
        while (p) {
            uint32_t rest = a % p;
            a = p;
            p = rest;
        }
        if ((uint64_t)whole / a * v->attr.period > 1u << 20)
            return 0;
        whole = whole / a * v->attr.period;
    }
    return whole;
}

static const struct grammar_flat *grammar(void *context, uint32_t rank)
{
    const struct replay_bind *b = context;
    uint32_t c = b->rank[rank].class_index;

    return c == GRAMMAR_NONE ? NULL : b->role[b->rank[rank].role].grammar;
}

static uint32_t member(void *context, uint32_t group, uint32_t rank, uint32_t i)
{
    const struct replay_bind *b = context;
    struct job_members m;

    if (b->resize)
        return i;
    return group != GRAMMAR_NONE && job_comm_members(b->job, group, rank, &m) ? job_members_at(&m, i) : i;
}

/* --- Creating --- */

/* A window's calls are those of all ranks where all have as many of them. */
static void find_windows(struct replay_bind *b)
{
    for (uint32_t s = 0; s < b->site_count; s++) {
        bool all = b->site[s].what == BIND_WINDOW;
        for (uint32_t r = 1; all && r < b->source.ranks; r++)
            all = b->count[(size_t)r * b->site_count + s] == b->count[s];
        if (b->site[s].what == BIND_WINDOW)
            b->site[s].what = all && b->count[s] > 0 ? BIND_COLLECTIVE : BIND_LOCAL;
    }
}

static void find_means(struct replay_bind *b)
{
    for (uint32_t s = 0; s < b->site_count; s++) {
        const struct bind_site *site = &b->site[s];
        b->mean[2 * s] = site->count > 0 ? site->gap_ns / site->count : 0;
        b->mean[2 * s + 1] = site->count > 0 ? site->call_ns / site->count : 0;
    }
}

struct replay_bind *replay_bind_create(const struct job *j, const struct replay_resize *resize)
{
    struct replay_bind *b = calloc(1, sizeof *b);
    uint32_t ranks = resize ? resize->to : j->info.ranks;

    if (!b)
        return NULL;
    b->job = j;
    b->resize = resize;
    b->extra_share = 1;
    b->source = (struct replay_source){
        .ranks = ranks, .context = b, .grammar = grammar, .event = event, .cycle = cycle, .member = member
    };
    b->rank = calloc(ranks + 1u, sizeof *b->rank);
    bool fine = ranks && b->rank && find_sites(b);
    if (fine) {
        b->source.places = 2 * b->site_count + 1;
        b->count = calloc((size_t)ranks * b->site_count + 1, sizeof *b->count);
        b->call = calloc((size_t)ranks * b->site_count + 1, sizeof *b->call);
        b->rest = calloc((size_t)ranks * b->site_count + 1, sizeof *b->rest);
        fine = b->count && b->call && b->rest;
    }
    for (uint32_t r = 0; fine && r < ranks; r++)
        fine = find_times(b, r);
    if (!fine) {
        replay_bind_destroy(b);
        return NULL;
    }
    find_means(b);
    find_windows(b);
    return b;
}

void replay_bind_destroy(struct replay_bind *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->role_count; i++) {
        job_member_free(b->role[i].own);
        free(b->role[i].uses);
        free(b->role[i].rule_of);
    }
    for (uint32_t r = 0; b->rank && r < b->source.ranks; r++)
        if (!b->rank[r].shared)
            free(b->rank[r].node);
    free(b->role);
    free(b->rank);
    free(b->site_of);
    free(b->site);
    free(b->extra);
    free(b->mean);
    free(b->count);
    free(b->rest);
    free(b->call);
    free(b);
}

/* --- Asking --- */

const struct replay_source *replay_bind_source(struct replay_bind *b)
{
    return &b->source;
}

void replay_bind_set(struct replay_bind *b, const struct bind_change *c)
{
    b->change = c;
}

uint32_t replay_bind_sites(const struct replay_bind *b)
{
    return b->site_count;
}

const struct bind_site *replay_bind_site(const struct replay_bind *b, uint32_t site)
{
    return &b->site[site];
}

uint32_t replay_bind_site_of(const struct replay_bind *b, uint32_t terminal)
{
    return b->site_of[terminal];
}

double replay_bind_calls(const struct replay_bind *b, uint32_t rank, uint32_t site, double *count)
{
    *count = b->count[(size_t)rank * b->site_count + site];
    return b->call[(size_t)rank * b->site_count + site];
}

double replay_bind_scatter(const struct replay_bind *b, uint32_t rank, uint32_t place)
{
    const struct rank_times *r = &b->rank[rank];
    const struct grammar_flat *g = r->class_index == GRAMMAR_NONE ? NULL : b->job->classes[r->class_index].grammar;
    double squares = 0, count = 0;

    for (uint32_t n = 0; g && n < g->node_count; n++) {
        if (g->nodes[n].symbol >= b->job->terminal_count || b->site_of[g->nodes[n].symbol] != place / 2)
            continue;
        double deviation = place % 2 ? r->node[n].call_deviation : r->node[n].gap_deviation;
        double times = visits(b, rank, n);
        squares += times * deviation * deviation;
        count += times;
    }
    return count > 0 ? sqrt(squares / count) : 0;
}

double *replay_bind_extra(struct replay_bind *b, uint32_t site)
{
    return &b->extra[site];
}

float *replay_bind_rest(struct replay_bind *b, uint32_t rank, uint32_t site)
{
    return &b->rest[(size_t)rank * b->site_count + site];
}

void replay_bind_take(struct replay_bind *b, const struct replay_bind *from)
{
    b->network = from->network;
    b->extra_share = from->extra_share;
    b->rest_share = from->rest_share;
    memcpy(b->extra, from->extra, b->site_count * sizeof *b->extra);
    for (uint32_t r = 0; r < b->source.ranks; r++)
        memcpy(b->rest + (size_t)r * b->site_count, from->rest + (size_t)like(b, r) * b->site_count,
               b->site_count * sizeof *b->rest);
}

void replay_bind_fill(struct replay_bind *b, double fill)
{
    b->extra_share = fill < 1 ? fill : 1;
    b->rest_share = fill > 1 ? fill - 1 : 0;
}

struct replay_model replay_bind_model(const struct replay_bind *b)
{
    const struct bind_network *n = b->change && b->change->network ? b->change->network : &b->network;

    return (struct replay_model){
        .L = (int64_t)(n->latency + 2 * n->overhead), .G = (int64_t)(1000 * n->byte), .S = EAGER
    };
}

const struct bind_network *replay_bind_network(const struct replay_bind *b)
{
    return &b->network;
}

void replay_bind_set_network(struct replay_bind *b, const struct bind_network *n)
{
    b->network = *n;
}
