/* SPDX-License-Identifier: MIT */
/* The steps of a wrapper. */
#include "pmpi/again.h"
#include "pmpi/callback.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "session/site.h"
#include "pmpi/members.h"

_Atomic uint32_t pmpi_hook_kinds;

bool pmpi_hook_open_from(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame)
{
    if (!(atomic_load_explicit(&pmpi_hook_kinds, memory_order_relaxed) >> info->what.call_kind & 1))
        return false;
    int *error = &errno, kept = *error;
    struct session_stream *stream = session_enter_from(frame);
    if (!stream) {
        *error = kept;
        return false;
    }
    pmpi_hook_prepare(call, info, stream, frame);
    call->kept = kept;
    return true;
}

inline void pmpi_hook_prepare(struct pmpi_hook_call *call, const struct watch_call *info, struct session_stream *stream,
                              struct base_frame frame)
{
    call->error = &errno;
    call->stream = stream;
    call->frame = frame;
    call->comm = NULL;
    call->peers = NULL;
    call->entry = GRAMMAR_NONE;
    call->info = info;
    memset(&call->key, 0, sizeof(call->key));
    call->key.function = info->function;
    call->key.comm = GRAMMAR_NONE;
    call->key.kind = JOB_CALL;
    call->key.call_kind = info->what.call_kind;
    call->key.blocking = info->what.blocking;
    call->key.peer_class = JOB_PEER_NONE;
    call->event.channels = 0;
    call->element = 1;
    call->accepted = false;
    call->watched = pmpi_hook_watched();
    call->memo = NULL;
}

bool pmpi_hook_open_alone(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame)
{
    const struct session_memo *memo = session_memo_find(info, frame.at);
    if (__builtin_expect(!memo || memo->version !=
                         atomic_load_explicit(&base_hot.handles, memory_order_acquire), 0))
        return pmpi_hook_open_from(call, info, frame);
    session_memo_enter(frame);
    call->error = &errno;
    call->kept = *call->error;
    call->stream = memo->stream;
    call->frame = frame;
    call->memo = memo;
    call->slot = session_memo_slot(memo);
    call->entry = memo->entry;
    call->comm = NULL;
    call->peers = NULL;
    call->info = info;
    call->event.channels = 0;
    call->accepted = call->watched = false;
    return true;
}

void pmpi_hook_alone_with(struct pmpi_hook_call *call, uint32_t comm, enum job_peer_class peer_class)
{
    if (call->memo && call->memo->handle[0] == comm && call->memo->peer_class == peer_class)
        return;
    if (call->memo) { /* it is another one */
        int kept = call->kept;
        pmpi_hook_prepare(call, call->info, call->stream, call->frame);
        call->kept = kept;
    }
    call->key.comm = comm;
    call->key.peer_class = peer_class;
}

uint64_t pmpi_hook_handle_of(const struct pmpi_hook_communicator *comm)
{
    return comm ? comm->board->handle : 0;
}

/* Whence it comes. */
static inline __attribute__((always_inline)) void came(struct pmpi_hook_call *call, void *from)
{
    struct session_site site = (void *)call->frame.word == from ? session_site_at(call->stream, call->frame)
                                                                : session_site_of(call->stream, from);
    call->from = from;
    call->key.callsite = site.callsite;
    call->path = site.path;
    call->slot = site.slot;
}

static inline __attribute__((always_inline)) void begin(struct pmpi_hook_call *call, void *from, uint64_t where,
                                                        bool polls)
{
    struct watch_board *board = base_here.board; /* it stays, whatever callbacks do */
    struct watch_thread *place = board ? NULL : session_place(call->stream);
    if (!call->memo)
        came(call, from);
    if (board)
        watch_board_place(board, call->info, call->slot, where);
    *call->error = call->kept;
    if (__builtin_expect(call->watched, false)) {
        pmpi_hook_callbacks_before(call);
        *call->error = call->kept;
    } else {
        call->begin = base_clock_now();
    }
    if (board)
        watch_board_enter(board, polls ? session_last(call->stream) : call->begin);
    else if (place)
        watch_thread_enter(place, call->info, from, call->begin);
}

void pmpi_hook_begin(struct pmpi_hook_call *call, void *from, uint64_t where)
{
    begin(call, from, where, false);
}

void pmpi_hook_begin_poll(struct pmpi_hook_call *call, void *from)
{
    begin(call, from, 0, true);
}

void pmpi_hook_returned(struct pmpi_hook_call *call, bool accepted)
{
    call->kept = *call->error;
    call->accepted = accepted;
    call->end = base_clock_now();
}

