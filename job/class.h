/* SPDX-License-Identifier: MIT */
/*
 * One class of a job: a structure, its members, and what is known of each node over the members.
 *
 * A class is a shape: what its members' grammars have in common when exponents are taken aside. Exponents that differ
 * between members are kept beside the grammar, as values of the members (job/turns.h).
 *
 * Private to job/, file/ and merge/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "grammar/flat.h"
#include "job/ranges.h"
#include "job/streams.h"

/*
 * An attribute of a class: how the values of its members relate. Each variant covers some members; `relations` says
 * which formulas hold for all of them, given the model of one member (the sample):
 *   JOB_ABSOLUTE  the same values on every member
 *   JOB_OFFSET    value - rank of the member, modulo the communicator's size, is the same
 *   JOB_XOR       value xor rank is the same
 * Only values that name ranks take part in OFFSET and XOR, on communicators that are as large as the world.
 *
 * A constant and a course are those of the first member; counts, sums and extremes of what is not constant those of all
 * members of the variant. Of the partitions of the members by a relation the one with the fewest variants is kept.
 */
enum job_relation { JOB_ABSOLUTE = 1, JOB_OFFSET = 2, JOB_XOR = 4 };
struct job_variant {
    uint32_t node;        /* index of the node in the class's grammar */
    uint32_t relations;   /* enum job_relation, or-ed; never 0 */
    uint32_t sample_rank; /* whose values `attr` holds: the first member (lowest rank, then thread) */
    uint32_t modulus;     /* size of the communicator; 0 where its ranks are not those of the job */
    uint32_t range_first, range_count; /* in the class's ranges[]; members covered */
    struct grammar_attr attr;
};

/*
 * Of one node over the members of a class: the total time (gap + duration, ns) of a member, and who is the extreme. And
 * of its terminal, where the node is the first of the class with that terminal (else all 0): what a member spent in it
 * at all its nodes together, durations only, so that calls can be compared over ranks although no rank's own are kept.
 */
struct job_spread {
    struct job_extent all, call;
    double call_square; /* ns^2, sum over the members */
};

/*
 * An exponent where not all members of a class have the same: the members in the ranges have `exponent` there, or each
 * of all members has its own in a column. Ordered by node, then exponent; a node's sets are disjoint and cover the
 * members, so each node has two or more, or one column.
 */
struct job_turn {
    uint32_t node;
    uint32_t range_first, range_count; /* in the class's ranges[]; 0, 0 with a column */
    uint32_t column;                   /* number of a column of the class, GRAMMAR_NONE without */
    uint64_t exponent;                 /* 0 with a column */
};

/* A number for each member, in the order of job_ranges_walk, little endian. */
struct job_column {
    uint32_t width;      /* bytes a number: 1, 2, 4 or 8 */
    unsigned char *data; /* members * width bytes */
};

struct job;
struct job_class {
    struct grammar_hash hash;    /* Merkle hash of the structure, exponents aside */
    struct grammar_flat *grammar; /* terminals numbered as in the job; exponents: of the first member (lowest rank, then
                                     thread); stats: sums over members; attrs: of variant 0 of each node and channel. In
                                     a message whose body was left out it has no rules (rule_count 0), only node_count,
                                     stats and attributes */
    struct job_spread *spread;   /* node_count of the grammar */
    uint32_t range_count;        /* the first `member_ranges` of ranges[] are the members, the others sets of
                                    variants */
    uint32_t member_ranges;
    struct job_range *ranges;
    uint32_t variant_count;      /* ordered by node, channel, first member */
    struct job_variant *variants;
    uint32_t turn_count;         /* 0: all members have the same exponents */
    struct job_turn *turns;
    uint32_t column_count;
    struct job_column *columns;
    uint64_t *expanded;          /* of each rule, by all members together; NULL until somebody asks (job_mean_turns) */
};

/* A class of one member, whose courses the job has; takes `g` on success. `modulus[terminal]`: of the peers of that
   terminal, 0 without. */
int job_class_single(const struct job *j, struct job_class *c, struct grammar_flat *g, struct grammar_hash hash,
                     uint32_t rank, uint32_t thread, const uint32_t *modulus);
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
