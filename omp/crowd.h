/* SPDX-License-Identifier: MIT */
/*
 * How crowded the processors are, before anybody has met a stall (stall.h).
 *
 * The kernel counts how long each thread ran and how long it waited for a processor although it could have run
 * (/proc/thread-self/schedstat): for a `share` of the time in which it wants one, and for `wait` ns at a time. Threads that
 * are woken for a team wait like that at its begin, each time; threads that spin have a processor until they lose it, and
 * what is lost then one team has to bear:
 *
 *   expected stall of a team = share x wait, or share / (1 - share) x (its time + the gap before it) where that is less
 *
 * Looked at every 25 ms of the program's time (one file read, some us), over about the last 100 ms; at first over all of the
 * thread's life and some time without waiting before it.
 * Where the kernel does not count there are no such stalls.
 * Threads: the one that acts (team.h).  Hook-safe: yes, but for that file.
 */
#ifndef PYTHIA_OMP_CROWD_H
#define PYTHIA_OMP_CROWD_H

#include <stdint.h>

struct omp_hook_crowd {
    uint64_t next;                  /* time of the next look */
    uint64_t ran, waited, slices;   /* as counted at the last one */
    double recent_ran, recent_waited, recent_slices;
    double share, wait;             /* wait: ns; both 0 where nobody has to wait */
};

/* Looks when it is time to. */
void omp_hook_crowd_look(struct omp_hook_crowd *c, uint64_t now);
/* One more look: what the counters are now. */
void omp_hook_crowd_add(struct omp_hook_crowd *c, uint64_t ran, uint64_t waited, uint64_t slices);

#endif
