/* SPDX-License-Identifier: MIT */
#include "file/times.h"

#include <math.h>

void file_times_fill(const struct grammar_flat *g, uint64_t first, uint32_t per, struct grammar_time *times)
{
    for (uint32_t r = 0; r < g->rule_count; r++) {
        struct grammar_time before = { 0, 0, 0 };
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            struct grammar_time one = grammar_stats_time(&g->stats[n]);
            if ((first + n) % per == 0)
                times[(first + n) / per] = before;
            grammar_time_add(&before, (double)g->nodes[n].exponent, &one);
        }
    }
}

static int close_to(double a, double b, double slack)
{
    return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-3 + slack;
}

/* A variance is a small difference of large squares, which another processor or compiler rounds otherwise. */
int file_times_equal(const struct grammar_time *a, const struct grammar_time *b)
{
    double all = b->gap + b->duration;
    return close_to(a->gap, b->gap, 0) && close_to(a->duration, b->duration, 0) &&
           close_to(a->variance, b->variance, 1e-12 * all * all);
}

static int sane(double v)
{
    return v >= 0 && v < 1e60;
}

int file_times_sane(const struct grammar_time *t)
{
    return sane(t->gap) && sane(t->duration) && sane(t->variance);
}
