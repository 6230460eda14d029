/* SPDX-License-Identifier: MIT */
/*
 * One class of a job: a structure, its members, and what is known of each node over the members.
 *
 * Joining two classes of equal hash is split in two, so that a merge that fails changes nothing:
 *
 *   merge_class_join    computes ranges, variants and samples of the union into a joint; may fail
 *   merge_class_commit  puts them in place and adds statistics and spreads; can't fail
 *
 * Variants. For one node and channel, each relation (absolute, offset, xor) splits the members into groups: equal keys,
 * same group. Every such partition tells the values of all members exactly; the one with the fewest groups is kept (in a
 * tie the first in that order), each group a variant. Since that is a function of the members and their values alone,
 * the order of merging does not matter. Members without exact values (VARIES) are one group, team sizes one group for
 * each list of sizes; their counts and sums add.
 *
 * Cost of joining one node and channel: constant where one formula holds for everybody (SPMD); linear in the number of
 * variants where the groups are those of one side; in the number of members, with sorting, where there are new ones.
 *
 * Private to job/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_CLASS_H
#define PYTHIA_JOB_CLASS_H

#include "job/intern.h"
#include "job/job.h"
#include "job/ranges.h"

struct merge_place { uint32_t first, count; };

/* The variants of a class under construction. */
struct merge_joint {
    struct merge_ranges ranges; /* the members first */
    uint32_t member_ranges;
    struct job_variant *variants;
    uint32_t variant_count, variant_room;
    struct grammar_attr *samples; /* of variant 0 of each node and channel: the grammar's attrs */
    uint32_t sample_count, sample_room;
    struct merge_table memo; /* hash of a set's ranges -> its place: equal sets are stored once */
    struct merge_place *places;
    uint32_t place_count, place_room;
};

/* A class of one member; takes `g` on success. `modulus[terminal]`: of the peers of that terminal, 0 without. */
int merge_class_single(struct job_class_entry *c, struct grammar_flat *g, struct grammar_hash hash, uint32_t rank,
                       uint32_t thread, const uint32_t *modulus);
/* A copy; `terminal_map` renumbers the terminals. */
int merge_class_copy(struct job_class_entry *to, const struct job_class_entry *from, const uint32_t *terminal_map,
                     uint32_t terminals);
void merge_class_clear(struct job_class_entry *c);

/* 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT, or PYTHIA_EINVAL: they share a member or are not the same class. */
int merge_class_join(const struct job_class_entry *a, const struct job_class_entry *b, struct merge_joint *out);
void merge_class_commit(struct job_class_entry *a, const struct job_class_entry *b, struct merge_joint *joint);
void merge_joint_clear(struct merge_joint *joint);

/* Fills the grammar's attributes (room for one a node and channel) with the samples of the first variants. -1 when the
   variants are not in the order of nodes and channels. */
int merge_place_samples(struct job_class_entry *c);

/* Whether the rules of the class were left out of a message. */
static inline int merge_class_bodiless(const struct job_class_entry *c)
{
    return c->grammar->rule_count == 0;
}

/* --- Variants (variant.c) --- */
/* Appends the union of the variants of one node and channel to the joint. Either side may be empty. */
int merge_variants_join(struct merge_joint *out, const struct job_class_entry *a, const struct job_variant *va,
                        uint32_t na, const struct job_class_entry *b, const struct job_variant *vb, uint32_t nb);

#endif
