/* SPDX-License-Identifier: MIT */
#include "places/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

void places_bind_share(const cpu_set_t *node, unsigned rank, unsigned ranks, cpu_set_t *share)
{
    unsigned processors = (unsigned)CPU_COUNT(node), seen = 0;
    unsigned first, end;
    CPU_ZERO(share);
    if (processors == 0 || ranks == 0)
        return;
    rank %= ranks;
    first = (unsigned)((unsigned long)rank * processors / ranks);
    end = (unsigned)((unsigned long)(rank + 1) * processors / ranks);
    if (end == first)
        end = first + 1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, node) && seen++ >= first && seen <= end)
            CPU_SET(cpu, share);
}

/* The first of these variables that is a number. */
static unsigned variable(const char *const *names, unsigned otherwise)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        unsigned long n = text ? strtoul(text, &end, 10) : 0;
        if (text && *text && end != text)
            return (unsigned)n;
    }
    return otherwise;
}

/* What init may use is what a process that nobody bound may use: the system refuses what a cgroup forbids. */
static void node_processors(cpu_set_t *node)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(node);
    for (int cpu = 0; cpu < online && cpu < CPU_SETSIZE; cpu++)
        CPU_SET(cpu, node);
}

bool places_bind_fix(const char *asked, unsigned threads)
{
    static const char *const sizes[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                         "SLURM_NTASKS_PER_NODE", NULL };
    static const char *const numbers[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                           "SLURM_LOCALID", NULL };
    cpu_set_t mask, node, share;
    if (!asked || strcmp(asked, "fix") != 0 || sched_getaffinity(0, sizeof mask, &mask))
        return false;
    unsigned ranks = variable(sizes, 1);
    node_processors(&node);
    places_bind_share(&node, variable(numbers, 0), ranks ? ranks : 1, &share);
    unsigned has = (unsigned)CPU_COUNT(&mask), gets = (unsigned)CPU_COUNT(&share);
    if (has >= gets || (threads && has >= threads) || sched_setaffinity(0, sizeof share, &share))
        return false;
    if (base_log_is_first_rank())
        base_log_info("PYTHIA_BIND=fix: the threads of a rank shared %u of %d processors, now they have %u", has,
                      CPU_COUNT(&node), gets);
    return true;
}
