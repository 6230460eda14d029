/* SPDX-License-Identifier: MIT */
#include "places/cores.h"

#include <sched.h>
#include <stdbool.h>

#include "base/io.h"
#include "base/processors.h"
#include "base/topology.h"

static bool has_hyper_threads(void)
{
    char active[2];
    return base_io_text(active, sizeof active, "/sys/devices/system/cpu/smt/active") && active[0] == '1';
}

void places_cores(struct places_cores *c)
{
    c->processors = base_processors_share(&c->in_mask);
    cpu_set_t mine;
    bool asks = has_hyper_threads() && sched_getaffinity(0, sizeof mine, &mine) == 0;
    unsigned cores = asks ? base_topology_cores("", &mine) : 0;
    c->cores = cores ? c->processors * (cores < c->in_mask ? cores : c->in_mask) / c->in_mask : c->processors;
    if (c->cores < 1)
        c->cores = 1;
}
