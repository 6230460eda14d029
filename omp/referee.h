/* SPDX-License-Identifier: MIT */
/*
 * Whether deciding for each region by itself is right for all of them together.
 *
 * A model of single regions (model.h) cannot see what regions do to each other: one that runs on one thread pulls data into
 * that thread's cache, and the team after it waits for them. So ways to run all regions are compared by the time that whole
 * turns of the program's loop take, in this run:
 *
 *   chosen    each region as the model says
 *   pool      all with the pool's size, without deciding: the program as it is, where that is its own size
 *   one       all with one thread, likewise
 *
 *   context that comes back after as many regions each time, for WINDOWS ms and turns: the anchor
 *   ── window: turns of at least 1 ms ──┬── window ──┬── window ──▶   each begins and ends with the anchor
 *
 * A test gives each way two windows at a time, of which the second counts, in several rounds; the least median wins. Ways that
 * the model expects to be far slower, or whose loss the budget does not pay, are left out, and one that shows to be so is
 * dropped. The next test comes after twice as many windows, and soon where windows get far slower. A program that does not
 * come back regularly is never tested: its regions are run as chosen. Time in MPI is left out: other ranks are tested, too.
 *
 * Pure arithmetic.  Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_REFEREE_H
#define PYTHIA_OMP_REFEREE_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/budget.h"

enum omp_hook_way { OMP_HOOK_CHOSEN, OMP_HOOK_POOL, OMP_HOOK_ONE, OMP_HOOK_WAYS };
enum { OMP_HOOK_ROUNDS = 5 };

struct omp_hook_referee {
    uint32_t length;        /* regions of a window; 0: no anchor */
    uint64_t first;         /* number of this one's first region */
    uint64_t begin;         /* of this one */
    enum omp_hook_way way;  /* in which regions run now */
    enum omp_hook_way best; /* … and outside of tests */
    double usual;           /* time of a window outside of tests; 0: not known */
    double loss[OMP_HOOK_WAYS];     /* foreseen in this window, for running it in another way than chosen */
    double foreseen[OMP_HOOK_WAYS]; /* in the last one that was chosen */
    uint32_t tested;        /* bits of the ways in the test; 0: none is under way */
    uint32_t turn;          /* of the way's two windows */
    uint32_t counted[OMP_HOOK_WAYS];
    double time[OMP_HOOK_WAYS][OMP_HOOK_ROUNDS];
    uint32_t wait, backoff; /* windows until the next test */
    uint32_t slow;          /* windows in a row that took far longer than usual */
};

/* How regularly a place comes back. */
struct omp_hook_return {
    uint64_t seen;    /* number of the region, from 1; 0: never */
    uint64_t since;   /* ns, begin of the first of those … */
    uint32_t period;  /* … that came after as many regions each time, … */
    uint32_t regular; /* … and how many they are */
};

/* A place was reached, by region number `region`, from 1. Returns whether it is fit to be an anchor. */
bool omp_hook_return_note(struct omp_hook_return *p, uint64_t region, uint64_t now);
/* The region that was noted last is the anchor's. */
void omp_hook_referee_anchor(struct omp_hook_referee *r, const struct omp_hook_return *p, uint64_t now);
/* The anchor did not come back. */
void omp_hook_referee_lose(struct omp_hook_referee *r);

/* Whether this region, which begins now, has to be the anchor's: then turn, or lose. */
static inline bool omp_hook_referee_ends(const struct omp_hook_referee *r, uint64_t region)
{
    return r->length && region - r->first == r->length;
}

/* The anchor came back: the window ends, and the next one begins. Returns whether a test ended with it. */
bool omp_hook_referee_turn(struct omp_hook_referee *r, uint64_t now, struct omp_hook_budget *budget);

/* A region that was run as chosen would have taken so much longer in this other way. */
static inline void omp_hook_referee_foresee(struct omp_hook_referee *r, enum omp_hook_way way, double longer)
{
    r->loss[way] += longer > 0 ? longer : 0;
}

#endif
