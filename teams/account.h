/* SPDX-License-Identifier: MIT */
/*
 * Which executions of a region are timed in each thread, and what those that are not were like.
 *
 * Timed are an execution that is likely to be long, and of short ones the first ones, every 16th of a thousand and
 * every 64th of those after them: timing one takes half as long as an empty region. Long is 50 us and more, where that
 * is nothing; it is likely for as many executions after a long one as cost a thousandth of it. What a timed one shows
 * stands for those that were not timed since: a short one for the short ones, a long one for the long ones up to its
 * own kind and the next (50 us, 200 us, 800 us, ... 12.8 ms). So each counts by its duration, what changes with time
 * is seen, and a short one that the machine held up does not speak for one that works. Teams of one need no timing:
 * their time is work, or MPI.
 *
 * Threads: the one that enters the region.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/threads.h"

enum teams_length {
    TEAMS_ALONE, TEAMS_SHORT,
    TEAMS_LONG, TEAMS_LONGEST = TEAMS_LONG + 4, /* each four times as long as the one before */
    TEAMS_LENGTHS
};

/* One execution, or several: ns on the thread that entered, of it in its MPI calls, of all threads. */
struct teams_time { uint64_t region, mpi, team; };

/* Of one region. Zero: none yet. */
struct teams_account {
    uint64_t executions;
    uint32_t likely;  /* so many of the next ones may be long */
    uint32_t largest; /* team, since the last one that was timed: its threads are capacity, too */
    struct teams_time untimed[TEAMS_LENGTHS]; /* the same */
    struct job_threads sum; /* of those that were, with what they stand for */
};

/* Whether the next execution is to be timed. */
static inline bool teams_account_is_due(const struct teams_account *a)
{
    enum { FIRST = 4, EVERY = 16, MANY = 1024, SELDOM = 64 };
    uint64_t n = a->executions;
    return a->likely || n % (n < MANY ? EVERY : SELDOM) == 0 || n < FIRST;
}
/* The same; it begins. */
static inline bool teams_account_due(struct teams_account *a)
{
    bool due = teams_account_is_due(a);
    a->executions++;
    a->likely -= a->likely > 0;
    return due;
}

/* One took so long. */
static inline enum teams_length teams_account_length(struct teams_account *a, uint64_t ns)
{
    enum { LONG = 50000, COST = 2048, MOST = 1024 };
    if (ns < LONG)
        return TEAMS_SHORT;
    uint32_t likely = ns / COST < MOST ? (uint32_t)(ns / COST) : MOST;
    a->likely = a->likely > likely ? a->likely : likely;
    int length = TEAMS_LONG + (63 - __builtin_clzll(ns / LONG)) / 2;
    return length < TEAMS_LONGEST ? (enum teams_length)length : TEAMS_LONGEST;
}

/* It was not timed. */
static inline void teams_account_add(struct teams_account *a, uint64_t ns, uint64_t mpi, uint32_t threads)
{
    struct teams_time *t = &a->untimed[threads > 1 ? teams_account_length(a, ns) : TEAMS_ALONE];
    t->region += ns;
    t->mpi += mpi;
    t->team += ns * threads;
    a->largest = a->largest > threads ? a->largest : threads;
}

/* It was: *timed has the times of its threads; gets region_ns, region_mpi_ns, and what it stands for besides. */
void teams_account_timed(struct teams_account *a, uint64_t ns, uint64_t mpi, struct job_threads *timed);
/* At the end: what stands for nothing, and of teams of one what it was; zero afterwards. */
struct job_threads teams_account_rest(struct teams_account *a);
