/* SPDX-License-Identifier: MIT */
/*
 * What single calls cost: readings of the clock around each, less what reading it costs, in a histogram of constant
 * size, so that runs of any length are measured. Below 1024 ns a bucket is one ns, above 3 % (32 an octave).
 *
 *     uint64_t clock = cost_of_clock(), begin = base_clock_system();
 *     call();
 *     cost_count_since(&histogram, begin, clock);
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

#include "base/clock.h"

enum { COST_EXACT = 1024, COST_BUCKETS = COST_EXACT + 64 * 32 };

struct cost_histogram { uint64_t bucket[COST_BUCKETS], count, max; };

/* What two readings of the clock cost between them, ns: the median. */
uint64_t cost_of_clock(void);
void cost_count_since(struct cost_histogram *h, uint64_t begin, uint64_t clock);
/* ns; q from 0 to 1. Of an empty histogram 0. */
uint64_t cost_quantile(const struct cost_histogram *h, double q);
