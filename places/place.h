/* SPDX-License-Identifier: MIT */
/*
 * Where a task or a team is to run: on a thread, on a node, or near data (after "Affinity of tasks to thread, node or
 * data", seed 002).
 *
 *   kind             value                         place
 *   thread           number                        the processor of that number; modulo the processors there are
 *   node             number                        all processors of that NUMA node; modulo the nodes there are
 *   data             address                       the node where the page at that address lives; the first node where
 *                                                  that is not known (not touched yet, not mapped, no NUMA)
 *
 *   strict           bound to the place while it runs, then back
 *   hint             moved there only where the thread may run there anyway (in its own mask), else left where it is
 *
 * Numbers are logical, in the order of base/topology.h, of the processors that this process's group may use:
 * thread 0 and thread 1 are neighbours. libgomp itself has one queue of tasks for all of a team's threads, so a task is
 * not given to a thread: the thread that takes it goes to the place and comes back, two system calls.
 *
 * Threads: any.  Hook-safe: no (the first use reads the machine; later ones make system calls).
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/topology.h"

/* What was asked for; kind 0 (PYTHIA_AFFINITY_NONE): nothing. */
struct places_wish {
    int kind; /* enum pythia_affinity */
    bool strict;
    uintptr_t value;
};

/* What that means on a machine. */
struct places_place {
    unsigned node;          /* logical number of the NUMA node */
    unsigned first, count;  /* its processors, logical numbers; of a thread: that one */
};

/* --- Decisions (place.c): on any machine, this one or one made up --- */

/* Node of a page, < 0 where it is not known; NULL: move_pages(2). */
typedef int (*places_locate_t)(uintptr_t address);

/* Returns 0, or PYTHIA_EINVAL for a kind that is none. */
int places_decide(const struct base_machine *machine, const struct places_wish *wish, places_locate_t locate,
                  struct places_place *place);
/* The place of member `number` of a team with that wish: a thread's neighbours follow it, nodes are for all. */
struct places_wish places_of_member(const struct places_wish *wish, unsigned number);
/* The processors of a place, by the system's numbers. */
void places_processors(const struct base_machine *machine, const struct places_place *place, cpu_set_t *set);

/* --- Going there (visit.c) --- */

/* What to go back to. */
struct places_return { cpu_set_t mask; bool moved; };
void places_enter(const struct places_wish *wish, struct places_return *back);
void places_leave(const struct places_return *back);

/* Takes this thread's wish for its next task (or team): what it was, and it is gone. */
extern _Thread_local struct places_wish places_task __attribute__((tls_model("initial-exec")));
extern _Thread_local struct places_wish places_team __attribute__((tls_model("initial-exec")));
static inline bool places_take(struct places_wish *wish, struct places_wish *taken)
{
    if (__builtin_expect(wish->kind == 0, 1))
        return false;
    *taken = *wish;
    wish->kind = 0;
    return true;
}

/* A team with a wish: run by each of its threads in place of what it would run. */
struct places_run {
    void (*run)(void *);
    void *argument;
    struct places_wish wish;
};
void places_run(void *place_run);
