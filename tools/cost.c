/* SPDX-License-Identifier: MIT */
#include "tools/cost.h"

#include <stdlib.h>

static void count(struct cost_histogram *h, uint64_t ns)
{
    uint32_t at = (uint32_t)ns;

    if (ns >= COST_EXACT) { /* 32 buckets an octave */
        unsigned log = 63 - (unsigned)__builtin_clzll(ns);
        at = COST_EXACT + (log - 10) * 32 + (uint32_t)(ns >> (log - 5) & 31);
    }
    h->bucket[at]++;
    h->count++;
    h->max = ns > h->max ? ns : h->max;
}

uint64_t cost_quantile(const struct cost_histogram *h, double q)
{
    uint64_t below = 0, rank = (uint64_t)(q * (double)h->count);

    for (uint32_t i = 0; i < COST_BUCKETS; i++) {
        below += h->bucket[i];
        if (below > rank)
            return i < COST_EXACT ? i : (uint64_t)(32 + (i - COST_EXACT) % 32) << ((i - COST_EXACT) / 32 + 5);
    }
    return h->max;
}

uint64_t cost_of_clock(void)
{
    struct cost_histogram *h = calloc(1, sizeof *h);

    for (int i = 0; i < 10001; i++) {
        uint64_t begin = base_clock_system();
        count(h, base_clock_system() - begin);
    }
    uint64_t cost = cost_quantile(h, 0.5);
    free(h);
    return cost;
}

void cost_count_since(struct cost_histogram *h, uint64_t begin, uint64_t clock)
{
    uint64_t took = base_clock_system() - begin;
    count(h, took > clock ? took - clock : 0);
}
