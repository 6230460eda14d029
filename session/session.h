/* SPDX-License-Identifier: MIT */
/*
 * One process's life under Pythia, and what the hooks call.
 *
 *   session_start ── hooks: session_begin / session_end on each thread's stream ── session_finish -> struct job
 *
 * A hook:
 *     struct session_stream *s = session_enter();          // NULL: off, or inside Pythia already: pass through
 *     if (!s) return real(...);
 *     struct session_span span;
 *     session_begin(s, &span, &key);
 *     result = real(...);          // the guard is released during a region: the region's own calls are recorded; it
 *                                  // stays taken during a call: what MPI itself calls is not
 *     session_end(s, &span, &event);
 *
 * A call into MPI, which nothing of the program's is inside, needs no span: session_whole() once it is over, or
 * session_leave() where it was no event.
 *
 * A span with nothing inside is one terminal (LEAF) appended when it ends. When another span begins inside, on the same
 * thread, the outer one becomes OPEN … CLOSE. Gaps and durations are exclusive: they add up to the stream's wall time.
 *
 * Identity (struct session_key) -> the stream's own terminal number by an open-addressing table that belongs to the
 * thread: no lock. New keys take the slow path (malloc) once.
 *
 * Fail open: whatever goes wrong turns the session off (one line on stderr) and hooks pass through.
 * Threads: any, each on its own stream.  Hook-safe: begin, end, whole, callsite, predict are (but for first-seen keys).
 */
#ifndef PYTHIA_SESSION_H
#define PYTHIA_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/frame.h"
#include "grammar/grammar.h"
#include "job/group.h"
#include "job/job.h"
#include "oracle/oracle.h"

enum session_mode { SESSION_OFF, SESSION_RECORD, SESSION_PREDICT };

struct session_stream;

/* Identity of an event. Compared as bytes: zero it first. */
struct session_key {
    const char *function;  /* static string; compared by pointer */
    uint64_t region;       /* address of the outlined function, 0 for calls */
    uint32_t callsite;     /* session_callsite(), GRAMMAR_NONE without */
    uint32_t comm;         /* session_comm(), GRAMMAR_NONE without */
    uint32_t peer_class;   /* enum job_peer_class */
    uint8_t kind, call_kind, blocking; /* enum job_… */
};

/* The hook's side of a span between begin and end; the session's is on a stack of the stream, for a hook may be left
   without an end (base/frame.h): then the next event on this thread closes the span. */
struct session_span {
    uint64_t begin;  /* ns */
    uint64_t serial; /* tells it from those that had its place before */
    uint32_t entry;  /* of its key, in the stream's table */
    uint32_t level;  /* place on the stack */
};

/* --- Life --- */
struct session_world { uint32_t rank, ranks; const char *mpi; /* library version, "" without MPI */ };
/* Reads the options, chooses the mode (PYTHIA_MODE), opens the reference when predicting. `reference` (may be NULL) is
   session_reference(), or a packed job that came from another process: that is copied. After session_finish a new
   session can be started. */
enum session_mode session_start(const struct session_world *world, const void *reference, size_t reference_size);
enum session_mode session_mode(void);
/* Path of the job file to write / to predict from, after defaults; valid from before session_start on. */
const char *session_output_path(void);
const char *session_input_path(void);
/* This process is of the world `number` that another world spawned (0: of none): both paths end in ".spawnN". Before
   session_choose and session_start; the same number for all of them. */
void session_spawned(uint32_t number);
/* Mode that the options and the files ask for, without starting: for rank 0, who then tells the others. Prints the one
   line on what was chosen and why. */
enum session_mode session_choose(const struct session_world *world);
/* Stands for the reference that session_choose found usable, for session_start, whatever the size; NULL without. */
const void *session_reference(void);
/* For the other processes of a job. A mark that tells a job file from every other; the same file opened here, false
   where it is not in its place; then its bytes must be sent (the session's, until it starts; NULL: they cannot be
   read). */
uint64_t session_reference_mark(void);
bool session_find_reference(uint64_t mark);
const void *session_reference_bytes(size_t *size);
/* Ends the session that a process began before it turned out to be one of MPI's; NULL where there is none. */
extern void (*session_give_way)(void);
/* Stops all streams and gives this process's job (NULL when off or on failure): definitions, streams, in predict mode
   the score, with --update also definitions and streams. The caller owns it. Hooks pass through from here on. */
struct job *session_finish(void);
void session_off(const char *why); /* fail open; NULL: silently */

