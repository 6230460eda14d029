/* SPDX-License-Identifier: MIT */
/*
 * Two hash tables, open addressing with linear probing both.
 *
 * base_hash: numbers by hash, growing. The keys are the caller's, in an array that the numbers count.
 *
 *     slot    | hash, number + 1 |   0   | hash, number + 1 | …         8 bytes; number + 1 is 0 where the slot is free
 *     keys      key 0   key 1   key 2 …                                 the caller's
 *
 *     uint32_t n = BASE_HASH_FIND(&table, hash, i, equal(&keys[i], key));
 *     if (n == BASE_HASH_NONE)
 *         n = base_hash_append(&table, hash, &keys, &count, &room, key, sizeof *key);
 *
 *   1. at most half of the slots are taken, so a search ends
 *   2. a slot keeps 32 bits of the hash: growing does not read the keys, and few unequal ones are compared
 *   3. nothing is ever removed
 *
 * base_fixed_find: records of a static array by address, for hooks of many threads. Each record begins with its key, an
 * atomic uintptr_t, 0 where it is free; who exchanges it first has it. It never grows, and nothing is ever removed.
 *
 * Cost: O(1) expected, if the hash is good; base_fixed_find at most `probes` steps.
 * Threads: base_hash: owner; base_fixed_find: any.  Hook-safe: all but base_hash_reserve and base_hash_close.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE_HASH_NONE UINT32_MAX

struct base_hash_slot {
    uint32_t hash, number; /* number + 1; 0: free */
};

/* All 0 is an empty table. */
struct base_hash {
    struct base_hash_slot *slot;
    uint32_t mask; /* slots - 1, a power of two less one; 0 without */
    uint32_t used;
};

/* 64 bits of which each depends on each of `v`. */
static inline uint64_t base_hash_mix(uint64_t v)
{
    v *= UINT64_C(0x9e3779b97f4a7c15);
    return v ^ v >> 32;
}

/* Makes room for `extra` more. 0, PYTHIA_ENOMEM or PYTHIA_ELIMIT; the table stays as it was on failure. */
int base_hash_reserve(struct base_hash *t, uint32_t extra);
void base_hash_close(struct base_hash *t); /* an empty one, too */
/* Forgets all numbers and keeps the room. */
void base_hash_clear(struct base_hash *t);

static inline uint32_t base_hash_start(uint64_t hash)
{
    return (uint32_t)hash;
}

/* The next number with this hash, BASE_HASH_NONE when there is none any more. */
static inline uint32_t base_hash_next(const struct base_hash *t, uint64_t hash, uint32_t *at)
{
    if (!t->slot)
        return BASE_HASH_NONE;
    for (;;) {
        struct base_hash_slot s = t->slot[(*at)++ & t->mask];
        if (!s.number)
            return BASE_HASH_NONE;
        if (s.hash == (uint32_t)hash)
            return s.number - 1;
    }
}

/* The number with this hash for which `equal` holds, of number `i`; BASE_HASH_NONE without. */
#define BASE_HASH_FIND(table, hash, i, equal)                                                         \
    ({                                                                                                \
        uint32_t at_ = base_hash_start(hash), i;                                                      \
        while ((i = base_hash_next(table, hash, &at_)) != BASE_HASH_NONE && !(equal))                 \
            ;                                                                                         \
        i;                                                                                            \
    })

/* Appends a key to the caller's array (array.h) and puts its number in. BASE_HASH_NONE: out of memory. */
uint32_t base_hash_append(struct base_hash *t, uint64_t hash, void *array, uint32_t *count, uint32_t *room,
                          const void *key, size_t size);

/* Puts a number in; room was reserved. */
static inline void base_hash_put(struct base_hash *t, uint64_t hash, uint32_t number)
{
    uint32_t i = (uint32_t)hash & t->mask;
    while (t->slot[i].number)
        i = (i + 1) & t->mask;
    t->slot[i] = (struct base_hash_slot){ (uint32_t)hash, number + 1 };
    t->used++;
}

/* The number of this process that a hostile file cannot know: a seed for hashes of what files say. */
uint64_t base_hash_secret(void);

/*
 * Of `slots` records (a power of two) of `size` bytes, the one that has this key, looked for in `probes` places. Where
 * there is none and `claimed` is given, a free one gets the key and *claimed is true for the thread that did it. NULL:
 * not there, or no room.
 */
static inline void *base_fixed_find(void *records, size_t size, uint32_t slots, uint32_t probes, uintptr_t key,
                                    bool *claimed)
{
    uint32_t i = (uint32_t)(base_hash_mix(key >> 2) >> 16);
    for (uint32_t n = 0; n < probes; n++) {
        _Atomic uintptr_t *slot = (_Atomic uintptr_t *)((char *)records + ((i + n) & (slots - 1)) * size);
        uintptr_t there = atomic_load_explicit(slot, memory_order_acquire);
        if (there == key)
            return slot;
        if (there)
            continue;
        if (!claimed)
            return NULL;
        if (atomic_compare_exchange_strong(slot, &there, key)) {
            *claimed = true;
            return slot;
        }
        if (there == key)
            return slot;
    }
    return NULL;
}
