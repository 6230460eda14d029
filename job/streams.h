/* SPDX-License-Identifier: MIT */
/*
 * The table of streams: one record a stream in a small job, one a block of ranks and thread in a large one.
 *
 *   ranks          1 … 256   257 … 512   513 … 1024   …   1048576
 *   block          1         2           4                4096          at most JOB_BLOCKS blocks a thread
 *
 * The block follows from the number of ranks of the job, which each rank knows from the start: every part and every
 * partial merge has the same blocks, they begin at multiples of their length, and joining adds what falls together. Jobs
 * of different sizes are brought to the coarser blocks first. Sums are exact, so the order of merging does not matter.
 *
 * Private to job/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_STREAMS_H
#define PYTHIA_JOB_STREAMS_H

#include "job/job.h"

/* Makes room for the records of both, and refuses (PYTHIA_EINVAL) a stream that is in both. */
int job_streams_plan(struct job *into, const struct job *from);
/* Joins the records of `from`, whose class i is called class_map[i] in `into`. Room was made; can't fail. Both jobs'
   info.ranks as before the merge. */
void job_streams_commit(struct job *into, const struct job *from, const uint32_t *class_map);
/* Adds one stream; room for one more was made. */
void job_streams_add(struct job *j, const struct job_stream *s);
/* Place of the first record that does not come before (rank, thread). */
uint32_t job_streams_place(const struct job *j, uint32_t rank, uint32_t thread);

#endif
