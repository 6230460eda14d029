/* SPDX-License-Identifier: MIT */
/*
 * Of each terminal over all of its events: least and greatest gap before it and duration, on which rank and in which
 * turn, and how many of each length.
 *
 * A turn counts the events of the terminal in its stream, from 0: the 38th barrier of a loop is turn 37. Lengths are
 * counted by power of two. Where several events are equally long it is the first one of the lowest rank.
 *
 * What is usual is the mean of the shortest three quarters of a stream's events, which those that a busy machine makes
 * longer do not move (a trimmed mean; its standard error from the Winsorized deviation: Tukey and McLaughlin, "Less
 * vulnerable confidence and significance procedures for location", Sankhya A 25, 1963). Summed over all events, as if
 * each were usual in its stream, so that streams add up.
 * Threads: any for readers.  Hook-safe: inline functions are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct job;

enum job_extreme { JOB_GAP_MIN, JOB_GAP_MAX, JOB_DURATION_MIN, JOB_DURATION_MAX, JOB_EXTREMES };
enum job_usual { JOB_USUAL_GAP, JOB_USUAL_GAP_DEVIATION, JOB_USUAL_DURATION, JOB_USUAL_DURATION_DEVIATION,
                 JOB_USUALS };
enum { JOB_BUCKETS = 40 }; /* 0: below 2 ns; k: below 2^(k + 1); the last one: all longer ones, too */

struct job_extremes {
    uint32_t terminal;
    uint32_t rank[JOB_EXTREMES];
    uint64_t count;               /* events */
    uint64_t value[JOB_EXTREMES]; /* ns */
    uint64_t turn[JOB_EXTREMES];
    uint64_t gaps[JOB_BUCKETS], durations[JOB_BUCKETS];
    uint64_t usual[JOB_USUALS];   /* ns, over all events; all 0: not known */
};
struct job_extremes_list {
    struct job_extremes *of; /* by terminal */
    uint32_t count, room;
};

void job_extremes_begin(struct job_extremes *e); /* of no event */
/* One gets the events of another, of whatever terminal. */
void job_extremes_add_up(void *into, const void *from);
/* Adds what a stream of `rank` has of a terminal of the job. 0, or PYTHIA_ENOMEM. */
int job_extremes_add(struct job *j, uint32_t rank, uint32_t terminal, const struct job_extremes *e);

/* --- Between the parts of a job --- */
bool job_extremes_sane(const struct job *j, const void *extremes);
