/* SPDX-License-Identifier: MIT */
/*
 * What every wrapper of an MPI call does, in steps that the generated wrappers are made of.
 *
 *     struct pmpi_hook_call call;
 *     if (!pmpi_hook_open(&call, &info))            off, paused, or inside another MPI call: pass through
 *         return PMPI_Send(...);
 *     pmpi_hook_begin(&call, return address);
 *     int result = PMPI_Send(...);                  arguments untouched
 *     pmpi_hook_returned(&call, result == MPI_SUCCESS);
 *     pmpi_hook_on_comm(&call, comm);               identity and attributes
 *     pmpi_hook_peer(&call, dest);
 *     pmpi_hook_end(&call);                         or pmpi_hook_nothing(): it was no event after all
 *
 *   1. MPI is asked about an argument only after it has accepted the call: whatever it is asked may raise, on another
 *      object or a second time, an error that the program's call would have returned
 *   2. nothing is read through a pointer before that but single variables whose pointer is not null, and request
 *      handles, which the call overwrites
 *   3. what is wanted earlier (by callbacks; by what the call is about to end) comes from what was seen before, and
 *      from predefined communicators and datatypes: those cannot raise. A call that failed is described in the same way
 *   4. errno is the program's: MPI finds what the program left, the program what MPI left (from open to begin, and from
 *      returned to end, it is ours)
 *
 * Of the peer only what it is is identity (a rank, SELF, MPI_PROC_NULL, MPI_ANY_SOURCE, a root); its rank is the
 * attribute GRAMMAR_PEER, in the numbering of the call's communicator.
 *
 * Errors: none; whatever is not known is left out of the event. Nothing here changes an argument, a status that the
 * program sees, or a result, or calls an error handler.
 * Threads: any, a call belongs to its thread.  Hook-safe: yes, but for communicators first seen.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pmpi/all_of_mpi.h"
#include "pmpi/comm.h"
#include "pmpi/request.h"
#include "pythia.h"
#include "session/stream.h"
#include "watch/board.h"

struct pmpi_hook_call {
    struct session_stream *stream;
    const struct pmpi_hook_communicator *comm; /* NULL without; alive while MPI has it */
    const struct pmpi_hook_members *peers; /* without `comm`: whom ranks of peers are, NULL: not known */
    const struct watch_call *info;
    struct session_key key;
    struct grammar_event event; /* its channels and values, as they become known */
    uint64_t begin, end; /* ns */
    int element;   /* bytes of an element of the payload; 1 where elements differ or are not known */
    void *from;    /* return address into the program */
    struct base_frame frame; /* of the wrapper */
    bool accepted; /* MPI has returned, without an error */
    bool watched;  /* by callbacks, as seen when it was opened: then the next two, too */
    int *error, kept; /* errno of this thread; what it was when the program, or MPI, handed over */
    struct session_slot *slot; /* of its stack (session/site.h) */
    const struct session_memo *memo; /* that it was found by; NULL: it was looked at */
    uint32_t entry, path; /* of its identity, once they are known */
    struct { uint64_t samples, total; } counted[SESSION_SUMS]; /* until then */
};

/* Kinds of calls that are recorded, bits 1 << enum job_call_kind: 0 but between MPI_Init and MPI_Finalize. */
extern _Atomic uint32_t pmpi_hook_kinds;

/* Starts a call. False: pass through. Calls that MPI makes inside a call find the session's guard taken. `frame` is
   that of the wrapper. */
bool pmpi_hook_open_from(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame);
static inline __attribute__((always_inline)) bool pmpi_hook_open(struct pmpi_hook_call *call,
                                                                 const struct watch_call *info)
{
    return pmpi_hook_open_from(call, info, base_frame_here());
}
/* The same of one whose identity is the call alone; the key is not filled where it was so before (call->memo). */
bool pmpi_hook_open_alone(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame);
/* … or the call with that communicator (number) and kind of peer: before it begins. */
void pmpi_hook_alone_with(struct pmpi_hook_call *call, uint32_t comm, enum job_peer_class peer_class);
/* The same where the guard is taken already, by that stream's call. */
void pmpi_hook_prepare(struct pmpi_hook_call *call, const struct watch_call *info, struct session_stream *stream,
                       struct base_frame frame);
