/* SPDX-License-Identifier: MIT */
#include "libgomp/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/name.h"
#include "base/symbols.h"

struct libgomp_real libgomp_real_table;
atomic_int libgomp_real_is;

struct wanted { const char *name; size_t field; };

static const struct wanted wanted[] = {
#define FIELD(name) { #name, offsetof(struct libgomp_real, name) },
#define OMP_HOOK_REGION(name, parameters, work, arguments) FIELD(name)
#include "libgomp/gomp_calls.def"
#define OMP_HOOK_ASK(type, name, parameters, arguments) FIELD(name)
#define OMP_HOOK_DEPTH(name, plain, parameters, arguments, level, field) FIELD(name)
#define OMP_HOOK_SHARE(name, field) FIELD(name)
#define OMP_HOOK_NEST(name) FIELD(name)
#define OMP_HOOK_LEVEL(type, name, lowered) FIELD(name)
#define OMP_HOOK_BARRIER(type, name, parameters, arguments) FIELD(name)
#define OMP_HOOK_USE(type, name, parameters) FIELD(name)
#define OMP_HOOK_MEET(type, name, parameters, arguments, share) FIELD(name)
#define OMP_HOOK_WORK(type, name, parameters, arguments, share) FIELD(name)
#define OMP_HOOK_LOOP(name, schedule, CHUNK)                           \
    FIELD(GOMP_loop_##name##_start) FIELD(GOMP_loop_##name##_next)     \
    FIELD(GOMP_loop_ull_##name##_start) FIELD(GOMP_loop_ull_##name##_next)
#include "libgomp/omp_calls.def"
#undef FIELD
};

void libgomp_real_missing(void)
{
    static const char line[] =
        "pythia: symbol lookup error: the OpenMP library lacks a function that the program calls\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        _exit(127);
    _exit(127);
}

const struct link_map *libgomp_real_behind(void)
{
    const struct link_map *m = _r_debug.r_map;
    while (m && m->l_ld != _DYNAMIC)
        m = m->l_next;
    return m ? m->l_next : NULL;
}

static bool is_libgomp(const char *name)
{
    static const char *const names[] = { "libgomp" };
    return base_name_begins(name, names, 1);
}

static bool is_llvm(const char *name)
{
    static const char *const names[] = { "libomp", "libiomp" };
    return base_name_begins(name, names, 2);
}

static const struct link_map *find_llvm(void)
{
    const struct link_map *m = libgomp_real_behind();
    for (; m; m = m->l_next) {
        struct base_symbols s = base_symbols_of(m);
        if (base_symbols_find(&s, "__kmpc_fork_call"))
            break;
    }
    return m;
}

/* Whether anything but the hook library needs libgomp. */
static bool is_needed(void)
{
    bool needed = false;
    for (const struct link_map *m = _r_debug.r_map; m && !needed; m = m->l_next)
        needed = m->l_ld != _DYNAMIC && base_symbols_needs(m, is_libgomp);
    return needed;
}

/* Of the library at `from`, NULL: what comes next; else of libgomp. */
static void real_fill(struct libgomp_real *table, const struct link_map *from)
{
    void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    struct base_symbols own = { 0 };
    if (from)
        own = base_symbols_of(from);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = base_symbols_find(&own, wanted[i].name);
        if (!found)
            found = dlsym(RTLD_NEXT, wanted[i].name);
        if (!found && library)
            found = dlsym(library, wanted[i].name);
        if (!found)
            *(void (**)(void))(void *)((char *)table + wanted[i].field) = libgomp_real_missing;
        else
            *(void **)(void *)((char *)table + wanted[i].field) = found;
    }
    /* The reference of dlopen is kept: the functions are called until the process ends. */
}

static void real_find_all(void)
{
    real_fill(&libgomp_real_table, is_needed() ? NULL : find_llvm());
    atomic_store_explicit(&libgomp_real_is, LIBGOMP_REAL_ALONE, memory_order_release);
    libgomp_real_look_again();
}

/* --- Two of them --- */

static struct libgomp_real llvm_table;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

void libgomp_real_look_again(void)
{
    pthread_mutex_lock(&looking);
    const struct link_map *llvm = atomic_load(&libgomp_real_is) == LIBGOMP_REAL_BOTH ? NULL : find_llvm();
    if (llvm) {
        real_fill(&llvm_table, llvm);
        if (llvm_table.GOMP_parallel != libgomp_real_table.GOMP_parallel)
            atomic_store(&libgomp_real_is, LIBGOMP_REAL_BOTH);
    }
    pthread_mutex_unlock(&looking);
}

/* By the loader, whatever is known: at first sight. */
static bool calls_llvm(uintptr_t caller)
{
    Dl_info its, other;
    bool needs = false;
    if (!dladdr((void *)caller, &its))
        return false;
    for (const struct link_map *m = _r_debug.r_map; m && !needs; m = m->l_next)
        needs = base_symbols_needs(m, is_llvm) && dladdr(m->l_ld, &other) && other.dli_fbase == its.dli_fbase;
    return needs;
}

const struct libgomp_real *libgomp_real_of(uintptr_t caller)
{
    enum { CALLERS = 512, NEW = 0, GOMP, LLVM };
    static struct place { atomic_uintptr_t caller; atomic_int whose; } known[CALLERS];
    bool claimed;
    int kept = errno;
    struct place *k = base_fixed_find(known, sizeof *known, CALLERS, CALLERS / 2, caller, &claimed);
    int whose = k ? atomic_load_explicit(&k->whose, memory_order_relaxed) : NEW;
    bool llvm = whose == NEW ? calls_llvm(caller) : whose == LLVM;
    if (k && whose == NEW)
        atomic_store_explicit(&k->whose, llvm ? LLVM : GOMP, memory_order_relaxed);
    errno = kept;
    return llvm ? &llvm_table : NULL;
}

void libgomp_real_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept = errno;
    pthread_once(&once, real_find_all);
    errno = kept;
}
