/* SPDX-License-Identifier: MIT */
#include "grammar/stats.h"

#include <math.h>

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
    double gap = grammar_moments_deviation(&s->gap, s->count),
           duration = grammar_moments_deviation(&s->duration, s->count);

    return (struct grammar_time){ grammar_moments_mean(&s->gap, s->count), grammar_moments_mean(&s->duration, s->count),
                                  gap * gap + duration * duration };
}