/* Before that, for the board: whom a call that may block receives from and sends to (WATCH_NOBODY: nobody), the tag. */
static inline void pmpi_hook_with(int source, int dest, int tag)
{
    if (base_here.board)
        watch_board_with(base_here.board, source, dest, tag);
}
/* The call into the MPI library comes next; `from` is the return address into the program; `where`, of one that may
   block: the handle of its communicator, or request, else 0. */
void pmpi_hook_begin(struct pmpi_hook_call *call, void *from, uint64_t where);
/* The same of a poll. */
void pmpi_hook_begin_poll(struct pmpi_hook_call *call, void *from);
#define PMPI_HOOK_HANDLE(handle) ((uint64_t)(uintptr_t)(handle))
/* That of a window's or file's communicator. */
uint64_t pmpi_hook_handle_of(const struct pmpi_hook_communicator *comm);
/* It is over, now. */
void pmpi_hook_returned(struct pmpi_hook_call *call, bool accepted);
/* The same of a poll that asks whether something is there. Where it found nothing it is over: no event, its time is of
   the next one that finds something, if nothing else happens until then. Returns `found`. */
bool pmpi_hook_polled(struct pmpi_hook_call *call, bool found);
/* Before its end, of a call opened by pmpi_hook_open_alone(): the next one is like it. */
void pmpi_hook_again_learn_alone(struct pmpi_hook_call *call);
/* After returned; once all is known. */
void pmpi_hook_end(struct pmpi_hook_call *call);
/* Instead of end: what it found was nothing. */
void pmpi_hook_nothing(struct pmpi_hook_call *call);
/* When the event of a call begins, ns. */
static inline uint64_t pmpi_hook_since(const struct pmpi_hook_call *call)
{
    return call->info->what.how == WATCH_POLLS ? session_polls_begin(call->stream, call->begin) : call->begin;
}

/* --- Where, with whom, how much: after the call, and for callbacks before it as far as it is known then --- */
void pmpi_hook_on_comm(struct pmpi_hook_call *call, MPI_Comm comm);
void pmpi_hook_on_bound(struct pmpi_hook_call *call, uint64_t key); /* a window's or file's PMPI_HOOK_KEY */
/* Where and with whom the request was started. */
void pmpi_hook_on_request(struct pmpi_hook_call *call, MPI_Request request);
/* Where and with whom the probe was that gave the message: before the call, which ends the message. */
void pmpi_hook_on_message(struct pmpi_hook_call *call, MPI_Message message);
void pmpi_hook_peer(struct pmpi_hook_call *call, int rank);
/* This thread received from `source`, and would have from anyone. */
void pmpi_hook_note_source(uint32_t comm, int source);
void pmpi_hook_root(struct pmpi_hook_call *call, int rank);
/* Where and with whom that start was. */
void pmpi_hook_on_start(struct pmpi_hook_call *call, const struct pmpi_hook_start *start);
/* Persistent requests were started again, by this call (start.c). */
void pmpi_hook_restart_one(struct pmpi_hook_call *call, struct pmpi_hook_handles request);
void pmpi_hook_restart_all(struct pmpi_hook_call *call, struct pmpi_hook_handles requests, int count);
/* A request is about to be freed: no event, it only ends what is known about it. */
void pmpi_hook_request_freed(struct pmpi_hook_handles request);
/* A persistent request was started again, by this call. Gives its start; false: it is not known. */
bool pmpi_hook_restarted(struct pmpi_hook_call *call, MPI_Request request, struct pmpi_hook_start *start);

static inline void pmpi_hook_event_value(struct grammar_event *event, enum grammar_channel channel, int64_t value)
{
    event->channels |= 1u << channel;
    event->value[channel] = value;
}
static inline void pmpi_hook_value(struct pmpi_hook_call *call, enum grammar_channel channel, int64_t value)
{
    pmpi_hook_event_value(&call->event, channel, value);
}

