/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "job/define.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/turns.h"
#include "replay/bind_parts.h"
#include "replay/calls.h"

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
    struct replay_call call = replay_call_of(b->job, t);
    b->site[b->site_count] = (struct bind_site){ .terminal = terminal, .what = call.what, .shape = call.shape,
                                                 .call_kind = t->call_kind };
    base_hash_put(sites, hash, b->site_count);
    return b->site_count++;
}

static void find_sites(struct replay_bind *b)
{
    uint32_t n = b->job->terminal_count;
    struct base_hash sites = { 0 };

    b->site_of = calloc(n + 1, sizeof *b->site_of);
    b->site = calloc(n + 1, sizeof *b->site);
    b->extra = calloc(n + 1, sizeof *b->extra);
    b->mean = calloc(2 * (size_t)n + 2, sizeof *b->mean);
    base_must(base_hash_reserve(&sites, n));
    for (uint32_t t = 0; t < n; t++) {
        b->site_of[t] = find_site(b, &sites, t);
        if (b->job->terminals[t].peer_class == JOB_PEER_ANY)
            b->site[b->site_of[t]].any = 1;
    }
    base_hash_close(&sites);
}

/* --- The source --- */

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

/* Requests that are started together, and neighbourhood collectives, are known by the sums by peer alone. */
static bool is_near(const struct replay_bind *b, uint32_t site)
{
    const struct bind_site *s = &b->site[site];

    return (s->what == BIND_COLLECTIVE || s->what == BIND_ICOLLECTIVE) && s->shape == REPLAY_NEAR;
}

static bool is_start(const struct replay_bind *b, uint32_t site)
{
    return b->site[site].what == BIND_STARTALL;
}

/* They are matched with each other, where that is all of them. */
static void find_balanced(struct replay_bind *b, bool (*is)(const struct replay_bind *b, uint32_t site))
{
    const struct job_flows *f = &b->job->flows;
    int64_t sent = 0;
    bool known = false, all = true;

    for (uint32_t i = 0; i < f->count; i++) {
        const struct job_flow *row = &f->row[i];
        if (!is(b, b->site_of[row->terminal]))
            continue;
        uint64_t ranks = row->mean ? 1 : job_ranges_size(f->ranges.range + row->range_first, row->range_count);
        sent += (int64_t)(row->messages * ranks) * (row->receives ? -1 : 1);
        known = true;
        all = all && !row->mean && row->value != GRAMMAR_NONE;
    }
    for (uint32_t s = 0; (sent || !known || !all) && s < b->site_count; s++)
        if (is(b, s))
            b->site[s].what = BIND_LOCAL;
}

static void find_means(struct replay_bind *b)
{
    for (uint32_t s = 0; s < b->site_count; s++) {
        const struct bind_site *site = &b->site[s];
        b->mean[2 * s] = site->count > 0 ? site->gap_ns / site->count : 0;
        b->mean[2 * s + 1] = site->count > 0 ? site->call_ns / site->count : 0;
    }
}

struct replay_bind *replay_bind_create(const struct job *j)
{
    struct replay_bind *b = calloc(1, sizeof *b);
    uint32_t ranks = j->info.ranks;

    b->job = j;
    b->extra_share = 1;
    b->source = (struct replay_source){
        .ranks = ranks, .context = b, .grammar = grammar, .event = bind_event, .cycle = bind_cycle,
        .course = bind_course, .member = member, .neighbour = bind_neighbour
    };
    b->rank = calloc(ranks + 1u, sizeof *b->rank);
    find_sites(b);
    b->comms = bind_comms_create(j, ranks);
    b->source.places = 2 * b->site_count + 1;
    b->count = calloc((size_t)ranks * b->site_count + 1, sizeof *b->count);
    b->call = calloc((size_t)ranks * b->site_count + 1, sizeof *b->call);
    b->alone = calloc((size_t)ranks * b->site_count + 1, sizeof *b->alone);
    b->rest = calloc((size_t)ranks * b->site_count + 1, sizeof *b->rest);
    for (uint32_t r = 0; r < ranks; r++)
        bind_times_find(b, r);
    find_means(b);
    bind_least_find(b);
    bind_draw_find(b);
    find_windows(b);
    find_balanced(b, is_start);
    find_balanced(b, is_near);
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
        free(b->role[i].before);
    }
    for (uint32_t r = 0; r < b->source.ranks; r++) {
        if (!b->rank[r].shared)
            free(b->rank[r].node);
        free(b->rank[r].apart);
    }
    free(b->shape);
    for (uint32_t c = 0; b->others && c < b->job->class_count; c++)
        free(b->others[c]);
    free(b->others);
    free(b->role);
    free(b->rank);
    free(b->site_of);
    bind_comms_destroy(b->comms);
    free(b->site);
    free(b->extra);
    free(b->mean);
    free(b->least);
    free(b->count);
    free(b->alone);
    free(b->rest);
    free(b->call);
    free(b);
}

/* --- Asking --- */

void replay_bind_set(struct replay_bind *b, const struct bind_change *c)
{
    b->change = c;
    if (c && c->draw == BIND_APART)
        bind_draw_apart(b);
}

double replay_bind_calls(const struct replay_bind *b, uint32_t rank, uint32_t site, double *count)
{
    *count = b->count[(size_t)rank * b->site_count + site];
    return b->call[(size_t)rank * b->site_count + site];
}

double replay_bind_meetings(const struct replay_bind *b, uint32_t rank, uint32_t site)
{
    size_t at = (size_t)rank * b->site_count + site;

    return b->count[at] - (double)b->alone[at];
}

double replay_bind_scatter(const struct replay_bind *b, uint32_t rank, uint32_t place)
{
    const struct bind_rank *r = &b->rank[rank];
    const struct grammar_flat *g = r->class_index == GRAMMAR_NONE ? NULL : b->job->classes[r->class_index].grammar;
    double squares = 0, count = 0;

    for (uint32_t n = 0; g && n < g->node_count; n++) {
        if (g->nodes[n].symbol >= b->job->terminal_count || b->site_of[g->nodes[n].symbol] != place / 2)
            continue;
        double deviation = place % 2 ? r->node[n].call_deviation : r->node[n].gap_deviation;
        double times = bind_visits(b, rank, n);
        squares += times * deviation * deviation;
        count += times;
    }
    return count > 0 ? sqrt(squares / count) : 0;
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
        .L = replay_ns(n->latency + 2 * n->overhead), .G = replay_ns(1000 * n->byte), .S = BIND_EAGER
    };
}