bool pmpi_hook_polled(struct pmpi_hook_call *call, bool found)
{
    pmpi_hook_returned(call, found);
    if (!found)
        pmpi_hook_nothing(call);
    return found;
}

/* The number of its identity, which is complete. */
static uint32_t hook_entry(struct pmpi_hook_call *call)
{
    if (call->entry == GRAMMAR_NONE)
        call->entry = session_identify_at(call->stream, &call->key, call->slot);
    return call->entry;
}

/* The session's number of its terminal. */
static uint32_t hook_terminal(struct pmpi_hook_call *call)
{
    return session_terminal(call->stream, hook_entry(call));
}

void pmpi_hook_end(struct pmpi_hook_call *call)
{
    if (call->memo) {
        session_memo_whole(call->memo, &call->event, pmpi_hook_since(call), call->end);
    } else if (__builtin_expect(call->watched, false)) {
        pmpi_hook_callbacks_after(call);
    } else {
        uint32_t entry = hook_entry(call);
        session_whole_as(call->stream, entry, call->path, &call->event, pmpi_hook_since(call), call->end);
    }
    *call->error = call->kept;
}

void pmpi_hook_nothing(struct pmpi_hook_call *call)
{
    session_polled(call->stream, hook_entry(call), call->begin, call->end);
    if (__builtin_expect(call->watched, false))
        pmpi_hook_callbacks_nothing(call);
    else
        session_leave();
    *call->error = call->kept;
}

static void hook_place(struct pmpi_hook_call *call, const struct pmpi_hook_communicator *comm)
{
    call->comm = comm;
    call->key.comm = comm ? comm->number : GRAMMAR_NONE;
    if (call->info->what.how == WATCH_COLLECTIVE && call->accepted && comm)
        comm->board->collectives++;
}

void pmpi_hook_on_comm(struct pmpi_hook_call *call, MPI_Comm comm)
{
    hook_place(call, call->accepted ? pmpi_hook_comm_of(comm) : pmpi_hook_comm_known(comm));
}

void pmpi_hook_on_bound(struct pmpi_hook_call *call, uint64_t key)
{
    hook_place(call, pmpi_hook_comm_bound(key));
}

void pmpi_hook_on_start(struct pmpi_hook_call *call, const struct pmpi_hook_start *start)
{
    call->key.comm = start->comm;
    call->key.peer_class = start->peer_class;
    if (start->peer != GRAMMAR_PEER_NONE)
        pmpi_hook_value(call, GRAMMAR_PEER, start->peer);
}

void pmpi_hook_on_request(struct pmpi_hook_call *call, MPI_Request request)
{
    struct pmpi_hook_start start;
    if (!pmpi_hook_request_find(request, NULL, &start))
        return;
    pmpi_hook_on_start(call, &start);
}

/* A message from MPI_PROC_NULL is one handle for all. */
void pmpi_hook_on_message(struct pmpi_hook_call *call, MPI_Message message)
{
    struct pmpi_hook_start start;
    if (message == MPI_MESSAGE_NO_PROC) {
        call->key.peer_class = JOB_PEER_NULL;
        pmpi_hook_value(call, GRAMMAR_PEER, GRAMMAR_PEER_NULL);
    } else if (pmpi_hook_message_take(message, &start)) {
        pmpi_hook_on_start(call, &start);
        pmpi_hook_value(call, GRAMMAR_INDEX, start.tag);
        call->peers = start.peers;
    }
}

_Thread_local struct pmpi_hook_last pmpi_hook_last;

void pmpi_hook_note_source(uint32_t comm, int source)
{
    pmpi_hook_last = (struct pmpi_hook_last){comm + 1, source};
}

void pmpi_hook_peer(struct pmpi_hook_call *call, int rank)
{
    call->key.peer_class = pmpi_hook_event_peer(&call->event, call->comm, call->key.comm, rank);
}

/* Between intercommunicators the root's own group says MPI_ROOT or MPI_PROC_NULL: that is a role, not a rank. */
void pmpi_hook_root(struct pmpi_hook_call *call, int rank)
{
    call->key.peer_class = JOB_PEER_ROOT;
    if (rank >= 0)
        pmpi_hook_value(call, GRAMMAR_PEER, rank);
    else
        pmpi_hook_value(call, GRAMMAR_PEER, rank == MPI_PROC_NULL ? GRAMMAR_PEER_NULL : GRAMMAR_PEER_NONE);
}

/* --- What moved --- */

static const struct pmpi_hook_members *hook_peers(const struct pmpi_hook_call *call)
{
    return call->comm ? call->comm->peers : call->peers;
}

