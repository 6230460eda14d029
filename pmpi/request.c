/* SPDX-License-Identifier: MIT */
/* Requests: open addressing without tombstones; every look-up scans its window. */
#include "pmpi/request.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "pmpi/comm.h"
#include "watch/board.h"

#define REQUEST_BUSY 1u /* no handle has this value */

enum { REQUEST_FLAGS = 256, REQUEST_SPINS = 1000, REQUEST_NAP_US = 100, REQUEST_LOOKS = 5000 };

struct request_slot {
    const MPI_Request *_Atomic where; /* NULL: found by its handle alone */
    const MPI_Request *first; /* the variable that it was started with */
    struct pmpi_hook_start start;
    uint32_t window; /* that it is in: its first slot */
    bool shared; /* of a slot found by handle: there are others with this handle */
};

static _Atomic uint64_t request_keys[PMPI_HOOK_SLOTS]; /* side by side: a window is two lines of cache */
static _Atomic uint8_t request_living[PMPI_HOOK_SLOTS]; /* by window: its keys. Most are 0 or 1 */
static struct request_slot request_table[PMPI_HOOK_SLOTS];

static bool request_threads; /* several threads may be in here at a time */

static uint64_t request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request << 1 | (uint64_t)1 << 63;
}

/* MPI may give a message and a request the same value: they differ in a bit in which no two handles of one kind do. */
static uint64_t request_message_key(MPI_Message message)
{
    return ((uint64_t)(uintptr_t)message << 1 | (uint64_t)1 << 63) ^ (uint64_t)1 << 62;
}

/* The first slot of the window. Handles of one pool are neighbours, Open MPI's a line of cache or more apart, as are
   the program's variables: their slots are neighbours, too, in few pages. */
static uint32_t request_window(uint64_t key, const void *where)
{
#if defined(OPEN_MPI)
    enum { APART = 7 };
#else
    enum { APART = 1 };
#endif
    return ((uint32_t)(key >> APART) + (uint32_t)((uintptr_t)where / sizeof(MPI_Request))) %
           (PMPI_HOOK_SLOTS - PMPI_HOOK_WINDOW);
}

static struct request_slot *request_exact(uint64_t key, const void *where)
{
    uint32_t window = request_window(key, where);
    if (!atomic_load_explicit(&request_living[window], memory_order_acquire))
        return NULL;
    for (uint32_t i = window; i < window + PMPI_HOOK_WINDOW; i++)
        if (atomic_load_explicit(&request_keys[i], memory_order_acquire) == key &&
            atomic_load_explicit(&request_table[i].where, memory_order_relaxed) == where)
            return &request_table[i];
    return NULL;
}

/* The slot of a request: of this very variable where the handle is shared, else the handle's. */
static struct request_slot *request_slot(uint64_t key, const void *where)
{
    struct request_slot *slot = request_exact(key, NULL);
    if (!slot || !slot->shared || !where)
        return slot;
    struct request_slot *own = request_exact(key, where);
    return own ? own : slot;
}

/* One key more, or one less, in the windows that begin here. */
static void request_count(uint32_t window, int change)
{
    if (request_threads)
        atomic_fetch_add_explicit(&request_living[window], (uint8_t)change, memory_order_acq_rel);
    else
        atomic_store_explicit(&request_living[window],
                              (uint8_t)(atomic_load_explicit(&request_living[window], memory_order_relaxed) + change),
                              memory_order_relaxed);
}

/* Whether the slot is ours to fill, which had the key `was`. */
static bool request_take(uint32_t i, uint64_t was)
{
    if (request_threads && !atomic_compare_exchange_strong(&request_keys[i], &was, REQUEST_BUSY))
        return false;
    if (was)
        request_count(request_table[i].window, -1);
    return true;
}

/* A slot that is ours; the caller writes its start, and its key. */
static inline struct pmpi_hook_start *request_slot_begin(uint32_t i, uint32_t window, const void *where,
                                                         const MPI_Request *first)
{
    struct request_slot *slot = &request_table[i];
    request_count(window, 1);
    atomic_store_explicit(&slot->where, where, memory_order_relaxed);
    slot->first = first;
    slot->window = window;
    slot->shared = false;
    return &slot->start;
}

/* Writes a start into a free slot of the window. Where there is none, one that a moved variable has left behind is
   taken: those found by handle and address are never the only way to know a start. */
