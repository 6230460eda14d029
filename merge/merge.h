/* SPDX-License-Identifier: MIT */
/*
 * Jobs joined. A rank's stream, the parts of two ranks, a run and the profile that it was predicted from.
 *
 * One way: a stream is a class of one member, and joining jobs joins their classes (union.h). So whatever the order in
 * which ranks meet, the result is the same.
 *
 * Errors: 0 or a negative PYTHIA_E…; a failed call leaves the job as it was.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "job/job.h"

/* Adds the stream of (s->rank, s->thread), not a block; takes ownership of `g` (terminals numbered as in `j`), also on
   failure. The class index, the count and the number of events are the job's to set; info.ranks must be known before.
   PYTHIA_EINVAL: the stream is there already, or `g` has terminals that the job has not. */
int merge_add_stream(struct job *j, const struct job_stream *s, struct grammar_flat *g);

/* Joins `from` to `into`. A table beside the streams that cannot be joined is left out and named (job.left).
   PYTHIA_EINVAL: a stream is in both, or a body was left out of `from` that `into` has not. */
int merge_job(struct job *into, const struct job *from);

/* The rules of a class with the exponents that stand in them: they need not travel to a job that knows them. */
struct merge_body { struct grammar_hash shape, exact; };
struct merge_body merge_body_of(const struct job *j, uint32_t class_index);
bool merge_knows(const struct job *j, const struct merge_body *body);

/* --- Updating (update.c) --- */
struct merge_updated {
    uint32_t kept;    /* classes of the run whose structure the profile had: their times are of both */
    uint32_t added;   /* of the run alone: their times are the run's */
    uint32_t dropped; /* of the profile alone: nothing of them is left */
    uint32_t runs;    /* in the new profile: one more than in the old one; 1 when no class was kept */
    double share;     /* of the run in the times of what was kept: 1 / (runs before + 1), and at least 1/4 */
};
/* Makes of `run`, a whole job that was recorded while it was predicted from `profile`, the profile that takes its
   place. Regions, tasks and sums that only the profile knows of stay. 0 or PYTHIA_ENOMEM: then `run` is of no use any
   more. */
int merge_update(struct job *run, const struct job *profile, struct merge_updated *done);
