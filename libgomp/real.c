/* SPDX-License-Identifier: MIT */
#include "libgomp/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/name.h"
#include "base/symbols.h"

struct libgomp_real libgomp_real_table;
atomic_bool libgomp_real_ready;

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

/* LLVM's library, where it is the process's one: nothing but the hook library needs libgomp. */
static const struct link_map *llvm_alone(void)
{
    const struct link_map *behind = libgomp_real_behind(), *llvm = NULL;
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
        if (m->l_next != behind && base_symbols_needs(m, is_libgomp))
            return NULL;
    for (const struct link_map *m = behind; m && !llvm; m = m->l_next) {
        struct base_symbols s = base_symbols_of(m);
        llvm = base_symbols_find(&s, "__kmpc_fork_call") ? m : NULL;
    }
    return llvm;
}

static void find_all(void)
{
    void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const struct link_map *llvm = llvm_alone();
    struct base_symbols own = { 0 };
    if (llvm)
        own = base_symbols_of(llvm);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = base_symbols_find(&own, wanted[i].name);
        if (!found)
            found = dlsym(RTLD_NEXT, wanted[i].name);
        if (!found && library)
            found = dlsym(library, wanted[i].name);
        if (!found)
            *(void (**)(void))(void *)((char *)&libgomp_real_table + wanted[i].field) = libgomp_real_missing;
        else
            *(void **)(void *)((char *)&libgomp_real_table + wanted[i].field) = found;
    }
    /* The reference of dlopen is kept: the functions are called until the process ends. */
    atomic_store_explicit(&libgomp_real_ready, true, memory_order_release);
}

void libgomp_real_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept = errno;
    pthread_once(&once, find_all);
    errno = kept;
}