static bool request_fill(uint64_t key, const void *where, const MPI_Request *first,
                         const struct pmpi_hook_start *start)
{
    uint32_t window = request_window(key, where);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = window; i < window + PMPI_HOOK_WINDOW; i++) {
            uint64_t was = atomic_load_explicit(&request_keys[i], memory_order_relaxed);
            if (was == REQUEST_BUSY ||
                (pass == 0 ? was != 0 : !atomic_load_explicit(&request_table[i].where, memory_order_relaxed)))
                continue;
            if (!request_take(i, was))
                continue;
            *request_slot_begin(i, window, where, first) = *start;
            atomic_store_explicit(&request_keys[i], key, memory_order_release);
            return true;
        }
    }
    return false;
}

struct pmpi_hook_start *pmpi_hook_request_new(MPI_Request request, const void *where)
{
    uint64_t key = request_key(request);
    uint32_t window = request_window(key, NULL);
    if (request_threads || atomic_load_explicit(&request_living[window], memory_order_relaxed) ||
        atomic_load_explicit(&request_keys[window], memory_order_relaxed))
        return NULL;
    atomic_store_explicit(&request_keys[window], key, memory_order_relaxed);
    return request_slot_begin(window, window, NULL, where);
}

/* --- Handles that several threads have at once --- */

/* Those of sends that were complete at once are one and the same everywhere. What belongs to a handle is guarded by its
   flag, held for some ns; who does not get it for long (its holder lost the processor) goes without. */
static atomic_flag request_flags[REQUEST_FLAGS];

void pmpi_hook_request_threads(bool many)
{
    request_threads = many;
}

static atomic_flag *request_flag(uint64_t key)
{
    return &request_flags[(key * 0x9e3779b97f4a7c15u) >> 32 & (REQUEST_FLAGS - 1)];
}

static __attribute__((noinline)) bool request_wait(atomic_flag *flag)
{
    for (int i = 0; atomic_flag_test_and_set_explicit(flag, memory_order_acquire); i++) {
        if (i == REQUEST_LOOKS)
            return false;
        if (i > REQUEST_SPINS) {
            int kept = errno;
            usleep(REQUEST_NAP_US); /* the holder lost its processor, perhaps to us */
            errno = kept;
        }
    }
    return true;
}

static inline bool request_enter(uint64_t key)
{
    return !request_threads || request_wait(request_flag(key));
}

static inline void request_leave(uint64_t key)
{
    if (request_threads)
        atomic_flag_clear_explicit(request_flag(key), memory_order_release);
}

/* --- Starts and completions; inside enter and leave: idups are kept and dropped by the caller, afterwards --- */

/* Returns the idup that is forgotten with it. */
static struct pmpi_hook_idup *request_replace(struct request_slot *slot, const struct pmpi_hook_start *start)
{
    struct pmpi_hook_idup *old = slot->start.idup != start->idup ? slot->start.idup : NULL;
    slot->start = *start;
    return old;
}

static bool request_put(uint64_t key, const void *where, const struct pmpi_hook_start *start,
                        struct pmpi_hook_idup **old)
{
    struct request_slot *slot = request_exact(key, NULL);
    if (!slot)
        return request_fill(key, NULL, where, start);
    /* A second start with a living handle: shared, or its completion was not seen. Either way the address helps. */
    if (!start->idup && !start->persistent) {
        if (!slot->shared && !slot->start.idup && !slot->start.persistent && slot->first != where)
            request_fill(key, slot->first, slot->first, &slot->start);
        slot->shared = true;
        struct request_slot *own = request_exact(key, where);
        if (own)
            request_replace(own, start); /* has no idup */
        else
            request_fill(key, where, where, start);
    }
    *old = request_replace(slot, start);
    return true;
}

bool pmpi_hook_request_put(MPI_Request request, const void *where, const struct pmpi_hook_start *start)
{
    uint64_t key = request_key(request);
    struct pmpi_hook_idup *old = NULL;
    if (request == MPI_REQUEST_NULL || !request_enter(key))
        return false;
    bool kept = request_put(key, where, start, &old);
    request_leave(key);
    pmpi_hook_idup_drop(old);
    return kept;
}

bool pmpi_hook_request_find(MPI_Request request, const void *where, struct pmpi_hook_start *start)
{
    uint64_t key = request_key(request);
    if (request == MPI_REQUEST_NULL || !request_enter(key))
        return false;
    struct request_slot *slot = request_slot(key, where);
    if (slot)
        *start = slot->start;
    request_leave(key);
    return slot != NULL;
}

