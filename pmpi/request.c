/* SPDX-License-Identifier: MIT */
/* Requests: open addressing without locks and without tombstones; every look-up scans its window. */
#include "pmpi/request.h"

#include <stdatomic.h>
#include <stddef.h>

#include "pmpi/comm.h"

#define REQUEST_BUSY 1u /* no handle has this value */

struct request_slot {
    const MPI_Request *where; /* NULL: found by its handle alone */
    const MPI_Request *first; /* the variable that it was started with */
    struct pmpi_hook_start start;
    bool shared; /* of a slot found by handle: there are others with this handle */
};

static _Atomic uint64_t request_keys[PMPI_HOOK_SLOTS]; /* side by side: a window is two lines of cache */
static struct request_slot request_table[PMPI_HOOK_SLOTS];

static uint64_t request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request << 1 | (uint64_t)1 << 63;
}

/* The first slot of the window. */
static uint32_t request_window(uint64_t key, const MPI_Request *where)
{
    uint64_t mixed = (key ^ (uint64_t)(uintptr_t)where * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 32) % (PMPI_HOOK_SLOTS - PMPI_HOOK_WINDOW);
}

static struct request_slot *request_exact(uint64_t key, const MPI_Request *where)
{
    uint32_t window = request_window(key, where);
    for (uint32_t i = window; i < window + PMPI_HOOK_WINDOW; i++)
        if (atomic_load_explicit(&request_keys[i], memory_order_acquire) == key && request_table[i].where == where)
            return &request_table[i];
    return NULL;
}

/* The slot of a request: of this very variable where the handle is shared, else the handle's. */
static struct request_slot *request_slot(MPI_Request request, const MPI_Request *where)
{
    uint64_t key = request_key(request);
    if (request == MPI_REQUEST_NULL)
        return NULL;
    struct request_slot *slot = request_exact(key, NULL);
    if (!slot || !slot->shared || !where)
        return slot;
    struct request_slot *own = request_exact(key, where);
    return own ? own : slot;
}

/* Writes a start into a free slot of the window. Where there is none, one that a moved variable has left behind is
   taken: those found by handle and address are never the only way to know a start. */
static bool request_fill(uint64_t key, const MPI_Request *where, const MPI_Request *first,
                         const struct pmpi_hook_start *start)
{
    uint32_t window = request_window(key, where);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = window; i < window + PMPI_HOOK_WINDOW; i++) {
            uint64_t was = atomic_load_explicit(&request_keys[i], memory_order_relaxed);
            if (was == REQUEST_BUSY || (pass == 0 ? was != 0 : !request_table[i].where))
                continue;
            if (!atomic_compare_exchange_strong(&request_keys[i], &was, REQUEST_BUSY))
                continue;
            request_table[i] = (struct request_slot){.where = where, .first = first, .start = *start};
            atomic_store_explicit(&request_keys[i], key, memory_order_release);
            return true;
        }
    }
    return false;
}

static void request_replace(struct request_slot *slot, const struct pmpi_hook_start *start)
{
    if (slot->start.promise != start->promise)
        pmpi_hook_promise_drop(slot->start.promise);
    slot->start = *start;
}

bool pmpi_hook_request_put(MPI_Request request, const MPI_Request *where, const struct pmpi_hook_start *start)
{
    uint64_t key = request_key(request);
    if (request == MPI_REQUEST_NULL)
        return false;
    struct request_slot *slot = request_exact(key, NULL);
    if (!slot)
        return request_fill(key, NULL, where, start);
    /* A second start with a living handle: shared, or its completion was not seen. Either way the address helps. */
    if (!start->promise && !start->persistent) {
        if (!slot->shared && !slot->start.promise && !slot->start.persistent && slot->first != where)
            request_fill(key, slot->first, slot->first, &slot->start);
        slot->shared = true;
        struct request_slot *own = request_exact(key, where);
        if (own)
            request_replace(own, start);
        else
            request_fill(key, where, where, start);
    }
    request_replace(slot, start);
    return true;
}

bool pmpi_hook_request_find(MPI_Request request, const MPI_Request *where, struct pmpi_hook_start *start)
{
    struct request_slot *slot = request_slot(request, where);
    if (slot)
        *start = slot->start;
    return slot != NULL;
}

bool pmpi_hook_request_restart(MPI_Request request, struct pmpi_hook_start *start)
{
    struct request_slot *slot = request_slot(request, NULL);
    if (!slot)
        return false;
    slot->start.active = true;
    *start = slot->start;
    return true;
}

/* The handle's own slot stays once it is shared: the other starts are found through it. */
static void request_release(struct request_slot *slot)
{
    struct pmpi_hook_promise *promise = slot->start.promise;
    slot->start.promise = NULL;
    if (slot->where || !slot->shared)
        atomic_store_explicit(&request_keys[slot - request_table], 0, memory_order_release);
    pmpi_hook_promise_keep(promise);
}

void pmpi_hook_request_complete(MPI_Request request, const MPI_Request *where)
{
    struct request_slot *slot = request_slot(request, where);
    if (!slot)
        return;
    if (slot->start.persistent)
        slot->start.active = false;
    else
        request_release(slot);
}

void pmpi_hook_request_forget(MPI_Request request, const MPI_Request *where)
{
    struct request_slot *slot = request_slot(request, where);
    if (!slot)
        return;
    pmpi_hook_promise_drop(slot->start.promise);
    slot->start.promise = NULL;
    request_release(slot);
}
