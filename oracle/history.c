/* SPDX-License-Identifier: MIT */
/* The memory of the lists of what happened, and where their pieces come from. */
#include "oracle/history.h"

int oracle_history_create(struct oracle_history *t, struct base_arena *room, uint64_t fixed, uint64_t size)
{
    *t = (struct oracle_history){ .fixed = fixed, .size = size };
    t->symbol = base_arena_take(room, (fixed + size) * sizeof *t->symbol);
    t->time = base_arena_take(room, (fixed + size) * sizeof *t->time);
    return t->symbol && t->time ? 0 : -1;
}

void oracle_history_plan(struct oracle_history *t, uint32_t reference, uint64_t event, uint64_t events)
{
    uint64_t room = t->fixed - t->count;

    if (t->pieces == ORACLE_HISTORY_PIECES || events == 0 || room == 0)
        return;
    t->piece[t->pieces++] = (struct oracle_history_piece){ t->count, event, reference };
    t->count += events < room ? events : room;
}

void oracle_history_seal(struct oracle_history *t)
{
    t->fixed = t->count;
}

const struct oracle_history_piece *oracle_history_search(const struct oracle_history *t, uint64_t place)
{
    uint32_t low = 0, high = t->pieces;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->piece[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    return &t->piece[low];
}
