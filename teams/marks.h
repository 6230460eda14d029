/* SPDX-License-Identifier: MIT */
/*
 * What is known of a value in a turn of a loop (wait.h), and of what is made of such values: whether it moves on,
 * stays, or was read from memory that others may write. Names are for wait.c alone.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* FIRST: what was at the head, where each turn moves it on; MOVED: that, and a step more; SCALED: grows or shrinks with
   such a one. */
enum mark {
    NOTHING,
    SCALED,
    FIRST,
    MOVED,
    MOVES = MOVED,       /* any of them */
    FIXED = 4,           /* read from a place that may be the same in each turn, also with others */
    SWAPPED = 8,         /* what an exchange found there, that expected something read before */
    LENT = 16,           /* from a place in the frame that others may have written */
    SWEPT = 32 | MOVED,  /* read from a place that is another one in each turn, or made of that in any way */
    HALVED = 64 | MOVED, /* half of one that moves, or a sum with that: what a search has left */
    SEEN = 128,          /* as it was read */
    STILL = 256,         /* the same in each turn */
    SAME = 512,          /* what was at the head, as it was */
    WATCHED = 1024,      /* FIXED, and the loop itself writes nothing there */
    CHASED = 2048,       /* followed from place to place: what the last turn read is where this one reads */
    LOW = 4096,          /* made of one bound of a search, as at the head, … */
    HIGH = 8192,         /* … of the other one, … */
    BETWEEN = 16384,     /* … halved out of both, and of numbers: what the search looks at, … */
    BOUNDS = LOW | HIGH | BETWEEN,
    FRESH = 32768,       /* … in this turn */
    READ = FIXED | LENT,
    ORIGIN = READ | WATCHED | CHASED /* goes along with whatever is made of it */
};

typedef uint32_t mark_t;
#define DOWN ((mark_t)1 << 16)      /* MOVED, by a number below 0 */
#define LINK ((mark_t)0xfffe << 16) /* of a mark: by which kind of place it was read (link_of()), 0: by several */

static inline bool is(mark_t a, mark_t mark)
{
    return (a & mark) == mark;
}

/* Of one or the other; of what is made of both. */
mark_t teams_mark_join(mark_t a, mark_t b);
mark_t teams_mark_compute(mark_t a, mark_t b);
mark_t teams_mark_scale(mark_t a, mark_t b);
mark_t teams_mark_add(mark_t a, mark_t b);
mark_t teams_mark_subtract(mark_t a, mark_t b);
mark_t teams_mark_halve(mark_t a);
mark_t teams_mark_compare(mark_t a, mark_t b);
