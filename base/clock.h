/* SPDX-License-Identifier: MIT */
/*
 * Time in ns, monotonic, for events.
 *
 * On x86-64 with an invariant TSC: rdtsc times a factor that base_clock_init() measures against CLOCK_MONOTONIC (about
 * 1 ms, once), as multiplication and shift. Elsewhere clock_gettime(CLOCK_MONOTONIC). The origin is arbitrary; two
 * processes' clocks are not comparable.
 * Threads: any.  Hook-safe: base_clock_now is.
 */
#ifndef PYTHIA_BASE_CLOCK_H
#define PYTHIA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

struct base_clock {
    uint64_t origin;     /* ticks */
    uint64_t multiplier; /* ns = (ticks - origin) * multiplier >> 32; 0: no usable TSC */
};
extern struct base_clock base_clock __attribute__((visibility("hidden")));

/* Idempotent; before it base_clock_now() works, more slowly. */
void base_clock_init(void);

static inline uint64_t base_clock_now(void)
{
#if defined(__x86_64__)
    if (base_clock.multiplier) {
        __extension__ typedef unsigned __int128 wide;
        return (uint64_t)((wide)(__builtin_ia32_rdtsc() - base_clock.origin) * base_clock.multiplier >> 32);
    }
#endif
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
