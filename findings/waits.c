/* SPDX-License-Identifier: MIT */
/* Findings about ranks that wait for each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/parts.h"

/* Waits at one place because of another, all ranks together; and who waits longest for whom. */
struct edge { uint32_t where, cause, waiter, culprit; double ns, longest; };

struct groups {
    struct findings *f;
    struct replay_cause *cause;
    uint32_t cause_count, places;
    struct edge *edge;
    uint32_t edge_count;
    double *at, *of;     /* of each place: waits there; waits that it causes */
    double *believed;    /* of each place: of its waits in the replay so much at most was waited in the recording */
    uint32_t *parent;    /* of places as causes, then of places as sites of waits: joined groups */
    double *by, *waited; /* of each rank: ns that it causes, ns that it waits, in the present group */
    bool *in;
};

static uint32_t root(const struct groups *g, uint32_t i)
{
    while (g->parent[i] != i)
        i = g->parent[i];
    return i;
}

static void join(struct groups *g, uint32_t cause, uint32_t where)
{
    g->parent[root(g, cause)] = root(g, g->places + where);
}

BASE_COMPARISON(by_places, struct edge, BASE_UP(where) ?: BASE_UP(cause))

bool findings_is_work(const struct findings *f, uint32_t place)
{
    return place % 2 == 0 ||
           (place / 2 < f->bind->site_count && f->bind->site[place / 2].what == BIND_REGION);
}

/* What is waited between looks for a message (MPI_Test) holds nobody up: in the recording the rank worked on. */
static void take_causes(struct groups *g)
{
    uint32_t n;
    const struct replay_cause *c = replay_blame_causes(g->f->analysis->blame, &n);

    g->cause = calloc(n + 1, sizeof *g->cause);
    for (uint32_t i = 0; i < n; i++)
        if (!c[i].between)
            g->cause[g->cause_count++] = c[i];
}

static const struct bind_site *site(const struct groups *g, uint32_t place)
{
    return &g->f->bind->site[place / 2];
}

static double took(const struct groups *g, uint32_t place)
{
    return place / 2 < g->f->bind->site_count ? g->f->in_mpi * site(g, place)->call_ns : 0;
}

/* Of what receives of the replay wait beyond what they took, as a share: what was waited in probes before them. */
static double waited_in_probes(const struct groups *g)
{
    double beyond = 0, probes = 0;

    for (uint32_t s = 0; s < g->f->bind->site_count; s++)
        probes += site(g, 2 * s)->call_kind == JOB_PROBE ? took(g, 2 * s) : 0;
    for (uint32_t p = 0; p < g->places; p++)
        beyond += g->believed[p] > took(g, p) ? g->believed[p] - took(g, p) : 0;
    return beyond > probes ? probes / beyond : 1;
}

/* Nobody waited longer in calls than these took, and the probes before them. */
static void bound_waits(struct groups *g)
{
    for (uint32_t i = 0; i < g->cause_count; i++)
        g->believed[g->cause[i].where] += g->cause[i].ns;
    double probed = waited_in_probes(g);
    for (uint32_t p = 0; p < g->places; p++) {
        double least = took(g, p);
        g->believed[p] = g->believed[p] > least ? (least + probed * (g->believed[p] - least)) / g->believed[p] : 1;
    }
    for (uint32_t i = 0; i < g->cause_count; i++)
        g->cause[i].ns *= g->believed[g->cause[i].where];
}

static void add_edge(struct edge *into, const struct edge *from)
{
    into->ns += from->ns;
    if (from->longest <= into->longest)
        return;
    into->longest = from->longest;
    into->waiter = from->waiter;
    into->culprit = from->culprit;
}

/* One edge a pair of places. */
static void find_edges(struct groups *g)
{
    bound_waits(g);
    g->edge = calloc(g->cause_count + 1, sizeof *g->edge);
    for (uint32_t i = 0; i < g->cause_count; i++)
        if (findings_is_work(g->f, g->cause[i].cause))
            g->edge[g->edge_count++] = (struct edge){ g->cause[i].where, g->cause[i].cause, g->cause[i].waiter,
                                                      g->cause[i].culprit, g->cause[i].ns, g->cause[i].ns };
    g->edge_count = BASE_ARRAY_JOIN(g->edge, g->edge_count, by_places, into, from, add_edge(into, from));
    for (uint32_t i = 0; i < g->edge_count; i++) {
        g->at[g->edge[i].where] += g->edge[i].ns;
        g->of[g->edge[i].cause] += g->edge[i].ns;
    }
}

static bool is_message(const struct bind_site *s)
{
    return s->call_kind == JOB_P2P || s->call_kind == JOB_COMPLETION || s->call_kind == JOB_PROBE;
}

