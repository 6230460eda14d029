/* SPDX-License-Identifier: MIT */
/*
 * Exponents of the members of a class.
 *
 *   grammar   R -> init A^19 B …   B -> recv^7 send^7 C^2 D …        of the first member, rank 0
 *   turns     recv: 6 on ranks 1, 4; 7 on ranks 0, 2-3 …             as sets of members, where a value has few ranges
 *             D:    a column 18 19 1 1 …                             one number a member, where it has not
 *
 * Sets are taken as long as a node's have at most JOB_TURN_RANGES + members / JOB_TURN_RANGES ranges in all: that is a
 * function of the members and their exponents alone, so the order of merging does not matter.
 *
 * Threads: any, while nobody changes the job.  Hook-safe: no.
 */
#pragma once

#include "job/class.h"

enum { JOB_TURN_RANGES = 32 };

/* The turns of a node: how many, from *first on; 0: all members have the exponent of the grammar. */
uint32_t job_turns_of(const struct job_class *c, uint32_t node, uint32_t *first);
/* The least and the greatest exponent of a node. */
void job_turns_extent(const struct job_class *c, uint32_t node, uint64_t *least, uint64_t *most);
/* Exponents of a node of all members, in the order of job_ranges_walk; room for all members. 0 or PYTHIA_ENOMEM. */
int job_turns_fill(const struct job_class *c, uint32_t node, uint64_t *exponent);
/* Events of all members together, by what statistics count: that may lie, and they must be here. */
uint64_t job_class_events(const struct job_class *c);
/* By what they expand to: what bounds who expands them. Where they are too many to look at each, no fewer. */
uint64_t job_class_expands(const struct job_class *c);
/* Exponent of a node on average over the expansions of its rule by all members. */
double job_mean_turns(const struct job_class *c, uint32_t node);

/*
 * The grammar of one member: its exponents, and times of one member as far as the class tells (the mean of each
 * terminal's place over all members; what contains it, as this member's exponents make it). Attributes are not copied:
 * nodes name those of the class. NULL when out of memory; the caller frees it by job_member_free.
 */
struct grammar_flat *job_member_grammar(const struct job_class *c, uint32_t rank, uint32_t thread);
void job_member_free(struct grammar_flat *g);

/* Expansions of each rule by all members together: its users'. */
void job_rule_uses(const struct job_class *c, uint64_t *uses);
/* How often each member, in the order of job_ranges_walk, expands each rule; NULL where all have the same exponents, or
   there are too many to look at each. The caller frees it. 0 or PYTHIA_ENOMEM. */
int job_members_uses(const struct job_class *c, uint64_t **uses);
/* Expansions of a node by the members of a set of the class's ranges. `uses` may be NULL. */
uint64_t job_members_count(const struct job_class *c, const uint64_t *uses, uint32_t node, uint32_t range_first,
                           uint32_t range_count);

/* Some members, each of which stands for `members` with the same exponents (of the first `most` different ones; what
   others have is not there; of more than 1024 members some are looked at). How many in all. */
struct job_role { uint32_t rank, thread; uint64_t members; };
uint32_t job_roles(const struct job_class *c, bool main_thread, uint32_t most, struct job_role *role);

/* Whether the exponents of a member are those of a grammar of its class; a hash of those that may differ. */
bool job_turns_same(const struct job_class *c, const struct grammar_flat *g, uint32_t rank, uint32_t thread);
uint64_t job_turns_hash(const struct job_class *c, uint32_t rank, uint32_t thread);

/* --- For job/, file/ and merge/ --- */
/* Nodes that have turns; where those of one node end that begin at `first`; a member's exponent, of these. */
uint32_t job_turns_nodes(const struct job_class *c);
uint32_t job_turns_end(const struct job_class *c, uint32_t first);
uint64_t job_turns_at(const struct job_class *c, uint32_t first, uint32_t end, uint32_t rank, uint32_t thread);
uint64_t job_column_get(const struct job_column *c, uint64_t member);
/* Of all members, in the order of job_ranges_walk, those of the set get the number `v`. */
void job_members_put(const struct job_member *m, uint64_t members, const struct job_set *s, uint64_t v,
                     uint64_t *number);
/* A column of these numbers, of the least width. 0 or PYTHIA_ENOMEM. */
int job_column_make(struct job_column *c, const uint64_t *number, uint64_t count);
struct job_column *job_columns_copy(const struct job_class *c); /* NULL: out of memory */
void job_columns_free(struct job_column *columns, uint32_t count);
/* Place of a member in the order of job_ranges_walk: how many come before it. */
uint64_t job_ranges_place(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread);

/* Audits turns of a class whose sets were audited: 0 or PYTHIA_EFORMAT with a line. */
int job_turns_check(const struct job_class *c, char *why, size_t size);
/* Events of all members if each had the largest exponents of all of them everywhere; UINT64_MAX: more than are counted.
   Of a class whose turns and grammar were audited. */
uint64_t job_turns_most_events(const struct job_class *c);
