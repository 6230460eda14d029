/* SPDX-License-Identifier: MIT */
#include "grammar/stats.h"

#include <math.h>

static void moments_clear(struct grammar_moments *m)
{
    m->sum = 0;
    m->min = UINT64_MAX;
    m->max = 0;
    m->square = 0;
}

static void moments_add(struct grammar_moments *m, uint64_t value)
{
    m->sum += value;
    m->square += (double)value * (double)value;
    if (value < m->min)
        m->min = value;
    if (value > m->max)
        m->max = value;
}

static void moments_join(struct grammar_moments *into, const struct grammar_moments *from)
{
    into->sum += from->sum;
    into->square += from->square;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

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

void grammar_stats_clear(struct grammar_stats *s)
{
    s->count = 0;
    moments_clear(&s->gap);
    moments_clear(&s->duration);
}

void grammar_stats_add(struct grammar_stats *s, uint64_t gap, uint64_t duration)
{
    s->count++;
    moments_add(&s->gap, gap);
    moments_add(&s->duration, duration);
}

void grammar_stats_join(struct grammar_stats *into, const struct grammar_stats *from)
{
    into->count += from->count;
    moments_join(&into->gap, &from->gap);
    moments_join(&into->duration, &from->duration);
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
