/* SPDX-License-Identifier: MIT */
#include "omp/ask.h"

#include <stdatomic.h>
#include <stddef.h>

#include "session/unwind.h"

/* Open addressing, a power of two; entries are added and never removed. */
enum { FUNCTIONS = 256, PAIRS = 256 };

static struct {
    atomic_uintptr_t start;   /* 0: free */
    atomic_bool asked;
    atomic_bool starts_region;
} functions[FUNCTIONS];

/* A helper that asked and the function that it was called from. `caller` is stored before `count` is raised by its
   writer; a reader that sees a 0 skips the pair, and the epoch changes when it is there. */
static struct { atomic_uintptr_t helper, caller; } pairs[PAIRS];
static atomic_uint pair_count;
static atomic_uint epoch;
static atomic_bool full;

uintptr_t omp_hook_function(uintptr_t address)
{
    return session_unwind_function(address);
}

static uint32_t slot_of(uintptr_t start)
{
    return (uint32_t)((start >> 4) * 0x9e3779b1u) % FUNCTIONS;
}

/* Index of a function's entry, made where `add`; -1: not there, or no room. */
static int find(uintptr_t start, bool add)
{
    uint32_t slot = slot_of(start);
    for (uint32_t i = 0; i < FUNCTIONS; i++, slot = (slot + 1) % FUNCTIONS) {
        uintptr_t there = atomic_load_explicit(&functions[slot].start, memory_order_acquire);
        if (there == 0) {
            if (!add)
                return -1;
            if (atomic_compare_exchange_strong(&functions[slot].start, &there, start))
                return (int)slot;
        }
        if (there == start)
            return (int)slot;
    }
    if (add)
        atomic_store(&full, true);
    return -1;
}

static void note_pair(uintptr_t helper, uintptr_t caller)
{
    uint32_t count = atomic_load_explicit(&pair_count, memory_order_acquire);
    for (uint32_t i = 0; i < count && i < PAIRS; i++)
        if (atomic_load_explicit(&pairs[i].helper, memory_order_relaxed) == helper &&
            atomic_load_explicit(&pairs[i].caller, memory_order_relaxed) == caller)
            return;
    uint32_t mine = atomic_fetch_add(&pair_count, 1);
    if (mine >= PAIRS) {
        atomic_store(&pair_count, PAIRS);
        atomic_store(&full, true);
    } else {
        atomic_store_explicit(&pairs[mine].helper, helper, memory_order_relaxed);
        atomic_store_explicit(&pairs[mine].caller, caller, memory_order_release);
    }
    atomic_fetch_add(&epoch, 1);
}

void omp_hook_ask_note(uintptr_t frame, uintptr_t above)
{
    uintptr_t start = omp_hook_function(frame - 1);
    int i = start ? find(start, true) : -1;
    if (i < 0) { /* code without an unwind entry, or too many: nobody is above suspicion */
        if (!atomic_exchange(&full, true))
            atomic_fetch_add(&epoch, 1);
        return;
    }
    if (!atomic_exchange(&functions[i].asked, true))
        atomic_fetch_add(&epoch, 1);
    if (above && !atomic_load_explicit(&functions[i].starts_region, memory_order_relaxed)) {
        uintptr_t caller = omp_hook_function(above - 1);
        if (caller)
            note_pair(start, caller);
    }
}

void omp_hook_ask_starts_region(uintptr_t function)
{
    int i = find(function, true);
    if (i >= 0 && !atomic_exchange(&functions[i].starts_region, true))
        atomic_fetch_add(&epoch, 1);
}

bool omp_hook_ask_did(uintptr_t function)
{
    if (atomic_load_explicit(&full, memory_order_relaxed))
        return true;
    int i = find(function, false);
    if (i >= 0 && atomic_load_explicit(&functions[i].asked, memory_order_relaxed))
        return true;
    uint32_t count = atomic_load_explicit(&pair_count, memory_order_acquire);
    for (uint32_t p = 0; p < count && p < PAIRS; p++) {
        if (atomic_load_explicit(&pairs[p].caller, memory_order_acquire) != function)
            continue;
        int helper = find(atomic_load_explicit(&pairs[p].helper, memory_order_relaxed), false);
        if (helper >= 0 && !atomic_load_explicit(&functions[helper].starts_region, memory_order_relaxed))
            return true;
    }
    return false;
}

uint32_t omp_hook_ask_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_acquire);
}

void omp_hook_ask_reset(void)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        atomic_store(&functions[i].start, 0);
        atomic_store(&functions[i].asked, false);
        atomic_store(&functions[i].starts_region, false);
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        atomic_store(&pairs[i].helper, 0);
        atomic_store(&pairs[i].caller, 0);
    }
    atomic_store(&pair_count, 0);
    atomic_store(&full, false);
    atomic_fetch_add(&epoch, 1);
}
