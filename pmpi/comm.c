/* SPDX-License-Identifier: MIT */
/* Communicators: a locked hash table of handles, with a cache per thread in front. */
#include "pmpi/comm_name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "grammar/flat.h"
#include "pmpi/members.h"
#include "pmpi/near.h"
#include "session/ask.h"
#include "session/stream.h"
#include "watch/board.h"

enum { COMM_BUCKETS = 256 };

struct comm_handle {
    struct comm_handle *next;
    uint64_t key;
    struct comm_entry *entry;
};

struct pmpi_hook_idup {
    struct comm_entry *parent;
    const char *kind;
    struct pmpi_hook_handles comm;
};

static pthread_mutex_t comm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm_handle *comm_table[COMM_BUCKETS]; /* guarded by comm_lock */
static int comm_keyval = MPI_KEYVAL_INVALID;

_Thread_local struct pmpi_hook_comm_cache pmpi_hook_comm_cache __attribute__((tls_model("initial-exec")));

/* --- Handles --- */

static struct comm_handle **comm_place(uint64_t key)
{
    struct comm_handle **h = &comm_table[pmpi_hook_comm_mix(key) % COMM_BUCKETS];
    while (*h && (*h)->key != key)
        h = &(*h)->next;
    return h;
}

static struct comm_entry *comm_find(uint64_t key)
{
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    struct comm_handle *h = *comm_place(key);
    struct comm_entry *entry = h ? h->entry : NULL;
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
    return entry;
}

/* Not in the cache. */
static __attribute__((noinline)) const struct pmpi_hook_communicator *comm_miss(uint64_t key)
{
    struct pmpi_hook_comm_cache *cache = &pmpi_hook_comm_cache;
    unsigned now = atomic_load_explicit(&base_hot.handles, memory_order_acquire);
    if (cache->generation != now) {
        memset(cache, 0, sizeof(*cache));
        cache->generation = now;
    }
    struct comm_entry *entry = comm_find(key);
    if (!entry)
        return NULL;
    cache->slot[pmpi_hook_comm_mix(key) % PMPI_HOOK_COMMS].key = key;
    return cache->slot[pmpi_hook_comm_mix(key) % PMPI_HOOK_COMMS].comm = &entry->seen;
}

const struct pmpi_hook_communicator *pmpi_hook_comm_bound(uint64_t key)
{
    const struct pmpi_hook_communicator *known = pmpi_hook_comm_cached(key);
    return known ? known : comm_miss(key);
}

/* --- Entries --- */

static void comm_free(struct comm_entry *entry)
{
    pmpi_hook_members_drop(entry->members);
    if (entry->seen.inter)
        pmpi_hook_members_drop(entry->seen.peers);
    free(entry->seen.near);
    free(entry);
}

static void comm_release(struct comm_entry *entry)
{
    while (entry && --entry->references == 0) {
        struct comm_entry *parent = entry->parent;
        pmpi_hook_name_free(entry);
        comm_free(entry);
        entry = parent;
    }
}

/* The order is free again when the handle goes, though children may keep the entry. */
static void comm_retire(struct comm_entry *entry)
{
    pmpi_hook_name_give_back(entry);
    comm_release(entry);
}

static int comm_insert(uint64_t key, struct comm_entry *entry)
{
    struct comm_handle **place = comm_place(key);
    if (*place)
        return 0;
    struct comm_handle *h = malloc(sizeof(*h));
    if (!h)
        return 0;
    *h = (struct comm_handle){.key = key, .entry = entry};
    *place = h;
    entry->references++;
    return 1;
}

static void comm_take_out(uint64_t key, bool retire)
{
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    struct comm_handle **place = comm_place(key), *h = *place;
    if (h) {
        *place = h->next;
        pmpi_hook_comm_anew();
        if (retire)
            watch_board_comm_gone(h->entry->seen.board);
        if (retire)
            comm_retire(h->entry);
        else
            comm_release(h->entry);
        free(h);
    }
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
}

/* --- Making an entry --- */

/* A distributed graph that is made of a Cartesian communicator, and its duplicates, are Cartesian for MPI_Topo_test of
   Open MPI 5.0.7, and who believes it crashes. */
static int comm_topology(const struct comm_entry *parent, const char *kind, MPI_Comm comm)
{
    int topology;
    if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    bool graph = parent && (!strcmp(kind, "dist_graph") ||
                            (!strcmp(kind, "dup") && parent->topology == MPI_DIST_GRAPH));
    return topology == MPI_CART && graph ? MPI_DIST_GRAPH : topology;
}

static bool comm_measure(struct comm_entry *entry, const struct comm_entry *parent, const char *kind, MPI_Comm comm)
{
    int inter = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return false;
    PMPI_Comm_size(comm, &entry->seen.size);
    PMPI_Comm_rank(comm, &entry->seen.rank);
    entry->seen.inter = inter != 0;
    entry->seen.fan = entry->seen.size;
    if (inter) {
        PMPI_Comm_remote_size(comm, &entry->seen.fan);
        entry->seen.rank = -1;
    } else {
        entry->topology = comm_topology(parent, kind, comm);
    }
    entry->members = pmpi_hook_members_of(comm, false);
    entry->seen.peers = inter ? pmpi_hook_members_of(comm, true) : entry->members;
    if (!inter)
        entry->seen.near = pmpi_hook_near_of(entry->topology, comm, entry->members);
    bool grid = entry->seen.near && entry->seen.near->grid;
    entry->seen.places = !inter && entry->seen.size > 0 && (grid || (uint32_t)entry->seen.size != session_ranks());
    return true;
}

