/* SPDX-License-Identifier: MIT */
#include "places/cores.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/processors.h"
#include "base/topology.h"

static bool has_hyper_threads(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/smt/active", "re");
    bool active = file && fgetc(file) == '1';
    if (file)
        fclose(file);
    return active;
}

/* Cores of the mask, 0 when they cannot be told. */
static unsigned cores_in_mask(void)
{
    hwloc_topology_t topology;
    unsigned cores = 0;
    if (hwloc_topology_init(&topology))
        return 0;
    base_topology_stay_here(topology);
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (mine && hwloc_topology_load(topology) == 0 && hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0)
        cores = base_topology_cores(topology, mine);
    hwloc_bitmap_free(mine);
    hwloc_topology_destroy(topology);
    return cores;
}

void places_cores(struct places_cores *c)
{
    c->processors = base_processors_share(&c->in_mask);
    unsigned cores = has_hyper_threads() ? cores_in_mask() : 0;
    c->cores = cores ? c->processors * (cores < c->in_mask ? cores : c->in_mask) / c->in_mask : c->processors;
    if (c->cores < 1)
        c->cores = 1;
}
