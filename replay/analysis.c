/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/streams.h"
#include "pythia.h"
#include "replay/analysis.h"
#include "replay/calls.h"
#include "replay/collective.h"

#define CLOSE 0.02 /* the replay of the recording itself: closer is not tried */
enum {
    REPLAYS = 4, /* at least */
    DRAWN = 10, /* times the steps of one with mean work */
    EXACT_STEPS = 500000, MANY_RANKS = 1024, /* a turn of more ranks is as many steps: no more than a few are walked */
    MOST_TIMES = 1 << 23  /* ranks x terminals: 200 MiB */
};

/* --- The model --- */

static bool cannot_wait(const struct job *j, uint32_t terminal)
{
    const struct job_terminal *t = &j->terminals[terminal];
    return t->kind == JOB_CALL && t->phase == JOB_LEAF && t->call_kind == JOB_P2P && !t->blocking;
}

int analysis_run(struct replay_analysis *a, bool drawn, struct replay_blame *blame, struct replay_result *out)
{
    struct replay_model m = replay_bind_model(a->bind);
    uint64_t most = drawn ? DRAWN * a->steps : a->steps;
    struct replay_how how = { .limit = most < a->left ? most : a->left,
                              .exact_steps = analysis_ranks(a) < MANY_RANKS ? EXACT_STEPS : EXACT_STEPS / 4,
                              .blame = blame };
    if (a->left == 0)
        return PYTHIA_ELIMIT;
    int rc = replay_run(&a->bind->source, &m, &how, out);
    a->left -= out->walked < a->left ? out->walked : a->left;
    return rc;
}

struct least { double overhead, round, byte; };

static void look_at(const struct replay_analysis *a, const struct grammar_flat *g, uint32_t n, struct least *l)
{
    const struct job *j = a->job;
    uint32_t symbol = g->nodes[n].symbol, rounds = replay_collective_rounds(analysis_ranks(a));
    double shortest = (double)g->stats[n].duration.min;

    if (grammar_is_rule(symbol) || symbol >= j->terminal_count || !g->stats[n].count)
        return;
    const struct job_terminal *t = &j->terminals[symbol];
    if (cannot_wait(j, symbol) && shortest < l->overhead)
        l->overhead = shortest;
    if (t->call_kind == JOB_COLLECTIVE && t->phase == JOB_LEAF && t->blocking && rounds && shortest / rounds < l->round &&
        replay_call_of(j, t).shape != REPLAY_NEAR)
        l->round = shortest / rounds;
    for (uint32_t i = 0; t->call_kind == JOB_P2P && i < g->nodes[n].attr_count; i++) {
        const struct grammar_attr *at = &g->attrs[g->nodes[n].attr + i];
        if (at->channel == GRAMMAR_BYTES && at->min >= 65536 && t->blocking && shortest / (double)at->max < l->byte)
            l->byte = shortest / (double)at->max;
    }
}

