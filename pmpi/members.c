/* SPDX-License-Identifier: MIT */
#include "pmpi/members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/lock.h"
#include "grammar/flat.h"
#include "pmpi/request.h"

enum { MEMBERS_FEW = 64, MEMBERS_ASKED = 32 };

static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by members_lock. */
static struct pmpi_hook_members **members_list; /* those that are known … */
static uint32_t members_count, members_room;
static struct base_hash members_index;          /* … by their runs */
static uint32_t members_many = MEMBERS_FEW;     /* so many are looked through */

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

static uint64_t members_hash(const struct pmpi_hook_members *m)
{
    uint64_t hash = base_hash_mix(m->size ^ base_hash_secret());
    for (uint32_t i = 0; i < m->run_count; i++) {
        const struct job_run *r = &m->runs[i];
        hash = base_hash_mix(base_hash_mix(hash ^ ((uint64_t)r->first << 32 | r->count)) ^ (uint32_t)r->stride);
    }
    return hash;
}

static struct pmpi_hook_members *members_find(const struct pmpi_hook_members *m, uint64_t hash)
{
    uint32_t at = base_hash_start(hash), n;
    while ((n = base_hash_next(&members_index, hash, &at)) != BASE_HASH_NONE) {
        struct pmpi_hook_members *k = members_list[n];
        if (k->size == m->size && k->run_count == m->run_count &&
            memcmp(k->runs, m->runs, m->run_count * sizeof *m->runs) == 0)
            return k;
    }
    return NULL;
}

static void members_started(const struct pmpi_hook_members *m)
{
    ((struct pmpi_hook_members *)m)->started = true;
}

/* Those that nobody has go. */
static void members_look_through(void)
{
    uint32_t kept = 0;
    if (members_count < members_many || !pmpi_hook_request_peers(members_started))
        return;
    base_hash_clear(&members_index);
    for (uint32_t i = 0; i < members_count; i++) {
        struct pmpi_hook_members *m = members_list[i];
        if (m->references || m->started) {
            m->started = false;
            base_hash_put(&members_index, members_hash(m), kept);
            members_list[kept++] = m;
        } else {
            members_free(m);
        }
    }
    members_count = kept;
    members_many = 2 * kept + MEMBERS_FEW;
}

/* The list that is known already, in place of an equal new one. NULL: out of memory. */
static const struct pmpi_hook_members *members_intern(struct pmpi_hook_members *m)
{
    uint64_t hash = members_hash(m);
    base_lock_take(&members_lock, BASE_LOCK_MEMBERS);
    members_look_through();
    struct pmpi_hook_members *k = members_find(m, hash);
    if (!k && base_hash_reserve(&members_index, 1) == 0 &&
        base_array_room(&members_list, &members_room, members_count + 1, sizeof *members_list) == 0) {
        base_hash_put(&members_index, hash, members_count);
        members_list[members_count++] = k = m;
        m = NULL;
    }
    if (k)
        k->references++;
    base_lock_release(&members_lock, BASE_LOCK_MEMBERS);
    members_free(m);
    return k;
}

/* Where `count` ranks of the group from `from` on are in another one; below 0: nowhere. */
static bool members_ask(MPI_Group group, int from, int count, MPI_Group in, int *to)
{
    int at[MEMBERS_ASKED];
    for (int i = 0; i < count; i++)
        at[i] = from + i;
    return PMPI_Group_translate_ranks(group, count, at, in, to) == MPI_SUCCESS;
}

/* Open MPI looks for each rank from the world's first on. Ranks mostly go on as the last two did: so many at a time are
   looked for where they are then, among as many of the world. False: somewhere else. */
static bool members_go_on(MPI_Group group, MPI_Group world, int size, int from, int count, int *rank)
{
    int stride = rank[from - 1] - rank[from - 2];
    int64_t first = (int64_t)rank[from - 1] + stride, last = first + (int64_t)(count - 1) * stride;
    int range[1][3] = {{(int)first, (int)last, stride}};
    MPI_Group some;
    if (stride == 0 || first < 0 || first >= size || last < 0 || last >= size ||
        PMPI_Group_range_incl(world, 1, range, &some) != MPI_SUCCESS)
        return false;
    bool found = members_ask(group, from, count, some, rank + from);
    PMPI_Group_free(&some);
    for (int i = from; i < from + count && found; i++) {
        found = rank[i] >= 0;
        rank[i] = (int)first + rank[i] * stride;
    }
    return found;
}

/* Ranks of the group in the world; false where one has none. The world itself, and what has its group (its
   duplicates), is not asked about. */
static bool members_translate(MPI_Group group, int n, int *rank)
{
    MPI_Group world;
    int size = 0;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return false;
    PMPI_Group_size(world, &size);
    bool done = true;
    for (int i = 0; i < n && group == world; i++)
        rank[i] = i;
    for (int i = 0, count; i < n && group != world && done; i += count) {
        count = i < 2 ? 1 : n - i < MEMBERS_ASKED ? n - i : MEMBERS_ASKED;
        done = (i >= 2 && members_go_on(group, world, size, i, count, rank)) ||
               members_ask(group, i, count, world, rank + i);
    }
    PMPI_Group_free(&world);
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

static void members_refer(const struct pmpi_hook_members *m, uint32_t change)
{
    if (!m)
        return;
    base_lock_take(&members_lock, BASE_LOCK_MEMBERS);
    ((struct pmpi_hook_members *)m)->references += change;
    base_lock_release(&members_lock, BASE_LOCK_MEMBERS);
}

void pmpi_hook_members_keep(const struct pmpi_hook_members *m)
{
    members_refer(m, 1);
}

void pmpi_hook_members_drop(const struct pmpi_hook_members *m)
{
    members_refer(m, (uint32_t)-1);
}

uint32_t pmpi_hook_members_seek(const struct pmpi_hook_members *m, int rank)
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
