/* SPDX-License-Identifier: MIT */
/*
 * Whether a task is worth deferring: arithmetic only, no clock, no OpenMP; task.h says how it is used.
 *
 * After "Optimiser l'efficacité des systèmes parallèles" (Morin, COMPAS 2024): a task is run at once, instead of being
 * deferred, when there is work enough (ready >= 4 x threads) or when deferring does not pay (efficiency below 50 %).
 * Here the two are one rule, because deferring costs the more the less it is needed:
 *
 *     ready tasks       threads to feed     deferred when the task and all below it take at least
 *     below one each    some may be idle    1 x the cost of deferring it     (efficiency 50 %)
 *     below four each   none                16 x                             (efficiency 94 %)
 *     more              none for long       100 x                            (then it is free, and evens out the load)
 *
 * What a task takes, with all that it creates run at once, is learned per task construct and nesting depth, from the
 * bottom upwards: a task whose own tasks were all run at once has shown it. Until then a task is deferred below four
 * ready ones a thread.
 *
 * Threads: any (relaxed atomics; a lost update is a lost sample).  Hook-safe: yes.  All times in ns.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A mean that forgets: of about the last 32 observations; a single one counts for at most 64 times the mean. */
struct tasks_mean {
    _Atomic float value;
    atomic_uint count; /* observations, at most 32; 0: not known */
};

void tasks_mean_add(struct tasks_mean *m, double x);
/* Whether it has as many observations as it remembers. */
bool tasks_mean_is_settled(const struct tasks_mean *m);
/* -1 when not known. */
double tasks_mean_get(const struct tasks_mean *m);

enum tasks_choice {
    TASKS_DEFER,   /* as the program says */
    TASKS_AT_ONCE, /* this task; what it creates is decided anew */
    TASKS_SUBTREE, /* this task and what it creates, without further decisions (task.h: until its time is up) */
};

/* `takes`: the task and all below it, < 0: not known. `cost`: of deferring. `ready`: tasks deferred and not begun. */
enum tasks_choice tasks_choose(double takes, double cost, int ready, int team);
/* Time after which a subtree that is run at once looks whether the others still have work. */
double tasks_subtree_time(double takes, double cost);

/*
 * Timing a task costs some 60 ns, so that tasks of less than 16 us are sampled: after the first 32, as many are passed
 * over as make the time of those between 16 us on average, 63 at most. How many is drawn anew each time, so that
 * constructs whose every fourth task is another one are sampled fairly.
 *
 * `timed`: how many were, so far; `ns`: their sum; `chance`: a number that is kept for the next draw.
 */
uint32_t tasks_pass(uint64_t timed, uint64_t ns, uint32_t *chance);

/*
 * A loop of tasks has no tasks that could be timed one by one from outside; but it ends when they have (without
 * nogroup), so both ways are tried as wholes, and the faster one is taken: per iteration, in this run.
 *
 *   deferred, deferred, at once, at once, then the faster one; the slower one again after 32, 64, … 4096 turns, and
 *   only if it cost less than half as much again. A loop whose task takes over 50 us each is never run at once.
 */
struct tasks_loop {
    struct tasks_mean time[2];/* ns per iteration: 0 as the program says, 1 at once */
    atomic_uint since, backoff;
};

/* Whether to run the loop at once. `each`: iterations in one task. */
bool tasks_loop_choose(struct tasks_loop *l, double each, int team);
void tasks_loop_learn(struct tasks_loop *l, bool at_once, double per_iteration);
