/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/io.h"

uint64_t base_clock_node(void)
{
    char text[512] = "";
    struct utsname name;
    size_t at = 0;
    if (uname(&name) == 0)
        at = strnlen(strcpy(text, name.nodename), 255) + 1;
    at += base_io_text(text + at, 64 + 1, "/proc/sys/kernel/random/boot_id");
    ssize_t got = readlink("/proc/self/ns/time", text + at, 64);
    at += got > 0 ? (size_t)got : 0;
    return XXH64(text, at, 0);
}

#if defined(__x86_64__)

enum { CALIBRATION_NS = 1000000, TRIES = 8 };

/* CPUID 0x80000007, EDX bit 8: the counter runs at one rate in all power states. */
static bool invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* The kernel goes over to these when it finds the counters of the sockets out of step. */
static bool distrusted(void)
{
    char name[32];
    base_io_text(name, sizeof name, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return !strncmp(name, "hpet", 4) || !strncmp(name, "acpi_pm", 7) || strstr(name, "jiffies");
}

/* Both clocks at one moment: the reading of the system's clock that took the fewest ticks was interrupted the least. */
static void read_both(uint64_t *tsc, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = __builtin_ia32_rdtsc(), system = base_clock_system(), after = __builtin_ia32_rdtsc();
        if (after - before < best) {
            best = after - before;
            *tsc = before + best / 2;
            *ns = system;
        }
    }
}

/* When this was loaded: by the time that somebody asks for a rate, MPI_Init has run, and nobody has to wait for one. */
static uint64_t loaded_tsc, loaded_ns;

static __attribute__((constructor)) void clock_load(void)
{
    read_both(&loaded_tsc, &loaded_ns);
}

void base_clock_init(void)
{
    if (base_hot.clock.tsc || !invariant() || distrusted())
        return;
    uint64_t tsc = loaded_tsc, ns = loaded_ns, tsc_end, ns_end;
    while (base_clock_system() - ns < CALIBRATION_NS)
        ;
    read_both(&tsc_end, &ns_end);
    if (tsc_end <= tsc)
        return;
    base_hot.clock.rate = (uint64_t)(((unsigned __int128)(ns_end - ns) << 32) / (tsc_end - tsc));
    /* A little in the past, so that a core whose counter lags by some ticks does not wrap. */
    uint64_t slack = tsc < 1u << 16 ? tsc : 1u << 16;
    base_hot.clock.tsc0 = tsc - slack;
    base_hot.clock.ns0 = ns - (uint64_t)((unsigned __int128)slack * base_hot.clock.rate >> 32);
    base_hot.clock.tsc = true;
}

#else

void base_clock_init(void)
{
}

#endif
