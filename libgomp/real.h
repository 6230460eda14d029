/* SPDX-License-Identifier: MIT */
/*
 * The real functions behind the hooks: those that the process would call without Pythia.
 *
 * They are looked for after the hook library (RTLD_NEXT), then in a libgomp that is loaded (a program that was linked
 * with --as-needed may not name it itself; the hook library does). Where nobody else needs libgomp, and LLVM's libomp
 * is loaded, if only for a library that keeps it to itself (RTLD_LOCAL: Python), they are libomp's. Where both are used
 * the loader tells them apart by the versions of their symbols; here the module that calls does. A function that the
 * process's OpenMP library does not have ends the process when it is called, as the loader would have done without the
 * hooks: same message, same code 127.
 *
 * Threads: any.  Hook-safe: yes, but for the first call.
 */
#pragma once

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* See omp_calls.def. */
#define OMP_HOOK_WITH(...) __VA_ARGS__
#define OMP_HOOK_WITHOUT(...)

struct libgomp_real {
#define OMP_HOOK_REGION(name, parameters, work, arguments) void (*name) parameters;
#include "libgomp/gomp_calls.def"
#define OMP_HOOK_ASK(type, name, parameters, arguments) type (*name) parameters;
#define OMP_HOOK_DEPTH(name, plain, parameters, arguments, level, field) int (*name) parameters;
#define OMP_HOOK_SHARE(name, field) int (*name)(void);
#define OMP_HOOK_NEST(name) int (*name)(void);
#define OMP_HOOK_LEVEL(type, name, lowered) type (*name)(void);
#define OMP_HOOK_BARRIER(type, name, parameters, arguments) type (*name) parameters;
#define OMP_HOOK_USE(type, name, parameters) type (*name) parameters;
#define OMP_HOOK_MEET(type, name, parameters, arguments, share) type (*name) parameters;
#define OMP_HOOK_WORK(type, name, parameters, arguments, share) type (*name) parameters;
#define OMP_HOOK_LOOP(name, schedule, CHUNK)                                                                       \
    bool (*GOMP_loop_##name##_start)(long, long, long, CHUNK(long,) long *, long *);                               \
    bool (*GOMP_loop_##name##_next)(long *, long *);                                                               \
    bool (*GOMP_loop_ull_##name##_start)(bool, unsigned long long, unsigned long long, unsigned long long,         \
                                         CHUNK(unsigned long long,) unsigned long long *, unsigned long long *);   \
    bool (*GOMP_loop_ull_##name##_next)(unsigned long long *, unsigned long long *);
#include "libgomp/omp_calls.def"
};

extern struct libgomp_real libgomp_real_table;
/* Whether the table is filled. BOTH: libomp is used beside its library; asked again when that is called (kmpc.h). */
enum libgomp_real_is { LIBGOMP_REAL_UNKNOWN, LIBGOMP_REAL_ALONE, LIBGOMP_REAL_BOTH };
extern atomic_int libgomp_real_is;
void libgomp_real_find(void);
void libgomp_real_look_again(void);
/* Its functions, where both are used and the module that calls, from `caller`, needs it; else NULL. */
const struct libgomp_real *libgomp_real_of(uintptr_t caller);
static inline const struct libgomp_real *libgomp_real_other(uintptr_t caller)
{
    return __builtin_expect(atomic_load_explicit(&libgomp_real_is, memory_order_relaxed) == LIBGOMP_REAL_BOTH, 0)
               ? libgomp_real_of(caller)
               : NULL;
}
/* First in a hook: what a module means that uses the other library is answered by that one. */
#define LIBGOMP_REAL_OTHER(name, arguments)                                        \
    const struct libgomp_real *other = libgomp_real_other(base_frame_here().word); \
    if (other)                                                                     \
        return other->name arguments
/* What was loaded after the hook library. */
const struct link_map *libgomp_real_behind(void);
/* Stands for a function that the library does not have. */
void libgomp_real_missing(void);

static inline const struct libgomp_real *libgomp_real(void)
{
    if (__builtin_expect(atomic_load_explicit(&libgomp_real_is, memory_order_acquire) == LIBGOMP_REAL_UNKNOWN, 0))
        libgomp_real_find();
    return &libgomp_real_table;
}

/* Those that a call from there means. */
static inline const struct libgomp_real *libgomp_real_at(const void *caller)
{
    const struct libgomp_real *other = libgomp_real_other((uintptr_t)caller);
    return other ? other : libgomp_real();
}
