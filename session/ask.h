/* SPDX-License-Identifier: MIT */
/*
 * What the hooks ask: options of the run, what the reference knows of a region or a task, what this thread did so far.
 *
 * Threads: any.  Hook-safe: yes, but for what says that it takes a lock or is for struct session_hooks (life.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct session_stream;

void session_count_action(struct session_stream *s, double gain_ns);
bool session_acts(const char *what); /* whether --act allows it: in predict mode, and in a first run that was not asked
                                        to record (PYTHIA_MODE=auto) */
/* What the reference says of the region of an outlined function. 0, or 1: nothing. */
int session_region(uint64_t function, struct job_region *r, uint64_t *where); /* where: address, 0: not known here */
/* Whether there is a reference, and what it says of each region's and task's code holds. */
bool session_proven(bool (*holds)(uint32_t proof));
/* For struct session_hooks: r->callsite and r->where are made of the two addresses. */
int session_add_region(struct job *job, uint64_t function, uint64_t where, const struct job_region *r);
/* Whether this rank reads machine code at the end, for the job file. Only rank 0 does: all ranks run the same code.
   Where every team has one thread nothing could be changed, and calling a region without libgomp gains little: only
   if there are many. A predicted run reads itself what the file lacks. */
bool session_proves(bool many_regions);
uint32_t session_team(void);         /* threads of a team now, as the program's OpenMP library says; 0: it has none */
uint32_t session_depth(void);        /* frames above the return address to record */
uint32_t session_ranks(void);        /* of the job */
const char *session_plugins(void);   /* PYTHIA_PLUGIN, "" for none */
const char *session_kept(void);      /* PYTHIA_OMP_KEEP, likewise */

uint64_t session_call_ns(const struct session_stream *s); /* in MPI calls that ended, so far. Hook-safe. */
bool session_was_reset(void); /* whether the recording began anew, ever */
uint64_t session_calls_here(void); /* the same of this thread, since it is one; 0 without a stream. Hook-safe. */

/* --- Samples of threads without a stream (samples.c) --- */
uint32_t session_stream_here(void); /* the number of this thread's stream; UINT32_MAX: it has none. Hook-safe. */
/* This thread works in a team of that stream's thread. A system call, when that is news. Hook-safe. */
void session_samples_join(uint32_t stream);

/* --- How threads of teams spent their time (job/threads.h) --- */
/* Adds to what is known of the rank, by the stream's thread, where that is its first. Hook-safe. */
void session_threads_add(struct session_stream *s, const struct job_threads *t);
/* For struct session_hooks: the same of a region; 0: of the rank. */
int session_add_threads(struct job *job, uint64_t function, const struct job_threads *t);

/* --- Tasks: statistics, no events (tasks/task.h) --- */
uint64_t session_events(void); /* of this thread's stream so far; 0 without one. Hook-safe. */
/* For struct session_hooks. `fn`: address of the outlined function; task->callsite is filled in here. */
void session_task_add(uintptr_t fn, const struct job_task *task);
/* Rows that the reference has of a task construct, `most` at most; returns how many. Takes a lock. */
uint32_t session_task_reference(uintptr_t fn, struct job_task *tasks, uint32_t most);
