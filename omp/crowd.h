/* SPDX-License-Identifier: MIT */
/*
 * How crowded the processors are, before anybody has met a stall (stall.h).
 *
 * The kernel counts how long each thread ran and how long it waited for a processor although it could have run
 * (/proc/thread-self/schedstat). A thread that gets a processor for 70 % of the time that it wants one leaves its team
 * waiting at 30 % of the ends of regions, each time for as long as it waits on average:
 *
 *   expected stall of a team = waited / (ran + waited) x waited / times that it waited
 *
 * Looked at every 25 ms of the program's time (one file read, some us), over about the last 100 ms; at first over all of the
 * thread's life.
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
    double stall;                   /* ns, expected */
};

/* Looks when it is time to. */
void omp_hook_crowd_look(struct omp_hook_crowd *c, uint64_t now);
/* One more look: what the counters are now. */
void omp_hook_crowd_add(struct omp_hook_crowd *c, uint64_t ran, uint64_t waited, uint64_t slices);

#endif
