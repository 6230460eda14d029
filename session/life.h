/* SPDX-License-Identifier: MIT */
/*
 * One process's life under Pythia: which mode, from which files, from start to finish.
 *
 *     session_choose -> session_start ── events (session/stream.h) ── session_finish -> struct job -> session_publish
 *
 * Fail open: whatever goes wrong turns the session off, with one line on stderr, and hooks pass through.
 * Threads: the one that initialises and finalises MPI, unless said.  Hook-safe: no, unless said.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hot.h"
#include "job/job.h"

enum session_mode { SESSION_OFF, SESSION_RECORD, SESSION_PREDICT };

/* --- Life --- */
struct session_world {
    uint32_t rank, ranks;
    const char *mpi; /* library version, "" without MPI */
    uint64_t job;    /* equal on all ranks, on no other job's; 0: this process is all of it */
};
/* Reads the options, chooses the mode (PYTHIA_MODE), opens the reference when predicting. `reference` (may be NULL) is
   session_reference(), or a packed job that came from another process: that is copied. After session_finish a new
   session can be started. */
enum session_mode session_start(const struct session_world *world, const void *reference, size_t reference_size);
/* base_hot.mode; release in start and off. Written by life.c and process.c alone. */
static inline enum session_mode session_mode(void)
{
    return (enum session_mode)atomic_load_explicit(&base_hot.mode, memory_order_acquire);
}
/* Path of the job file to write / to predict from, after defaults; valid from before session_start on. */
const char *session_output_path(void);
const char *session_input_path(void);
/* This process is of the world `number` that another world spawned (0: of none): both paths end in ".spawnN". Before
   session_choose and session_start; the same number for all of them. */
void session_spawned(uint32_t number);
/* Mode that the options and the files ask for, without starting: for rank 0, who then tells the others. Prints the one
   line on what was chosen and why. */
enum session_mode session_choose(const struct session_world *world);
/* What this process is asked for of what only one process of a job decides: mode, files, update. */
void session_asked(char *text, size_t size);
/* Stands for the reference that session_choose found usable, for session_start, whatever the size; NULL without. */
const void *session_reference(void);
/* For the other processes of a job. A mark that tells a job file from every other; the same file opened here, false
   where it is not in its place; then its bytes must be sent (the session's, until it starts; NULL: they cannot be
   read). */
uint64_t session_reference_mark(void);
bool session_find_reference(uint64_t mark);
const void *session_reference_bytes(size_t *size);
/* Stops all streams and gives this process's job (NULL when off or on failure): definitions, streams, in predict mode
   the score, with --update also definitions and streams. The caller owns it. Hooks pass through from here on. */
struct job *session_finish(void);
/* Beside the session's own time: the program waited `ns` for the start, by the clock; and from now on for the end. */
void session_took_start(uint64_t ns);
void session_took_ends(void);
void session_off(const char *why); /* fail open; NULL: silently */

/* --- What the hooks' side does for the session --- */
struct session_hooks {
    bool (*start)(void);                /* begins the session of a process without MPI; whether it runs */
    void (*give_way)(void);             /* ends that one: MPI begins after all */
    void (*begins)(void);               /* a session has: threads of ours are made now, not at the first region */
    void (*regions)(struct job *job);   /* at the end: stores what is known of regions, by session_add_region() … */
    void (*tasks)(void);                /* … and of tasks, by session_task_add(); both under the session's lock */
    void (*thread_ends)(void);          /* of this thread, which had a stream */
};
/* Once, when the library is loaded, before there are threads; kept, not copied. Each function may be NULL. */
void session_hooks_set(const struct session_hooks *hooks);
bool session_start_alone(void); /* hooks->start; false without */
void session_give_way(void);    /* hooks->give_way */
void session_tell_end(void);    /* hooks->thread_ends */

/* --- What of the run is recorded --- */
enum { SESSION_REGIONS = JOB_CALL_KINDS, SESSION_NAMED }; /* parallel regions, and those that the program names: kinds
                                                            beside those of calls */
/* PYTHIA_KINDS as bits, 1 << kind, while a session lasts. Hook-safe: yes. */
uint32_t session_records(void);
/* Hooks pass through until it goes on, calls and regions; a pause is in nobody's gap or duration. Twice is once.
   Threads: any. */
void session_pause(bool pause);
/* A recording begins anew: what its streams have so far is forgotten. */
void session_reset(void);
/* A recording's part is written now, and a line on stderr says how far it has come. Hook-safe: no. */
void session_dump(void);

/* Spans and calls of this process that were left without an end, by a jump or an exception, in the session that was
   finished last; the line that says so, where there are any: of `left` in all processes. */
uint64_t session_left(void);
void session_tell_left(uint64_t left);

/* The end of a whole job, on the one process that has it: a recording is written to session_output_path(), the score of
   a predicted run is stored in the file that it was predicted from (or where the output was asked for), and one line on
   stderr tells; with --update the run itself is folded into that file (merge_update) and `job` is then what was
   written. `mode`: what the session was. Fails open. */
void session_publish(struct job *job, enum session_mode mode);
/* Until the summary that session_publish has begun is printed, at most 20 s; nothing where there is none. */
void session_summary_wait(void);

/* --- What a run that dies leaves behind --- */
/* Every PYTHIA_CHECKPOINT seconds, and when a signal ends it, a recording process writes what it has so far to
   <output>.parts/node-WHICH.pythia, a file for each node; `pythia merge` joins these. session_publish removes them once
   the job file is there. */
/* A session begins: this process has no part yet. */
void session_part_begin(void);
/* Writes this rank's part; `at_once`: without waiting for the disk, since this process is to end. Returns 0, or a
   negative PYTHIA_E… with the reason in `why`. */
int session_part_write(const struct job *job, bool at_once, char *why, size_t size);
/* Before it: adds where this process stands, or stood when its session ended, and that time. Whether that is known. */
bool session_ends_add(struct job *job);
/* Makes a directory for them unless it is there, and this user's. The same. */
int session_parts_make(const char *path, char *why, size_t size);
void session_part_remove(void); /* this process's, and the directory where nothing else is in it */
const char *session_parts_path(void);
bool session_parts_first(void); /* whether nobody of this run has said yet where they are: the caller is to */
void session_parts_remove(void);
/* Parts of an earlier run must not mix with this one's: they move to <output>.parts.old. Before any rank writes one. */
void session_parts_put_aside(void);
