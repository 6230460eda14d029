/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/array.h"
#include "pythia.h"

enum { FIRST = 16 };

int base_hash_reserve(struct base_hash *t, uint32_t extra)
{
    uint64_t need = 2 * ((uint64_t)t->used + extra), slots = t->slot ? (uint64_t)t->mask + 1 : FIRST;
    while (slots < need)
        slots *= 2;
    if (t->slot && slots == (uint64_t)t->mask + 1)
        return 0;
    if (slots > UINT32_C(1) << 31)
        return PYTHIA_ELIMIT;
    struct base_hash bigger = { calloc(slots, sizeof *t->slot), (uint32_t)slots - 1, 0 };
    if (!bigger.slot)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; t->slot && i <= t->mask; i++)
        if (t->slot[i].number)
            base_hash_put(&bigger, t->slot[i].hash, t->slot[i].number - 1);
    free(t->slot);
    *t = bigger;
    return 0;
}

void base_hash_close(struct base_hash *t)
{
    free(t->slot);
    *t = (struct base_hash){ 0 };
}

void base_hash_clear(struct base_hash *t)
{
    if (t->slot)
        memset(t->slot, 0, ((size_t)t->mask + 1) * sizeof *t->slot);
    t->used = 0;
}

uint64_t base_hash_secret(void)
{
    static _Atomic uint64_t kept;
    uint64_t s = atomic_load_explicit(&kept, memory_order_relaxed), other = 0;
    struct timespec now;
    if (s)
        return s;
    if (getrandom(&s, sizeof s, GRND_NONBLOCK) != sizeof s && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        s = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_nsec << 32; /* no entropy yet: better than none */
    s |= 1;
    return atomic_compare_exchange_strong(&kept, &other, s) ? s : other;
}

uint32_t base_hash_append(struct base_hash *t, uint64_t hash, void *array, uint32_t *count, uint32_t *room,
                          const void *key, size_t size)
{
    if (base_hash_reserve(t, 1) || base_array_append(array, count, room, key, 1, size))
        return BASE_HASH_NONE;
    base_hash_put(t, hash, *count - 1);
    return *count - 1;
}
