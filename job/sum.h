/* SPDX-License-Identifier: MIT */
/* What plug-ins counted, by terminal and name.  Threads: owner.  Hook-safe: no. */
#ifndef PYTHIA_JOB_SUM_H
#define PYTHIA_JOB_SUM_H

#include <stdint.h>

struct job;

/* What a plugin counted at the calls of one function at one callsite: over all streams, of samples. */
struct job_count { uint64_t samples, total; };
struct job_sum { uint32_t terminal, name; /* string */ struct job_count count; };

/* Adds to the sum `name` of a terminal. 0, PYTHIA_ENOMEM, or PYTHIA_EINVAL: no such terminal. */
int job_count(struct job *j, uint32_t terminal, const char *name, struct job_count count);

#endif
