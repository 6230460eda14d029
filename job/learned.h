/* SPDX-License-Identifier: MIT */
/*
 * What predicted runs learned of regions and tasks: beside what was recorded, which stays as it is, so that a report
 * says the same of the recording before and after. The next predicted run relies on what was learned, else on the
 * recording.
 *
 * Ownership: part of struct job. Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

struct job;
struct job_region;
struct job_task;

struct job_learned {
    uint32_t region_count, task_count, region_room, task_room;
    struct job_region *regions; /* ordered by callsite, each once: of the last predicted run that entered it */
    struct job_task *tasks;     /* ordered by callsite, then depth: of the last predicted run that had any */
};

/* `into` learns what the regions and tasks of `from`, a predicted run, say. 0, or PYTHIA_ENOMEM: nothing of it. */
int job_learn(struct job *into, const struct job *from);
/* `into`, a run that takes the place of `from`, gets what is known there of regions that it did not enter, and of tasks
   where it had none. 0 or PYTHIA_ENOMEM: some of it. */
int job_inherit(struct job *into, const struct job *from);
