/* SPDX-License-Identifier: MIT */
/*
 * Synthetic ranks for measuring the merge: what one rank of a job of a known shape would have recorded. A function of
 * (shape, rank, ranks) alone, times included, so that a simulated and a real merge can be compared byte for byte.
 *
 *   ring       SPMD: neighbours around, a reduction now and then; a second thread with parallel regions
 *   stencil    3-D mesh without wrapping: six neighbours inside, fewer on faces, edges and corners
 *   master     rank 0 answers requests of all others, each of whom works off as many tasks
 *   trips      ten loops, each of which turns 2 to 17 times, at random on each rank: 40 bits a rank
 *   irregular  64 kinds of ranks, scattered at random, each with its own order of calls; peers are noise
 *   halo       the mesh's six neighbours, 60 turns of uneven work: for the replay, which takes long where no reduction
 *              holds ranks together
 *   cube       all 26 neighbours of the mesh and a reduction: likewise
 *   levels     two levels: each row of 32 ranks reduces, its first rank does with those of the other rows, and tells
 *              the row; the last rank works longer
 */
#pragma once

#include "job/job.h"

enum shape { SHAPE_RING, SHAPE_STENCIL, SHAPE_MASTER, SHAPE_TRIPS, SHAPE_IRREGULAR, SHAPE_HALO, SHAPE_CUBE,
             SHAPE_LEVELS, SHAPES };
extern const char *const shape_names[SHAPES];

/* SHAPES where the name is unknown. */
enum shape shape_named(const char *name);
/* The rank's job, owned by the caller; ends the program when out of memory. */
struct job *shape_rank(enum shape shape, uint32_t rank, uint32_t ranks);
