/* SPDX-License-Identifier: MIT */
#include "merge/times.h"

#include <math.h>

void merge_times_fill(const struct grammar_flat *g, uint64_t first, uint32_t per, struct grammar_time *times)
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

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-3;
}

int merge_times_equal(const struct grammar_time *a, const struct grammar_time *b)
{
    return close_to(a->gap, b->gap) && close_to(a->duration, b->duration) && close_to(a->variance, b->variance);
}

static int sane(double v)
{
    return v >= 0 && v < 1e60;
}

int merge_times_sane(const struct grammar_time *t)
{
    return sane(t->gap) && sane(t->duration) && sane(t->variance);
}
