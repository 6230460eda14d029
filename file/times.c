/* SPDX-License-Identifier: MIT */
#include "file/times.h"

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

static int sane(double v)
{
    return v >= 0 && v < 1e60;
}

int file_times_sane(const struct grammar_time *t)
{
    return sane(t->gap) && sane(t->duration) && sane(t->variance);
}
