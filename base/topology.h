/* SPDX-License-Identifier: MIT */
/*
 * The machine by hwloc, inside a program that runs.
 *
 * hwloc asks the processors themselves, too: it moves the calling thread to each in turn, where it waits for whoever
 * computes there. With 8 ranks on 2 cores that took 200 ms at the end of a run. What Linux tells in /sys is enough.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_BASE_TOPOLOGY_H
#define PYTHIA_BASE_TOPOLOGY_H

#include <hwloc.h>

/* Between init and load. Before hwloc 2.1 there is no such choice. */
static inline void base_topology_stay_here(hwloc_topology_t topology)
{
#if HWLOC_API_VERSION >= 0x00020100
    (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#else
    (void)topology;
#endif
}

/* Cores that have a processor of `set`: two hardware threads of one core count once. 0: the machine does not tell. */
static inline unsigned base_topology_cores(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
    unsigned cores = 0;
    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL;)
        cores += hwloc_bitmap_intersects(core->cpuset, set) != 0;
    return cores;
}

#endif