static double between(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static struct bind_network fit(const struct replay_analysis *a)
{
    struct least l = { 1e9, 1e9, 1e9 };

    for (uint32_t c = 0; c < a->job->class_count; c++)
        for (uint32_t n = 0; n < a->job->classes[c].grammar->node_count; n++)
            look_at(a, a->job->classes[c].grammar, n, &l);
    double o = between(l.overhead == 1e9 ? 300 : l.overhead, 50, 5000);
    double latency = between(l.round == 1e9 ? 500 : l.round - 2 * o, 100, 50000);
    /* Whole ns a byte, as simulators have it: above 1 GB/s what messages take by their length is in the extras. */
    return (struct bind_network){ latency, o, l.byte == 1e9 ? 0 : floor(between(l.byte, 0, 100)) };
}

/* --- Extras --- */

/* What the call at a site takes beyond the replay's, on the rank where that is least, ns a call: no more than the
   shortest call there took beyond what the replay has on the rank that waits least. */
static double least_rest(const struct replay_analysis *a, uint32_t site)
{
    double least = -1, shortest = -1;

    for (uint32_t r = 0; r < analysis_ranks(a); r++) {
        double count, recorded = replay_bind_calls(a->bind, r, site, &count);
        count = replay_bind_meetings(a->bind, r, site);
        if (count <= 0)
            continue;
        double replayed = (double)replay_blame_spent(a->blame, r, 2 * site + 1) / count;
        double rest = recorded / count - replayed;
        least = least < 0 || rest < least ? fmax(rest, 0) : least;
        shortest = shortest < 0 || replayed < shortest ? replayed : shortest;
    }
    return fmax(fmin(least, a->bind->least[site] - shortest), 0);
}

bool analysis_waits(const struct bind_site *s)
{
    return s->what == BIND_SEND || s->what == BIND_RECV || s->what == BIND_WAIT_ONE || s->what == BIND_WAIT_ALL ||
           s->what == BIND_COLLECTIVE || s->what == BIND_FINALIZE || s->what == BIND_SENDRECV;
}

/* With causes: the account has paths. */
static int replay(struct replay_analysis *a, bool causes)
{
    const struct replay_source *s = &a->bind->source;

    replay_blame_destroy(a->blame);
    a->blame = (causes ? replay_blame_create : replay_blame_create_sums)(s->ranks, s->places);
    free(a->result.end);
    a->result.end = NULL;
    return analysis_run(a, false, a->blame, &a->result);
}

static double off(const struct replay_analysis *a)
{
    return a->recorded > 0 ? (double)a->result.longest / 1e9 / a->recorded - 1 : 0;
}

static void find_rests(struct replay_analysis *a)
{
    for (uint32_t r = 0; r < analysis_ranks(a); r++)
        for (uint32_t s = 0; s < a->bind->site_count; s++) {
            double count,
                spent = replay_bind_calls(a->bind, r, s, &count) - (double)replay_blame_spent(a->blame, r, 2 * s + 1);
            count = replay_bind_meetings(a->bind, r, s);
            if (analysis_waits(&a->bind->site[s]) && count > 0 && spent > 0)
                a->bind->rest[(size_t)r * a->bind->site_count + s] = (float)(spent / count);
        }
}

/* How much of the extras and rests is counted, and by how much the replay is then longer, a share. */
struct trial { double t, off; };

/* A replay with `t`, which is kept where it is better than `best`, the one that is there. */
static int try(struct replay_analysis *a, double t, struct trial *best, struct trial *now)
{
    struct replay_blame *blame = a->blame;
    struct replay_result result = a->result;

    a->blame = NULL;
    a->result = (struct replay_result){ 0 };
    replay_bind_fill(a->bind, t);
    int rc = replay(a, true);
    *now = (struct trial){ t, rc ? 0 : off(a) };
    bool better = rc == 0 && fabs(now->off) < fabs(best->off);
    replay_blame_destroy(better ? blame : a->blame);
    free(better ? result.end : a->result.end);
    if (better) {
        *best = *now;
    } else {
        a->blame = blame;
        a->result = result;
    }
    return rc;
}

/*
 * Ranks also lose time by chance: a processor that is taken, a network that others use. That is in no mean of
 * computation, and what calls take then is partly waiting for others who lose it. So of what calls take beyond the
 * replay's each is given a share, the one with which the job takes as long as it did: between what was tried (false
 * position).
 */
static int fit_rests(struct replay_analysis *a, double bare)
{
    const int trials = analysis_ranks(a) < MANY_RANKS ? 4 : 2;
    struct trial low = { 0, bare }, high = { 1, off(a) }, best = high, now;
    int rc = 0;

    if (fabs(high.off) < CLOSE || a->result.walked * (uint64_t)trials > a->steps * REPLAYS)
        return 0;
    if (high.off < 0) {
        find_rests(a);
        low = high;
        rc = try(a, 2, &best, &high);
    }
    for (int i = 1; rc == 0 && i < trials && fabs(best.off) > CLOSE / 2 && low.off < 0 && high.off > 0; i++) {
        rc = try(a, low.t - low.off * (high.t - low.t) / (high.off - low.off), &best, &now);
        *(now.off < 0 ? &low : &high) = now;
    }
    replay_bind_fill(a->bind, a->fill = best.t);
    return rc;
}

static int analyse(struct replay_analysis *a)
{
    struct bind_network n = fit(a);

    a->bind->network = n;
    int rc = replay(a, false);
    double bare = rc ? 0 : off(a);
    for (uint32_t s = 0; rc == 0 && s < a->bind->site_count; s++)
        if (analysis_waits(&a->bind->site[s]))
            a->bind->extra[s] = least_rest(a, s);
    a->fill = 1;
    rc = rc ?: replay(a, true);
    rc = rc ?: replay_moving_find(a);
    rc = rc ?: fit_rests(a, bare);
    a->missed = rc ? 0 : off(a);
    return rc;
}

/* What was made, or why it is none. */
static int give(struct replay_analysis *a, int rc, struct replay_analysis **to)
{
    if (rc)
        replay_analysis_destroy(a);
    else
        *to = a;
    return rc;
}

/* Each takes 4 KiB, and with more of them none could make a hundred steps: not even begun. */
enum { MOST_RANKS = 1 << 17 };

int replay_analysis_create(const struct job *j, uint64_t steps, struct replay_analysis **analysis)
{
    if (!j->info.ranks || j->info.ranks > MOST_RANKS || (uint64_t)j->info.ranks * j->terminal_count > MOST_TIMES)
        return PYTHIA_ELIMIT;
    struct replay_analysis *a = calloc(1, sizeof *a);
    a->job = j;
    a->recorded = job_base_of(j).wall_ns / 1e9;
    a->steps = steps / REPLAYS;
    a->left = steps < REPLAY_ANALYSIS_STEPS ? steps : UINT64_MAX;
    a->bind = replay_bind_create(j);
    return give(a, analyse(a), analysis);
}

void replay_analysis_destroy(struct replay_analysis *a)
{
    if (!a)
        return;
    replay_blame_destroy(a->blame);
    replay_bind_destroy(a->bind);
    replay_moving_close(&a->moving);
    free(a->result.end);
    free(a);
}

/* --- Asking --- */

double replay_analysis_rests(const struct replay_analysis *a, uint32_t site)
{
    double ns = 0, count;

    for (uint32_t r = 0; a->fill > 1 && r < analysis_ranks(a); r++) {
        replay_bind_calls(a->bind, r, site, &count);
        ns += (a->fill - 1) * count * (double)a->bind->rest[(size_t)r * a->bind->site_count + site];
    }
    return ns;
}

double replay_analysis_replayed(const struct replay_analysis *a)
{
    return (double)a->result.longest / 1e9;
}
