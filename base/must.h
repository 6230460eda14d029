/* SPDX-License-Identifier: MIT */
/* For what only the command links (replay, report, tools), never a program that is recorded: what cannot fail there. */
#pragma once

#include <stdlib.h>

#include "base/array.h"

/* Of what fails only where there is no memory, which ends a command before it returns (tools/memory.c), or beyond 2^31
   elements. */
static inline void base_must(int error)
{
    if (error)
        abort();
}

/* Appends to an array that keeps no room beside its count (base_array_more). */
#define BASE_ADD(array, count, ...) \
    (base_must(base_array_more(&(array), count, sizeof *(array))), (void)((array)[(count)++] = __VA_ARGS__))
