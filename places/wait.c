/* SPDX-License-Identifier: MIT */
#include "places/wait.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/processors.h"
#include "base/rights.h"
#include "include/pythia.h"

static char passive[] = "passive";

/* As libc's, without its PLT: this library's own getenv is the hook below. */
static char *lookup(const char *name)
{
    size_t length = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (!strncmp(*e, name, length) && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

/* Whether a rank with so many threads, of this text of OMP_NUM_THREADS (may be NULL: all in the mask), is too many. */
static bool crowded(const char *threads, unsigned in_mask, double processors)
{
    long n = threads ? strtol(threads, NULL, 10) : 0;
    if (n <= 0 || n > (long)in_mask) /* more than processors: libgomp sees that itself, and hardly spins with all of
                                        them */
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

const char *places_wait_policy(void)
{
    const char *set = lookup("OMP_WAIT_POLICY");
    return set || lookup("GOMP_SPINCOUNT") || !answers() ? set : passive;
}

static bool is_libgomp(void *caller)
{
    Dl_info info;
    const char *slash = dladdr(caller, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    return slash && !strncmp(slash, "/libgomp", 8);
}

PYTHIA_API char *getenv(const char *name);
char *getenv(const char *name)
{
    char *set = lookup(name);
    if (set || name[0] != 'O' || strcmp(name, "OMP_WAIT_POLICY") != 0 || !is_libgomp(__builtin_return_address(0)))
        return set;
    return places_wait_policy() ? passive : NULL;
}
