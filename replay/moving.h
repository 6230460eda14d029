/* SPDX-License-Identifier: MIT */
/*
 * Imbalance that moves from rank to rank: what ranks wait for each other although none of them is slower in the mean.
 *
 *   recorded wall time    |  replay with mean work, shortest calls  |            excess             |
 *                                                                   |  moving  | varying | not known |
 *
 * The excess is first held against replays with work drawn for each turn (bind_draw.c): drawn independently by several
 * seeds, and with the ranks' longest turns apart. Up to what the latter explains it is *moving*; at calls with long
 * messages, which take now longer and now shorter themselves, up to what the former explains. Of what is left, what
 * is at calls with long messages is transfer that varies; the rest is *not explained*.
 *
 * Cost: up to five replays, which walk some hundred turns of each loop.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct replay_analysis;

struct replay_moving {
    double excess;                    /* s of wall time, as the following ones */
    double independent, apart;        /* what drawing explains: each rank by itself, at most; 0: too many steps */
    double moving, varying, unexplained; /* add up to the excess */
    double *at;                       /* of each site, ns of all ranks: waits that move */
    uint32_t *cause;                  /* of each site: place whose work makes most of them, GRAMMAR_NONE: none */
    double at_all;                    /* ns of all ranks: calls beyond the replay, at all sites */
};

/* Of an analysis that has replayed mean work and the shortest calls, without rests. 0, or PYTHIA_ELIMIT where
   drawing takes more than all replays together may. */
int replay_moving_find(struct replay_analysis *a);
void replay_moving_close(struct replay_moving *m);

/* How much each kind of drawing counts in what the job takes: adds up to 1. */
struct replay_moving_weight { double means, independent, apart; };
struct replay_moving_weight replay_moving_weight(const struct replay_moving *m);
