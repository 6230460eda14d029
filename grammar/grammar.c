/* SPDX-License-Identifier: MIT */
#include "grammar/internal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "pythia.h"

enum { LEAST_MEMORY = 64 * 1024, SPARE = 512, HINTS = 1 << 16 };
enum { NODE_BYTES = sizeof(struct grammar_node) };
_Static_assert(NODE_BYTES <= 128, "a node with its statistics is two cache lines");

static int hints_open(struct grammar_hints *h, uint32_t room)
{
    int error = base_arena_open(&h->arena, sizeof *h->item, room);
    h->item = h->arena.base;
    h->room = room;
    h->count = 0;
    return error;
}

static int open_all(struct grammar *g)
{
    int error = base_arena_open(&g->node_arena, sizeof *g->nodes, g->node_limit);
    error = error ?: base_arena_open(&g->rule_arena, sizeof *g->rules, g->rule_limit);
    error = error ?: base_arena_open(&g->attr_arena, sizeof *g->attrs, g->attr_limit);
    error = error ?: base_arena_open(&g->course_arena, sizeof *g->courses, GRAMMAR_COURSE_TERMINALS);
    error = error ?: base_arena_open(&g->window_arena, sizeof *g->windows, g->window_limit);
    error = error ?: hints_open(&g->digram_hints, g->node_limit + HINTS);
    error = error ?: hints_open(&g->utility_hints, g->node_limit + HINTS);
    error = error ?: hints_open(&g->collapse_hints, g->rule_limit + HINTS);
    error = error ?: grammar_digrams_open(&g->digrams, g->node_arena.base);
    g->nodes = g->node_arena.base;
    g->rules = g->rule_arena.base;
    g->attrs = g->attr_arena.base;
    g->courses = g->course_arena.base;
    g->windows = g->window_arena.base;
    return error;
}

struct grammar *grammar_create(size_t memory)
{
    struct grammar *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (memory < LEAST_MEMORY)
        memory = LEAST_MEMORY;
    if (memory > ((size_t)GRAMMAR_LOST / 2) * NODE_BYTES)
        memory = ((size_t)GRAMMAR_LOST / 2) * NODE_BYTES;
    g->memory = memory;
    g->node_limit = (uint32_t)(memory / NODE_BYTES) + SPARE;
    g->rule_limit = g->node_limit / 2 + SPARE;
    g->attr_limit = (uint32_t)(memory / sizeof(struct grammar_attr_cell)) + SPARE;
    g->window_limit = (uint32_t)(memory / 4 / sizeof(struct grammar_window)) + 1; /* a quarter */
    g->node_free = g->rule_free = g->attr_free = g->window_free = GRAMMAR_NONE;
    if (open_all(g)) {
        grammar_destroy(g);
        return NULL;
    }
    grammar_rule_take(g); /* R */
    g->expected = &grammar_nothing;
    g->alone = &grammar_nothing;
    g->tail.raw = g->tail.prefix.next = g->late.symbol = GRAMMAR_NONE;
    return g;
}

/* `bytes` from the pool, or what is left of them where `some` will do. */
static size_t pool_take(_Atomic size_t *pool, size_t bytes, bool some)
{
    size_t left = atomic_load_explicit(pool, memory_order_relaxed), taken;
    do {
        taken = left >= bytes ? bytes : some ? left : 0;
    } while (taken && !atomic_compare_exchange_weak(pool, &left, left - taken));
    return taken;
}

void grammar_share_pool(struct grammar *g, _Atomic size_t *pool)
{
    g->pool = pool;
    g->most = g->memory;
    g->memory = LEAST_MEMORY;
    g->drawn = pool_take(pool, LEAST_MEMORY, true);
}

bool grammar_draw(struct grammar *g)
{
    size_t step = g->memory / 8 > LEAST_MEMORY ? g->memory / 8 : LEAST_MEMORY;
    if (!g->pool || g->memory + step > g->most || !pool_take(g->pool, step, false))
        return false;
    g->memory += step;
    g->drawn += step;
    return true;
}

void grammar_destroy(struct grammar *g)
{
    if (!g)
        return;
    if (g->pool)
        atomic_fetch_add(g->pool, g->drawn);
    base_arena_close(&g->node_arena);
    base_arena_close(&g->rule_arena);
    base_arena_close(&g->attr_arena);
    base_arena_close(&g->course_arena);
    base_arena_close(&g->window_arena);
    base_arena_close(&g->digram_hints.arena);
    base_arena_close(&g->utility_hints.arena);
    base_arena_close(&g->collapse_hints.arena);
    grammar_digrams_close(&g->digrams);
    free(g);
}

size_t grammar_memory(const struct grammar *g)
{
    return grammar_memory_used(g);
}

uint64_t grammar_events(const struct grammar *g)
{
    return g->events + g->queue.count;
}

uint64_t grammar_lost(const struct grammar *g)
{
    return g->lost;
}

uint32_t grammar_nodes(const struct grammar *g)
{
    return g->nodes_used - g->rules_used; /* guards aside */
}
