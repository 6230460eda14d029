/* SPDX-License-Identifier: MIT */
/*
 * What completions complete: lists of distances, in events of the own stream, back from the completion to each start.
 *
 *     Irecv Irecv Isend Isend Waitall        distances 4, 3, 2, 1: one run { 4, -1, 4 }
 *
 * in the order of the requests; 0: that start is not known. A value of the channel GRAMMAR_STARTS above 0 is one
 * distance, below 0 the name of a list. Names are made of the content, so that lists are equal on all ranks where their
 * names are.
 *
 * Courses are lists, too (job/course.h). Merging keeps those that a value of a class or one of its courses names, up to
 * JOB_STARTS_RUNS runs in all; of one that is not kept a reader knows nothing.
 * Cost: linear in the lists that are put or joined, and those that are there.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct job;
struct job_maps;
struct job_class;
struct grammar_attr;

enum { JOB_STARTS_RUNS = 1 << 20 /* of a merged job: 16 MB */ };

/* distance, distance + step, …: `count` of them. */
struct job_start_run { int64_t distance; int32_t step; uint32_t count; };

struct job_start_list { int64_t name; uint32_t first, count; };
struct job_starts {
    struct job_start_list *list; /* by name */
    struct job_start_run *runs;
    uint32_t count, run_count, room, run_room;
};

int64_t job_starts_name(const struct job_start_run *runs, uint32_t count); /* below 0 */
/* Defines a list; a name that is there stays. 0, PYTHIA_ENOMEM. */
int job_starts_add(struct job *j, int64_t name, const struct job_start_run *runs, uint32_t count);
/* The same of several: collected in any order, then put into the job, which takes them, also on failure. Zeroed: none
   yet. */
int job_starts_keep(struct job_starts *s, int64_t name, const struct job_start_run *runs, uint32_t count);
int job_starts_put(struct job *j, struct job_starts *s);
void job_starts_drop(struct job_starts *s);
/* Puts it where it belongs in sorted ones, which have their runs in the same order; a name that is there stays. *name:
   of the runs. */
int job_starts_insert(struct job_starts *s, const struct job_start_run *runs, uint32_t count, int64_t *name);
/* NULL: there is no such list. */
const struct job_start_run *job_starts_find(const struct job_starts *s, int64_t name, uint32_t *count);

/* What the completion that is the terminal's nth event completes for a member: *runs in the job, or in *one. 0; 1:
   varies without a rule; 2: not known; 3: a receive that was cancelled. */
int job_completes(const struct job *j, const struct job_class *c, uint32_t node, uint32_t rank, uint32_t thread,
                  uint64_t nth, struct job_start_run *one, const struct job_start_run **runs, uint32_t *count);

/* --- Between the parts of a job --- */
int job_starts_check(const struct job *j, char *why, size_t size);
int job_starts_join(const struct job *into, const struct job *from, const struct job_maps *maps,
                    struct job *made); /* 0 or PYTHIA_E… (job/schema.h) */
void job_starts_prune(struct job *j, uint8_t *room); /* to what is kept; `room`: zeroed, a byte a list */
