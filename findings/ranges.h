/* SPDX-License-Identifier: MIT */
/*
 * Ranks and threads for people, of a class or of what else has ranges: "ranks 0-7", "rank 0, thread 1", "ranks
 * 1,3-62/2" (every second).
 * Threads: any.  Hook-safe: no.
 */
#pragma once

#include "job/job.h"

/* Streams in a class. */
uint64_t findings_members(const struct job_class *c);
/* Events of a member on average. */
double findings_class_events(const struct job_class *c);
/* malloc'ed. Shortened by "…" after some hundred characters. */
char *findings_ranges_text(const struct job_range *range, uint32_t count);