/* Whom this thread last received from by MPI_ANY_SOURCE, in the communicator of that number less 1; 0: nobody. Zero to
   begin with, as all that is a thread's: initial values would be a section of their own. */
extern _Thread_local struct pmpi_hook_last { uint32_t comm; int source; } pmpi_hook_last
    __attribute__((tls_model("initial-exec")));
/* The event's peer in the communicator `comm` (NULL: not known) of that number, and what it is beside its rank. Returns
   what is identity. */
static inline enum job_peer_class pmpi_hook_event_peer(struct grammar_event *event,
                                                       const struct pmpi_hook_communicator *comm, uint32_t number,
                                                       int rank)
{
    bool null = rank == MPI_PROC_NULL, any = rank == MPI_ANY_SOURCE;
    pmpi_hook_event_value(event, GRAMMAR_PEER, null ? GRAMMAR_PEER_NULL : any ? GRAMMAR_PEER_ANY : rank);
    if (rank >= 0 && comm && comm->places)
        pmpi_hook_event_value(event, GRAMMAR_PLACE, pmpi_hook_comm_place(comm, rank));
    if (rank >= 0 && number != GRAMMAR_NONE && pmpi_hook_last.comm == number + 1)
        pmpi_hook_event_value(event, GRAMMAR_REPLY, rank == pmpi_hook_last.source);
    return null ? JOB_PEER_NULL : any ? JOB_PEER_ANY : comm && rank == comm->rank ? JOB_PEER_SELF : JOB_PEER_RANK;
}

/* What is known of it, else `none`. */
static inline int64_t pmpi_hook_value_of(const struct pmpi_hook_call *call, enum grammar_channel channel, int64_t none)
{
    return call->event.channels & 1u << channel ? call->event.value[channel] : none;
}

/* --- What it received: around the call --- */
/* The status to hand to MPI: the program's, or `own` where the program ignores it. */
static inline MPI_Status *pmpi_hook_status(MPI_Status *status, MPI_Status *own)
{
    return status == MPI_STATUS_IGNORE ? own : status;
}
/* The actual source, where any was asked for, and size of what `status` says; NULL: not known. */
void pmpi_hook_received(struct pmpi_hook_call *call, const MPI_Status *status);

/* The half of the call that receives: the same, with its own peer and tag as they were asked for. */
void pmpi_hook_received_half(struct pmpi_hook_call *call, const MPI_Status *status, int source, int tag);

/* Counts of an argument, one each. */
struct pmpi_hook_counts {
    const void *at;
    bool large; /* MPI_Count each, of the calls that end in _c; else int */
};
#define PMPI_HOOK_COUNTS(counts) ((struct pmpi_hook_counts){(counts), sizeof *(counts) == sizeof(MPI_Count)})

static inline int64_t pmpi_hook_count(struct pmpi_hook_counts counts, int i)
{
    return counts.large ? ((const MPI_Count *)counts.at)[i] : ((const int *)counts.at)[i];
}

/* --- What moved, after the call: sums by peer. Its identity is complete --- */
/* What the event says went to its peer, or (receives) came from it. */
void pmpi_hook_moved(struct pmpi_hook_call *call, bool receives);
/* A message to a rank of the world, or from it; GRAMMAR_NONE: it is not in it. */
void pmpi_hook_message(struct pmpi_hook_call *call, bool receives, uint32_t world, int64_t bytes);
/* What a neighbourhood collective sent to each neighbour, or received from each (pmpi/near.c). */
void pmpi_hook_near(struct pmpi_hook_call *call, bool receives, int64_t count, MPI_Datatype type);
void pmpi_hook_near_sum(struct pmpi_hook_call *call, bool receives, struct pmpi_hook_counts counts, MPI_Datatype type);
void pmpi_hook_near_each(struct pmpi_hook_call *call, bool receives, struct pmpi_hook_counts counts,
                         struct pmpi_hook_handles types);
