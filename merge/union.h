/* SPDX-License-Identifier: MIT */
/*
 * Joining two classes of equal hash is split in two, so that a merge that fails changes nothing:
 *
 *   merge_class_join    computes ranges, variants and samples of both into a union; may fail
 *   merge_class_commit  puts them in place and adds statistics and spreads; can't fail
 *
 * Variants. For one node and channel, each relation (absolute, offset, xor) splits the members into groups: equal keys,
 * same group. Every such partition tells the values of all members exactly; the one with the fewest groups is kept (in
 * a tie the first in that order), each group a variant. Since that is a function of the members and their values alone,
 * the order of merging does not matter. Courses are compared as constants are: by what a relation makes of them on one
 * rank. Where more than JOB_COURSES are left none is kept: a function of the members, too. Members of whom no value is
 * known are one group, team sizes one group for each list of sizes; their counts and sums add.
 *
 * Cost of joining one node and channel: that of sorting the variants where the groups are those of one side (one
 * formula for everybody, SPMD, is one group); else that of sorting the members.
 *
 * Private to merge/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "job/class.h"
#include "job/intern.h"
#include "job/ranges.h"

struct merge_place { uint32_t first, count; };

/* A class under construction, without grammar and spread. */
struct merge_union {
    struct job_class c;
    struct job_starts *starts;  /* not its own: the courses of both; those that sets need on other ranks are added */
    struct job_ranges ranges;   /* the members first; the class's in the end */
    uint32_t variant_room, turn_room, column_room;
    struct grammar_attr *attrs; /* room for the grammar's: a sample of each node and channel … */
    uint32_t samples;           /* … so many */
    struct job_table memo; /* hash of a set's ranges -> its place: equal sets are stored once */
    struct merge_place *places;
    uint32_t place_count, place_room;
};

/* 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT, or PYTHIA_EINVAL: they share a member or are not the same class. */
int merge_class_join(struct job_starts *starts, const struct job_class *a, const struct job_class *b,
                     struct merge_union *out);
void merge_class_commit(struct job_class *a, const struct job_class *b, struct merge_union *both);
void merge_union_clear(struct merge_union *both);

/* A set of members: where it stands in the union's ranges; equal sets stand once. */
int merge_union_set(struct merge_union *out, const struct job_range *r, uint32_t count, uint32_t *first);

/* --- Exponents (turns.c): appends what differs; the union's members are there --- */
int merge_turns_join(struct merge_union *out, const struct job_class *a, const struct job_class *b);

/* --- Variants (variant.c) --- */
/* Of a class, the variants of one node and channel. */
struct merge_side { const struct job_class *c; const struct job_variant *v; uint32_t n; };
/* Appends the union of both sides' to the union of the classes. Either side may be empty. */
int merge_variants_join(struct merge_union *out, const struct merge_side *a, const struct merge_side *b);
