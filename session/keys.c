/* SPDX-License-Identifier: MIT */
#include "session/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "session/internal.h"

/* --- Keys --- */

/* On the way of every event: multiplications side by side, and each field read as it was just written. Bytes that the
   compiler would read as one word have the processor wait until they are out of its store buffer; what a function is
   (kind, blocking) follows from its name. */
static uint64_t key_hash(const struct session_key *k)
{
    uint64_t what = ((uint64_t)(uintptr_t)k->function ^ k->region) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t where = ((uint64_t)k->callsite << 32 | k->comm) * UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t h = what ^ where ^ k->peer_class * UINT64_C(0x165667b19e3779f9);
    return h ^ h >> 32;
}

static bool key_equal(const struct session_key *a, const struct session_key *b)
{
    return a->function == b->function && a->region == b->region && a->callsite == b->callsite && a->comm == b->comm &&
           a->kind == b->kind && a->call_kind == b->call_kind && a->peer_class == b->peer_class &&
           a->blocking == b->blocking;
}

static uint32_t key_append(struct session_keys *k, const struct session_key *key, uint64_t hash)
{
    struct session_entry e = {.key = *key, .terminal = {GRAMMAR_NONE, GRAMMAR_NONE, GRAMMAR_NONE}};
    uint32_t count = k->table.used;
    if (key->region)
        e.module = base_modules_find((void *)key->region, &e.offset);
    return base_hash_append(&k->table, hash, &k->entries, &count, &k->room, &e, sizeof e);
}

/* The end of the run reads the entries: who moves them is busy, and nobody does once the session is off. */
static uint32_t key_add(struct session_keys *k, const struct session_key *key, uint64_t hash)
{
    struct session_stream *s = (struct session_stream *)(void *)((char *)k - offsetof(struct session_stream, keys));
    uint32_t n = stream_take(s) ? key_append(k, key, hash) : GRAMMAR_NONE;
    stream_release(s);
    return n;
}

uint32_t session_keys_find(struct session_keys *k, const struct session_key *key)
{
    uint64_t hash = key_hash(key);
    uint32_t n = BASE_HASH_FIND(&k->table, hash, i, key_equal(&k->entries[i].key, key));
    return n != BASE_HASH_NONE ? n : key_add(k, key, hash);
}

uint32_t session_keys_number(struct session_keys *k, uint32_t job_terminal, uint32_t reference_terminal)
{
    uint32_t room = k->terminal_room;
    if (base_array_room(&k->job_terminal, &room, (uint64_t)k->terminals + 1, sizeof *k->job_terminal))
        return GRAMMAR_NONE;
    room = k->terminal_room;
    if (base_array_room(&k->reference_terminal, &room, (uint64_t)k->terminals + 1, sizeof *k->reference_terminal))
        return GRAMMAR_NONE;
    k->terminal_room = room;
    k->job_terminal[k->terminals] = job_terminal;
    k->reference_terminal[k->terminals] = reference_terminal;
    return k->terminals++;
}

void session_keys_close(struct session_keys *k)
{
    base_hash_close(&k->table);
    free(k->entries);
    free(k->job_terminal);
    free(k->reference_terminal);
}

static bool is_still(const void *address, uint32_t module, uint64_t offset)
{
    uint64_t now;
    return base_modules_find(address, &now) == module && now == offset;
}

void session_keys_forget(struct session_keys *k)
{
    for (uint32_t n = 0; n < k->table.used; n++) {
        struct session_entry *e = &k->entries[n];
        if (e->key.region && !is_still((void *)e->key.region, e->module, e->offset))
            e->key.region = UINT64_MAX; /* no function lies there */
    }
}

uint32_t session_keys_again(const struct session_keys *k, uint32_t job_terminal)
{
    for (uint32_t t = 0; t < k->terminals; t++)
        if (k->job_terminal[t] == job_terminal)
            return t;
    return GRAMMAR_NONE;
}

/* --- Callsites --- */

static uint64_t frames_hash(void *const *frames, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = base_hash_mix(h ^ (uint64_t)(uintptr_t)frames[i]);
    return h;
}

static bool site_equal(const struct session_callsites *c, uint32_t n, void *const *frames, uint32_t count)
{
    return c->sites[n].count == count && !memcmp(c->addresses + c->sites[n].first, frames, count * sizeof *frames);
}

static int site_frames(struct session_callsites *c, void *const *frames, uint32_t count)
{
    uint32_t room = c->frame_room;
    if (base_array_room(&c->addresses, &room, (uint64_t)c->frame_count + count, sizeof *c->addresses))
        return -1;
    room = c->frame_room;
    if (base_array_room(&c->places, &room, (uint64_t)c->frame_count + count, sizeof *c->places))
        return -1;
    c->frame_room = room;
    memcpy(c->addresses + c->frame_count, frames, count * sizeof *frames);
    base_modules_places(frames, count, c->places + c->frame_count);
    return 0;
}

static uint32_t site_add(struct session_callsites *c, void *const *frames, uint32_t count, uint64_t hash)
{
    uint32_t n = c->table.used;
    if (base_array_room(&c->sites, &c->room, (uint64_t)n + 1, sizeof *c->sites) || base_hash_reserve(&c->table, 1) ||
        site_frames(c, frames, count))
        return GRAMMAR_NONE;
    c->sites[n] = (struct session_callsite){c->frame_count, count};
    c->frame_count += count;
    base_hash_put(&c->table, hash, n);
    return n;
}

uint32_t session_callsites_find(struct session_callsites *c, void *const *frames, uint32_t count, uint32_t most)
{
    uint64_t hash = frames_hash(frames, count);
    uint32_t n = BASE_HASH_FIND(&c->table, hash, i, site_equal(c, i, frames, count));
    return n != BASE_HASH_NONE || c->table.used >= most ? n : site_add(c, frames, count, hash);
}

void session_callsites_forget(struct session_callsites *c)
{
    for (uint32_t n = 0; n < c->table.used; n++) {
        const struct session_callsite *site = &c->sites[n];
        for (uint32_t i = site->first; i < site->first + site->count; i++)
            if (c->addresses[i] && !is_still(c->addresses[i], c->places[i].module, c->places[i].offset))
                c->addresses[i] = NULL; /* nothing returns there */
    }
}

void session_callsites_close(struct session_callsites *c)
{
    base_hash_close(&c->table);
    free(c->sites);
    free(c->addresses);
    free(c->places);
}
