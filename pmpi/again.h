/* SPDX-License-Identifier: MIT */
/*
 * A call like the last one from its place (session/memo.h): the short way through a wrapper.
 *
 *     struct pmpi_hook_again again;
 *     if (pmpi_hook_again(&again, &info, frame, communicator, datatype) && pmpi_hook_again_peer(&again, dest)) {
 *         pmpi_hook_again_begin(&again, frame, ...);
 *         int result = PMPI_Send(...);
 *         uint64_t end = base_clock_now();
 *         if (result == MPI_SUCCESS) {
 *             ... values of again.event ...
 *             pmpi_hook_again_end(&again, end);
 *             return result;
 *         }
 *         pmpi_hook_again_failed(&call, &again, frame);      goes on as a call that was begun the long way
 *     } else if (pmpi_hook_open(&call, &info)) ...           the long way, and in the end pmpi_hook_again_learn()
 *
 *   1. handles and ranks are compared with those of a call that MPI has accepted, and nobody is asked: what is not as
 *      it was goes the long way
 *   2. a memo is of predefined datatypes only, and of a communicator whose handle is alive: base_hot.handles
 *      rises when one goes, when callbacks come or go, and when other calls are recorded
 *   3. the event is what the long way would make of it, value for value (tests/mpi/quick.test)
 *   4. errno is touched by nobody but MPI: what is called here keeps it
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include "base/clock.h"
#include "pmpi/hook.h"
#include "session/memo.h"

struct pmpi_hook_again {
    const struct session_memo *memo;
    const struct pmpi_hook_communicator *comm;
    uint64_t begin; /* ns */
    struct grammar_event event;
};

/* Whether the last call from there was this one, with these handles. Nothing is changed yet. */
static inline __attribute__((always_inline)) bool pmpi_hook_again(struct pmpi_hook_again *a,
                                                                  const struct watch_call *info,
                                                                  struct base_frame frame, uint64_t comm, uint64_t type)
{
    const struct session_memo *memo = session_memo_find(info, frame.at);
    if (__builtin_expect(!memo || memo->handle[0] != comm || memo->handle[1] != type ||
                         memo->version != atomic_load_explicit(&base_hot.handles, memory_order_acquire), 0))
        return false;
    a->memo = memo;
    a->comm = memo->of;
    a->event.channels = 0;
    return true;
}

/* … and whether the rank is one of the same kind. */
static inline bool pmpi_hook_again_peer(struct pmpi_hook_again *a, int rank)
{
    return pmpi_hook_event_peer(&a->event, a->comm, a->comm->number, rank) == a->memo->peer_class;
}

/* The same of a root. */
static inline bool pmpi_hook_again_root(struct pmpi_hook_again *a, int rank)
{
    pmpi_hook_event_value(&a->event, GRAMMAR_PEER, rank);
    return rank >= 0;
}

/* The call into the MPI library comes next; `where` as in pmpi_hook_begin(). */
static inline __attribute__((always_inline)) void pmpi_hook_again_begin(struct pmpi_hook_again *a,
                                                                        const struct watch_call *info,
                                                                        struct base_frame frame, uint64_t where)
{
    struct watch_board *board = base_here.board;
    struct watch_thread *place = board ? NULL : session_place(a->memo->stream);
    session_memo_enter(frame);
    if (board)
        watch_board_place(board, info, session_memo_slot(a->memo), where);
    a->begin = base_clock_now();
    if (board)
        watch_board_enter(board, a->begin);
    else if (place)
        watch_thread_enter(place, info, (void *)frame.word, a->begin);
}

/* After it. */
static inline void pmpi_hook_again_accepted(const struct pmpi_hook_again *a, const struct watch_call *info)
{
    if (info->what.how == WATCH_COLLECTIVE)
        a->comm->board->collectives++;
}
static inline void pmpi_hook_again_value(struct pmpi_hook_again *a, enum grammar_channel channel, int64_t value)
{
    pmpi_hook_event_value(&a->event, channel, value);
}
static inline void pmpi_hook_again_bytes(struct pmpi_hook_again *a, int64_t count)
{
    bool none = count <= 0 || a->memo->peer_class == JOB_PEER_NULL;
    pmpi_hook_event_value(&a->event, GRAMMAR_BYTES, none ? 0 : count * a->memo->size);
}
/* As pmpi_hook_moved(), pmpi_hook_received…() and pmpi_hook_started() of a call. */
void pmpi_hook_again_moved(const struct pmpi_hook_again *a, bool receives);
void pmpi_hook_again_received_half(struct pmpi_hook_again *a, const MPI_Status *status, int source, int tag);
void pmpi_hook_again_received(struct pmpi_hook_again *a, const MPI_Status *status);
void pmpi_hook_again_started(const struct pmpi_hook_again *a, const struct watch_call *info, MPI_Request request,
                             const void *where, bool receive);

static inline void pmpi_hook_again_end(struct pmpi_hook_again *a, uint64_t end)
{
    session_memo_whole(a->memo, &a->event, a->begin, end);
}
void pmpi_hook_again_failed(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame,
                            const struct pmpi_hook_again *a);
/* Of a call that went the long way, before its end: the next one may go the short one. `type`: 0 without, else `size`
   is pmpi_hook_fixed_size(). */
void pmpi_hook_again_learn(struct pmpi_hook_call *call, uint64_t comm, uint64_t type, int size);

/* Bytes of an element of a datatype that will keep them; 0: another one. */
int pmpi_hook_fixed_size(MPI_Datatype type);
