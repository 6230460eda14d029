/* SPDX-License-Identifier: MIT */
/*
 * How much an answer is worth. The raw value of an answer (how often its source was right lately where it was as sure;
 * else its share of the weight, times the chance that nothing unexpected happens until then) goes through a table of
 * how often answers of this distance and raw value were right in this run, smoothed by the raw value itself: that is
 * what makes 0.9 mean 9 in 10.
 */
#include <math.h>

#include "oracle/internal.h"

enum { PRIOR = 12, MEMORY = 2048 };

static unsigned range_of(uint64_t distance)
{
    unsigned log = distance ? 63 - (unsigned)__builtin_clzll(distance) : 0;
    return log < ORACLE_RANGES ? log : ORACLE_RANGES - 1;
}

static unsigned decile_of(double p)
{
    int d = (int)(p * ORACLE_DECILES);
    return d < 0 ? 0 : d >= ORACLE_DECILES ? ORACLE_DECILES - 1 : (unsigned)d;
}

double oracle_stay(const struct oracle *o, uint64_t distance)
{
    double wrong = (o->misses + 0.04) / (o->window + (double)o->fast + 20);

    return distance == 1 ? 1 - wrong : exp((double)distance * log1p(-wrong));
}

double oracle_calibrated(const struct oracle *o, uint64_t distance, double raw)
{
    unsigned range = range_of(distance), decile = decile_of(raw);
    double right = o->reliability[range][decile].right, total = o->reliability[range][decile].total;

    return (right + PRIOR * raw) / (total + PRIOR);
}

void oracle_learn(struct oracle *o, uint64_t distance, double raw, double n, bool right)
{
    unsigned range = range_of(distance), decile = decile_of(raw);

    o->reliability[range][decile].total += n;
    o->reliability[range][decile].right += right ? n : 0;
    if (o->reliability[range][decile].total > MEMORY) {
        double keep = MEMORY / 2 / o->reliability[range][decile].total;
        o->reliability[range][decile].right *= keep;
        o->reliability[range][decile].total *= keep;
    }
}

static double factor(double seen, double said, double prior)
{
    double f = said + prior > 0 ? (seen + prior) / (said + prior) : 1;
    return f < 1e-3 ? 1e-3 : f > 1e3 ? 1e3 : f;
}

double oracle_gap_factor(const struct oracle *o)
{
    return factor(o->seen.gap, o->said.gap, o->prior_gap);
}

double oracle_duration_factor(const struct oracle *o)
{
    return factor(o->seen.duration, o->said.duration, o->prior_duration);
}

void oracle_drift(struct oracle *o, uint32_t events)
{
    const double keep = 1 - fmin(events / 2048.0, 0.5);

    o->seen.gap *= keep;
    o->seen.duration *= keep;
    o->said.gap *= keep;
    o->said.duration *= keep;
}
