/* SPDX-License-Identifier: MIT */
#include "grammar/digram.h"

#include "pythia.h"

/* An insertion moves MOVE slots: the old table is done with after a quarter of the insertions that fill the new one. */
enum { FIRST_SLOTS = 1024, MOVE = 8 };

static int table_open(struct grammar_digram_table *t, uint32_t slots)
{
    int error = base_arena_open(&t->arena, sizeof *t->slot + sizeof *t->tag, slots);
    t->slot = t->arena.base;
    t->tag = (uint8_t *)(t->slot + slots);
    t->mask = slots - 1;
    if (!error)
        base_arena_ahead(&t->arena, slots);
    return error;
}

static void table_close(struct grammar_digram_table *t)
{
    base_arena_close(&t->arena);
    t->slot = NULL;
}

int grammar_digrams_open(struct grammar_digrams *t, const struct grammar_node *nodes)
{
    *t = (struct grammar_digrams){.nodes = nodes};
    return table_open(&t->now, FIRST_SLOTS);
}

void grammar_digrams_close(struct grammar_digrams *t)
{
    table_close(&t->now);
    table_close(&t->old);
}

static int grow(struct grammar_digrams *t)
{
    struct grammar_digram_table bigger;
    if (table_open(&bigger, 2 * (t->now.mask + 1)))
        return PYTHIA_ENOMEM;
    t->old = t->now;
    t->now = bigger;
    t->moved = 0;
    return 0;
}

static void put(struct grammar_digram_table *t, uint32_t i, uint32_t hash, uint32_t node)
{
    t->slot[i] = (struct grammar_digram_slot){hash, node};
    t->tag[i] = grammar_digram_tag(hash);
}

/* The next few slots of the old table. What moves is not in the new one: no need to look for it. */
static void move_some(struct grammar_digrams *t)
{
    for (uint32_t k = 0; k < MOVE; k++, t->moved++) {
        if (t->moved > t->old.mask) {
            table_close(&t->old);
            return;
        }
        if (t->old.tag[t->moved] < GRAMMAR_TAG_FIRST)
            continue;
        struct grammar_digram_slot s = t->old.slot[t->moved];
        uint32_t i = s.hash & t->now.mask;
        while (t->now.tag[i] != GRAMMAR_TAG_EMPTY)
            i = (i + 1) & t->now.mask;
        put(&t->now, i, s.hash, s.node);
        t->old.tag[t->moved] = GRAMMAR_TAG_LEFT;
    }
}

uint32_t grammar_digrams_find_or_add(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node)
{
    uint32_t hash = grammar_digram_hash(left, right);
    uint32_t i = grammar_digram_probe(&t->now, t->nodes, hash, left, right);
    if (t->now.tag[i] != GRAMMAR_TAG_EMPTY)
        return t->now.slot[i].node;
    if (__builtin_expect(t->old.slot != NULL, 0)) {
        uint32_t j = grammar_digram_probe(&t->old, t->nodes, hash, left, right);
        if (t->old.tag[j] != GRAMMAR_TAG_EMPTY)
            return t->old.slot[j].node;
        move_some(t);
        i = grammar_digram_probe(&t->now, t->nodes, hash, left, right);
    } else if (t->count > t->now.mask / 2) {
        if (grow(t))
            return GRAMMAR_NONE;
        i = hash & t->now.mask;
    }
    put(&t->now, i, hash, node);
    t->count++;
    t->added++;
    return node;
}

/* The slot of `node` that has this hash: the pair itself need not be read. The empty one where there is none. */
static uint32_t digram_find_node(const struct grammar_digram_table *t, uint32_t hash, uint32_t node)
{
    uint8_t tag = grammar_digram_tag(hash);
    uint32_t i = hash & t->mask;
    while (t->tag[i] != GRAMMAR_TAG_EMPTY && (t->tag[i] != tag || t->slot[i].node != node || t->slot[i].hash != hash))
        i = (i + 1) & t->mask;
    return i;
}

static void shift_back(struct grammar_digram_table *t, uint32_t hole)
{
    for (uint32_t i = (hole + 1) & t->mask; t->tag[i] != GRAMMAR_TAG_EMPTY; i = (i + 1) & t->mask) {
        uint32_t home = t->slot[i].hash & t->mask;
        if (((i - home) & t->mask) >= ((i - hole) & t->mask)) { /* its home is not after the hole: it may move there */
            t->slot[hole] = t->slot[i];
            t->tag[hole] = t->tag[i];
            hole = i;
        }
    }
    t->tag[hole] = GRAMMAR_TAG_EMPTY;
}

void grammar_digrams_remove(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node)
{
    uint32_t hash = grammar_digram_hash(left, right), i = digram_find_node(&t->now, hash, node);
    if (t->now.tag[i] != GRAMMAR_TAG_EMPTY) {
        shift_back(&t->now, i);
        t->count--;
    } else if (t->old.slot) {
        i = digram_find_node(&t->old, hash, node);
        if (t->old.tag[i] != GRAMMAR_TAG_EMPTY) {
            t->old.tag[i] = GRAMMAR_TAG_LEFT;
            t->count--;
        }
    }
}

static size_t table_memory(const struct grammar_digram_table *t)
{
    return t->slot ? ((size_t)t->mask + 1) * (sizeof *t->slot + sizeof *t->tag) : 0;
}

size_t grammar_digrams_memory(const struct grammar_digrams *t)
{
    return table_memory(&t->now) + table_memory(&t->old);
}
