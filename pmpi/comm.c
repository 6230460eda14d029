/* SPDX-License-Identifier: MIT */
/* Communicators: a locked hash table of handles, with a cache per thread in front. */
#include "pmpi/comm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "grammar/flat.h"
#include "pmpi/members.h"
#include "pmpi/near.h"
#include "pmpi/variants.h"
#include "session/ask.h"
#include "session/stream.h"
#include "watch/board.h"

enum { COMM_BUCKETS = 256, COMM_CACHE = 16, COMM_NAME = 160, COMM_PARTS = 64, COMM_WHOLES = 256 };

/* Who is in a child, and in the other group of an intercommunicator. */
struct comm_who {
    const struct pmpi_hook_members *own, *peers;
};

/* Children that some of the parent's ranks have: of each number, and in which order these came. */
struct comm_parts {
    struct comm_who who[COMM_PARTS];
    bool live[COMM_PARTS];
    struct pmpi_hook_order order;
};

/* Numbers of the children made in one way. */
struct comm_kind {
    struct comm_kind *next;
    const char *kind;
    uint32_t calls;                      /* that made some, or left this rank out */
    uint64_t wholes[COMM_WHOLES / 64];   /* bit k: a child with all members of its parent has number k */
    struct comm_parts *parts;            /* NULL: not yet */
    struct comm_entry *alone;            /* living ones that not all of the parent's ranks know of */
};

/* How a child has its number. */
enum comm_how { COMM_WHOLE, COMM_PART, COMM_ALONE };

struct comm_entry {
    struct pmpi_hook_communicator seen; /* first: what others see */
    struct comm_entry *parent;
    struct comm_kind *children;
    struct comm_kind *made; /* the parent's, where `order` is taken */
    enum comm_how how;
    struct comm_entry *next; /* of the parent's alone, where it is one of these */
    uint32_t order;
    bool by_chance; /* its number is "*" */
    uint32_t references;
    const struct pmpi_hook_members *members; /* its own group; NULL: not known */
    int topology;                            /* as MPI_Topo_test should say */
    char name[COMM_NAME];
};

struct comm_handle {
    struct comm_handle *next;
    uint64_t key;
    struct comm_entry *entry;
};

struct pmpi_hook_idup {
    struct comm_entry *parent;
    const char *kind;
    const MPI_Comm *comm;
    const MPI_Fint *fortran; /* instead of comm */
};

static pthread_mutex_t comm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm_handle *comm_table[COMM_BUCKETS]; /* guarded by comm_lock */
static struct comm_entry comm_nobody;                /* parent of those without; guarded by comm_lock */
static uint32_t comm_deep;                           /* guarded by comm_lock */
static atomic_uint comm_generation;                  /* rises when a handle is taken out */
static int comm_keyval = MPI_KEYVAL_INVALID;

static _Thread_local struct {
    unsigned generation;
    struct { uint64_t key; struct comm_entry *entry; } slot[COMM_CACHE];
} comm_cache __attribute__((tls_model("initial-exec")));

/* --- Handles --- */

/* Handles are pointers or integers, according to the MPI library; those of different kinds may be equal. */
enum comm_what { COMM_COMM = 1, COMM_WINDOW, COMM_FILE };
#define COMM_KEY(handle, what) ((uint64_t)(uintptr_t)(handle) ^ (uint64_t)(what) << 60)

static unsigned comm_mix(uint64_t key)
{
    return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40);
}

