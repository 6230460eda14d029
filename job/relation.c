/* SPDX-License-Identifier: MIT */
#include "job/relation.h"

#include <string.h>

/* By value; what did not fit, -1, last. */
static bool key_after(const struct grammar_attr_key *a, const struct grammar_attr_key *b)
{
    return (uint64_t)a->value > (uint64_t)b->value;
}

static void canonical_keyed(struct grammar_attr *a)
{
    for (uint32_t i = 1; i < a->length; i++)
        for (uint32_t k = i; k > 0 && key_after(&a->key[k - 1], &a->key[k]); k--) {
            struct grammar_attr_key swap = a->key[k];
            a->key[k] = a->key[k - 1];
            a->key[k - 1] = swap;
        }
    for (uint32_t i = a->length; i < GRAMMAR_ATTR_KEYS; i++)
        a->key[i] = (struct grammar_attr_key){ 0 };
}

/* All arithmetic is modulo 2^64: models come from files, too. */
void job_relation_canonical(struct grammar_attr *a)
{
    int64_t course = a->kind == GRAMMAR_ATTR_VARIES ? a->course : 0;

    if (a->kind == GRAMMAR_ATTR_KEYED) {
        canonical_keyed(a);
        return;
    }
    memset(a->key, 0, sizeof a->key);
    a->length = 0;
    a->course = course;
    if (a->kind != GRAMMAR_ATTR_CONSTANT)
        return;
    a->max = a->min;
    a->sum = (int64_t)((uint64_t)a->min * (a->count == JOB_ALWAYS ? 1 : a->count));
}

void job_relation_always(struct grammar_attr *a, uint64_t expansions)
{
    bool ranks = a->kind == GRAMMAR_ATTR_VARIES && job_relation_exact(a) && job_relation_names_ranks(a);

    if (ranks)
        a->min = a->max = a->sum = 0;
    if (ranks || (a->kind == GRAMMAR_ATTR_CONSTANT && a->count == expansions))
        a->count = JOB_ALWAYS;
    job_relation_canonical(a);
}

static uint32_t possible_of_value(int64_t value, uint32_t modulus)
{
    return JOB_ABSOLUTE | (value < (int64_t)modulus ? JOB_OFFSET : 0) | (value <= UINT32_MAX ? JOB_XOR : 0);
}

/* What each of its values can take part in; steps that make other ranks out of ranks in none. */
uint32_t job_relation_of_course(const struct job_start_run *step, uint32_t count, uint32_t modulus)
{
    uint32_t relations = count && modulus ? JOB_ABSOLUTE | JOB_OFFSET | JOB_XOR : JOB_ABSOLUTE;

    for (uint32_t k = 0; k < count; k++)
        relations &= !step[k].step     ? possible_of_value(step[k].distance, modulus)
                     : step[k].distance ? (uint32_t)JOB_ABSOLUTE
                                        : relations;
    return relations;
}

uint32_t job_relation_possible(const struct job_starts *s, const struct grammar_attr *a, uint32_t modulus)
{
    uint32_t count = 0;

    if (!modulus || !job_relation_names_ranks(a) || !job_relation_exact(a))
        return JOB_ABSOLUTE;
    if (a->kind == GRAMMAR_ATTR_VARIES) {
        const struct job_start_run *step = job_starts_find(s, a->course, &count);
        return job_relation_of_course(step, step ? count : 0, modulus);
    }
    return a->min < 0 ? (uint32_t)JOB_ABSOLUTE : possible_of_value(a->min, modulus);
}
