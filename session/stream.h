/* SPDX-License-Identifier: MIT */
/*
 * What the hooks call: the events of each thread.
 *
 * A hook:
 *     struct session_stream *s = session_enter_from(base_frame_here());
 *     if (!s) return real(...);    // off, or inside Pythia already: pass through
 *     struct session_span span;
 *     session_begin_region(s, &span, name, function, path, &entry, owner);
 *     real(...);                   // the guard is released: the region's own calls are recorded
 *     session_end_at(s, &span, &event, end, 0);
 *
 * A call into MPI has no events of the program inside and needs no span: the guard stays taken, for what MPI itself
 * calls is not recorded, and its hook calls session_whole() when the call is over, or session_leave() where it was no
 * event.
 *
 * A span with nothing inside is one terminal (LEAF) appended when it ends. When another span begins inside, on the same
 * thread, the outer one becomes OPEN … CLOSE. Gaps and durations are exclusive: they add up to the stream's wall time.
 *
 * Identity (struct session_key) -> the stream's own terminal number by an open-addressing table that belongs to the
 * thread: no lock. New keys take the slow path (malloc) once.
 *
 * Threads: any, each on its own stream.  Hook-safe: all are, first sight of something aside.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/frame.h"
#include "grammar/grammar.h"
#include "job/group.h"
#include "job/job.h"

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
    uint64_t calls;  /* session_call_ns() */
};

/* --- Streams and events --- */
/* This thread's stream, opened at its first event; guard taken. `frame` is that of the hook: it runs until the span
   ends. */
struct session_stream *session_enter_from(struct base_frame frame);
/* The same for a parallel region: NULL too where those are not recorded. */
struct session_stream *session_enter_region(struct base_frame frame);
void session_leave(void);
/* Where a thread that has not the board shows its calls (watch/board.h); NULL: nowhere. */
struct watch_thread;
struct watch_thread *session_place(const struct session_stream *s);
/* Before it, of a poll that found nothing: who it was (session_identify), and when, ns. */
void session_polled(struct session_stream *s, uint32_t entry, uint64_t begin, uint64_t end);
/* When a poll that found something began, with what polls took that found nothing since the last event, and with what
   is between two if that is no longer than a poll: ns, not before that event's end. */
uint64_t session_polls_begin(const struct session_stream *s, uint64_t begin);
/* `name` as in session_key, the region's outlined function, `path` as session_site_of() says (GRAMMAR_NONE: not known),
   and what an earlier call left in *entry, on whatever stream (GRAMMAR_NONE at first); `owner` is what session_owner()
   gives back. */
void session_begin_region(struct session_stream *s, struct session_span *span, const char *name, uintptr_t fn,
                          uint32_t path, uint32_t *entry, void *owner);
/* Owner of this thread's innermost span whose hook still runs, asked from the frame `here`; NULL: there is none. */
void *session_owner(struct base_frame here);
/* Of the event its channels and their values are the hook's; the rest is filled in. The span ended at `end`, ns; what
   was `skipped` since is in nobody's gap or duration. Whether other spans were inside. */
bool session_end_at(struct session_stream *s, struct session_span *span, struct grammar_event *event, uint64_t end,
                    uint64_t skipped);
/* Whether other spans were inside an open one. */
bool session_contains(const struct session_stream *s, const struct session_span *span);
/* A span that is over: from `begin` to `end`, ns, nothing inside; `skipped` since as in session_end_at. So are calls,
   which are described once they have returned. Gives the guard back. */
void session_whole(struct session_stream *s, const struct session_key *key, uint32_t path, struct grammar_event *event,
                   uint64_t begin, uint64_t end, uint64_t skipped);
/* The same of an identity that was looked up, session_identify(), and nothing skipped. */
void session_whole_as(struct session_stream *s, uint32_t entry, uint32_t path, struct grammar_event *event,
                      uint64_t begin, uint64_t end);
/* The run begins now, whatever the session's start and this stream's took: before the stream's first event. And: all of
   it was so many ns earlier, which are no part of the run's time (MPI_Init). Threads: the stream's. */
void session_begins(struct session_stream *s);
void session_began(struct session_stream *s, uint64_t ago);
/* The time from `since` until now is in nobody's gap or duration. Returns now, ns. */
uint64_t session_skip(struct session_stream *s, uint64_t since);
/* How often libraries were unloaded: return addresses that were remembered may be others' now. */
extern _Atomic uint32_t session_unloads __attribute__((visibility("hidden")));

/* What its thread spent on something that it met for the first time, ns of processor time: all of it is Pythia's cost,
   of other events a sample says it. And: what it takes since `before`, by the clock, which costs no system call. */
void session_took(struct session_stream *s, uint64_t ns);
void session_took_since(struct session_stream *s, uint64_t before);
/* When its last event ended, ns. */
uint64_t session_last(const struct session_stream *s);
/* Return addresses, innermost first -> number for the key. */
uint32_t session_callsite(struct session_stream *s, void *const *frames, uint32_t count);
/* The same as a path: of a recording, GRAMMAR_NONE else and where there are too many. Takes a lock at first sight. */
uint32_t session_path(struct session_stream *s, void *const *frames, uint32_t count);
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
/* Before session_whole(): that event's number in its stream, with the stream's own in the process in the upper 16 bits,
   below SESSION_NEVER; how many events the stream has before it: those before a reset are not there any more, but have
   their numbers. */
struct session_here { uint64_t event, before; };
#define SESSION_NEVER UINT64_MAX
struct session_here session_here(const struct session_stream *s);
uint32_t session_thread(const struct session_stream *s);
/* The session's number of the terminal of an identity with nothing inside; GRAMMAR_NONE: not known. */
uint32_t session_terminal(struct session_stream *s, uint32_t entry);
/* So many bytes went to (or came from) a rank of the world, GRAMMAR_NONE: one that is not in it, by the call with that
   terminal. Hook-safe, first sight aside. */
void session_message(struct session_stream *s, uint32_t terminal, bool receives, uint32_t peer, uint64_t bytes);

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