/* Whether one who waits at an edge is a culprit of the other. */
static bool meets(const struct groups *g, const struct edge *waits, const struct edge *late)
{
    for (uint32_t c = 0; c < g->cause_count; c++) {
        if (g->cause[c].where != waits->where || g->cause[c].cause != waits->cause)
            continue;
        for (uint32_t d = 0; d < g->cause_count; d++)
            if (g->cause[d].where == late->where && g->cause[d].cause == late->cause &&
                g->cause[d].culprit == g->cause[c].waiter)
                return true;
    }
    return false;
}

/* A master receives from anyone and answers: what it waits for its workers and what they wait for it belong
   together. */
static void join_masters(struct groups *g)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct edge *master = &g->edge[i];
        if (!site(g, master->where)->any)
            continue;
        for (uint32_t k = 0; k < g->edge_count; k++) {
            const struct edge *worker = &g->edge[k];
            if (is_message(site(g, worker->where)) && !site(g, worker->where)->any && master->cause != worker->cause &&
                site(g, worker->cause)->answers && meets(g, master, worker) && meets(g, worker, master)) {
                join(g, master->cause, master->where);
                join(g, worker->cause, worker->where);
                join(g, worker->cause, master->where);
            }
        }
    }
}

/* Whether who is waited for longest is so for most of his work: those who wait have none meanwhile. */
static bool is_serial(const struct groups *g, const struct edge *e)
{
    return e->longest > 0.5 * (double)replay_blame_spent(g->f->analysis->blame, e->culprit, e->cause);
}

/* Two ranks that work in turn, each while the other one waits: with equal work, too, and so no imbalance of either. */
static void join_turns(struct groups *g)
{
    double least = LEAST_SHARE * g->f->all->base * 1e9; /* there are a hundred such edges at most */

    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct edge *e = &g->edge[i];
        if (e->ns < least || !is_message(site(g, e->where)) || !is_serial(g, e))
            continue;
        for (uint32_t k = 0; k < g->edge_count; k++) {
            const struct edge *back = &g->edge[k];
            if (back->ns >= least && back->waiter == e->culprit && back->culprit == e->waiter && is_serial(g, back)) {
                join(g, e->cause, e->where);
                join(g, back->cause, back->where);
                join(g, back->cause, e->where);
            }
        }
    }
}

static void join_edges(struct groups *g)
{
    enum { GOOD_PART = 6 }; /* of a place's waits: a sixth */

    for (uint32_t i = 0; i < 2 * g->places; i++)
        g->parent[i] = i;
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct edge *e = &g->edge[i];
        if (GOOD_PART * e->ns >= g->at[e->where] && GOOD_PART * e->ns >= g->of[e->cause])
            join(g, e->cause, e->where);
    }
    join_masters(g);
    join_turns(g);
}

/* --- What kind a group is --- */

struct group { double ns, message_ns, sender_ns, answer_ns; const struct edge *main; };

static void collect(struct groups *g, uint32_t of, struct group *out)
{
    uint32_t ranks = g->f->ranks;

    memset(g->by, 0, ranks * sizeof *g->by);
    memset(g->waited, 0, ranks * sizeof *g->waited);
    *out = (struct group){ 0 };
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct edge *e = &g->edge[i];
        if (root(g, e->cause) != of)
            continue;
        out->ns += e->ns;
        if (is_message(site(g, e->where)) && site(g, e->cause)->answers)
            out->answer_ns += e->ns;
        if (!out->main || e->ns > out->main->ns)
            out->main = e;
    }
    for (uint32_t i = 0; i < g->cause_count; i++) {
        const struct replay_cause *c = &g->cause[i];
        if (root(g, c->cause) != of || !findings_is_work(g->f, c->cause))
            continue;
        g->by[c->culprit] += c->ns;
        g->waited[c->waiter] += c->ns;
        if (!is_message(site(g, c->where)))
            continue;
        out->message_ns += c->ns;
        out->sender_ns += c->sender ? c->ns : 0;
    }
}

/* How many other places than the main one have a good part of a group's waits. */
static uint32_t other_places(const struct groups *g, uint32_t of, const struct group *all)
{
    uint32_t more = 0;
    double here = 0;

    for (uint32_t i = 0; i < g->edge_count; i++) { /* by place */
        bool last = i + 1 == g->edge_count || g->edge[i + 1].where != g->edge[i].where;
        here += root(g, g->edge[i].cause) == of ? g->edge[i].ns : 0;
        more += last && g->edge[i].where != all->main->where && here >= 0.1 * all->ns;
        here = last ? 0 : here;
    }
    return more;
}

