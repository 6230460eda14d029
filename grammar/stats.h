/* SPDX-License-Identifier: MIT */
/*
 * Statistics of the expansions of one node of a grammar, in its place.
 *
 * An event is a span: a gap since the end of the event before it and a duration, both in ns. A node stands for
 * `count` expansions of its symbol; each expansion has a total gap and a total duration (the sums over the events
 * that it expands to). Sums are integers and exact under every change of the grammar, so that at every level of the
 * tree the times add up to the stream's. The sums of squares are exact while a node was only appended to; where a
 * digram becomes a rule in a place with several expansions they are a lower bound (the covariance of the two halves
 * is not known), see ALGORITHMS.md. A growing grammar counts in integers (tally.h); this is how it is at rest.
 *
 * Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include <stdint.h>

struct grammar_moments {
    uint64_t sum;  /* ns, over all expansions */
    uint64_t min;  /* ns, of one expansion; UINT64_MAX while count is 0 */
    uint64_t max;  /* ns, of one expansion */
    double square; /* ns^2, sum of the squares of the expansions' totals */
};

struct grammar_stats {
    uint64_t count; /* expansions in this place: for the node a^3 of a rule expanded 4 times, 12 */
    struct grammar_moments gap;
    struct grammar_moments duration;
};

static inline void grammar_moments_join(struct grammar_moments *into, const struct grammar_moments *from)
{
    into->sum += from->sum;
    into->square += from->square;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

/* Joins the expansions of two places: counts, sums and squares add, extremes widen. */
static inline void grammar_stats_join(struct grammar_stats *into, const struct grammar_stats *from)
{
    into->count += from->count;
    grammar_moments_join(&into->gap, &from->gap);
    grammar_moments_join(&into->duration, &from->duration);
}

/* Of one expansion: means in ns, and the variance of the gaps plus that of the durations in ns^2. */
struct grammar_time { double gap, duration, variance; };
struct grammar_time grammar_stats_time(const struct grammar_stats *s);
/* Adds `turns` expansions of it. */
static inline void grammar_time_add(struct grammar_time *sum, double turns, const struct grammar_time *one)
{
    sum->gap += turns * one->gap;
    sum->duration += turns * one->duration;
    sum->variance += turns * one->variance;
}

double grammar_moments_mean(const struct grammar_moments *m, uint64_t count);
/* Standard deviation in ns, 0 for fewer than two expansions. */
double grammar_moments_deviation(const struct grammar_moments *m, uint64_t count);
