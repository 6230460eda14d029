/* SPDX-License-Identifier: MIT */
/*
 * Memory that a function has for itself: it goes when the function, or the block, is left, by whatever way.
 *
 *     BASE_OWN char *name = strdup(text);      NULL is legal; it must be set where it is declared
 */
#pragma once

#include <stdlib.h>
#include <string.h>

static inline void base_own_free(void *at)
{
    void *own;
    memcpy(&own, at, sizeof own);
    free(own);
}

#define BASE_OWN __attribute__((cleanup(base_own_free)))