/* Whether a completed receive says that it was cancelled. */
bool pmpi_hook_cancelled(const MPI_Status *status);
/* A receive that was started so has completed; `status` may be NULL. Returns its bytes. */
int64_t pmpi_hook_arrived(struct pmpi_hook_call *call, const struct pmpi_hook_start *start, const MPI_Status *status);

/* --- What it made: after the call; of one that failed, nothing --- */
/* The probe took the message out of the queue, if any. */
void pmpi_hook_matched(struct pmpi_hook_call *call, struct pmpi_hook_handles message);
/* `where` is the address of the program's variable. */
void pmpi_hook_started_as(struct pmpi_hook_call *call, MPI_Request request, const void *where, bool receive,
                          bool persistent, struct pmpi_hook_idup *idup);
static inline void pmpi_hook_started(struct pmpi_hook_call *call, struct pmpi_hook_handles request, bool receive,
                                     bool persistent, struct pmpi_hook_idup *idup)
{
    pmpi_hook_started_as(call, call->accepted ? pmpi_hook_request_at(request, 0) : MPI_REQUEST_NULL, request.at,
                         receive, persistent, idup);
}
struct pmpi_hook_idup *pmpi_hook_idup(struct pmpi_hook_call *call, const char *kind, struct pmpi_hook_handles comm);
void pmpi_hook_created(struct pmpi_hook_call *call, const char *kind, struct pmpi_hook_handles comm);

/* --- Payload in bytes, by kind of call (pmpi/bytes.c) ---
   Only arguments that are significant on this rank are looked at: MPI_IN_PLACE and roots of intercommunicators leave
   others undefined. 0 where it is not known: before the call, of derived datatypes and of arrays. */
int64_t pmpi_hook_bytes_of(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type);
int64_t pmpi_hook_bytes_size(struct pmpi_hook_call *call, int64_t bytes);
int64_t pmpi_hook_bytes_parts(struct pmpi_hook_call *call, int64_t parts, int64_t count, MPI_Datatype type);
int64_t pmpi_hook_bytes_either(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                               MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype);
int64_t pmpi_hook_bytes_own(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype);
int64_t pmpi_hook_bytes_fan(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype);
int64_t pmpi_hook_bytes_sum(struct pmpi_hook_call *call, const void *sendbuf, struct pmpi_hook_counts sendcounts,
                            MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype);
int64_t pmpi_hook_bytes_each(struct pmpi_hook_call *call, const void *sendbuf, struct pmpi_hook_counts sendcounts,
                             struct pmpi_hook_handles sendtypes, struct pmpi_hook_counts recvcounts,
                             struct pmpi_hook_handles recvtypes);
int64_t pmpi_hook_bytes_total(struct pmpi_hook_call *call, struct pmpi_hook_counts counts, MPI_Datatype type);
int64_t pmpi_hook_bytes_block(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type);
int64_t pmpi_hook_bytes_near(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type);
int64_t pmpi_hook_bytes_near_sum(struct pmpi_hook_call *call, struct pmpi_hook_counts counts, MPI_Datatype type);
int64_t pmpi_hook_bytes_near_each(struct pmpi_hook_call *call, struct pmpi_hook_counts counts,
                                  struct pmpi_hook_handles types);
int64_t pmpi_hook_bytes_bcast(struct pmpi_hook_call *call, int root, int64_t count, MPI_Datatype type);
int64_t pmpi_hook_bytes_gather(struct pmpi_hook_call *call, int root, const void *buffer, int64_t count,
                               MPI_Datatype type, int64_t rootcount, MPI_Datatype roottype);
int64_t pmpi_hook_bytes_gatherv(struct pmpi_hook_call *call, int root, const void *sendbuf, int64_t sendcount,
                                MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype);
int64_t pmpi_hook_bytes_scatterv(struct pmpi_hook_call *call, int root, const void *recvbuf, int64_t recvcount,
                                 MPI_Datatype recvtype, struct pmpi_hook_counts sendcounts, MPI_Datatype sendtype);
