/* SPDX-License-Identifier: MIT */
/*
 * PYTHIA_BIND=fix: a rank whose threads all share one processor, because its launcher bound it there (Open MPI does that
 * with two ranks or fewer), gets its share of the node's processors: the ranks of the node divide them evenly, in order.
 *
 *   node, 8 processors, 2 ranks of 4 threads     rank 0: 0          -> 0 1 2 3
 *                                                rank 1: 1          -> 4 5 6 7
 *
 * Only where the mask is smaller than both the threads and the share, so a wider binding that somebody chose stays. Done
 * before libgomp looks at its mask, once a process; without launchers' variables a process is alone on its node.
 *
 * Threads: the one that loads libgomp.  Hook-safe: no.
 */
#ifndef PYTHIA_PLACES_BIND_H
#define PYTHIA_PLACES_BIND_H

#include <sched.h>
#include <stdbool.h>

/* The share of local rank `rank` of `ranks` of the processors in `node`; at least one, the same for several ranks only
   where there are more ranks than processors. */
void places_bind_share(const cpu_set_t *node, unsigned rank, unsigned ranks, cpu_set_t *share);
/* Repairs the binding of this process where that is asked for (`asked`: the value of PYTHIA_BIND) and needed; `threads`: of
   OMP_NUM_THREADS, 0 for as many as there are processors. Returns whether it did. */
bool places_bind_fix(const char *asked, unsigned threads);

#endif
