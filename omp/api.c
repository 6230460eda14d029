/* SPDX-License-Identifier: MIT */
/*
 * The functions of the OpenMP API that the hooks stand in front of: all of them answer what the OpenMP library answers,
 * but for what a lowered region would change (omp_in_parallel, omp_get_active_level), and what one that is called
 * without libgomp would (levels).
 */
#include <stdint.h>

#include "include/pythia.h"
#include "omp/hooks.h"
#include "omp/shares.h"
#include "libgomp/real.h"

#define OMP_HOOK_ASK(type, name, parameters, arguments) \
    PYTHIA_API type name parameters;                    \
    type name parameters                                \
    {                                                   \
        LIBGOMP_REAL_OTHER(name, arguments);            \
        omp_hook_save_icv(base_frame_here());           \
        return libgomp_real()->name arguments;          \
    }

/* A team of one is not active; the program's own one would be. */
#define OMP_HOOK_LEVEL(type, name, active)   \
    PYTHIA_API type name(void);              \
    type name(void)                          \
    {                                        \
        LIBGOMP_REAL_OTHER(name, ());        \
        if (omp_hook_thread.lowered)         \
            return active;                   \
        return libgomp_real()->name();       \
    }

#define OMP_HOOK_NEST(name)                                          \
    PYTHIA_API int name(void);                                       \
    int name(void)                                                   \
    {                                                                \
        LIBGOMP_REAL_OTHER(name, ());                                \
        return libgomp_real()->name() + (int)omp_hook_thread.direct; \
    }

/* Of its own region's level a share is told what it is there; called without libgomp, what libgomp calls 1 is 2. */
#define OMP_HOOK_DEPTH(name, plain, parameters, arguments, level, field)                         \
    PYTHIA_API int name parameters;                                                              \
    int name parameters                                                                          \
    {                                                                                            \
        LIBGOMP_REAL_OTHER(name, arguments);                                                     \
        if (omp_shares_inside(base_frame_here()) && (level) == (int64_t)omp_hook_thread.levels)  \
            return (int)omp_hook_thread.field;                                                   \
        return !omp_hook_thread.direct || (level) < 1 ? libgomp_real()->name arguments           \
                                                      : libgomp_real()->plain((int)(level) - 1); \
    }

#include "libgomp/omp_calls.def"
