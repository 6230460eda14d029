/* SPDX-License-Identifier: MIT */
/*
 * A profile that learns from a later run: the run's job takes the profile's place and keeps what is still true of it.
 *
 * A class that both have (equal structure, whoever its members are) gets the times of both, mixed for each node; one
 * that the profile has not keeps the run's:
 *
 *     time = share * run's + (1 - share) * profile's          for as many members as the run has
 *
 * Everything about times is mixed like this, also extremes and sums of squares: means lie between the extremes as
 * before, and what was true long ago fades. Counts stay what they are, since the structure says how many expansions
 * there are: a file holds one run's worth of them whatever the number of runs. Rounding would break the rule that a
 * rule's times are exactly those of its uses, so these get what its body has, from the innermost rule out.
 */
#include <math.h>
#include <stdlib.h>

#include "pythia.h"
#include "job/intern.h"
#include "job/ranges.h"
#include "job/schema.h"
#include "merge/merge.h"

enum { LONGEST_MEMORY = 4 }; /* runs: the newest one weighs at least one part in so many */

struct mix {
    double run, profile; /* weights of one expansion's times; they add up to 1 */
    double scale;        /* of the run's expansions for one of the profile's: sums */
};

/* Whatever a file's numbers make of each other: what 63 bits hold, so that sums of it are still numbers. */
static uint64_t whole(double v)
{
    return !(v > 0) ? 0 : v < 0x1p62 ? (uint64_t)v : UINT64_C(1) << 62;
}

static double per_expansion(const struct mix *m, double run, double profile)
{
    return m->run * run + m->profile * profile;
}

static double in_all(const struct mix *m, double run, double profile)
{
    return m->run * run + m->profile * profile * m->scale;
}

static uint64_t mix_lower(const struct mix *m, uint64_t run, uint64_t profile)
{
    return whole(floor(per_expansion(m, (double)run, (double)profile)));
}

static uint64_t mix_upper(const struct mix *m, uint64_t run, uint64_t profile)
{
    return whole(ceil(per_expansion(m, (double)run, (double)profile)));
}

static void mix_moments(const struct mix *m, struct grammar_moments *run, const struct grammar_moments *profile)
{
    run->sum = whole(in_all(m, (double)run->sum, (double)profile->sum));
    run->min = mix_lower(m, run->min, profile->min);
    run->max = mix_upper(m, run->max, profile->max);
    run->square = in_all(m, run->square, profile->square);
}

/* Who the extremes are is told by the run. */
static void mix_extent(const struct mix *m, struct job_extent *run, const struct job_extent *profile)
{
    run->least = mix_lower(m, run->least, profile->least);
    run->most = mix_upper(m, run->most, profile->most);
}

static void mix_spread(const struct mix *m, struct job_spread *run, const struct job_spread *profile)
{
    mix_extent(m, &run->all, &profile->all);
    mix_extent(m, &run->call, &profile->call);
    run->call_square = in_all(m, run->call_square, profile->call_square);
}

/* --- Times that add up --- */

static struct grammar_moments *moments_of(struct grammar_stats *s, bool gap)
{
    return gap ? &s->gap : &s->duration;
}

/* Whether both say equally much of every node: then also of what contains others. */
static bool same_counts(const struct job_class *run, const struct job_class *profile, uint64_t ours, uint64_t theirs)
{
    const struct grammar_stats *a = run->grammar->stats, *b = profile->grammar->stats;
    for (uint32_t n = 0; n < run->grammar->node_count; n++)
        if ((unsigned __int128)a[n].count * theirs != (unsigned __int128)b[n].count * ours)
            return false;
    return true;
}

static void scale_moments(struct grammar_moments *m, uint64_t sum)
{
    double factor = m->sum ? (double)sum / (double)m->sum : 1;
    m->min = whole(floor((double)m->min * factor));
    m->max = whole(ceil((double)m->max * factor));
    m->square *= factor * factor;
    m->sum = sum;
}

static void scale_extent(struct job_extent *e, double factor)
{
    e->least = whole(floor((double)e->least * factor));
    e->most = whole(ceil((double)e->most * factor));
}

static void scale_spread(struct job_spread *s, double factor)
{
    scale_extent(&s->all, factor);
    scale_extent(&s->call, factor);
    s->call_square *= factor * factor;
}