static struct comm_handle **comm_place(uint64_t key)
{
    struct comm_handle **h = &comm_table[comm_mix(key) % COMM_BUCKETS];
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
static __attribute__((noinline)) struct comm_entry *comm_miss(uint64_t key)
{
    unsigned now = atomic_load_explicit(&comm_generation, memory_order_acquire);
    if (comm_cache.generation != now) {
        memset(&comm_cache, 0, sizeof(comm_cache));
        comm_cache.generation = now;
    }
    struct comm_entry *entry = comm_find(key);
    if (entry) {
        comm_cache.slot[comm_mix(key) % COMM_CACHE].key = key;
        comm_cache.slot[comm_mix(key) % COMM_CACHE].entry = entry;
    }
    return entry;
}

static inline struct comm_entry *comm_cached(uint64_t key)
{
    unsigned slot = comm_mix(key) % COMM_CACHE;
    return __builtin_expect(comm_cache.slot[slot].key == key && comm_cache.generation ==
                            atomic_load_explicit(&comm_generation, memory_order_acquire), 1)
               ? comm_cache.slot[slot].entry : NULL;
}

static struct comm_entry *comm_lookup(uint64_t key)
{
    struct comm_entry *entry = comm_cached(key);
    return entry ? entry : comm_miss(key);
}

/* --- Numbers; comm_lock held --- */

static struct comm_kind *comm_kind(struct comm_entry *parent, const char *kind)
{
    struct comm_kind *k = parent->children;
    while (k && strcmp(k->kind, kind) != 0)
        k = k->next;
    if (!k && (k = calloc(1, sizeof(*k)))) {
        k->kind = kind;
        k->next = parent->children;
        parent->children = k;
    }
    return k;
}

static bool comm_same(const struct comm_who *a, const struct comm_entry *b)
{
    return a->own == b->members && a->peers == b->seen.peers;
}

/* All ranks of the parent have it: the lowest number that none of them has. The last one is shared. */
static uint32_t comm_order_whole(struct comm_kind *k)
{
    for (uint32_t i = 0; i < COMM_WHOLES - 1; i++)
        if (!(k->wholes[i / 64] >> i % 64 & 1)) {
            k->wholes[i / 64] |= UINT64_C(1) << i % 64;
            return i;
        }
    return COMM_WHOLES - 1;
}

/* Some have it: that of an earlier one with these members, else which call of the parent's it was. The last one is
   shared. */
static uint32_t comm_order_part(struct comm_kind *k, const struct comm_entry *entry, uint32_t call)
{
    struct comm_parts *p = k->parts;
    if (!p && !(p = k->parts = calloc(1, sizeof(*p))))
        return COMM_PARTS;
    uint32_t i = 0;
    while (i < COMM_PARTS && (p->live[i] || !p->who[i].own || !comm_same(&p->who[i], entry)))
        i++;
    i = i < COMM_PARTS || call >= COMM_PARTS ? i : call;
    if (i < COMM_PARTS) {
        p->who[i] = (struct comm_who){entry->members, entry->seen.peers};
        p->live[i] = true;
    }
    return i;
}

/* Only its members know of it: the lowest number that no other one of these has. */
static uint32_t comm_order_alone(struct comm_kind *k, struct comm_entry *entry)
{
    uint64_t taken[COMM_WHOLES / 64] = {0};
    const struct comm_who who = {entry->members, entry->seen.peers};
    uint32_t i = 0;
    for (const struct comm_entry *e = k->alone; e; e = e->next)
        if (comm_same(&who, e))
            taken[e->order / 64] |= UINT64_C(1) << e->order % 64;
    while (i < COMM_WHOLES - 1 && taken[i / 64] >> i % 64 & 1)
        i++;
    entry->next = k->alone;
    k->alone = entry;
    return i;
}

static void comm_give_order(struct comm_entry *entry)
{
    struct comm_kind *k = entry->made;
    if (entry->how == COMM_WHOLE && entry->order < COMM_WHOLES - 1)
        k->wholes[entry->order / 64] &= ~(UINT64_C(1) << entry->order % 64);
    else if (entry->how == COMM_PART && entry->order < COMM_PARTS)
        k->parts->live[entry->order] = false;
    struct comm_entry **e = &k->alone;
    while (entry->how == COMM_ALONE && *e && *e != entry)
        e = &(*e)->next;
    if (entry->how == COMM_ALONE && *e)
        *e = entry->next;
}

static void comm_release(struct comm_entry *entry)
{
    while (entry && --entry->references == 0) {
        struct comm_entry *parent = entry->parent;
        while (entry->children) {
            struct comm_kind *k = entry->children;
            entry->children = k->next;
            free(k->parts);
            free(k);
        }
        free(entry->seen.near);
        free(entry);
        entry = parent;
    }
}

/* The order is free again when the handle goes, though children may keep the entry. */
static void comm_retire(struct comm_entry *entry)
{
    if (entry->made) {
        comm_give_order(entry);
        entry->made = NULL;
    }
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
        atomic_fetch_add_explicit(&comm_generation, 1, memory_order_release);
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

/* What not all of the parent's ranks take part in making. */
static enum comm_how comm_how(const struct comm_entry *entry, const struct comm_entry *parent, const char *kind)
{
    if (!parent || !strcmp(kind, "create_group"))
        return COMM_ALONE;
    bool some = !entry->seen.inter && entry->members && parent->members && entry->seen.size < parent->seen.size;
    return some ? COMM_PART : COMM_WHOLE;
}

/* A grammar would not repeat where numbers come by chance, of parts or between parts and wholes. */
static bool comm_by_chance(const struct comm_entry *entry)
{
    bool told = entry->how == COMM_PART && entry->order < VARIANTS_MOST;
    uint8_t number = told ? (uint8_t)entry->order : VARIANTS_MOST;
    struct comm_parts *parts = entry->how == COMM_ALONE ? NULL : entry->made->parts;
    return parts && !pmpi_hook_order_follow(&parts->order, number);
}

static void comm_name_child(struct comm_entry *entry, struct comm_entry *parent, const char *kind)
{
    struct comm_kind *k = comm_kind(parent ? parent : &comm_nobody, kind);
    if (!k) {
        snprintf(entry->name, sizeof(entry->name), "deep/%s#%u", kind, comm_deep++);
        return;
    }
    entry->parent = parent;
    if (parent)
        parent->references++;
    entry->made = k;
    entry->how = comm_how(entry, parent, kind);
    uint32_t call = k->calls++;
    entry->order = entry->how == COMM_WHOLE  ? comm_order_whole(k)
                   : entry->how == COMM_PART ? comm_order_part(k, entry, call)
                                             : comm_order_alone(k, entry);
    char number[16] = "*";
    entry->by_chance = comm_by_chance(entry);
    if (!entry->by_chance)
        snprintf(number, sizeof(number), "%u", entry->order);
    int length = snprintf(entry->name, sizeof(entry->name), "%s%s%s#%s", parent ? parent->name : "", parent ? "/" : "",
                          kind, number);
    if (length >= (int)sizeof(entry->name))
        snprintf(entry->name, sizeof(entry->name), "deep/%s#%u", kind, comm_deep++);
}

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

/* The neighbours are asked for once: MPI_Cart_shift computes. */
static void comm_neighbours(struct pmpi_hook_communicator *comm, MPI_Comm handle)
{
    int dimensions = 0;
    if (PMPI_Cartdim_get(handle, &dimensions) != MPI_SUCCESS)
        return;
    for (int d = 0; d < dimensions && 2 * d + 1 < PMPI_HOOK_NEIGHBOURS; d++)
        if (PMPI_Cart_shift(handle, d, 1, &comm->neighbour[2 * d], &comm->neighbour[2 * d + 1]) == MPI_SUCCESS)
            comm->neighbours = 2 * d + 2;
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
        if (entry->topology == MPI_CART)
            comm_neighbours(&entry->seen, comm);
    }
    entry->members = pmpi_hook_members_of(comm, false);
    entry->seen.peers = inter ? pmpi_hook_members_of(comm, true) : entry->members;
    if (!inter)
        entry->seen.near = pmpi_hook_near_of(entry->topology, comm, entry->members);
    return true;
}

int64_t pmpi_hook_comm_place(const struct pmpi_hook_communicator *comm, int rank)
{
    if (comm->inter || comm->size <= 0 || (comm->neighbours == 0 && (uint32_t)comm->size == session_ranks()))
        return -1;
    for (int i = 0; i < comm->neighbours; i++)
        if (comm->neighbour[i] == rank)
            return i;
    return comm->neighbours + (rank - comm->rank + comm->size) % comm->size;
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

/* Defines it; a name that had other members before gets what tells it from these. comm_lock held. */
static uint32_t comm_number(struct comm_entry *entry)
{
    uint32_t size = (uint32_t)entry->seen.size, number = session_comm(entry->name, size);
    if (number == GRAMMAR_NONE || !entry->made || entry->by_chance)
        return number;
    pmpi_hook_variant_name(number, entry->members, entry->seen.peers, entry->name, sizeof(entry->name));
    return session_comm(entry->name, size);
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
    if (name)
        snprintf(entry->name, sizeof(entry->name), "%s", name);
    else
        comm_name_child(entry, parent, kind);
    entry->seen.name = entry->name;
    entry->seen.number = comm_number(entry);
    if (!comm_insert(COMM_KEY(comm, COMM_COMM), entry)) {
        entry->references = 1;
        comm_retire(entry);
        entry = NULL;
    } else {
        comm_show(entry, comm);
    }
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
    if (entry && (comm_keyval == MPI_KEYVAL_INVALID || PMPI_Comm_set_attr(comm, comm_keyval, NULL) != MPI_SUCCESS)) {
        comm_take_out(COMM_KEY(comm, COMM_COMM), true);
        entry = NULL;
    }
    if (entry)
        comm_tell_members(entry);
    return entry;
}

static int comm_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)value;
    (void)extra;
    comm_take_out(COMM_KEY(comm, COMM_COMM), true);
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

static __attribute__((noinline)) const struct pmpi_hook_communicator *comm_uncached(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return NULL;
    struct comm_entry *entry = comm_miss(COMM_KEY(comm, COMM_COMM));
    if (!entry)
        entry = comm_add(NULL, "unseen", comm_given_name(comm), comm);
    return entry ? &entry->seen : NULL;
}

const struct pmpi_hook_communicator *pmpi_hook_comm_of(MPI_Comm comm)
{
    struct comm_entry *entry = comm_cached(COMM_KEY(comm, COMM_COMM));
    return __builtin_expect(entry != NULL, 1) ? &entry->seen : comm_uncached(comm);
}

const struct pmpi_hook_communicator *pmpi_hook_comm_known(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return pmpi_hook_comm_of(comm);
    struct comm_entry *entry = comm == MPI_COMM_NULL ? NULL : comm_lookup(COMM_KEY(comm, COMM_COMM));
    return entry ? &entry->seen : NULL;
}

const struct pmpi_hook_communicator *pmpi_hook_comm_of_window(MPI_Win win)
{
    struct comm_entry *entry = win == MPI_WIN_NULL ? NULL : comm_lookup(COMM_KEY(win, COMM_WINDOW));
    return entry ? &entry->seen : NULL;
}

const struct pmpi_hook_communicator *pmpi_hook_comm_of_file(MPI_File file)
{
    struct comm_entry *entry = file == MPI_FILE_NULL ? NULL : comm_lookup(COMM_KEY(file, COMM_FILE));
    return entry ? &entry->seen : NULL;
}

/* The rank is in none of those that the call made, which takes a number all the same. */
static void comm_left_out(struct comm_entry *parent, const char *kind)
{
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    struct comm_kind *k = comm_kind(parent, kind);
    if (k)
        k->calls++;
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
}

void pmpi_hook_comm_born(const struct pmpi_hook_communicator *parent, const char *kind, MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        comm_add((struct comm_entry *)parent, kind, NULL, comm);
    else if (parent)
        comm_left_out((struct comm_entry *)parent, kind);
}

static void comm_bind(uint64_t key, const struct pmpi_hook_communicator *comm)
{
    if (!comm)
        return;
    comm_take_out(key, false);
    base_lock_take(&comm_lock, BASE_LOCK_COMM);
    comm_insert(key, (struct comm_entry *)comm);
    base_lock_release(&comm_lock, BASE_LOCK_COMM);
}

void pmpi_hook_bind_window(MPI_Win win, const struct pmpi_hook_communicator *comm)
{
    comm_bind(COMM_KEY(win, COMM_WINDOW), comm);
}

void pmpi_hook_bind_file(MPI_File file, const struct pmpi_hook_communicator *comm)
{
    comm_bind(COMM_KEY(file, COMM_FILE), comm);
}

void pmpi_hook_forget_window(MPI_Win win)
{
    comm_take_out(COMM_KEY(win, COMM_WINDOW), false);
}

void pmpi_hook_forget_file(MPI_File file)
{
    comm_take_out(COMM_KEY(file, COMM_FILE), false);
}

/* --- Nonblocking duplicates --- */

struct pmpi_hook_idup *pmpi_hook_idup_make(const struct pmpi_hook_communicator *parent, const char *kind,
                                                 const MPI_Comm *comm, const MPI_Fint *fortran)
{
    struct pmpi_hook_idup *idup = parent ? malloc(sizeof(*idup)) : NULL;
    if (!idup)
        return NULL;
    *idup = (struct pmpi_hook_idup){
        .parent = (struct comm_entry *)parent, .kind = kind, .comm = comm, .fortran = fortran};
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

static MPI_Comm comm_of_idup(const struct pmpi_hook_idup *idup)
{
    if (idup->comm)
        return *idup->comm;
    MPI_Comm comm = PMPI_Comm_f2c(*idup->fortran);
    return comm ? comm : MPI_COMM_NULL;
}

void pmpi_hook_idup_done(struct pmpi_hook_idup *idup)
{
    if (idup)
        pmpi_hook_comm_born(&idup->parent->seen, idup->kind, comm_of_idup(idup));
    pmpi_hook_idup_drop(idup);
}
