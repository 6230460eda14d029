/* SPDX-License-Identifier: MIT */
/*
 * Why a region must keep the program's team: the program asks for it (clauses, settings), or an execution showed that
 * the region depends on its team. What the region's machine code says is found once (site.h, libgomp/safe.h).
 *
 * Threads: the one that acts (team.h).  Hook-safe: yes.
 */
#ifndef PYTHIA_OMP_FIXED_H
#define PYTHIA_OMP_FIXED_H

#include "omp/site.h"

/* Whether other threads than the program's may run the region; notes what the program says against it. */
bool omp_hook_fixed_may_change(struct omp_hook_region *r, unsigned nt, unsigned flags);
/* How a region that ran shows that it depends on its team: 0, or a bit of enum job_fixed. */
uint32_t omp_hook_fixed_shown(const struct omp_hook_region *r);

#endif
