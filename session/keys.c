/* SPDX-License-Identifier: MIT */
#include "session/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/modules.h"

enum { FIRST_SLOTS = 64 };

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Doubles an array's room; 0, or -1 without memory (the array stays). */
static int grow(void *array, size_t item, uint32_t *room, uint32_t need)
{
    if (need <= *room)
        return 0;
    uint32_t bigger = *room ? *room * 2 : FIRST_SLOTS;
    while (bigger < need)
        bigger *= 2;
    void *p;
    memcpy(&p, array, sizeof p); /* whatever it points to: no aliasing */
    p = realloc(p, bigger * item);
    if (!p)
        return -1;
    memcpy(array, &p, sizeof p);
    *room = bigger;
    return 0;
}

/* --- The table of numbers --- */

typedef uint64_t (*hash_fn)(const void *owner, uint32_t number);

static int rehash(struct session_table *t, const void *owner, hash_fn hash)
{
    uint32_t slots = t->slot ? (t->mask + 1) * 2 : FIRST_SLOTS;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return -1;
    for (uint32_t n = 0; n < t->count; n++) {
        uint32_t i = (uint32_t)hash(owner, n) & (slots - 1);
        while (slot[i])
            i = (i + 1) & (slots - 1);
        slot[i] = n + 1;
    }
    free(t->slot);
    t->slot = slot;
    t->mask = slots - 1;
    return 0;
}

static bool crowded(const struct session_table *t)
{
    return !t->slot || t->count >= t->mask / 2;
}

/* --- Keys --- */

/* Multiplications side by side, not one after the other: this is on the way of every event. */
static uint64_t key_hash(const struct session_key *k)
{
    uint64_t small = (uint64_t)k->kind << 24 | (uint64_t)k->call_kind << 16 | (uint64_t)k->peer_class << 8 |
                     k->blocking;
    uint64_t what = ((uint64_t)(uintptr_t)k->function ^ k->region) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t where = ((uint64_t)k->callsite << 32 | k->comm) * UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t h = what ^ where ^ small * UINT64_C(0x165667b19e3779f9);
    return h ^ h >> 32;
}

static bool key_equal(const struct session_key *a, const struct session_key *b)
{
    return a->function == b->function && a->region == b->region && a->callsite == b->callsite && a->comm == b->comm &&
           a->kind == b->kind && a->call_kind == b->call_kind && a->peer_class == b->peer_class &&
           a->blocking == b->blocking;
}

static uint64_t entry_hash(const void *keys, uint32_t n)
{
    return key_hash(&((const struct session_keys *)keys)->entries[n].key);
}

static uint32_t key_add(struct session_keys *k, const struct session_key *key)
{
    struct session_table *t = &k->table;
    if (grow(&k->entries, sizeof *k->entries, &t->room, t->count + 1))
        return GRAMMAR_NONE;
    k->entries[t->count] = (struct session_entry){*key, {GRAMMAR_NONE, GRAMMAR_NONE, GRAMMAR_NONE}};
    t->count++;
    if (crowded(t) && rehash(t, k, entry_hash)) {
        t->count--;
        return GRAMMAR_NONE;
    }
    uint32_t n = t->count - 1, i = (uint32_t)key_hash(key) & t->mask;
    while (t->slot[i] && t->slot[i] != n + 1) /* rehash may have put it in already */
        i = (i + 1) & t->mask;
    t->slot[i] = n + 1;
    return n;
}

uint32_t session_keys_find(struct session_keys *k, const struct session_key *key)
{
    const struct session_table *t = &k->table;
    if (t->slot)
        for (uint32_t i = (uint32_t)key_hash(key) & t->mask; t->slot[i]; i = (i + 1) & t->mask)
            if (key_equal(&k->entries[t->slot[i] - 1].key, key))
                return t->slot[i] - 1;
    return key_add(k, key);
}

uint32_t session_keys_number(struct session_keys *k, uint32_t job_terminal, uint32_t reference_terminal)
{
    uint32_t room = k->terminal_room;
    if (grow(&k->job_terminal, sizeof *k->job_terminal, &room, k->terminals + 1))
        return GRAMMAR_NONE;
    room = k->terminal_room;
    if (grow(&k->reference_terminal, sizeof *k->reference_terminal, &room, k->terminals + 1))
        return GRAMMAR_NONE;
    k->terminal_room = room;
    k->job_terminal[k->terminals] = job_terminal;
    k->reference_terminal[k->terminals] = reference_terminal;
    return k->terminals++;
}

void session_keys_close(struct session_keys *k)
{
    free(k->table.slot);
    free(k->entries);
    free(k->job_terminal);
    free(k->reference_terminal);
}

/* --- Callsites --- */

static uint64_t frames_hash(void *const *frames, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = mix(h, (uint64_t)(uintptr_t)frames[i]);
    return h;
}

static uint64_t site_hash(const void *callsites, uint32_t n)
{
    const struct session_callsites *c = callsites;
    return frames_hash(c->addresses + c->sites[n].first, c->sites[n].count);
}

static bool site_equal(const struct session_callsites *c, uint32_t n, void *const *frames, uint32_t count)
{
    return c->sites[n].count == count && !memcmp(c->addresses + c->sites[n].first, frames, count * sizeof *frames);
}

static int site_frames(struct session_callsites *c, void *const *frames, uint32_t count)
{
    uint32_t room = c->frame_room;
    if (grow(&c->addresses, sizeof *c->addresses, &room, c->frame_count + count))
        return -1;
    room = c->frame_room;
    if (grow(&c->frames, sizeof *c->frames, &room, c->frame_count + count))
        return -1;
    c->frame_room = room;
    for (uint32_t i = 0; i < count; i++) {
        struct job_frame *f = &c->frames[c->frame_count + i];
        c->addresses[c->frame_count + i] = frames[i];
        f->module = base_modules_find(frames[i], &f->offset);
        f->reserved = 0;
    }
    return 0;
}

static uint32_t site_add(struct session_callsites *c, void *const *frames, uint32_t count)
{
    struct session_table *t = &c->table;
    if (grow(&c->sites, sizeof *c->sites, &t->room, t->count + 1) || site_frames(c, frames, count))
        return GRAMMAR_NONE;
    c->sites[t->count] = (struct session_callsite){c->frame_count, count};
    t->count++;
    if (crowded(t) && rehash(t, c, site_hash)) {
        t->count--;
        return GRAMMAR_NONE;
    }
    c->frame_count += count;
    uint32_t n = t->count - 1, i = (uint32_t)frames_hash(frames, count) & t->mask;
    while (t->slot[i] && t->slot[i] != n + 1)
        i = (i + 1) & t->mask;
    t->slot[i] = n + 1;
    return n;
}

uint32_t session_callsites_find(struct session_callsites *c, void *const *frames, uint32_t count)
{
    const struct session_table *t = &c->table;
    if (t->slot)
        for (uint32_t i = (uint32_t)frames_hash(frames, count) & t->mask; t->slot[i]; i = (i + 1) & t->mask)
            if (site_equal(c, t->slot[i] - 1, frames, count))
                return t->slot[i] - 1;
    return site_add(c, frames, count);
}

void session_callsites_close(struct session_callsites *c)
{
    free(c->table.slot);
    free(c->sites);
    free(c->addresses);
    free(c->frames);
}
