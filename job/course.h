/* SPDX-License-Identifier: MIT */
/*
 * Courses: the values that a terminal has in the order of its events, where they are not one value at a node.
 *
 *     peers of rank 13 of 27    12 14 10 16 4 22, again and again
 *     peers of rank 14 of 27    13 15 11 17 5 23, again and again: the same course, one rank on (job/relation.h)
 *
 * A course is a list of the job's starts (job/starts.h), each run a step of grammar/course.h: { value or constant,
 * back, events }. The last one goes on for as long as the stream does, so that ranks whose loops turn more often have
 * the same list. An attribute that varies has the name of the list of its variant's sample.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;
struct job_class;
struct job_starts;
struct job_start_run;
struct job_variant;
struct grammar_flat;

/* Names no course: of so many members each had its own that none is kept. */
enum { JOB_COURSE_MANY = 1, JOB_COURSES = 256 };

/* Value of the terminal's nth event for a member of the variant, GRAMMAR_ABSENT: it has none; false: not known. */
bool job_course_value(const struct job *j, const struct job_variant *v, uint32_t rank, uint64_t nth, int64_t *value);
/* The first values, of `most` as many as tell what the course has: how many. */
uint32_t job_course_expand(const struct job *j, const struct job_variant *v, uint32_t rank, int64_t *value,
                           uint32_t most);
/* From which event on the values repeat, and after how many events, 0: they never do; false: there is no course. */
bool job_course_cycle(const struct job *j, const struct job_variant *v, uint64_t *from, uint32_t *period);
/* Events of a class's members that have values, of which some are neither constant nor in a course. */
uint64_t job_values_not_kept(const struct job *j, const struct job_class *c);
/* Names the courses that a frozen grammar has where its attributes vary, and defines them. 0, PYTHIA_ENOMEM. */
int job_courses_add(struct job *j, struct grammar_flat *g);

/* The steps of a course: how many, at most GRAMMAR_COURSE_STEPS; 0: there is none of the name. */
uint32_t job_course_steps(const struct job_starts *s, int64_t name, struct job_start_run *step);
/* They become those of another rank, by one of enum job_relation. */
void job_course_move(struct job_start_run *step, uint32_t count, uint32_t relation, uint32_t modulus, uint32_t from,
                     uint32_t to);