/* Ranks that wait for one and make another one wait in turn: how much of the waiting that is. */
static double chained(const struct groups *g, const struct group *all)
{
    double sum = 0;

    for (uint32_t r = 0; r < g->f->ranks; r++)
        sum += g->by[r] < g->waited[r] ? g->by[r] : g->waited[r];
    return all->ns > 0 ? sum / all->ns : 0;
}

/* What ranks have of a place: executions of one of them, their mean, by how much one differs from the next, squared. */
struct work { double count, ns, squares; };

static struct work work_of(const struct groups *g, uint32_t place, uint32_t rank)
{
    double scatter = replay_bind_scatter(g->f->bind, rank, place);
    struct work w = { .squares = scatter * scatter };

    replay_bind_calls(g->f->bind, rank, place / 2, &w.count);
    w.ns = (double)replay_blame_spent(g->f->analysis->blame, rank, place);
    w.ns = w.count > 0 ? w.ns / w.count : 0;
    return w;
}

/* The mean of those who are no culprits. */
static struct work others_work(const struct groups *g, uint32_t place)
{
    struct work sum = { 0 };
    uint32_t ranks = 0;

    for (uint32_t r = 0; r < g->f->ranks; r++) {
        struct work w = g->in[r] ? (struct work){ 0 } : work_of(g, place, r);
        sum.count += w.count;
        sum.ns += w.count * w.ns;
        sum.squares += w.count * w.squares;
        ranks += w.count > 0;
    }
    if (!ranks)
        return sum;
    return (struct work){ sum.count / ranks, sum.ns / sum.count, sum.squares / sum.count };
}

/* Whether those who wait do the same work, only less of it. */
static bool same_work(const struct groups *g, const struct group *all)
{
    struct work own = others_work(g, all->main->cause);
    double ns = 0, count = 0;

    for (uint32_t r = 0; r < g->f->ranks; r++) {
        struct work w = g->in[r] ? work_of(g, all->main->cause, r) : (struct work){ 0 };
        ns += w.count * w.ns;
        count += w.count;
    }
    return count > 0 && own.count > 0 && own.ns > 0.1 * ns / count;
}

/*
 * Whether a rank's work is longer than the others' by no more than chance makes it: three standard errors of the means.
 * What disturbs a machine comes in bursts, so no more than a hundred executions count as independent.
 */
static bool by_chance(struct work w, struct work others)
{
    enum { INDEPENDENT = 100 };

    if (w.count <= 0 || others.count <= 0)
        return false;
    double n = w.count < INDEPENDENT ? w.count : INDEPENDENT,
           m = others.count < INDEPENDENT ? others.count : INDEPENDENT;
    return w.ns * w.count - others.ns * others.count < 3 * w.count * sqrt(w.squares / n + others.squares / m);
}

/* Who has more work by chance is no culprit, and what others wait for him is nobody's loss. */
static void leave_out_chance(struct groups *g, struct group *all)
{
    struct work others = others_work(g, all->main->cause);
    double kept = 0, sum = 0;
    uint32_t culprits = 0;

    for (uint32_t r = 0; r < g->f->ranks; r++)
        culprits += g->in[r];
    for (uint32_t r = 0; r < g->f->ranks; r++) {
        sum += g->by[r];
        if (g->in[r] && (culprits == g->f->ranks || by_chance(work_of(g, all->main->cause, r), others)))
            g->in[r] = false;
        kept += g->in[r] ? g->by[r] : 0;
    }
    all->ns *= sum > 0 ? kept / sum : 0;
}

static enum finding_kind kind_of(struct groups *g, const struct group *all)
{
    if (all->message_ns < 0.3 * all->ns)
        return FINDINGS_IMBALANCE;
    if (all->answer_ns > 0.2 * all->message_ns)
        return FINDINGS_STARVED_WORKERS;
    if (all->sender_ns > 0.5 * all->message_ns)
        return FINDINGS_LATE_RECEIVER;
    if (chained(g, all) >= 0.3)
        return FINDINGS_SERIAL_CHAIN;
    return same_work(g, all) ? FINDINGS_IMBALANCE : FINDINGS_LATE_SENDER;
}

/* Whether who waits for anyone there answers those it receives from: a master that waits for its workers' results. */
static bool is_master_waiting(const struct groups *g, const struct group *all)
{
    if (!site(g, all->main->where)->any)
        return false;
    for (uint32_t i = 0; i < g->cause_count; i++) {
        if (g->cause[i].where != all->main->where)
            continue;
        for (uint32_t s = 0; s < g->f->bind->site_count; s++) {
            double count = 0;
            if (g->f->bind->site[s].answers)
                replay_bind_calls(g->f->bind, g->cause[i].waiter, s, &count);
            if (count > 1)
                return true;
        }
    }
    return false;
}

