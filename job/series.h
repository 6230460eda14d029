/* SPDX-License-Identifier: MIT */
/*
 * A time series of each rank: how much of each step of its wall time it computed, was in parallel regions, was in MPI.
 *
 * Of its first thread. At most 128 steps, all equally long, a power of two times 65.536 us: so a series does not grow
 * with the run. In a job of more than 256 ranks a series is of a block of ranks, as the streams are (job/streams.h):
 * the mean, the least and the greatest of its ranks (bounds of these where ranks of one block have steps of other
 * lengths). A value is a part of the step, in 65535ths. What is missing to a whole step was in
 * callbacks or a pause, or after the end.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;

enum { JOB_SERIES_STEPS = 128, JOB_SERIES_WHOLE = 65535 };
enum job_series_kind { JOB_SERIES_COMPUTATION, JOB_SERIES_OMP, JOB_SERIES_MPI, JOB_SERIES_KINDS };
enum job_series_part { JOB_SERIES_LEAST, JOB_SERIES_MOST, JOB_SERIES_PARTS, JOB_SERIES_MEAN = JOB_SERIES_PARTS };

struct job_series {
    uint32_t rank, ranks; /* the first one, and of how many */
    uint32_t steps, reserved;
    uint64_t step_ns;
    uint32_t sum[JOB_SERIES_KINDS][JOB_SERIES_STEPS];                    /* over the ranks */
    uint16_t part[JOB_SERIES_KINDS][JOB_SERIES_PARTS][JOB_SERIES_STEPS]; /* of one rank the same as the sum */
};
struct job_series_list {
    struct job_series *of; /* by rank */
    uint32_t count, room;
};

static inline double job_series_seconds(const struct job_series *s, enum job_series_kind kind,
                                        enum job_series_part part, uint32_t step)
{
    double value = part == JOB_SERIES_MEAN ? (double)s->sum[kind][step] / s->ranks : s->part[kind][part][step];
    return value / JOB_SERIES_WHOLE * (double)s->step_ns * 1e-9;
}

/* A rank's, in ns by kind and step; info.ranks must be known. 0, or PYTHIA_ENOMEM. */
int job_series_add(struct job *j, uint32_t rank, uint64_t step_ns, uint32_t steps,
                   uint64_t ns[JOB_SERIES_KINDS][JOB_SERIES_STEPS]);

/* --- Between the parts of a job --- */
void job_series_add_up(void *into, const void *from);
bool job_series_sane(const struct job *j, const void *series);
