/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct base_clock base_clock;

#if defined(__x86_64__)
/* CPUID 80000007h, EDX bit 8: the TSC runs at one rate in all power states. */
static int invariant_tsc(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

static uint64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* A pair of readings taken close together: the tightest of a few tries, so that an interrupt in between does no harm. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = __builtin_ia32_rdtsc(), now = monotonic(), after = __builtin_ia32_rdtsc();
        if (after - before < best) {
            best = after - before;
            *ticks = before + (after - before) / 2;
            *ns = now;
        }
    }
}
#endif

void base_clock_init(void)
{
#if defined(__x86_64__)
    enum { CALIBRATION_NS = 1000000 };
    uint64_t ticks0 = 0, ns0 = 0, ticks1 = 0, ns1 = 0;
    if (base_clock.multiplier || !invariant_tsc())
        return;
    read_both(&ticks0, &ns0);
    do
        read_both(&ticks1, &ns1);
    while (ns1 - ns0 < CALIBRATION_NS);
    if (ticks1 <= ticks0)
        return;
    __extension__ typedef unsigned __int128 wide;
    base_clock.origin = ticks0;
    base_clock.multiplier = (uint64_t)(((wide)(ns1 - ns0) << 32) / (ticks1 - ticks0));
#endif
}
