/* SPDX-License-Identifier: MIT */
/*
 * Kokkos's names: kernels (parallel_for, _reduce, _scan), deep copies, profiling regions and sections are regions.
 *
 *   KOKKOS_TOOLS_LIBS=…/pythia/kokkos.so mpirun -n 4 pythia record ./app   (before Kokkos 4 KOKKOS_PROFILE_LIBRARY)
 *
 * The interface is Kokkos Tools' (https://github.com/kokkos/kokkos-tools): Kokkos finds these functions by their names.
 * Kernels are told to end by the number that was given at their begin, so that one that is nested ends alone.
 */
#include <stdio.h>

#include "plugins/names.h"

/* As Kokkos has it: passed by value. */
struct SpaceHandle { char name[64]; };

#define KERNEL(kind)                                                                                                   \
    NAMES_EXPORT void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id);                           \
    NAMES_EXPORT void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)                            \
    {                                                                                                                  \
        (void)device;                                                                                                  \
        *id = names_begin(name);                                                                                       \
    }                                                                                                                  \
    NAMES_EXPORT void kokkosp_end_##kind(uint64_t id);                                                                 \
    NAMES_EXPORT void kokkosp_end_##kind(uint64_t id)                                                                  \
    {                                                                                                                  \
        names_end((uint32_t)id);                                                                                       \
    }

KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)

NAMES_EXPORT void kokkosp_push_profile_region(const char *name);
NAMES_EXPORT void kokkosp_push_profile_region(const char *name)
{
    pythia_region_begin(name);
}

NAMES_EXPORT void kokkosp_pop_profile_region(void);
NAMES_EXPORT void kokkosp_pop_profile_region(void)
{
    pythia_region_end(NULL);
}

/* Sections have a number from the begin on, and may be started again and again. */
NAMES_EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id);
NAMES_EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
    *id = name && *name ? names_number(name) : 0;
}

NAMES_EXPORT void kokkosp_start_profile_section(uint32_t id);
NAMES_EXPORT void kokkosp_start_profile_section(uint32_t id)
{
    if (names_of(id))
        pythia_region_begin(names_of(id));
}

NAMES_EXPORT void kokkosp_stop_profile_section(uint32_t id);
NAMES_EXPORT void kokkosp_stop_profile_section(uint32_t id)
{
    names_end(id);
}

static __thread uint32_t copies; /* the one at hand: they do not nest */

NAMES_EXPORT void kokkosp_begin_deep_copy(struct SpaceHandle to_space, const char *to, const void *to_at,
                                          struct SpaceHandle from_space, const char *from, const void *from_at,
                                          uint64_t size);
NAMES_EXPORT void kokkosp_begin_deep_copy(struct SpaceHandle to_space, const char *to, const void *to_at,
                                          struct SpaceHandle from_space, const char *from, const void *from_at,
                                          uint64_t size)
{
    char name[160];
    (void)to_space, (void)to_at, (void)from_space, (void)from_at, (void)size;
    snprintf(name, sizeof name, "deep copy %.64s to %.64s", from, to);
    copies = names_begin(name);
}

NAMES_EXPORT void kokkosp_end_deep_copy(void);
NAMES_EXPORT void kokkosp_end_deep_copy(void)
{
    names_end(copies);
    copies = 0;
}
