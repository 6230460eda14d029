/* SPDX-License-Identifier: MIT */
/*
 * What the program asks of OpenMP, and what it is without.
 *
 * Every parallel region here gives the same bits whatever the size of its team, up to the maximum that the program was
 * given, and no region relies on the size of another: an environment, a runtime or a tool may change team sizes from
 * one region to the next. Hence no array is
 * sized by a number of threads and no work is split by hand: loops are divided by `omp for`, minima by OpenMP
 * reductions. The maximum is asked for outside of regions: to say it in the report, and whether forces are split.
 */
#pragma once

#ifdef _OPENMP
#include <omp.h>

static inline int team_max(void) { return omp_get_max_threads(); }
#else
static inline int team_max(void) { return 1; }
#endif
