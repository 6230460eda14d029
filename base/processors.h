/* SPDX-License-Identifier: MIT */
/*
 * How many processors this process really has for itself.
 *
 *   affinity mask     what the launcher or the user gave it; a mask that leaves out processors was chosen for this
 *                     rank, one that has them all is shared by the ranks of the node (base/launcher.h)
 *   cgroup quota      cpu.max (v2) or cpu.cfs_quota_us (v1) of the group and all above it: a container with half a
 *                     processor has half a processor, whatever the mask says; shared by the node's ranks likewise
 *
 * Threads: any.  Hook-safe: no (reads files): once a process.
 */
#pragma once

/* Processors for this process alone, at least 1; and how many there are in its mask, which is what libgomp counts. */
double base_processors_share(unsigned *in_mask);

/* What the quotas of a file system of groups allow, in processors; 0: no limit. `root` is where it is mounted, `self`
   the text of /proc/self/cgroup. For tests both can be made up. */
double base_processors_quota(const char *root, const char *self);
/* The same of this process, for all that runs in its group. */
double base_processors_quota_here(void);
