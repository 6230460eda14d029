/* SPDX-License-Identifier: MIT */
/*
 * The clock of everything: nanoseconds on the scale of CLOCK_MONOTONIC.
 *
 * On x86 whose time stamp counter is invariant, and which the kernel itself trusts, a reading is rdtsc, a
 * multiplication and a shift (12 ns instead of 28):
 *
 *     ns = ns0 + ((tsc - tsc0) * rate >> 32)            rate: ns per tick, 32.32 fixed point
 *
 * rate is measured once, over the time since this code was loaded, or 1 ms where that is more, to some 20 ppm or
 * better: durations are as good as that, and readings leave the scale of CLOCK_MONOTONIC as slowly. Elsewhere, and
 * before base_clock_init(), a reading is clock_gettime().
 *
 * Threads: base_clock_now: any; base_clock_init: before other threads read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/hot.h"

/* The same number in processes whose clocks are one: of a host, a boot and a time namespace. Hook-safe: no. */
uint64_t base_clock_node(void);

/* Measures the counter's rate; waits until 1 ms after the code was loaded, the first time. Hook-safe: no. */
void base_clock_init(void);

static inline uint64_t base_clock_system(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Processor time of all of this process's threads, those that ended too, ns; of this thread. Hook-safe: no (system
   calls). */
static inline uint64_t base_clock_process(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t base_clock_processor(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ns. Never runs backwards on one thread. Hook-safe: yes. */
static inline uint64_t base_clock_now(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(base_hot.clock.tsc, 1)) {
        uint64_t ticks = __builtin_ia32_rdtsc() - base_hot.clock.tsc0;
        return base_hot.clock.ns0 + (uint64_t)((unsigned __int128)ticks * base_hot.clock.rate >> 32);
    }
#endif
    return base_clock_system();
}
