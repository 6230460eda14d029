/* SPDX-License-Identifier: MIT */
/*
 * Processors and cores that this process has for itself: base/processors.h, and a look at hyper-threads. Processors
 * beyond one a core are no cores (read only where the kernel says that there are any).
 *
 * Threads: any.  Hook-safe: no (reads files): once a process.
 */
#pragma once

struct places_cores {
    unsigned in_mask;   /* processors that threads of this process may run on; what libgomp counts */
    double processors;  /* for this process alone, at least 1 */
    double cores;       /* of them, different cores; processors where there are no hyper-threads */
};

void places_cores(struct places_cores *c);
