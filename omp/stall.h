/* SPDX-License-Identifier: MIT */
/*
 * What teams lose to threads that do not get their processor: some ms now and then, where others use the processors too.
 *
 * A team waits for whichever of its threads is delayed, a single thread is only delayed as any program is. That is the
 * machine's doing and no region's, so what one region meets counts for all of them. A stall hits one team, whichever runs
 * then or begins next: the longer teams are in use, the more of them are met.
 *
 *   expected stall of a team = share x (its time + the gap before it)
 *   share                    = time lost to stalls / time exposed to them, over about the last 50 ms of exposure
 *
 * It fades with time, because once it has made everything run with one thread nobody meets stalls any more; how fast is
 * learned: a stall soon after it had faded makes it last twice as long, up to some seconds. A single one counts little.
 *
 * Pure arithmetic.  Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#ifndef PYTHIA_OMP_STALL_H
#define PYTHIA_OMP_STALL_H

#include <stdint.h>

struct omp_hook_stall {
    double share;
    double exposed;     /* not in it yet */
    uint64_t half_life; /* 0: nothing was noted yet */
    uint64_t faded;     /* time up to which `share` has faded */
    uint64_t last;      /* time of the last stall */
};

/* A team ran, and it took `excess` longer than such regions usually do (0: it did not); `exposed`: its usual time, and
   that since the one before. */
void omp_hook_stall_note(struct omp_hook_stall *s, uint64_t now, double exposed, double excess);
/* A team ran, and took as long as ever: counts with the next one that is noted. */
void omp_hook_stall_expose(struct omp_hook_stall *s, double exposed);
/* Lets it fade until now. */
void omp_hook_stall_fade(struct omp_hook_stall *s, uint64_t now);

#endif
