/* SPDX-License-Identifier: MIT */
/*
 * Where a run is in the courses of its recording (job/course.h): what comes next at a terminal, and later.
 *
 *     the course   3 1 4 1 5 9 2 6 5 3 5 …
 *     the run      3 1 4 1 5     2 6      9 was left out: after "2" the place is found by that value alone, or by the
 *                                         last two, four, eight, as many as have a place there
 *
 * A terminal's place is how many of its events came, for all of its channels, as long as values are what the course
 * says; where one is not the place is looked for anew: the nearest one ahead of the most values. They are those of
 * the first of peers, sizes and tags that has a course. Who is right less often than wrong is not looked for any
 * more. Of terminals that share a slot one is followed.
 * Cost: an event some 30 ns, a look 20 us, at most one for each value that was right, and 64. Memory: 75 KB.
 * Threads: owner.  Hook-safe: all but creation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;
struct job_follow;
struct job_variant;

/* Of the rank's courses in the job, which must outlive it. NULL: out of memory. */
struct job_follow *job_follow_create(const struct job *j, uint32_t rank);
void job_follow_destroy(struct job_follow *f); /* NULL is legal */
/* Value of the terminal's event that comes after `ahead` others of it, of the variant's channel, of a job that
   outlives it; false: not known. */
bool job_follow_say(struct job_follow *f, uint32_t terminal, const struct job_variant *v, uint64_t ahead,
                    int64_t *value);
/* The next one came, with the channels' values (enum grammar_channel, 1 << channel). */
void job_follow_pass(struct job_follow *f, uint32_t terminal, uint32_t channels, const int64_t *value);
/* The share of the last values of the terminal that its course had said. */
double job_follow_chance(const struct job_follow *f, uint32_t terminal);
