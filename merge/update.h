/* SPDX-License-Identifier: MIT */
/*
 * Mixing the times of a run with those of a profile (update.c), and of a class that is only partly the profile's
 * (update_near.c).
 *
 * Private to merge/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_MERGE_UPDATE_H
#define PYTHIA_MERGE_UPDATE_H

#include "job/class.h"
#include "job/intern.h"
#include "merge/joint.h"

struct merge_mix {
    double run, profile; /* weights of one expansion's times; they add up to 1 */
    double scale;        /* of the run's expansions for one of the profile's: sums */
    double member;       /* the same of one member: totals of a member */
};

/* Whatever a file's numbers make of each other: what 63 bits hold, so that sums of it are still numbers. */
static inline uint64_t merge_mix_whole(double v)
{
    return !(v > 0) ? 0 : v < 0x1p62 ? (uint64_t)v : UINT64_C(1) << 62;
}
void merge_mix_moments(const struct merge_mix *m, struct grammar_moments *run, const struct grammar_moments *profile);
uint64_t merge_mix_lower(const struct merge_mix *m, uint64_t run, uint64_t profile);
uint64_t merge_mix_upper(const struct merge_mix *m, uint64_t run, uint64_t profile);
/* Makes each rule's times those of its uses again, what rounding left over. 0 or PYTHIA_ENOMEM. */
int merge_settle_rules(struct grammar_flat *g);

/* What the profile knows by the shape of a rule: symbols, and exponents taken as 1. */
struct merge_shapes {
    struct job_table table;
    struct merge_place *places; /* first: class, count: rule */
    uint32_t count, room;
    struct grammar_hash **shape; /* of each class: of its rules */
    uint32_t classes;
    uint8_t *used;               /* of each class: something was taken of it */
};
/* 0 or PYTHIA_ENOMEM; to be closed in any case. */
int merge_shapes_open(struct merge_shapes *s, const struct job *profile);
void merge_shapes_close(struct merge_shapes *s);

/* Mixes what `c`, a class of `run` that the profile has not, shares with it, where that is most of its events. *factor: of
   its times in all, new over old; 0: nothing was mixed. 0 or PYTHIA_ENOMEM. */
int merge_near_mix(const struct job *run, struct job_class *c, const struct job *profile, struct merge_shapes *s,
                   double share, double *factor);

#endif
