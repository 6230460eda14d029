/* SPDX-License-Identifier: MIT */
/*
 * Peers in the order of the stream: known where no node's formula holds for them.
 *
 *     peers of a terminal        3 1 4   3 1 4   3 1 4   7   3 1 4   3 1 4 …
 *     steps from, value, back    0 3 1 | 1 1 1 | 2 4 3 | 9 7 1 | 10 3 10
 *
 * A step is a value, and after it, up to where the next step begins, the values that stand `back` before them (Ziv and
 * Lempel 1977). So a run is a step with back 1, what repeats with any period one with that period, a program's phase
 * that comes again a step with a longer one: of each only what is new takes memory.
 *
 * While the last step goes on, the next value is known: an event costs a comparison. Where another one comes, the last
 * four values are looked for in a window of what came before, into which those that the step said are written first:
 * where they stand, and most of those before them agree, the new step begins as far back as they do, and steps that it
 * makes superfluous go. Each look is bounded, and so is their number.
 *
 * Invariants:
 *   1. steps follow each other: the first one is from 0, each other one from a later event than the one before
 *   2. back is from 1 to from + 1: values are made of earlier ones; the first step's is 1
 *   3. an event of the terminal without a value has GRAMMAR_PEER_NONE
 *
 * Kept by terminal, so that nothing that happens to rules and nodes touches it; until memory is short, or order lost.
 * Cost: a comparison, of a step that goes on ten instructions more; a change at most 8 comparisons of 64 values, and
 * twice a look through the window: a microsecond. Memory: 16 bytes a step, 512 at most; a window is
 * 3 KiB.
 * Private to grammar/.  Threads: owner.  Hook-safe: yes.
 */
#ifndef PYTHIA_GRAMMAR_COURSE_H
#define PYTHIA_GRAMMAR_COURSE_H

#include <stdbool.h>

#include "grammar/flat.h"

enum {
    GRAMMAR_COURSE_TERMINALS = 4096, /* the first ones */
    GRAMMAR_COURSE_LOOKS = 8 * GRAMMAR_COURSE_STEPS,
    GRAMMAR_COURSE_WINDOW = 512,     /* values that are kept: periods of up to 500 are found */
    GRAMMAR_CELL_STEPS = sizeof(struct grammar_attr) / sizeof(struct grammar_step)
};
#define GRAMMAR_COURSE_CHANNELS (1u << GRAMMAR_PEER | 1u << GRAMMAR_SOURCE)

/* The last values, the n-th at n modulo the size, and for each a hash of it and the three before it. */
struct grammar_window {
    int32_t value[GRAMMAR_COURSE_WINDOW];
    uint16_t context[GRAMMAR_COURSE_WINDOW];
};

enum grammar_course_state {
    GRAMMAR_COURSE_NEW,  /* no value yet */
    GRAMMAR_COURSE_KEPT,
    GRAMMAR_COURSE_LEFT  /* not kept any more */
};

/* Of a terminal, a channel. */
struct grammar_course {
    int32_t expected; /* the next value, while the last step goes on */
    uint32_t end;     /* the last cell; each cell's `next` is the one before it */
    uint32_t window;  /* GRAMMAR_NONE: all values are equal */
    uint16_t at;      /* in the window: what is expected */
    uint16_t steps, back; /* back: of the last step */
    uint16_t looks, context;
    uint8_t state;    /* enum grammar_course_state */
    uint64_t noted;   /* the window has the values before that event; later ones are what the last step said */
};

struct grammar_courses {
    uint64_t events;  /* of the terminal */
    bool begun;       /* some of them had a value */
    struct grammar_course of[2]; /* PEER, SOURCE */
};

#endif
