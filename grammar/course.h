/* SPDX-License-Identifier: MIT */
/*
 * Values in the order of the stream: known where no node's formula holds for them.
 *
 *     sizes of a terminal              3 1 4   3 1 4   3 1 4   7   3 1 4   9 8 7 6 …
 *     steps from, back, value | plus   0 0 3 | 1 0 1 | 2 0 4 | 3 3 +0 | 9 0 7 | 10 4 +0 | 13 0 9 | 14 1 -1
 *
 * A step says of its values that they are all one (back 0), or that each is the one that stands `back` before it plus a
 * constant (Ziv and Lempel 1977). So what repeats with any period is one step, a program's phase that comes again one
 * with a longer way back, what shrinks from turn to turn one with a constant: of each only what is new takes memory.
 *
 * While the last step goes on, the next value is known: an event costs a comparison. Where another one comes, the last
 * four values are looked for in a window of what came before, into which those that the step said are written first:
 * where they stand, and most of those before them agree, the new step begins as far back as they do, and steps that it
 * makes superfluous go. Each look is bounded, and so is their number. Ranks and what stands for them agree only where
 * they are equal: differences of ranks mean nothing, and steps are to be the same on all ranks that do the same.
 *
 * Invariants:
 *   1. steps follow each other: the first one is from 0 and has a value, each other one is from a later event
 *   2. back is at most from: values are made of earlier ones
 *   3. an event of the terminal without a value has GRAMMAR_ABSENT: it holds its place
 *
 * Kept by terminal, so that nothing that happens to rules and nodes touches it; until memory is short, or order lost.
 * Cost: a comparison a channel, of a step that goes on ten instructions more; a change at most 8 comparisons of 64
 * values, and twice a look through the window: a microsecond. Memory: nothing while a channel has one value; then 24
 * bytes a step, 512 at most, and a window of 5 KiB.
 * Private to grammar/.  Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>

#include "grammar/flat.h"

enum {
    GRAMMAR_COURSE_TERMINALS = 4096, /* the first ones */
    GRAMMAR_COURSE_LOOKS = 8 * GRAMMAR_COURSE_STEPS,
    GRAMMAR_COURSE_WINDOW = 512,     /* values that are kept: periods of up to 500 are found */
    GRAMMAR_CELL_STEPS = sizeof(struct grammar_attr) / sizeof(struct grammar_step)
};
#define GRAMMAR_COURSE_CHANNELS (((1u << GRAMMAR_CHANNELS) - 1) & ~(1u << GRAMMAR_TEAM))

/* The last values, the n-th at n modulo the size, and for each a hash of it and the three before it. */
struct grammar_window {
    int64_t value[GRAMMAR_COURSE_WINDOW];
    uint16_t context[GRAMMAR_COURSE_WINDOW];
};

/* Of a terminal, a channel, from its second value on. */
struct grammar_course {
    uint32_t end;     /* the last cell; each cell's `next` is the one before it */
    uint32_t window;
    uint16_t at;      /* in the window: what is expected, but for `shift` */
    uint16_t steps, back; /* back: of the last step, 1 where it has one value */
    uint16_t looks, context;
    int64_t plus, shift;  /* of the last step; times of it that are due at `at` */
    uint64_t noted;   /* the window has the values before that event; later ones are what the last step said */
};

/* The stamp and the number of events, which each event needs, are in one line of cache. */
struct grammar_courses {
    uint64_t events;         /* of the terminal */
    uint32_t channels;       /* that events had */
    uint32_t watched;        /* of these: kept */
    uint32_t going;          /* of these: with steps */
    uint32_t stamp;          /* since the last value that was not expected; 0: none, or nobody has asked */
    bool closed;             /* no other channel is met: the order of events before is lost */
    int64_t expected[GRAMMAR_CHANNELS]; /* the next value; until a second one came the only one */
    struct grammar_course of[GRAMMAR_CHANNELS];
} __attribute__((aligned(64)));