/* It is the master who has nothing to do. */
static void show_waiting_master(struct groups *g, const struct group *all)
{
    memset(g->in, 0, g->f->ranks * sizeof *g->in);
    for (uint32_t i = 0; i < g->cause_count; i++)
        if (g->cause[i].where == all->main->where)
            g->in[g->cause[i].waiter] = true;
}

/* Of a master and its workers the place where they wait, and what the master does. */
static void show_master(struct groups *g, uint32_t of, struct group *all)
{
    const struct edge *best = NULL;

    for (uint32_t i = 0; i < g->edge_count; i++)
        if (root(g, g->edge[i].cause) == of && !site(g, g->edge[i].where)->any &&
            is_message(site(g, g->edge[i].where)) && (!best || g->edge[i].ns > best->ns))
            best = &g->edge[i];
    if (!best)
        return;
    all->main = best;
    memset(g->by, 0, g->f->ranks * sizeof *g->by);
    for (uint32_t i = 0; i < g->cause_count; i++)
        if (g->cause[i].where == best->where && g->cause[i].cause == best->cause)
            g->by[g->cause[i].culprit] += g->cause[i].ns;
}

static void mark_culprits(struct groups *g)
{
    double most = 0;

    for (uint32_t r = 0; r < g->f->ranks; r++)
        most = g->by[r] > most ? g->by[r] : most;
    for (uint32_t r = 0; r < g->f->ranks; r++)
        g->in[r] = g->by[r] > 0.2 * most;
}

/* Small regions differ from rank to rank by chance: their finding has that. */
static bool told_already(const struct findings *f, uint32_t terminal)
{
    char cause[256];

    findings_site_place(f->report, terminal, cause, sizeof cause);
    for (uint32_t i = 0; i < f->all->count; i++) {
        const struct finding *one = &f->all->finding[i];
        if (one->kind == FINDINGS_SMALL_REGIONS && one->seconds >= LEAST_SHARE * f->all->base &&
            !strcmp(one->where, cause))
            return true;
    }
    return false;
}

/* `kept` ns of a group's `ns` are in a finding now. */
static void tell(struct groups *g, uint32_t of, double ns, double kept)
{
    const uint32_t *place = g->f->report->model->place;

    for (uint32_t i = 0; i < g->edge_count; i++)
        if (root(g, g->edge[i].cause) == of)
            g->f->attributed[place[site(g, g->edge[i].where)->terminal]] += g->edge[i].ns * kept / ns;
}

static void add_group(struct groups *g, uint32_t of)
{
    struct finding one = { 0 };
    struct group all;
    double loss;

    collect(g, of, &all);
    if (!all.main || all.ns < LEAST_PART * g->f->all->base * 1e9 ||
        all.main->cause / 2 >= g->f->bind->site_count)
        return;
    mark_culprits(g);
    one.more = other_places(g, of, &all);
    loss = all.ns;
    one.kind = kind_of(g, &all);
    if (one.kind == FINDINGS_IMBALANCE)
        leave_out_chance(g, &all);
    if (one.kind != FINDINGS_STARVED_WORKERS && is_master_waiting(g, &all)) {
        one.kind = FINDINGS_WAITING_MASTER;
        show_waiting_master(g, &all);
    }
    if (one.kind == FINDINGS_STARVED_WORKERS) {
        show_master(g, of, &all);
        mark_culprits(g);
    }
    one.seconds = all.ns / 1e9;
    one.call = site(g, all.main->where)->terminal;
    uint32_t cause = site(g, one.kind == FINDINGS_WAITING_MASTER ? all.main->where : all.main->cause)->terminal;
    if (told_already(g->f, cause))
        return;
    findings_add_at(g->f, one, cause, cause, g->in);
    tell(g, of, loss, all.ns);
}

void findings_of_waits(struct findings *f)
{
    struct groups g = { .f = f, .places = 2 * f->bind->site_count + 1 };

    take_causes(&g);
    g.at = calloc(g.places, sizeof *g.at);
    g.of = calloc(g.places, sizeof *g.of);
    g.believed = calloc(g.places, sizeof *g.believed);
    g.parent = calloc(2 * (size_t)g.places, sizeof *g.parent);
    g.by = calloc(f->ranks, sizeof *g.by);
    g.waited = calloc(f->ranks, sizeof *g.waited);
    g.in = calloc(f->ranks, sizeof *g.in);
    find_edges(&g);
    join_edges(&g);
    for (uint32_t i = 0; i < 2 * g.places; i++)
        if (g.parent[i] == i)
            add_group(&g, i);
    free(g.cause);
    free(g.edge);
    free(g.at);
    free(g.of);
    free(g.believed);
    free(g.parent);
    free(g.by);
    free(g.waited);
    free(g.in);
}
