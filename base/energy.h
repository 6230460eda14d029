/* SPDX-License-Identifier: MIT */
/*
 * The energy that this node has used, by the kernel's powercap counters (RAPL): all packages and, where it counts them
 * apart, memory.
 *
 *   /sys/class/powercap/intel-rapl:0/{name, energy_uj, max_energy_range_uj}      package 0
 *   /sys/class/powercap/intel-rapl:0:2/…                                         a part of it: only "dram" is added
 *
 * Counters start somewhere and wrap around; what is given is the energy since base_energy_open, so wraps are seen as
 * long as somebody reads every few minutes. The kernel updates them about every ms. Since 2020 only root may read them,
 * and virtual machines have none: base_energy_why() says it.
 *
 * Of a node one process should read: energies of ranks that share it must not be added.
 * Threads: open: one; now: any (a lock).  Hook-safe: no (a file read each, 1 us): for regions of 5 ms and more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `root`: where powercap is; NULL: PYTHIA_POWERCAP, which is for tests, else the system's. Opens once, later calls do
   nothing. Returns whether there is anything to read. */
bool base_energy_open(const char *root);
bool base_energy_known(void);
/* Microjoules since it was opened; 0 where there is nothing to read. */
uint64_t base_energy_now(void);
/* Why there is nothing, or which counters are read; static. */
const char *base_energy_why(void);
/* For tests. */
void base_energy_close(void);