/* --- What of the run is recorded --- */
enum { SESSION_REGIONS = JOB_CALL_KINDS }; /* parallel regions: a class beside those of calls */
/* PYTHIA_CLASSES as bits, 1 << class, while a session lasts. Hook-safe: yes. */
uint32_t session_records(void);
/* Hooks pass through until it goes on, calls and regions; a pause is in nobody's gap or duration. Twice is once.
   Threads: any. */
void session_pause(bool pause);
/* A recording begins anew: what its streams have so far is forgotten. */
void session_reset(void);
/* A recording's part is written now, and a line on stderr says how far it has come. Hook-safe: no. */
void session_dump(void);

/* --- Streams and events --- */
/* This thread's stream, opened at its first event; guard taken. `frame` is that of the hook: it runs until the span
   ends. */
struct session_stream *session_enter_from(struct base_frame frame);
/* The same for a parallel region: NULL too where those are not recorded. */
struct session_stream *session_enter_region(struct base_frame frame);
static inline __attribute__((always_inline)) struct session_stream *session_enter(void)
{
    return session_enter_from(base_frame_here());
}
void session_leave(void);
/* What a hook keeps with a stream, its own to make and free; *turn is another number when another thread has the
   stream. */
void **session_stream_keep(struct session_stream *s, uint32_t *turn);
void session_begin(struct session_stream *s, struct session_span *span, const struct session_key *key);
/* The same for a region: `name` as in session_key, its outlined function, and what an earlier call left in *entry, on
   whatever stream (GRAMMAR_NONE at first); `owner` is what session_owner() gives back. */
void session_begin_region(struct session_stream *s, struct session_span *span, const char *name, uintptr_t fn,
                          uint32_t *entry, void *owner);
/* Owner of this thread's innermost span whose hook still runs, asked from the frame `here`; NULL: there is none. */
void *session_owner(struct base_frame here);
/* Of the event its channels and their values are the hook's; the rest is filled in. */
void session_end(struct session_stream *s, struct session_span *span, struct grammar_event *event);
/* The same with the time at which the span ended, ns, and what was `skipped` since: in nobody's gap or duration. */
void session_end_at(struct session_stream *s, struct session_span *span, struct grammar_event *event, uint64_t end,
                    uint64_t skipped);
/* Whether other spans were inside an open one. */
bool session_contains(const struct session_stream *s, const struct session_span *span);
/* A span that is over: from `begin` to `end`, ns, nothing inside; `skipped` since as in session_end_at. So are calls,
   which are described once they have returned. Gives the guard back. */
void session_whole(struct session_stream *s, const struct session_key *key, struct grammar_event *event, uint64_t begin,
                   uint64_t end, uint64_t skipped);
/* The same of an identity that was looked up, session_identify(). */
void session_whole_as(struct session_stream *s, uint32_t entry, struct grammar_event *event, uint64_t begin,
                      uint64_t end, uint64_t skipped);
/* The time from `since` until now is in nobody's gap or duration. Returns now, ns. */
uint64_t session_skip(struct session_stream *s, uint64_t since);
/* Return addresses, innermost first -> number for the key. */
uint32_t session_callsite(struct session_stream *s, void *const *frames, uint32_t count);
/* A communicator's name -> number for the key. Takes a lock: call when the communicator is first seen, keep the
   number. */
uint32_t session_comm(const char *name, uint32_t size);
/* Who is in the one of that number that this process has: ranks of the world, in the order of the communicator's;
   `remote`: the other group of an intercommunicator, else NULL. Takes a lock. */
struct session_members { const struct job_run *runs; uint32_t count; };
void session_comm_members(uint32_t comm, struct session_members own, const struct session_members *remote);
/* The name of that number, as long as the session lasts; "" for GRAMMAR_NONE. Takes a lock. */
const char *session_comm_name(uint32_t comm);

/* --- Messages, beside the events --- */
/* Before session_whole(): the number of that event in its stream. */
uint64_t session_event(const struct session_stream *s);
/* The session's number of the terminal of an identity with nothing inside; GRAMMAR_NONE: not known. */
uint32_t session_terminal(struct session_stream *s, uint32_t entry);
uint32_t session_thread(const struct session_stream *s); /* its number in the process */
/* So many bytes went to (or came from) a rank of the world, GRAMMAR_NONE: one that is not in it, by the call with that
   terminal. Hook-safe, first sight aside. */
void session_message(struct session_stream *s, uint32_t terminal, bool receives, uint32_t partner, uint64_t bytes);

