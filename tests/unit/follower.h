/* SPDX-License-Identifier: MIT */
/*
 * An oracle that follows a plain list of events, for unit tests: the list can be looked at where the oracle has to
 * foresee.
 *
 *     follower_program(&l, seed);
 *     follower_open(&f, &l);              the oracle knows all of l
 *     follower_follow(&f, &l, 0);         and is now behind its first event
 *     follower_close(&f);
 *
 * What fails aborts the test.
 */
#pragma once

#include <stdint.h>

#include "grammar/grammar.h"
#include "oracle/internal.h"

enum { FOLLOWER_ROOM = 32768 };

struct follower_list {
    uint32_t count;
    struct { uint32_t terminal; uint64_t gap, duration; } e[FOLLOWER_ROOM]; /* times in ns */
};

struct follower {
    struct grammar_flat *g;
    struct oracle_index *x;
    struct oracle *o;
};

/* The state of all that is random here; a test sets it to its seed. */
extern uint64_t follower_seed;
uint64_t follower_random(uint64_t below);

/* Appends an event. Times depend on the terminal alone, so that means are exact, but for the rounding of split sums. */
void follower_put(struct follower_list *l, uint32_t terminal);

/* A program of 200 events or more: nested loops over random blocks. */
void follower_program(struct follower_list *l, unsigned seed);

/* An oracle whose reference is the list; `options` NULL: the default ones. */
void follower_open(struct follower *f, const struct follower_list *l);
void follower_open_options(struct follower *f, const struct follower_list *l, const struct oracle_options *options);
void follower_close(struct follower *f);

/* Event i of the list has come. */
void follower_follow(struct follower *f, const struct follower_list *l, uint32_t i);

/* The invariants of an oracle, which is at event `at` of `seed`. */
void follower_audit(const struct oracle *o, unsigned seed, uint32_t at);
