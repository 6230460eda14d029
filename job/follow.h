/* SPDX-License-Identifier: MIT */
/*
 * Where a run is in the courses of its recording (job/course.h): what comes next at a terminal.
 *
 *     the course   3 1 4 1 5 9 2 6 5 3 5 …
 *     the run      3 1 4 1 5     2 6      9 was left out: after "2" the place is found by that value alone, or by the
 *                                         last two, four, eight, as many as have a place there
 *
 * A terminal's place is how many of its events came, as long as values are what the course says; where one is not it is
 * looked for anew: the nearest place ahead of the most values. Who is right less often than wrong is not looked for any
 * more. Of terminals that share a slot one is followed.
 * Cost: an event some 30 ns, a look 20 us, at most one for each value that was right, and 64. Memory: 50 KB.
 * Threads: owner.  Hook-safe: all but creation.
 */
#ifndef PYTHIA_JOB_FOLLOW_H
#define PYTHIA_JOB_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct job_variant;
struct job_follow;

/* Of the rank's courses in the job, which must outlive it. NULL: out of memory. */
struct job_follow *job_follow_create(const struct job *j, uint32_t rank);
void job_follow_destroy(struct job_follow *f); /* NULL is legal */
/* Value of the terminal's next event, at whose node these values stand, of a job that outlives it; false: not known. */
bool job_follow_say(struct job_follow *f, uint32_t terminal, const struct job_variant *v, int64_t *value);
/* It came; GRAMMAR_ABSENT: without a value. */
void job_follow_pass(struct job_follow *f, uint32_t terminal, int64_t value);

#endif
