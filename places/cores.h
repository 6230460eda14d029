/* SPDX-License-Identifier: MIT */
/*
 * How many processors this process really has for itself.
 *
 *   affinity mask     what the launcher or the user gave it; a mask that leaves out processors was chosen for this rank, one
 *                     that has them all is shared by the ranks of the node (as the launchers' variables tell)
 *   cgroup quota      cpu.max (v2) or cpu.cfs_quota_us (v1) of the group and all above it: a container with half a
 *                     processor has half a processor, whatever the mask says; shared by the node's ranks likewise
 *   hyper-threads     processors beyond one a core are no cores (by hwloc, asked only where the kernel says that there are any)
 *
 * Threads: any.  Hook-safe: no (reads files): once a process.
 */
#ifndef PYTHIA_PLACES_CORES_H
#define PYTHIA_PLACES_CORES_H

struct places_cores {
    unsigned in_mask;   /* processors that threads of this process may run on; what libgomp counts */
    double processors;  /* for this process alone, at least 1 */
    double cores;       /* of them, different cores; processors where there are no hyper-threads */
};

void places_cores(struct places_cores *c);
/* The same without a look at hyper-threads: processors, at least 1, and how many are in the mask. */
double places_cores_share(unsigned *in_mask);

/* What the quotas of a file system of groups allow, in processors; 0: no limit. `root` is where it is mounted, `self` the
   text of /proc/self/cgroup. For tests both can be made up. */
double places_cores_quota(const char *root, const char *self);

#endif
