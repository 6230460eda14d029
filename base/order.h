/* SPDX-License-Identifier: MIT */
/*
 * What the comparisons of qsort() and bsearch() return. Several keys: the first that tells them apart decides.
 *
 *     BASE_COMPARISON(by_time, struct piece, BASE_DOWN(ns) ?: BASE_UP(rank))           most time first, then by rank
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdlib.h>

/* -1, 0 or 1. Both of one type: of a signed and an unsigned one C converts the signed. A NaN equals everything, which
   is no order. The arguments are evaluated twice. */
#define BASE_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* A comparison of two elements, *a and *b; by a member, the least first, or the greatest. */
#define BASE_COMPARISON(name, type, ...)                                                                               \
    static int name(const void *a_, const void *b_)                                                                    \
    {                                                                                                                  \
        const type *a = a_, *b = b_;                                                                                   \
        return __VA_ARGS__;                                                                                            \
    }
#define BASE_UP(member) BASE_ORDER(a->member, b->member)
#define BASE_DOWN(member) BASE_ORDER(b->member, a->member)
/* Sorts; of no elements the array may be NULL. */
#define BASE_SORT(array, count, order) ((count) ? qsort(array, count, sizeof *(array), order) : (void)0)
