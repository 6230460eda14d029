/* SPDX-License-Identifier: MIT */
/*
 * What the launcher told this process by its environment, before MPI_Init or without MPI: one table of the usual
 * launchers' variables.
 *
 * Threads: any.  Hook-safe: no (getenv).
 */
#pragma once

/* Number of this process among those that were started together, -1 when no launcher says. */
long base_launcher_rank(void);
/* How many were started together; 0 when no launcher says. */
long base_launcher_ranks(void);
/* The same on this node. */
long base_launcher_local_rank(void);
long base_launcher_local_ranks(void);
/* "openmpi", "slurm", "hydra", "mvapich", "pmix" or "none". */
const char *base_launcher_name(void);
