/* SPDX-License-Identifier: MIT */
/*
 * The exponents that differ, of all members of a class: a row a node that has turns, a column a member in the order of
 * job_ranges_walk.
 *
 * Private to job/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_TURNS_TABLE_H
#define PYTHIA_JOB_TURNS_TABLE_H

#include "job/turns.h"

enum { JOB_TURN_TABLE = 1 << 25 }; /* numbers, at most: a file of a few bytes may name more */

struct job_turn_table {
    uint64_t members;
    uint32_t rows;
    uint32_t *node;     /* of each row, ascending */
    uint64_t *exponent; /* rows * members, row by row */
};

/* 0, PYTHIA_ENOMEM, or PYTHIA_ELIMIT where it would be larger than it may; nothing is to be freed then. */
int job_turn_table_create(struct job_turn_table *t, const struct job_class *c);
void job_turn_table_free(struct job_turn_table *t);

#endif