void pmpi_hook_message(struct pmpi_hook_call *call, bool receives, uint32_t world, int64_t bytes)
{
    session_message(call->stream, hook_terminal(call), receives, world, bytes > 0 ? (uint64_t)bytes : 0);
}

static void hook_message(struct session_stream *stream, uint32_t terminal, bool receives,
                         const struct pmpi_hook_members *peers, int64_t peer, int64_t bytes)
{
    uint32_t world = peer >= 0 && peer <= INT32_MAX ? pmpi_hook_members_world(peers, (int)peer) : GRAMMAR_NONE;
    if (peer != GRAMMAR_PEER_NULL)
        session_message(stream, terminal, receives, world, bytes > 0 ? (uint64_t)bytes : 0);
}

void pmpi_hook_moved(struct pmpi_hook_call *call, bool receives)
{
    if (call->accepted && call->event.channels & 1u << GRAMMAR_PEER)
        hook_message(call->stream, hook_terminal(call), receives, hook_peers(call), call->event.value[GRAMMAR_PEER],
                     pmpi_hook_value_of(call, GRAMMAR_BYTES, 0));
}

/* What was started so is on its way, by this call. */
static void sent(struct pmpi_hook_call *call, const struct pmpi_hook_start *start)
{
    hook_message(call->stream, hook_terminal(call), false, start->peers, start->peer, start->bytes);
}

/* Bytes of a message, -1: not known. What MPI_Get_count and MPI_Test_cancelled say stands in the status itself, where
   each library's mpi.h has it; the calls take 15 ns. */
static int64_t hook_size(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return (int64_t)status->_ucount;
#elif defined(MPICH_NUMVERSION)
    return (int64_t)((uint64_t)(uint32_t)status->count_hi_and_cancelled >> 1 << 32 | (uint32_t)status->count_lo);
#else
    int bytes;
    return PMPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0 ? bytes : -1;
#endif
}

/* MPICH's probes leave the bit as they find it. */
bool pmpi_hook_cancelled(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return status->_cancelled;
#elif defined(MPICH_NUMVERSION)
    return status->count_hi_and_cancelled & 1;
#else
    int cancelled = 0;
    return PMPI_Test_cancelled(status, &cancelled) != MPI_SUCCESS || cancelled;
#endif
}

int64_t pmpi_hook_arrived(struct pmpi_hook_call *call, const struct pmpi_hook_start *start, const MPI_Status *status)
{
    int64_t peer = start->peer, bytes = start->bytes, size;
    if (!start->receive || start->terminal == GRAMMAR_NONE || start->peer_class == JOB_PEER_NULL)
        return bytes;
    if (status) {
        if (pmpi_hook_cancelled(status) || (size = hook_size(status)) < 0)
            return bytes;
        peer = status->MPI_SOURCE == MPI_PROC_NULL ? GRAMMAR_PEER_NULL : status->MPI_SOURCE;
        bytes = size;
    }
    hook_message(call->stream, start->terminal, true, start->peers, peer, bytes);
    return bytes;
}

/* --- What was received --- */

/* `class`, `comm`: what was asked for. */
static void event_received(struct grammar_event *event, uint32_t class, uint32_t comm, const MPI_Status *status)
{
    int64_t bytes = hook_size(status);
    if (class == JOB_PEER_ANY || class == JOB_PEER_NONE)
        pmpi_hook_event_value(event, GRAMMAR_PEER,
                              status->MPI_SOURCE == MPI_PROC_NULL ? GRAMMAR_PEER_NULL : status->MPI_SOURCE);
    if (class == JOB_PEER_ANY)
        pmpi_hook_note_source(comm, status->MPI_SOURCE);
    if (event->channels & 1u << GRAMMAR_INDEX && event->value[GRAMMAR_INDEX] == MPI_ANY_TAG)
        pmpi_hook_event_value(event, GRAMMAR_INDEX, status->MPI_TAG);
    if (bytes >= 0)
        pmpi_hook_event_value(event, GRAMMAR_BYTES, bytes);
}

void pmpi_hook_received(struct pmpi_hook_call *call, const MPI_Status *status)
{
    if (!call->accepted || !status || call->key.peer_class == JOB_PEER_NULL)
        return;
    event_received(&call->event, call->key.peer_class, call->key.comm, status);
    if (call->info->what.call_kind == JOB_P2P)
        pmpi_hook_moved(call, true);
}