/* What a rule takes now goes to its uses, these nodes, in the proportion in which the run has it. */
static void share_out(struct grammar_flat *g, uint32_t rule, const uint32_t *user, uint32_t users, bool gap)
{
    uint64_t inside = 0, before = 0, given = 0;
    struct grammar_moments *last = NULL;
    for (uint32_t n = g->rules[rule].first; n < g->rules[rule].first + g->rules[rule].length; n++)
        inside += moments_of(&g->stats[n], gap)->sum;
    for (uint32_t i = 0; i < users; i++)
        before += moments_of(&g->stats[user[i]], gap)->sum;
    for (uint32_t i = 0; i < users; i++) {
        struct grammar_moments *m = moments_of(&g->stats[user[i]], gap);
        uint64_t share = before ? (uint64_t)((unsigned __int128)inside * m->sum / before) : 0;
        scale_moments(m, share);
        given += share;
        last = m;
    }
    if (last)
        last->sum += inside - given;
}

/* Makes each rule's times those of its body again, from the innermost out. */
static int settle_rules(struct grammar_flat *g)
{
    BASE_OWN uint32_t *order = malloc(2 * ((size_t)g->rule_count + 1) * sizeof *order);
    BASE_OWN uint32_t *user = malloc(((size_t)g->node_count + 1) * sizeof *user);
    int error = order && user && grammar_flat_order(g, order) ? 0 : PYTHIA_ENOMEM;
    uint32_t *users_of = error ? NULL : order + g->rule_count; /* one more than there are rules */
    if (!error)
        grammar_flat_users(g, NULL, users_of, user);
    for (uint32_t i = 0; i < g->rule_count && !error; i++)
        if (order[i]) {
            const uint32_t *own = user + users_of[order[i]], users = users_of[order[i] + 1] - users_of[order[i]];
            share_out(g, order[i], own, users, true);
            share_out(g, order[i], own, users, false);
        }
    return error;
}

static double time_of(const struct grammar_stats *s)
{
    return (double)s->gap.sum + (double)s->duration.sum;
}

/* Of other exponents only the terminals' places have the mean of both, by expansion: what contains them is what it
   becomes. */
static int mix_class(struct job_class *run, const struct job_class *profile, double share)
{
    uint64_t ours = job_ranges_size(run->ranges, run->member_ranges);
    uint64_t theirs = job_ranges_size(profile->ranges, profile->member_ranges);
    bool same = same_counts(run, profile, ours, theirs);
    struct grammar_flat *g = run->grammar;
    BASE_OWN double *before = malloc(((size_t)g->node_count + 1) * sizeof *before);
    if (!before)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const struct grammar_stats *old = &profile->grammar->stats[n];
        struct mix m = {share, 1 - share, old->count ? (double)g->stats[n].count / (double)old->count : 0};
        before[n] = time_of(&g->stats[n]);
        if (!same && grammar_is_rule(g->nodes[n].symbol))
            continue;
        mix_moments(&m, &g->stats[n].gap, &old->gap);
        mix_moments(&m, &g->stats[n].duration, &old->duration);
    }
    int error = settle_rules(g);
    for (uint32_t n = 0; n < g->node_count && !error; n++)
        if (same)
            mix_spread(&(struct mix){share, 1 - share, (double)ours / (double)theirs}, &run->spread[n],
                       &profile->spread[n]);
        else
            scale_spread(&run->spread[n], before[n] > 0 ? time_of(&g->stats[n]) / before[n] : 1);
    return error;
}

/* The class of equal structure, NULL without. */
static const struct job_class *counterpart(const struct job *profile, const struct job_class *c)
{
    uint32_t i = job_table_find(&profile->index->table[JOB_INTERNED_CLASS], c->hash);
    bool same = i != GRAMMAR_NONE && profile->classes[i].grammar->node_count == c->grammar->node_count;
    return same ? &profile->classes[i] : NULL;
}

/* --- Totals of the streams --- */

static void mix_stream(struct job *run, const struct job *profile, struct job_stream *s, double share)
{
    const struct job_stream *old = job_find_stream(profile, s->rank, s->thread);
    struct mix m = {share, 1 - share, 1};
    if (!old || old->count != s->count || run->info.block != profile->info.block || s->class_index == GRAMMAR_NONE ||
        old->class_index == GRAMMAR_NONE || !job_hash_equal(run->classes[s->class_index].hash,
                                                             profile->classes[old->class_index].hash))
        return;
    s->begin_ns = mix_lower(&m, s->begin_ns, old->begin_ns);
    s->wall_ns = mix_upper(&m, s->wall_ns, old->wall_ns);
    s->mpi_ns = mix_lower(&m, s->mpi_ns, old->mpi_ns);
    s->omp_ns = mix_lower(&m, s->omp_ns, old->omp_ns);
    s->cost_ns = mix_lower(&m, s->cost_ns, old->cost_ns);
    mix_extent(&m, &s->wall, &old->wall);
    mix_extent(&m, &s->useful, &old->useful);
    if (run->info.block == 1)
        job_stream_alone(s, s->rank);
}

