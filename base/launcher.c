/* SPDX-License-Identifier: MIT */
#include "base/launcher.h"

#include <stdlib.h>

enum column { RANK, RANKS, LOCAL_RANK, LOCAL_RANKS, COLUMNS };

/* Slurm is the last one: a batch script has its variables, too, and hands them to the ranks of any mpirun in it.
   SLURM_STEP_TASKS_PER_NODE is a list ("4(x2),3"), of which the first number is taken; SLURM_TASKS_PER_NODE is of the
   allocation, not of what runs in it. */
static const struct launcher {
    const char *name, *variable[COLUMNS];
} launchers[] = {
    { "openmpi",
      { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE" } },
    { "mvapich",
      { "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE" } },
    { "hydra", { "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS" } },
    { "pmix", { "PMIX_RANK", NULL, NULL, NULL } },
    { "slurm", { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE" } },
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

static long number(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    return text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

static long first(enum column column, long otherwise)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        long n = number(launchers[i].variable[column]);
        if (n >= 0)
            return n;
    }
    return otherwise;
}

long base_launcher_rank(void)
{
    return first(RANK, -1);
}

long base_launcher_ranks(void)
{
    return first(RANKS, 0);
}

long base_launcher_local_rank(void)
{
    return first(LOCAL_RANK, -1);
}

long base_launcher_local_ranks(void)
{
    return first(LOCAL_RANKS, 0);
}

const char *base_launcher_name(void)
{
    static const enum column says[] = { LOCAL_RANK, RANK }; /* srun sets PMI_RANK, too, as hydra does */
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < LAUNCHERS; i++)
            if (number(launchers[i].variable[says[s]]) >= 0)
                return launchers[i].name;
    return "none";
}
