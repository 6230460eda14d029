/* SPDX-License-Identifier: MIT */
/*
 * A team's work on fewer threads: the share of each of its threads is run with that thread's number.
 *
 *     team of 4, thread 0     share 0 ── barrier ┐          ┌─ share 0 ── end ┐       share s is thread s * k / 4's
 *                             share 1 ── barrier ┴ meet ────┘  share 1 ── end ┴─      from begin to end
 *     k = 2      thread 1     share 2 ── barrier ┐   │      ┌─ share 2 ── end ┐
 *                             share 3 ── barrier ┴ meet ────┘  share 3 ── end ┴─
 *
 * A team might have run so, as long as shares wait for one another in OpenMP's constructs only and use nothing that
 * belongs to a thread: that is proven before (teams/proof.h). A share is told its own number and its team's size. At a
 * barrier a thread goes on with its next share, and meets the other threads when all of its own have come; so it does
 * where one does not get a lock (holds.c). Work that is shared is handed out here (constructs.c); critical sections and
 * atomic accesses are libgomp's.
 *
 * A thread's first share is run on the thread's stack, others on stacks as large as libgomp's threads have, with a page
 * below that nobody may touch; one that meets no barrier leaves its stack to the next. errno after the region is that
 * of share 0.
 *
 * One region at a time is run so: that of the thread that acts (team.h), an outermost one, or one that
 * is inside of regions with one thread only. Memory: a stack for each share, mapped when first needed, kept. Threads:
 * hooks: any; others: the one that acts.  Hook-safe: yes, but for omp_shares_ready(), when a team is larger than those
 * before.
 */
#pragma once

#include "omp/hooks.h"

/* Whether what shares call comes to us, whatever the program defines itself, and stacks may be switched: the processor
   keeps no second one of return addresses (CET, GCS). */
bool omp_shares_are_asked(void);
/* Whether there is room for a team of that size. */
bool omp_shares_ready(uint32_t team);
/* Runs r->fn for each thread of r->program threads: by this thread alone if r->direct, else by r->nt of libgomp's. */
void omp_shares_run(struct omp_hook_region *r);

/* --- For constructs.c --- */

struct omp_share {
    void *top;          /* of its stack, NULL: none yet */
    void *context;      /* stack pointer, while another one runs */
    int state, error;   /* errno */
    uint64_t construct; /* number of the one that it is in, or was last … */
    uint64_t trip;      /* … and how often it took from it */
    void *reduced;      /* libomp: what it has of a reduction … */
    bool locked;        /* … and whether it holds the lock of that */
};
/* The one that this thread runs, and any. */
struct omp_share *omp_shares_own(void);
struct omp_share *omp_shares_number(uint32_t number);
bool omp_shares_was_left(struct omp_hook_thread *t, struct base_frame here);
/* Whether a hook whose caller's frame is `here` is called by one. */
static inline __attribute__((always_inline)) bool omp_shares_inside(struct base_frame here)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    return __builtin_expect(t->team != 0, 0) && !omp_shares_was_left(t, here);
}
void omp_shares_barrier(void);
/* Lets another share of this thread go on. False: none can. */
bool omp_shares_yield(void);

/* A region begins, whose team shares `first` (OMP_HOOK_NO_LOOP: nothing yet); returns the number of the construct that
   each share is in. It ended, and its last construct was that one. */
uint64_t omp_constructs_begin(const struct omp_hook_loop *first);
void omp_constructs_end(uint64_t last);

/* The next construct of this share is that loop, of which it takes its next iterations: up to `end` by `step`; false:
   none is left. `last`: the last one is among them. */
void omp_constructs_start(const struct omp_hook_loop *loop);
bool omp_constructs_next(uint64_t *begin, uint64_t *end, uint64_t *step, bool *last);
/* Likewise a single: whether this share does it. */
bool omp_constructs_single(void);
void *omp_constructs_copy(void);
void omp_constructs_copied(void *data);
