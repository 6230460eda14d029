/* SPDX-License-Identifier: MIT */
/*
 * The turns of a program's main loop, told by the stream of its regions.
 *
 *   a b b b c  a b b b c  a b b b c        a comes back every 5 regions: the mark of turns of 5 regions.
 *   ^          ^          ^                So does c; b comes back after 1, 1, 3: it is none.
 *
 * A region that came back twice after the same number of regions, and not within a moment (an inner loop of short
 * regions), is the mark. When it does not come back where it should it is lost, and has to come back twice as often
 * before it is one again: so inner loops give way to what is around them.
 *
 * Memory: some words a region. Cost: a few instructions a region until a turn is found, then one comparison.
 * Threads: owner.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ns that a stall takes, the fewest: what is over by then tells nothing. */
enum { TEAMS_STALL = 1000000 };

/* Of each outlined function; zero at first. */
struct teams_return {
    uint64_t seen;   /* number of the region that was here last, from 1; 0: none */
    uint64_t time;   /* when that began */
    uint64_t since;  /* when the first one of the row began */
    uint64_t period; /* after how many regions it came back … */
    uint32_t times;  /* … so many times in a row */
    uint32_t lost;   /* so often it was an mark in vain */
};

struct teams_turns {
    uint64_t number;             /* regions so far */
    struct teams_return *mark; /* NULL: none is known */
    uint64_t period, first;      /* regions of a turn; number of the one that began this turn */
    uint64_t took;               /* ns of the turn before it was found */
};

enum teams_turn { TEAMS_INSIDE, TEAMS_BEGINS, TEAMS_FOUND, TEAMS_LOST };

/* A region begins. FOUND: it is the mark from now on; BEGINS: a turn ended; LOST: there is no turn any longer. */
enum teams_turn teams_turns_next(struct teams_turns *t, struct teams_return *here, uint64_t now);
