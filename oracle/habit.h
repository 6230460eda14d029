/* SPDX-License-Identifier: MIT */
/*
 * Habits: the gap before an event as this run shows it. A mean of gaps is mostly made of a few long ones; what is likely is
 * the median, followed by steps up and down that shrink.
 *
 *   node of the reference     Isend^26
 *   first turn                one habit          what comes before a loop is not what is between its turns
 *   later turns               one habit
 *   turns 1 … 31              one habit each     a loop over neighbours packs a face, then an edge, then a corner
 *
 * Whether a turn's own habit or that of all turns answers is decided by which was nearer at this turn so far.
 * Cost: some ns an event; 16 bytes a node, 512 for each of the first ORACLE_HABIT_LOOPS nodes that are loops.
 */
#ifndef PYTHIA_ORACLE_HABIT_H
#define PYTHIA_ORACLE_HABIT_H

#include <stdint.h>

enum { ORACLE_HABIT_TURNS = 32, ORACLE_HABIT_LOOPS = 512 };

struct oracle_habit { float gap, step; /* ns; share of the gap; step 0: not seen in this run */ };

struct oracle_turn_habit {
    struct oracle_habit own;
    float error, others; /* recent relative errors at this turn: of its own habit, and of that of all turns */
};

static inline void oracle_habit_learn(struct oracle_habit *h, uint64_t gap)
{
    float off = (float)gap - h->gap, most = h->gap * h->step + 1;

    if (h->step == 0) {
        *h = (struct oracle_habit){ (float)gap, 0.5f };
        return;
    }
    h->gap += off > most ? most : off < -most ? -most : off; /* never beyond what was seen */
    h->step = h->step > 0.04f ? h->step * 0.9f : h->step;
}

static inline float oracle_habit_error(const struct oracle_habit *h, uint64_t gap)
{
    float off = h->gap > (float)gap ? h->gap - (float)gap : (float)gap - h->gap;
    return off < (float)gap ? off / (float)gap : 1; /* one that is far off says no more than one that is off */
}

/* `all`: the habit of all later turns, before it learns of this gap. */
static inline void oracle_turn_learn(struct oracle_turn_habit *t, const struct oracle_habit *all, uint64_t gap)
{
    if (t->own.step > 0 && all->step > 0) {
        t->error += (oracle_habit_error(&t->own, gap) - t->error) / 8;
        t->others += (oracle_habit_error(all, gap) - t->others) / 8;
    }
    oracle_habit_learn(&t->own, gap);
}

/* The habit that answers for a turn that has one of its own. */
static inline const struct oracle_habit *oracle_turn_choose(const struct oracle_turn_habit *t, const struct oracle_habit *all)
{
    return t->error < t->others ? &t->own : all;
}

#endif
