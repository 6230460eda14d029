/* SPDX-License-Identifier: MIT */
#include "grammar/digram.h"

#include <stdlib.h>

#include "pythia.h"

enum { FIRST_SLOTS = 1024 };

static uint32_t home(uint32_t left, uint32_t right, uint32_t mask)
{
    uint64_t h = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32 ^ h >> 13) & mask;
}

static struct grammar_digram_slot *slots_create(uint32_t n)
{
    struct grammar_digram_slot *s = malloc(n * sizeof *s);
    if (s)
        for (uint32_t i = 0; i < n; i++)
            s[i].node = GRAMMAR_NONE;
    return s;
}

int grammar_digrams_open(struct grammar_digrams *t)
{
    t->slot = slots_create(FIRST_SLOTS);
    t->mask = FIRST_SLOTS - 1;
    t->count = 0;
    return t->slot ? 0 : PYTHIA_ENOMEM;
}

void grammar_digrams_close(struct grammar_digrams *t)
{
    free(t->slot);
    t->slot = NULL;
}

static uint32_t probe(const struct grammar_digrams *t, uint32_t left, uint32_t right)
{
    uint32_t i = home(left, right, t->mask);
    while (t->slot[i].node != GRAMMAR_NONE && (t->slot[i].left != left || t->slot[i].right != right))
        i = (i + 1) & t->mask;
    return i;
}

static int grow(struct grammar_digrams *t)
{
    struct grammar_digrams bigger = {.mask = t->mask * 2 + 1, .count = t->count};
    bigger.slot = slots_create(bigger.mask + 1);
    if (!bigger.slot)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i <= t->mask; i++)
        if (t->slot[i].node != GRAMMAR_NONE)
            bigger.slot[probe(&bigger, t->slot[i].left, t->slot[i].right)] = t->slot[i];
    free(t->slot);
    *t = bigger;
    return 0;
}

uint32_t grammar_digrams_find(const struct grammar_digrams *t, uint32_t left, uint32_t right)
{
    return t->slot[probe(t, left, right)].node;
}

uint32_t grammar_digrams_find_or_add(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node)
{
    uint32_t i = probe(t, left, right);
    if (t->slot[i].node != GRAMMAR_NONE)
        return t->slot[i].node;
    if (t->count >= t->mask / 8 * 5) {
        if (grow(t))
            return GRAMMAR_NONE;
        i = probe(t, left, right);
    }
    t->slot[i] = (struct grammar_digram_slot){left, right, node};
    t->count++;
    return node;
}

void grammar_digrams_remove(struct grammar_digrams *t, uint32_t left, uint32_t right, uint32_t node)
{
    uint32_t hole = probe(t, left, right);
    if (t->slot[hole].node == GRAMMAR_NONE || t->slot[hole].node != node)
        return;
    t->count--;
    for (uint32_t i = (hole + 1) & t->mask; t->slot[i].node != GRAMMAR_NONE; i = (i + 1) & t->mask) {
        uint32_t h = home(t->slot[i].left, t->slot[i].right, t->mask);
        if (((i - h) & t->mask) >= ((i - hole) & t->mask)) { /* its home is not after the hole: it may move there */
            t->slot[hole] = t->slot[i];
            hole = i;
        }
    }
    t->slot[hole].node = GRAMMAR_NONE;
}

size_t grammar_digrams_memory(const struct grammar_digrams *t)
{
    return ((size_t)t->mask + 1) * sizeof *t->slot;
}
