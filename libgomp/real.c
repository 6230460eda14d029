/* SPDX-License-Identifier: MIT */
#include "libgomp/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

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

static void find_all(void)
{
    void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(RTLD_NEXT, wanted[i].name);
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
