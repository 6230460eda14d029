/* SPDX-License-Identifier: MIT */
/*
 * How the threads of a team wait for the next region: spinning, or asleep.
 *
 * libgomp decides that once, when it is loaded, from OMP_WAIT_POLICY and GOMP_SPINCOUNT: by default its threads spin
 * for 11 ms after each region. Where ranks share cores that is ruinous (two ranks of two threads on two cores: 150
 * times), and libgomp, which knows one process, cannot see it. The preloaded library can: it stands before libc, and
 * answers libgomp's own getenv("OMP_WAIT_POLICY") with "passive" where
 *
 *   the user set neither variable, acting on it is allowed (--act wait; not when a recording was asked for), and
 *   the threads of this rank that libgomp would let spin > processors that it has for itself (base/processors.h:
 *   affinity mask, ranks on the node, cgroup quota). Of more threads than the mask has processors libgomp knows itself,
 *   and hardly spins with all of them; the smaller teams that are chosen instead gain from spinning (LULESH, edge 30,
 *   4 threads on 2 cores: 0.8 times)
 *
 * The program, its children and everybody else get what the environment says.
 *
 * What is not possible from outside: to change the policy later, by the distance of regions say (libgomp reads it once;
 * a region that would wake its threads for too little work is lowered instead, teams/choice.h); in a program that was
 * linked with the static libgomp, or that loads libgomp before Pythia.
 *
 * libc's own getenv() answers everything else: newer ones are safe beside setenv(), which a copy would not be. libgomp
 * since gcc 13 reads the environment itself: with that one this file is not built.
 *
 * Threads: any.  Hook-safe: no (reads files, once).
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/processors.h"
#include "base/rights.h"
#include "include/pythia.h"

/* libc's own. Where rights were raised secure_getenv() says nothing; the loader knows it, too. */
static char *lookup(const char *name)
{
    static char *(*_Atomic next)(const char *);
    char *(*known)(const char *) = base_rights_raised() ? atomic_load(&next) : secure_getenv;
    if (!known) {
        void *found = dlsym(RTLD_NEXT, "getenv");
        memcpy(&known, &found, sizeof known);
        atomic_store(&next, known);
    }
    return known ? known(name) : NULL;
}

/* Whether a rank with so many threads, of this text of OMP_NUM_THREADS (may be NULL: all in the mask), is too many. */
static bool crowded(const char *threads, unsigned in_mask, double processors)
{
    long n = threads ? strtol(threads, NULL, 10) : 0;
    if (n <= 0 || n > (long)in_mask) /* more than processors: libgomp sees that itself, and hardly spins */
        n = (long)in_mask;
    return n > 1 && (double)n > processors + 0.01;
}

/* Before options are loaded: libgomp asks while it is being loaded itself. */
static bool allowed(void)
{
    const char *mode = lookup("PYTHIA_MODE"), *act = lookup("PYTHIA_ACT");
    if (base_rights_raised())
        return false;
    if (mode && (!strcmp(mode, "record") || !strcmp(mode, "off")))
        return false;
    return !act || !*act || base_options_list_has(act, "wait");
}

static bool answers(void)
{
    static atomic_int known; /* 0: not looked, 1: no, 2: yes */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
        unsigned in_mask;
        double processors = allowed() ? base_processors_share(&in_mask) : 0;
        now = processors > 0 && crowded(lookup("OMP_NUM_THREADS"), in_mask, processors) ? 2 : 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == 2;
}

static bool is_libgomp(void *caller)
{
    Dl_info info;
    const char *slash = dladdr(caller, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    return slash && !strncmp(slash, "/libgomp", 8);
}

/* Under a name of its own here: nobody below means this one. */
PYTHIA_API char *places_getenv(const char *name) __asm__("getenv");
char *places_getenv(const char *name)
{
    static char passive[] = "passive";
    char *set = lookup(name);
    if (set || name[0] != 'O' || strcmp(name, "OMP_WAIT_POLICY") != 0 || !is_libgomp(__builtin_return_address(0)))
        return set;
    return !lookup("GOMP_SPINCOUNT") && answers() ? passive : NULL;
}