/* What it received is in the event. Returns whether it moved. */
static bool event_received_half(struct grammar_event *event, const MPI_Status *status, int source, int tag)
{
    int64_t from = source == MPI_PROC_NULL ? GRAMMAR_PEER_NULL : source, bytes = 0;
    bool moved = status && source != MPI_PROC_NULL;
    if (moved) {
        from = status->MPI_SOURCE;
        tag = status->MPI_TAG;
        bytes = hook_size(status);
        bytes = bytes > 0 ? bytes : 0;
    }
    pmpi_hook_event_value(event, GRAMMAR_SOURCE, from);
    pmpi_hook_event_value(event, GRAMMAR_RECEIVED, bytes);
    pmpi_hook_event_value(event, GRAMMAR_SOURCE_TAG, tag);
    return moved;
}

void pmpi_hook_received_half(struct pmpi_hook_call *call, const MPI_Status *status, int source, int tag)
{
    const int64_t *value = call->event.value;
    if (event_received_half(&call->event, call->accepted ? status : NULL, source, tag))
        hook_message(call->stream, hook_terminal(call), true, hook_peers(call), value[GRAMMAR_SOURCE],
                     value[GRAMMAR_RECEIVED]);
}

void pmpi_hook_matched(struct pmpi_hook_call *call, struct pmpi_hook_handles where)
{
    MPI_Message message = call->accepted ? pmpi_hook_message_at(where, 0) : MPI_MESSAGE_NULL;
    struct pmpi_hook_start start = {
        .peer = (int32_t)pmpi_hook_value_of(call, GRAMMAR_PEER, GRAMMAR_PEER_NONE),
        .tag = (int32_t)pmpi_hook_value_of(call, GRAMMAR_INDEX, 0),
        .comm = call->key.comm,
        .peers = hook_peers(call),
        .peer_class = call->key.peer_class,
        .receive = true,
    };
    if (message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC)
        pmpi_hook_message_put(message, &start);
}

/* On the board; `collective`: its communicator's place there, which has counted it; NULL: it is none. */
static inline void hook_show(MPI_Request request, const struct pmpi_hook_start *start,
                             const struct watch_comm *collective)
{
    enum watch_request_kind kind = start->receive ? WATCH_RECEIVES : start->sends ? WATCH_SENDS : WATCH_TAKES_PART;
    if (collective || kind != WATCH_TAKES_PART)
        watch_board_started(PMPI_HOOK_HANDLE(request), kind, start->comm, start->peer, start->tag,
                            collective ? collective->collectives - 1 : 0);
}

/* It goes into the table, and on the board where it is started already. Written where it is to be, in words that are
   known by then. */
static inline __attribute__((always_inline)) void hook_start(MPI_Request request, const void *where,
                                                             const struct pmpi_hook_start start,
                                                             const struct watch_comm *collective)
{
    struct pmpi_hook_start own, *there = pmpi_hook_request_new(request, where), *to = there ? there : &own;
    *to = start;
    if (!there && !pmpi_hook_request_put(request, where, to))
        pmpi_hook_idup_drop(start.idup);
    if (!start.persistent)
        hook_show(request, &start, collective);
}

void pmpi_hook_started_as(struct pmpi_hook_call *call, MPI_Request request, const void *where, bool receive,
                          bool persistent, struct pmpi_hook_idup *idup)
{
    if (!call->accepted || request == MPI_REQUEST_NULL) {
        pmpi_hook_idup_drop(idup);
        return;
    }
    struct pmpi_hook_start start = {
        .peer = (int32_t)pmpi_hook_value_of(call, GRAMMAR_PEER, GRAMMAR_PEER_NONE),
        .bytes = pmpi_hook_value_of(call, GRAMMAR_BYTES, 0),
        .event = persistent ? SESSION_NEVER : session_here(call->stream).event,
        .peers = hook_peers(call),
        .tag = (int32_t)pmpi_hook_value_of(call, GRAMMAR_INDEX, 0),
        .terminal = receive ? hook_terminal(call) : GRAMMAR_NONE,
        .comm = call->key.comm,
        .peer_class = (uint8_t)call->key.peer_class,
        .receive = receive,
        .sends = !receive && call->info->what.call_kind == JOB_P2P,
        .persistent = persistent,
        .active = !persistent,
        .idup = idup};
    hook_start(request, where, start,
               call->info->what.how == WATCH_COLLECTIVE && call->comm ? call->comm->board : NULL);
}

bool pmpi_hook_restarted(struct pmpi_hook_call *call, MPI_Request request, struct pmpi_hook_start *start)
{
    if (!pmpi_hook_request_restart(request, session_here(call->stream).event, hook_terminal(call), start))
        return false;
    if (start->sends)
        sent(call, start);
    if (start->sends || start->receive)
        hook_show(request, start, NULL);
    return true;
}