bool pmpi_hook_request_restart(MPI_Request request, uint64_t event, uint32_t terminal, struct pmpi_hook_start *start)
{
    uint64_t key = request_key(request);
    if (request == MPI_REQUEST_NULL || !request_enter(key))
        return false;
    struct request_slot *slot = request_slot(key, NULL);
    if (slot) {
        *start = slot->start; /* first: wide reads of what was just written in pieces wait until it is out */
        slot->start.active = start->active = true;
        slot->start.event = event;
        slot->start.terminal = terminal;
    }
    request_leave(key);
    return slot != NULL;
}

/* Frees a slot, unless another handle has taken it meanwhile. */
static void request_give(uint64_t key, struct request_slot *slot)
{
    _Atomic uint64_t *at = &request_keys[slot - request_table];
    uint32_t window = slot->window;
    if (!request_threads)
        atomic_store_explicit(at, 0, memory_order_relaxed);
    else if (!atomic_compare_exchange_strong(at, &key, 0))
        return;
    request_count(window, -1);
}

/* The handle's own slot stays once it is shared: the other starts are found through it. */
static struct pmpi_hook_idup *request_release(uint64_t key, struct request_slot *slot)
{
    struct pmpi_hook_idup *idup = slot->start.idup;
    slot->start.idup = NULL;
    if (slot->where || !slot->shared)
        request_give(key, slot);
    return idup;
}

static __attribute__((flatten, noinline))
const struct pmpi_hook_start *request_completed(MPI_Request request, uint64_t key, const void *where,
                                                struct pmpi_hook_start *room)
{
    struct pmpi_hook_idup *idup = NULL;
    const struct pmpi_hook_start *start = NULL;
    if (!request_enter(key))
        return NULL;
    struct request_slot *slot = request_slot(key, where);
    if (slot) {
        start = &slot->start;
        if (request_threads || start->persistent) {
            *room = *start;
            start = room;
        }
        slot->start.active = false;
        idup = slot->start.persistent ? NULL : request_release(key, slot);
    }
    watch_board_completed((uint64_t)(uintptr_t)request);
    request_leave(key);
    pmpi_hook_idup_done(idup);
    return start;
}

/* Most are the only ones of their handle, in the first slot of their window, and started once. */
const struct pmpi_hook_start *pmpi_hook_request_completed(MPI_Request request, const void *where,
                                                          struct pmpi_hook_start *room)
{
    uint64_t key = request_key(request);
    uint32_t window = request_window(key, NULL);
    struct request_slot *slot = &request_table[window];
    if (request_threads || atomic_load_explicit(&request_keys[window], memory_order_relaxed) != key ||
        atomic_load_explicit(&slot->where, memory_order_relaxed) || slot->shared || slot->start.persistent ||
        slot->start.idup)
        return request_completed(request, key, where, room);
    atomic_store_explicit(&request_keys[window], 0, memory_order_relaxed);
    request_count(slot->window, -1);
    watch_board_completed((uint64_t)(uintptr_t)request);
    return &slot->start;
}

void pmpi_hook_request_forget(MPI_Request request, const void *where)
{
    uint64_t key = request_key(request);
    struct pmpi_hook_idup *idup = NULL;
    int kept = errno;
    if (request == MPI_REQUEST_NULL || !request_enter(key))
        return;
    struct request_slot *slot = request_slot(key, where);
    if (slot)
        idup = request_release(key, slot);
    watch_board_completed((uint64_t)(uintptr_t)request);
    request_leave(key);
    pmpi_hook_idup_drop(idup);
    errno = kept;
}

bool pmpi_hook_request_peers(void (*show)(const struct pmpi_hook_members *peers))
{
    for (uint32_t i = 0; i < PMPI_HOOK_SLOTS && !request_threads; i++)
        if (atomic_load_explicit(&request_keys[i], memory_order_relaxed) && request_table[i].start.peers)
            show(request_table[i].start.peers);
    return !request_threads;
}

/* --- Messages: a handle is one message's, and the program gives it to one receive --- */

void pmpi_hook_message_put(MPI_Message message, const struct pmpi_hook_start *start)
{
    uint64_t key = request_message_key(message);
    if (!request_enter(key))
        return;
    struct request_slot *slot = request_exact(key, NULL);
    if (slot) /* its receive was not seen */
        slot->start = *start;
    else
        request_fill(key, NULL, NULL, start);
    request_leave(key);
}

bool pmpi_hook_message_take(MPI_Message message, struct pmpi_hook_start *start)
{
    uint64_t key = request_message_key(message);
    if (message == MPI_MESSAGE_NULL || !request_enter(key))
        return false;
    struct request_slot *slot = request_exact(key, NULL);
    if (slot) {
        *start = slot->start;
        request_release(key, slot);
    }
    request_leave(key);
    return slot != NULL;
}