/* --- Watching: for callbacks --- */
struct session_sight {
    uint64_t now;    /* ns */
    uint64_t id;     /* of the stream's next event, from 0 */
    uint64_t gap_ns; /* since the last one */
    uint32_t thread; /* number of the stream in its process */
    uint32_t rank;
};
struct session_sight session_see(const struct session_stream *s);

/* --- Sums: what callbacks count beside the time, by callsite; they go into the job file --- */
enum { SESSION_SUMS = 8 };
/* Number of the sum `name` (copied), defined at its first mention. PYTHIA_EINVAL: no name, or longer than 63 bytes;
   PYTHIA_ELIMIT: there are SESSION_SUMS others.  Threads: any.  Hook-safe: no. */
int session_sum_define(const char *name);
/* Number of an identity in its stream; GRAMMAR_NONE when out of memory. That of a span is span->entry. */
uint32_t session_identify(struct session_stream *s, const struct session_key *key);
/* Adds `samples` of together `value` to the sum of an identity: of a function at its callsite.  Hook-safe: yes, first
   sight aside. */
void session_sum_add(struct session_stream *s, uint32_t entry, int sum, uint64_t value, uint64_t samples);

/* --- Asking --- */
/* Whether the run asks for the partner of each event, not of a sample: PYTHIA_VERBOSE=2. */
extern bool session_checks_peers;
void session_count_action(struct session_stream *s, double gain_ns);
bool session_acts(const char *what); /* whether --act allows it: in predict mode, and in a first run that was not asked
                                        to record (PYTHIA_MODE=auto) */
/* What the reference says of the region of an outlined function. 0, or 1: nothing. */
int session_region(uint64_t function, struct job_region *r, uint64_t *where); /* where: address, 0: not known here */
/* What session_finish calls for the process's regions, on the thread that finishes; NULL: nobody watches regions. */
extern void (*session_store_regions)(struct job *job);
/* For that: r->callsite and r->where are made of the two addresses. */
int session_add_region(struct job *job, uint64_t function, uint64_t where, const struct job_region *r);
/* Whether this rank reads code at the end, for the job file: all ranks run the same code, so one does it; and where every
   team is of one thread nothing could be changed. What is not read then a predicted run reads for itself. */
bool session_proves(void);
uint32_t session_depth(void);        /* frames above the return address to record */
uint32_t session_ranks(void);        /* of the job */
const char *session_plugins(void);   /* PYTHIA_PLUGIN, "" for none */

uint64_t session_call_ns(const struct session_stream *s); /* in MPI calls that ended, so far. Hook-safe. */

/* --- Tasks: statistics, no events (tasks/task.h) --- */
uint64_t session_events(void); /* of this thread's stream so far; 0 without one. Hook-safe. */
/* `collect` is called once, when the session finishes, and hands over the rows of this process with
   session_task_add. */
void session_task_source(void (*collect)(void));
/* Only inside `collect`. `fn`: address of the outlined function; task->callsite is filled in here. */
void session_task_add(uintptr_t fn, const struct job_task *task);
/* Rows that the reference has of a task construct, `most` at most; returns how many. Takes a lock. */
uint32_t session_task_reference(uintptr_t fn, struct job_task *tasks, uint32_t most);

/* Spans and calls of this process that were left without an end, by a jump or an exception, in the session that was
   finished last; the line that says so, where there are any: of `left` in all processes. */
uint64_t session_left(void);
void session_tell_left(uint64_t left);

/* The end of a whole job, on the one process that has it: a recording is written to session_output_path(), the score of
   a predicted run is stored in the file that it was predicted from (or where the output was asked for), and one line on
   stderr tells; with --update the run itself is folded into that file (merge_update) and `job` is then what was
   written. `mode`: what the session was. Fails open. */
void session_publish(struct job *job, enum session_mode mode);

/* --- What a run that dies leaves behind --- */
/* Every PYTHIA_CHECKPOINT seconds, and when a signal ends it, a recording process writes what it has so far to
   <output>.parts/rank-N.pythia; `pythia merge` joins these. session_publish removes them once the job file is there. */
/* Writes this rank's part. Returns 0, or a negative PYTHIA_E… with the reason in `why`. */
int session_part_write(const struct job *job, char *why, size_t size);
const char *session_parts_path(void);
void session_parts_remove(void);
/* Parts of an earlier run must not mix with this one's: they move to <output>.parts.old. Before any rank writes one. */
void session_parts_put_aside(void);

#endif
