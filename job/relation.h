/* SPDX-License-Identifier: MIT */
/*
 * Relations between the attributes of the members of a class, and the one form that a model of values has.
 *
 *   rank      0        1        2        3                    (communicator of 4)
 *   peer      1        2        3        0     JOB_OFFSET     peer - rank mod 4 = 1 on all of them
 *   peer      1        0        3        2     JOB_XOR        peer xor rank = 1
 *   bytes     64       64       64       64    JOB_ABSOLUTE
 *
 * Models that stand for the same sequence of values are brought to the same bytes (job_relation_canonical): then
 * "these members follow one formula" is a comparison of bytes, and a model can be taken to another member and back.
 *
 * Private to job/.  Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_JOB_RELATION_H
#define PYTHIA_JOB_RELATION_H

#include <stdbool.h>

#include "job/job.h"

/* Whether each occurrence's value is known. */
static inline bool job_relation_exact(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_RAMP || a->kind == GRAMMAR_ATTR_LIST;
}

/* Brings a model to the only form that its sequence of values has; unused bytes are 0. */
void job_relation_canonical(struct grammar_attr *a);

/* Occurrences of a model that holds for each expansion of its node, however many a member has: a constant, or what has
   a period. Its sum is that of one period. */
#define JOB_ALWAYS ((uint64_t)INT64_MAX)
/* A canonical model of a node with so many expansions becomes one of these, where it is one. */
void job_relation_always(struct grammar_attr *a, uint64_t expansions);

/* The relations that a single member can take part in. `modulus` 0: its peers are not numbered like the ranks. */
uint32_t job_relation_possible(const struct grammar_attr *a, uint32_t modulus);

/* What is equal on all members that follow one formula: the model as seen from its rank. Compared as bytes. */
struct job_relation_key {
    struct grammar_attr attr; /* RAMP and LIST: values relative to the rank; VARIES and KEYED: no values */
    uint32_t modulus;
    uint32_t relation; /* JOB_ABSOLUTE where `relation` is not possible for this model */
};
void job_relation_key(const struct grammar_attr *a, uint32_t modulus, uint32_t relation, uint32_t rank,
                        struct job_relation_key *key);

/* Relations of `mask` that hold between two members' models. */
uint32_t job_relation_agree(uint32_t mask, uint32_t modulus, const struct grammar_attr *a, uint32_t a_rank,
                              const struct grammar_attr *b, uint32_t b_rank);

/* The model of the member `rank` of a variant; canonical. */
void job_relation_take(const struct job_variant *v, uint32_t rank, struct grammar_attr *out);

/* A single value, taken from the sample's rank to another. */
int64_t job_relation_value(uint32_t relations, uint32_t modulus, int64_t value, uint32_t from, uint32_t to);

#endif
