/* SPDX-License-Identifier: MIT */
#include "pmpi/members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "grammar/flat.h"

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct pmpi_hook_members *members_known; /* guarded by members_lock */

/* As many ranks a run as follow each other at one distance. Returns how many runs; `runs` has room for n. */
static uint32_t members_runs(const int *rank, uint32_t n, struct job_run *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n;) {
        struct job_run run = {.first = (uint32_t)rank[i], .count = 1};
        if (i + 1 < n)
            run.stride = rank[i + 1] - rank[i];
        while (i + run.count < n && rank[i + run.count] - rank[i + run.count - 1] == run.stride)
            run.count++;
        i += run.count;
        if (run.count == 1)
            run.stride = 0;
        runs[count++] = run;
    }
    return count;
}

static void members_free(struct pmpi_hook_members *m)
{
    if (m) {
        free(m->before);
        free(m->runs);
    }
    free(m);
}

static struct pmpi_hook_members *members_make(const int *rank, uint32_t n)
{
    struct pmpi_hook_members *m = calloc(1, sizeof *m);
    if (!m || !(m->runs = malloc((size_t)n * sizeof *m->runs)))
        goto fail;
    m->size = n;
    m->run_count = members_runs(rank, n, m->runs);
    m->before = malloc(m->run_count * sizeof *m->before);
    struct job_run *fits = realloc(m->runs, m->run_count * sizeof *fits);
    m->runs = fits ? fits : m->runs;
    if (!m->before)
        goto fail;
    for (uint32_t i = 0, at = 0; i < m->run_count; at += m->runs[i++].count)
        m->before[i] = at;
    return m;

fail:
    members_free(m);
    return NULL;
}

/* The list that is known already, in place of an equal new one. */
static const struct pmpi_hook_members *members_intern(struct pmpi_hook_members *m)
{
    base_lock_take(&members_lock, BASE_LOCK_MEMBERS);
    const struct pmpi_hook_members *k = members_known;
    while (k && (k->size != m->size || k->run_count != m->run_count ||
                 memcmp(k->runs, m->runs, m->run_count * sizeof *m->runs) != 0))
        k = k->next;
    if (!k) {
        m->next = members_known;
        members_known = k = m;
        m = NULL;
    }
    base_lock_release(&members_lock, BASE_LOCK_MEMBERS);
    members_free(m);
    return k;
}

/* Ranks of the group in the world; false where one has none. */
static bool members_translate(MPI_Group group, int n, int *rank)
{
    MPI_Group world;
    int *own = malloc((size_t)n * sizeof *own);
    bool done = false;
    if (own && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        for (int i = 0; i < n; i++)
            own[i] = i;
        done = PMPI_Group_translate_ranks(group, n, own, world, rank) == MPI_SUCCESS;
        PMPI_Group_free(&world);
    }
    free(own);
    for (int i = 0; i < n && done; i++)
        done = rank[i] >= 0;
    return done;
}

const struct pmpi_hook_members *pmpi_hook_members_of(MPI_Comm comm, bool remote)
{
    MPI_Group group;
    int n = 0;
    struct pmpi_hook_members *m = NULL;
    if ((remote ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS)
        return NULL;
    PMPI_Group_size(group, &n);
    int *rank = n > 0 ? malloc((size_t)n * sizeof *rank) : NULL;
    if (rank && members_translate(group, n, rank))
        m = members_make(rank, (uint32_t)n);
    free(rank);
    PMPI_Group_free(&group);
    return m ? members_intern(m) : NULL;
}

uint32_t pmpi_hook_members_world(const struct pmpi_hook_members *m, int rank)
{
    if (!m || rank < 0 || (uint32_t)rank >= m->size)
        return GRAMMAR_NONE;
    uint32_t low = 0, high = m->run_count; /* the last run that begins at or before it */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (m->before[middle] <= (uint32_t)rank)
            low = middle;
        else
            high = middle;
    }
    return m->runs[low].first + ((uint32_t)rank - m->before[low]) * (uint32_t)m->runs[low].stride;
}
