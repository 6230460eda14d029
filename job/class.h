/* SPDX-License-Identifier: MIT */
/*
 * One class of a job: a structure, its members, and what is known of each node over the members.
 *
 * Private to job/, file/ and merge/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_CLASS_H
#define PYTHIA_JOB_CLASS_H

#include "job/job.h"

/* A class of one member; takes `g` on success. `modulus[terminal]`: of the peers of that terminal, 0 without. */
int job_class_single(struct job_class *c, struct grammar_flat *g, struct grammar_hash hash, uint32_t rank,
                       uint32_t thread, const uint32_t *modulus);
/* A copy; `terminal_map` renumbers the terminals. */
int job_class_copy(struct job_class *to, const struct job_class *from, const uint32_t *terminal_map,
                     uint32_t terminals);
void job_class_clear(struct job_class *c);

/* Fills the grammar's attributes (room for one a node and channel) with the samples of the first variants. -1 when the
   variants are not in the order of nodes and channels. */
int job_class_samples(struct job_class *c);

/* Whether the rules of the class were left out of a message. */
static inline int job_class_bodiless(const struct job_class *c)
{
    return c->grammar->rule_count == 0;
}

#endif