/* --- What stands beside the grammars --- */

static bool is_plugins(const struct job *j, const struct job_sum *s)
{
    return !job_is_exclusive(j, s) && !job_is_polls(j, s);
}

/* Without a plugin the run has not counted what the profile has. */
static int keep_sums(struct job *run, const struct job *profile)
{
    bool counted = false;
    for (uint32_t i = 0; i < run->sum_count; i++)
        counted |= is_plugins(run, &run->sums[i]);
    for (uint32_t i = 0; i < profile->sum_count && !counted; i++) {
        const struct job_sum *s = &profile->sums[i];
        uint32_t terminal = job_find_terminal(run, profile->terminal_hash[s->terminal]);
        if (terminal != GRAMMAR_NONE && is_plugins(profile, s) &&
            job_count(run, terminal, job_text(profile, s->name), s->count))
            return PYTHIA_ENOMEM;
    }
    return 0;
}

/* Exclusive times of spans are mixed like all times, where both have as many of them. */
static void mix_exclusive(struct job *run, const struct job *profile, double share)
{
    struct mix m = {share, 1 - share, 1};
    for (uint32_t i = 0; i < profile->sum_count; i++) {
        const struct job_sum *s = &profile->sums[i];
        uint32_t terminal = job_find_terminal(run, profile->terminal_hash[s->terminal]);
        struct job_sum *ours = job_is_exclusive(profile, s) ? job_find_sum(run, terminal, JOB_EXCLUSIVE_NS) : NULL;
        if (ours && ours->count.samples == s->count.samples)
            ours->count.total = mix_lower(&m, ours->count.total, s->count.total);
    }
}

/* Nor are there samples of a predicted run. */
static int keep_samples(struct job *run, const struct job *profile)
{
    int error = 0;
    for (uint32_t i = 0; i < profile->inside.count && !error; i++) {
        struct job_inside s = profile->inside.of[i];
        bool ends = s.terminal == GRAMMAR_NONE;
        if (!ends)
            s.terminal = job_find_terminal(run, profile->terminal_hash[s.terminal]);
        if (!ends && s.terminal == GRAMMAR_NONE)
            continue;
        const struct job_module *m = s.module == GRAMMAR_NONE ? NULL : &profile->modules[s.module];
        s.module = m ? job_module(run, job_text(profile, m->path), job_text(profile, m->build_id)) : GRAMMAR_NONE;
        error = m && s.module == GRAMMAR_NONE ? PYTHIA_ENOMEM : job_rows_add(run, JOB_TABLE_INSIDE, &s);
    }
    return error;
}

static int keep_the_rest(struct job *run, const struct job *profile)
{
    int error = job_inherit(run, profile);
    error = error ?: keep_sums(run, profile);
    return error || run->inside.count ? error : keep_samples(run, profile);
}

/* --- The classes --- */

static int mix_classes(struct job *run, const struct job *profile, struct merge_updated *d)
{
    int error = 0;
    for (uint32_t i = 0; i < run->class_count && !error; i++) {
        const struct job_class *old = counterpart(profile, &run->classes[i]);
        d->kept += old != NULL;
        error = old ? mix_class(&run->classes[i], old, d->share) : 0;
    }
    d->added = run->class_count - d->kept;
    d->dropped = profile->class_count - d->kept; /* classes are told apart by what they are: none is kept twice */
    return error;
}

int merge_update(struct job *run, const struct job *profile, struct merge_updated *done)
{
    uint32_t runs = profile->info.runs < UINT32_MAX ? profile->info.runs : UINT32_MAX - 1;
    struct merge_updated d = {.runs = 1, .share = 1.0 / (runs < LONGEST_MEMORY ? runs + 1 : LONGEST_MEMORY)};
    int error = keep_the_rest(run, profile);
    error = error ?: mix_classes(run, profile, &d);
    if (error)
        return error;
    for (uint32_t i = 0; i < run->stream_count; i++)
        mix_stream(run, profile, &run->streams[i], d.share);
    mix_exclusive(run, profile, d.share);
    if (d.kept)
        d.runs = runs + 1;
    if (!d.added && !d.dropped)
        run->info.wall_ns = mix_upper(&(struct mix){d.share, 1 - d.share, 1}, run->info.wall_ns, profile->info.wall_ns);
    run->info.runs = d.runs;
    *done = d;
    return 0;
}