int64_t pmpi_hook_comm_place(const struct pmpi_hook_communicator *comm, int rank)
{
    int neighbours = comm->near ? comm->near->grid : 0;
    for (int i = 0; i < neighbours; i++)
        if (comm->near->of[i].rank == rank)
            return i;
    return neighbours + (rank - comm->rank + comm->size) % comm->size;
}

/* Who is in it, told to the session. */
static void comm_tell_members(const struct comm_entry *entry)
{
    const struct pmpi_hook_members *own = entry->members, *peers = entry->seen.peers;
    if (!own || !peers)
        return;
    struct session_members remote = {peers->runs, peers->run_count};
    session_comm_members(entry->seen.number, (struct session_members){own->runs, own->run_count},
                         entry->seen.inter ? &remote : NULL);
}

/* Those of one name are told apart by their members. */
static void comm_show(struct comm_entry *entry, MPI_Comm comm)
{
    const struct pmpi_hook_members *m = entry->members;
    entry->seen.board = watch_board_comm((uint64_t)(uintptr_t)comm, entry->seen.number, entry->name, entry->seen.rank,
                                         entry->seen.size, m ? m->runs : NULL, m ? m->run_count * sizeof *m->runs : 0);
}

/* The attribute is only there for its delete callback. Without it the handle would outlive the communicator. */
static struct comm_entry *comm_add(struct comm_entry *parent, const char *kind, const char *name, MPI_Comm comm)
{
    struct comm_entry *entry = calloc(1, sizeof(*entry));
    if (!entry || !comm_measure(entry, parent, kind, comm)) {
        free(entry);
        return NULL;
    }
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    pmpi_hook_name(entry, parent, kind, name);
    bool mine = comm_insert(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM), entry);
    if (mine) {
        comm_show(entry, comm);
    } else { /* another thread has just met it */
        entry->references = 1;
        comm_retire(entry);
        const struct comm_handle *h = *comm_place(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM));
        entry = h ? h->entry : NULL;
    }
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
    if (!mine)
        return entry;
    if (comm_keyval == MPI_KEYVAL_INVALID || PMPI_Comm_set_attr(comm, comm_keyval, NULL) != MPI_SUCCESS) {
        comm_take_out(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM), true);
        return NULL;
    }
    comm_tell_members(entry);
    return entry;
}

static int comm_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)value;
    (void)extra;
    comm_take_out(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM), true);
    return MPI_SUCCESS;
}

/* --- For the wrappers --- */

void pmpi_hook_comm_open(void)
{
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &comm_keyval, NULL) != MPI_SUCCESS)
        comm_keyval = MPI_KEYVAL_INVALID;
}

/* The attributes stay where they are: their callback still works while MPI_Finalize deletes them. */
void pmpi_hook_comm_close(void)
{
    if (comm_keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&comm_keyval);
}

/* Those that nobody made. */
static const char *comm_given_name(MPI_Comm comm)
{
    MPI_Comm parent = MPI_COMM_NULL;
    if (comm == MPI_COMM_WORLD)
        return "world";
    if (comm == MPI_COMM_SELF)
        return "self";
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && comm == parent ? "parent" : NULL;
}

__attribute__((noinline)) const struct pmpi_hook_communicator *pmpi_hook_comm_uncached(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return NULL;
    const struct pmpi_hook_communicator *known = comm_miss(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM));
    if (known)
        return known;
    struct comm_entry *entry = comm_add(NULL, "unseen", comm_given_name(comm), comm);
    return entry ? &entry->seen : NULL;
}

const struct pmpi_hook_communicator *pmpi_hook_comm_known(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return pmpi_hook_comm_of(comm);
    return comm == MPI_COMM_NULL ? NULL : pmpi_hook_comm_bound(PMPI_HOOK_KEY(comm, PMPI_HOOK_OF_COMM));
}

/* The rank is in none of those that the call made. */
static void comm_left_out(struct comm_entry *parent, const char *kind)
{
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    pmpi_hook_name_left_out(parent, kind);
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
}

void pmpi_hook_comm_born(const struct pmpi_hook_communicator *parent, const char *kind, MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        comm_add((struct comm_entry *)parent, kind, NULL, comm);
    else if (parent)
        comm_left_out((struct comm_entry *)parent, kind);
}

void pmpi_hook_comm_bind(uint64_t key, const struct pmpi_hook_communicator *comm)
{
    if (!comm)
        return;
    comm_take_out(key, false);
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    comm_insert(key, (struct comm_entry *)comm);
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
}

void pmpi_hook_comm_unbind(uint64_t key)
{
    comm_take_out(key, false);
}

/* --- Nonblocking duplicates --- */

struct pmpi_hook_idup *pmpi_hook_idup_make(const struct pmpi_hook_communicator *parent, const char *kind,
                                           struct pmpi_hook_handles comm)
{
    struct pmpi_hook_idup *idup = parent ? malloc(sizeof(*idup)) : NULL;
    if (!idup)
        return NULL;
    *idup = (struct pmpi_hook_idup){.parent = (struct comm_entry *)parent, .kind = kind, .comm = comm};
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    idup->parent->references++;
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
    return idup;
}

void pmpi_hook_idup_drop(struct pmpi_hook_idup *idup)
{
    if (!idup)
        return;
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    comm_release(idup->parent);
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
    free(idup);
}

void pmpi_hook_idup_done(struct pmpi_hook_idup *idup)
{
    if (idup)
        pmpi_hook_comm_born(&idup->parent->seen, idup->kind, pmpi_hook_comm_at(idup->comm, 0));
    pmpi_hook_idup_drop(idup);
}
