/* SPDX-License-Identifier: MIT */
/*
 * LLVM's libomp behind the hooks, as real.h has libgomp: the library that the process would call without Pythia,
 * wherever it was loaded. It offers libgomp's functions, too, which are those of real.h where it comes first.
 *
 * Threads: any.  Hook-safe: yes, but for the first call.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source that a call stands for (ident_t): what its compiler offers there. */
struct libgomp_kmpc_place { int32_t unused, flags, more[2]; const char *text; };
enum { KMPC_ATOMIC_REDUCTION = 0x10 };

/* An outlined function: its thread's numbers, among all and in its team, and a word for each variable it shares. */
typedef void (*libgomp_kmpc_function)(int32_t *gtid, int32_t *tid, ...);

struct libgomp_kmpc {
    bool whole; /* libgomp's functions (real.h) are its own */
#define KMPC_USE(type, name, parameters) type (*name) parameters;
#define KMPC_WORK(type, name, parameters, arguments, share) type (*name) parameters;
#define KMPC_LOOP(suffix, type, with_sign)                                                                          \
    void (*__kmpc_for_static_init_##suffix)(struct libgomp_kmpc_place *, int32_t, int32_t, int32_t *, type *,       \
                                            type *, with_sign *, with_sign, with_sign);                             \
    void (*__kmpc_dispatch_init_##suffix)(struct libgomp_kmpc_place *, int32_t, int32_t, type, type, with_sign,     \
                                          with_sign);                                                               \
    int32_t (*__kmpc_dispatch_next_##suffix)(struct libgomp_kmpc_place *, int32_t, int32_t *, type *, type *,       \
                                             with_sign *);
#include "libgomp/kmpc_calls.def"
};

extern struct libgomp_kmpc libgomp_kmpc_table;
extern atomic_bool libgomp_kmpc_ready;
void libgomp_kmpc_find(void);

/* For who was called as one of its functions: then it is loaded. */
static inline const struct libgomp_kmpc *libgomp_kmpc(void)
{
    if (!atomic_load_explicit(&libgomp_kmpc_ready, memory_order_acquire))
        libgomp_kmpc_find();
    return &libgomp_kmpc_table;
}
