/* SPDX-License-Identifier: MIT */
/* The memory of the lists of what happened, and where their pieces come from. */
#include <stdlib.h>

#include "oracle/text.h"

int oracle_text_create(struct oracle_text *t, uint64_t fixed, uint64_t size)
{
    *t = (struct oracle_text){ .fixed = fixed, .size = size };
    t->symbol = calloc(fixed + size, sizeof *t->symbol);
    t->time = calloc(fixed + size, sizeof *t->time);
    return t->symbol && t->time ? 0 : -1;
}

void oracle_text_destroy(struct oracle_text *t)
{
    free(t->symbol);
    free(t->time);
}

void oracle_text_begin_piece(struct oracle_text *t, uint32_t reference, uint64_t event)
{
    t->piece[t->pieces++] = (struct oracle_text_piece){ t->count, event, reference };
}

void oracle_text_seal(struct oracle_text *t)
{
    t->fixed = t->count;
    t->clock = 0;
}

const struct oracle_text_piece *oracle_text_search(const struct oracle_text *t, uint64_t place)
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
