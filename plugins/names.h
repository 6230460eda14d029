/* SPDX-License-Identifier: MIT */
/*
 * Names that others have for regions, become ours: what the libraries beside this file have in common. Each is loaded
 * by whom it speaks for (Kokkos, NVTX) or preloaded (TALP, Caliper), and calls pythia_region_begin() and _end(), which
 * are there where the program runs under Pythia, and nothing elsewhere.
 *
 * names_number() gives a text a number from 1 on, the same for the same text, for who ends a region by a number; 0
 * where there are NAMES_MOST: such a region is then not recorded.
 * Threads: any.  Hook-safe: yes, a text's first time aside.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pythia_region.h"

#define NAMES_EXPORT __attribute__((visibility("default")))

enum { NAMES_MOST = 1024 };
static _Atomic(const char *) names_text[NAMES_MOST];

/* Looked for from where its hash says; a place that is free is taken by who is first. */
static inline uint32_t names_number(const char *text)
{
    uint32_t hash = 2166136261u;
    char *copy = NULL;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (uint32_t n = 0; n < NAMES_MOST; n++) {
        uint32_t i = (hash + n) % NAMES_MOST;
        const char *there = atomic_load_explicit(&names_text[i], memory_order_acquire);
        if (!there && !copy && !(copy = strdup(text)))
            return 0;
        if (!there && atomic_compare_exchange_strong(&names_text[i], &there, copy))
            return i + 1;
        if (!strcmp(there, text)) {
            free(copy);
            return i + 1;
        }
    }
    free(copy);
    return 0;
}

static inline const char *names_of(uint32_t number)
{
    return number && number <= NAMES_MOST ? atomic_load_explicit(&names_text[number - 1], memory_order_acquire) : NULL;
}

/* The innermost region of that number's text ends; nothing for 0. */
static inline void names_end(uint32_t number)
{
    const char *text = names_of(number);
    if (text)
        pythia_region_end(text);
}

static inline uint32_t names_begin(const char *text)
{
    uint32_t number = text && *text ? names_number(text) : 0;
    if (number)
        pythia_region_begin(names_of(number));
    return number;
}
