/* SPDX-License-Identifier: MIT */
/*
 * Courses: the values that a terminal has in the order of its events, where no formula of a node holds for them.
 *
 *     peers of rank 13 of 27    12 14 10 16 4 22, again and again
 *     in the job                26 1 24 3 18 9:  peer - rank mod 27, the same list for all ranks inside of the mesh
 *
 * A course is a list of the job's starts (job/starts.h), each run a step of grammar/course.h: { value or constant,
 * back, events }. The last one goes on for as long as the stream does, so that ranks whose loops turn more often have
 * the same list.
 * Of an attribute that varies list[0] is the name of the list, 0: none, and list[1] the modulus where its values are
 * relative to the rank, else 0. Relative are the peers of messages on the world; roots of collectives are not. Values
 * below 0 are no ranks and stay what they are.
 * Threads: any for readers.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_COURSE_H
#define PYTHIA_JOB_COURSE_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct job_class;
struct grammar_attr;
struct grammar_flat;

/* Value of the terminal's nth event for a member, GRAMMAR_ABSENT: it has none; false: not known. */
bool job_course_value(const struct job *j, const struct grammar_attr *a, uint32_t rank, uint64_t nth, int64_t *value);
/* The first values, of `most` as many as tell what the course has: how many. */
uint32_t job_course_expand(const struct job *j, const struct grammar_attr *a, uint32_t rank, int64_t *value,
                           uint32_t most);
/* From which event on the values repeat, and after how many events, 0: they never do; false: there is no course. */
bool job_course_cycle(const struct job *j, const struct grammar_attr *a, uint64_t *from, uint32_t *period);
/* Events of a class's members that have values, of which some are neither by a formula nor in a course. */
uint64_t job_values_not_kept(const struct job *j, const struct job_class *c);
/* Names the courses that a frozen grammar of the rank has where its attributes vary, and defines them. `modulus`: of
   each terminal's peers, 0: they are not numbered like the ranks. 0, PYTHIA_ENOMEM. */
int job_courses_add(struct job *j, struct grammar_flat *g, uint32_t rank, const uint32_t *modulus);

#endif
