/* SPDX-License-Identifier: MIT */
/*
 * Relations between the attributes of the members of a class, and the one form that a model of values has.
 *
 *   rank      0        1        2        3                    (communicator of 4)
 *   peer      1        2        3        0     JOB_OFFSET     peer - rank mod 4 = 1 on all of them
 *   peer      1        0        3        2     JOB_XOR        peer xor rank = 1
 *   bytes     64       64       64       64    JOB_ABSOLUTE
 *   course    1 3 1 3  2 0 2 0  3 1 3 1  …     JOB_OFFSET     1 3, again and again, on all of them
 *
 * A constant is a value and a course is a list of values: of both "these members follow one formula" means that what a
 * relation makes of theirs on rank 0 is the same bytes. Values below 0 are no ranks and stay what they are.
 *
 * Private to job/ and merge/.  Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>

#include "job/job.h"

/* A value of the rank `from`, as it is for another; `relation`: one of enum job_relation, or several, of which the
   first holds. */
static inline int64_t job_relation_value(uint32_t relation, uint32_t modulus, int64_t value, uint32_t from, uint32_t to)
{
    if (relation & JOB_ABSOLUTE || !modulus || value < 0)
        return value;
    if (relation & JOB_OFFSET)
        return (int64_t)(((uint64_t)value + modulus - from % modulus + to % modulus) % modulus);
    return value ^ (int64_t)from ^ (int64_t)to;
}

static inline bool job_relation_names_ranks(const struct grammar_attr *a)
{
    return a->channel == GRAMMAR_PEER || a->channel == GRAMMAR_SOURCE;
}
/* Whether it is known which occurrence has which value. */
static inline bool job_relation_exact(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_CONSTANT || (a->kind == GRAMMAR_ATTR_VARIES && a->course < 0);
}

/* Brings a model to the only form that it has; unused bytes are 0. Occurrences of JOB_ALWAYS: it holds for each
   expansion of its node, however many a member has; its sum is that of one. Of ranks that vary nothing is summed up. */
#define JOB_ALWAYS ((uint64_t)INT64_MAX)
void job_relation_canonical(struct grammar_attr *a);
/* A model of a node with so many expansions becomes one of these, where it is one. */
void job_relation_always(struct grammar_attr *a, uint64_t expansions);

/* The relations that a single member can take part in. `modulus` 0: its peers are not numbered like the ranks. */
uint32_t job_relation_of_course(const struct job_start_run *step, uint32_t count, uint32_t modulus);
uint32_t job_relation_possible(const struct job_starts *s, const struct grammar_attr *a, uint32_t modulus);
