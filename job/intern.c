/* SPDX-License-Identifier: MIT */
#include "job/intern.h"

#define XXH_INLINE_ALL
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "pythia.h"

/* Files choose hashes: that of a class is what they say. So where a hash is put is nobody else's business, or a small file
   would fill a table with collisions. Numbers are given in the order of insertion: no result depends on this. */
static uint64_t secret(void)
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

static uint32_t slot_of(const struct job_table *t, struct grammar_hash hash)
{
    uint32_t i = (uint32_t)XXH3_64bits_withSeed(&hash, sizeof hash, t->secret) & (t->size - 1);
    while (t->slots[i].number != GRAMMAR_NONE && !job_hash_equal(t->slots[i].hash, hash))
        i = (i + 1) & (t->size - 1);
    return i;
}

uint32_t job_table_find(const struct job_table *t, struct grammar_hash hash)
{
    return t->size ? t->slots[slot_of(t, hash)].number : GRAMMAR_NONE;
}

void job_table_put(struct job_table *t, struct grammar_hash hash, uint32_t number)
{
    struct job_slot *s = &t->slots[slot_of(t, hash)];
    s->hash = hash;
    s->number = number;
    t->used++;
}

/* Keeps its room. */
static void table_clear(struct job_table *t)
{
    for (uint32_t i = 0; i < t->size; i++)
        t->slots[i].number = GRAMMAR_NONE;
    t->used = 0;
}

int job_table_reserve(struct job_table *t, uint32_t extra)
{
    uint64_t need = 2 * ((uint64_t)t->used + extra), size = t->size ? t->size : 16;
    while (size < need)
        size *= 2;
    if (size == t->size)
        return 0;
    if (size > 0x80000000u)
        return PYTHIA_ELIMIT;
    struct job_table bigger = { malloc(size * sizeof *t->slots), (uint32_t)size, 0, secret() };
    if (!bigger.slots)
        return PYTHIA_ENOMEM;
    table_clear(&bigger);
    for (uint32_t i = 0; i < t->size; i++)
        if (t->slots[i].number != GRAMMAR_NONE)
            job_table_put(&bigger, t->slots[i].hash, t->slots[i].number);
    free(t->slots);
    *t = bigger;
    return 0;
}

void job_table_free(struct job_table *t)
{
    free(t->slots);
    *t = (struct job_table){ 0 };
}

int job_room(void *array, uint32_t *room, uint64_t need, size_t size)
{
    void *old;
    if (need <= *room)
        return 0;
    if (need > JOB_LIMIT)
        return PYTHIA_ELIMIT;
    uint64_t wanted = (uint64_t)*room * 2 > need ? (uint64_t)*room * 2 : need;
    if (wanted < 8)
        wanted = 8;
    if (wanted > JOB_LIMIT)
        wanted = JOB_LIMIT;
    memcpy(&old, array, sizeof old); /* `array` is the address of a pointer to whatever the elements are */
    void *bigger = realloc(old, wanted * size);
    if (!bigger)
        return PYTHIA_ENOMEM;
    memcpy(array, &bigger, sizeof bigger);
    *room = (uint32_t)wanted;
    return 0;
}

struct grammar_hash job_hash_bytes(uint64_t seed, const void *data, size_t size)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(data, size, seed);
    return (struct grammar_hash){ h.low64, h.high64 };
}

static void put64(unsigned char *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

struct grammar_hash job_hash_pair(uint64_t seed, struct grammar_hash a, struct grammar_hash b, uint64_t number)
{
    unsigned char bytes[40];
    put64(bytes, a.low);
    put64(bytes + 8, a.high);
    put64(bytes + 16, b.low);
    put64(bytes + 24, b.high);
    put64(bytes + 32, number);
    return job_hash_bytes(seed, bytes, sizeof bytes);
}

struct job_mark job_mark(const struct job *j)
{
    return (struct job_mark){ j->string_count,   j->module_count, j->frame_count,
                                j->callsite_count, j->comm_count,   j->terminal_count };
}

static void refill(struct job_table *t, const struct grammar_hash *hash, uint32_t count)
{
    table_clear(t);
    for (uint32_t i = 0; i < count; i++)
        job_table_put(t, hash[i], i);
}

void job_rollback(struct job *j, struct job_mark mark)
{
    struct job_index *x = j->index;
    for (uint32_t i = mark.strings; i < j->string_count; i++)
        free(j->strings[i]);
    j->string_count = mark.strings;
    j->module_count = mark.modules;
    j->frame_count = mark.frames;
    j->callsite_count = mark.callsites;
    j->comm_count = mark.comms;
    j->terminal_count = mark.terminals;
    refill(&x->table[JOB_INTERNED_STRING], x->hash[JOB_INTERNED_STRING], mark.strings);
    refill(&x->table[JOB_INTERNED_MODULE], x->hash[JOB_INTERNED_MODULE], mark.modules);
    refill(&x->table[JOB_INTERNED_CALLSITE], x->hash[JOB_INTERNED_CALLSITE], mark.callsites);
    refill(&x->table[JOB_INTERNED_COMM], x->hash[JOB_INTERNED_COMM], mark.comms);
    refill(&x->table[JOB_INTERNED_TERMINAL], j->terminal_hash, mark.terminals);
}