struct pmpi_hook_idup *pmpi_hook_idup(struct pmpi_hook_call *call, const char *kind, struct pmpi_hook_handles comm)
{
    return call->accepted ? pmpi_hook_idup_make(call->comm, kind, comm) : NULL;
}

void pmpi_hook_created(struct pmpi_hook_call *call, const char *kind, struct pmpi_hook_handles comm)
{
    uint64_t before = base_clock_processor();
    if (!call->accepted)
        return;
    pmpi_hook_comm_born(call->comm, kind, pmpi_hook_comm_at(comm, 0));
    session_took(call->stream, base_clock_processor() - before);
}

/* --- The short way --- */

void pmpi_hook_again_moved(const struct pmpi_hook_again *a, bool receives)
{
    hook_message(a->memo->stream, a->memo->job_terminal, receives, a->comm->peers, a->event.value[GRAMMAR_PEER],
                 a->event.value[GRAMMAR_BYTES]);
}

void pmpi_hook_again_received(struct pmpi_hook_again *a, const MPI_Status *status)
{
    if (a->memo->peer_class == JOB_PEER_NULL)
        return;
    event_received(&a->event, a->memo->peer_class, a->comm->number, status);
    pmpi_hook_again_moved(a, true);
}

void pmpi_hook_again_received_half(struct pmpi_hook_again *a, const MPI_Status *status, int source, int tag)
{
    const int64_t *value = a->event.value;
    if (event_received_half(&a->event, status, source, tag))
        hook_message(a->memo->stream, a->memo->job_terminal, true, a->comm->peers, value[GRAMMAR_SOURCE],
                     value[GRAMMAR_RECEIVED]);
}

void pmpi_hook_again_started(const struct pmpi_hook_again *a, const struct watch_call *info, MPI_Request request,
                             const void *where, bool receive)
{
    if (request == MPI_REQUEST_NULL)
        return;
    bool collective = info->what.how == WATCH_COLLECTIVE;
    struct pmpi_hook_start start = {
        .peer = a->event.channels & 1u << GRAMMAR_PEER ? (int32_t)a->event.value[GRAMMAR_PEER] : GRAMMAR_PEER_NONE,
        .bytes = a->event.channels & 1u << GRAMMAR_BYTES ? a->event.value[GRAMMAR_BYTES] : 0,
        .event = session_here(a->memo->stream).event,
        .peers = a->comm->peers,
        .tag = a->event.channels & 1u << GRAMMAR_INDEX ? (int32_t)a->event.value[GRAMMAR_INDEX] : 0,
        .terminal = receive ? a->memo->job_terminal : GRAMMAR_NONE,
        .comm = a->comm->number,
        .peer_class = (uint8_t)a->memo->peer_class,
        .receive = receive,
        .sends = !receive && info->what.call_kind == JOB_P2P,
        .active = true};
    hook_start(request, where, start, collective ? a->comm->board : NULL);
}

void pmpi_hook_again_failed(struct pmpi_hook_call *call, const struct watch_call *info, struct base_frame frame,
                            const struct pmpi_hook_again *a)
{
    pmpi_hook_prepare(call, info, a->memo->stream, frame);
    came(call, (void *)frame.word);
    call->begin = a->begin;
}

void pmpi_hook_again_learn_alone(struct pmpi_hook_call *call)
{
    unsigned version = atomic_load_explicit(&base_hot.handles, memory_order_acquire);
    struct session_memo *memo = NULL;
    if (!call->memo && call->accepted && !call->watched && !pmpi_hook_watched())
        memo = session_memo_of(call->stream, call->slot, hook_entry(call), call->path);
    if (!memo)
        return;
    memo->handle[0] = call->key.comm;
    memo->peer_class = (uint16_t)call->key.peer_class;
    memo->version = version;
    memo->what = call->info;
}

void pmpi_hook_again_learn(struct pmpi_hook_call *call, uint64_t comm, uint64_t type, int size)
{
    bool root = call->key.peer_class == JOB_PEER_ROOT && call->event.value[GRAMMAR_PEER] < 0;
    bool sized = !type || (size > 0 && size <= UINT16_MAX);
    if (!call->accepted || call->watched || pmpi_hook_watched() || !call->comm || !sized || root)
        return;
    struct session_memo *memo = session_memo_of(call->stream, call->slot, hook_entry(call), call->path);
    if (!memo)
        return;
    memo->handle[0] = comm;
    memo->handle[1] = type;
    memo->of = call->comm;
    memo->version = pmpi_hook_comm_cache.generation; /* of the look-up: a handle that went since is not taken for it */
    memo->size = (uint16_t)size;
    memo->peer_class = (uint16_t)call->key.peer_class;
    memo->what = call->info;
}
