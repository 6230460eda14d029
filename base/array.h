/* SPDX-License-Identifier: MIT */
/*
 * An array that grows: a pointer, and how many elements there is room for.
 *
 *     struct thing *things = NULL;
 *     uint32_t count = 0, room = 0;
 *     int error = base_array_room(&things, &room, count + 1, sizeof *things);
 *     if (!error)
 *         things[count++] = thing;
 *
 * Room doubles, so that appending costs O(1). Numbers of elements are 32 bits wide and stay clear of those that mean
 * "none" and "a rule". What never moves, or belongs to a hook, is an arena (arena.h).
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/own.h"

#define BASE_ARRAY_LIMIT 0x7ffffff0u

/* Makes *array, a pointer to elements of `size` bytes, hold at least `need`. 0, PYTHIA_ENOMEM or PYTHIA_ELIMIT; on
   failure all is as it was. */
int base_array_room(void *array, uint32_t *room, uint64_t need, size_t size);

/* Appends `more` elements to *count of them; on failure all is as it was. Returns as above. */
int base_array_append(void *array, uint32_t *count, uint32_t *room, const void *elements, uint32_t more, size_t size);

/* For an array that keeps no room beside its count: room for one more after `count` elements, which is there unless
   `count` is 0 or a power of two. Returns as above. */
int base_array_more(void *array, uint64_t count, size_t size);

/* A copy of `count` elements, to be freed; room for one more. NULL: out of memory. */
void *base_array_copy(const void *elements, uint64_t count, size_t size);

/* How many of the first `count` elements of an array in order come before something: `before` says so of element `i`,
   and holds for the first ones. */
#define BASE_ARRAY_PLACE(count, i, before)                            \
    ({                                                                \
        __typeof__((count) + 0u) low_ = 0, high_ = (count);           \
        while (low_ < high_) {                                        \
            const __typeof__(low_) i = low_ + (high_ - low_) / 2;     \
            if (before)                                               \
                low_ = i + 1;                                         \
            else                                                      \
                high_ = i;                                            \
        }                                                             \
        low_;                                                         \
    })

/* Sorts, and joins elements that `order` holds for equal: of these `add` makes one, *into, of a further one, *from.
   How many are left. */
#define BASE_ARRAY_JOIN(array, count, order, into, from, add)                                     \
    ({                                                                                            \
        __typeof__((count) + 0u) kept_ = 0;                                                       \
        if (count)                                                                                \
            qsort(array, count, sizeof *(array), order);                                          \
        for (__typeof__(kept_) i_ = 0; i_ < (count); i_++)                                        \
            if (kept_ && order(&(array)[kept_ - 1], &(array)[i_]) == 0) {                         \
                __typeof__(&(array)[0]) into = &(array)[kept_ - 1], from = &(array)[i_];          \
                add;                                                                              \
            } else {                                                                              \
                (array)[kept_++] = (array)[i_];                                                   \
            }                                                                                     \
        kept_;                                                                                    \
    })
