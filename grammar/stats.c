/* SPDX-License-Identifier: MIT */
#include "grammar/stats.h"

#include <math.h>

/* The rounding error stays with the part that stays, so that the two add up. */
static void moments_split(struct grammar_moments *m, double share, struct grammar_moments *out)
{
    out->sum = (uint64_t)((double)m->sum * share);
    if (out->sum > m->sum)
        out->sum = m->sum;
    out->square = m->square * share;
    out->min = m->min;
    out->max = m->max;
    m->sum -= out->sum;
    m->square -= out->square;
}

void grammar_stats_split(struct grammar_stats *s, uint64_t part, uint64_t whole, struct grammar_stats *out)
{
    if (part == whole) { /* the usual case, and the exact one */
        *out = *s;
        grammar_stats_clear(s);
        return;
    }
    double share = (double)part / (double)whole;
    out->count = s->count / whole * part; /* a node's count is a multiple of its exponent */
    s->count -= out->count;
    moments_split(&s->gap, share, &out->gap);
    moments_split(&s->duration, share, &out->duration);
}

double grammar_moments_mean(const struct grammar_moments *m, uint64_t count)
{
    return count ? (double)m->sum / (double)count : 0.0;
}

double grammar_moments_deviation(const struct grammar_moments *m, uint64_t count)
{
    if (count < 2)
        return 0.0;
    double mean = grammar_moments_mean(m, count);
    double variance = m->square / (double)count - mean * mean;
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

struct grammar_time grammar_stats_time(const struct grammar_stats *s)
{
    double gap = grammar_moments_deviation(&s->gap, s->count), duration = grammar_moments_deviation(&s->duration, s->count);

    return (struct grammar_time){ grammar_moments_mean(&s->gap, s->count), grammar_moments_mean(&s->duration, s->count),
                                  gap * gap + duration * duration };
}
