/* SPDX-License-Identifier: MIT */
/*
 * The table of streams: one record a stream in a small job, one a block of ranks and thread in a large one.
 *
 *   ranks          1 … 256   257 … 512   513 … 1024   …   1048576
 *   block          1         2           4                4096          at most JOB_BLOCKS blocks a thread
 *
 * The block follows from the number of ranks of the job, which each rank knows from the start: every part and every
 * partial merge has the same blocks, they begin at multiples of their length, and joining adds what falls together.
 * Jobs of different sizes are brought to the coarser blocks first. Sums are exact, so the order of merging does not
 * matter.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;

/*
 * Totals. Of each stream while the job has few ranks (info.block is 1: rank and thread, count 1). In a larger job of
 * each block of `block` ranks (a power of two, so that there are at most JOB_BLOCKS blocks): the sums over thread
 * `thread` of ranks rank … rank + block - 1, of which `count` have a stream, and the extremes of these, since a mean
 * hides the one rank that all others wait for. So a job does not grow with its ranks.
 * Which class a stream belongs to is always known (job_stream_class), and of each class and node who the extremes are
 * (job_spread).
 */
enum { JOB_BLOCKS = 256 };
struct job_extent { uint64_t least, most; uint32_t least_rank, most_rank; }; /* ns; the lowest rank that has it */
void job_extent_join(struct job_extent *a, const struct job_extent *b);
struct job_stream {
    uint32_t rank, thread;
    uint32_t class_index;               /* GRAMMAR_NONE: the streams of this block are of several */
    uint32_t count;
    uint64_t events, lost;              /* lost: order given up at the memory cap */
    uint64_t begin_ns, wall_ns;         /* from the stream's begin to its end; gaps + durations add up to wall_ns */
    uint64_t mpi_ns, omp_ns;            /* in MPI calls; in parallel regions, exclusive of MPI inside */
    uint64_t cost_ns;                   /* what Pythia itself took, estimated */
    struct job_extent wall, useful;     /* of one stream: wall_ns; what of it is outside MPI */
    int64_t drift_ns;                   /* by how much longer than wall_ns it took on the job's clock (job_clock) */
};

/* --- Reading (members.c) --- */
/* The record of the stream of (rank, thread), of its block in a large job; NULL when there is no such stream. */
const struct job_stream *job_find_stream(const struct job *j, uint32_t rank, uint32_t thread);
/* Class of the stream of (rank, thread), GRAMMAR_NONE when there is no such stream. */
uint32_t job_stream_class(const struct job *j, uint32_t rank, uint32_t thread);
uint64_t job_streams(const struct job *j); /* how many there are */
/* Ranks from `from` on, below `end`, until the first that has (`there`) or has not a stream: how many. For listing who
   is missing: alternate. */
uint32_t job_ranks_run(const struct job *j, uint32_t from, uint32_t end, bool there);
/* ns of MPI_Init, with which a rank's first stream begins: no part of the run's time. Of a record of several ranks, the
   mean; 0 without. */
uint64_t job_stream_launch(const struct job *j, const struct job_stream *s);
/* What a share of a job's time is a share of, whoever says it: `ns`, its wall time from the end of MPI_Init to that of
   the longest rank, times its ranks (those that are there), times `threads`, the most streams with events of a rank. */
struct job_base { uint32_t ranks, threads; double wall_ns, ns; };
struct job_base job_base_of(const struct job *j);
/* Of all streams, ns: in MPI_Init, as exact as in the calls' own times; in MPI calls after it. */
uint64_t job_launch_time(const struct job *j);
double job_mpi_time(const struct job *j);
/* What one stream of the record had on average. */
static inline uint64_t job_stream_mean(const struct job_stream *s, uint64_t sum)
{
    return s->count > 1 ? sum / s->count : sum;
}

static inline uint64_t job_stream_useful(const struct job_stream *s)
{
    return s->wall_ns > s->mpi_ns ? s->wall_ns - s->mpi_ns : 0;
}

/* How fast the job's clock goes, by the stream's own. */
static inline double job_stream_rate(const struct job_stream *s)
{
    return s->wall_ns ? 1 + (double)s->drift_ns / (double)s->wall_ns : 1;
}

/* --- For job/ and merge/ --- */
/* Ranks that share a record where both jobs are one. */
uint32_t job_streams_block(const struct job *a, const struct job *b);
/* 0, or PYTHIA_EINVAL: a stream is in both; or PYTHIA_ENOMEM. */
int job_streams_disjoint(const struct job *a, const struct job *b);
/* What comes before two records are added (schema.h). */
void job_stream_join(void *into, const void *from);
/* The extremes of a record of one stream, of that rank, are what it has itself. */
void job_stream_alone(struct job_stream *s, uint32_t rank);
/* Room for one more, in blocks that suit the job's ranks. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_streams_room(struct job *j);
/* Adds one stream; room for one more was made. */
void job_streams_add(struct job *j, const struct job_stream *s);

/* Load balance, whatever is balanced: the mean of so many over the largest of them; 1 where there is nothing. */
static inline double job_balance(double sum, double number, double most)
{
    return number > 0 && most > 0 ? sum / number / most : 1;
}
