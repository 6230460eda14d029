/* SPDX-License-Identifier: MIT */
/*
 * Completions.
 *
 * The program chooses what MPI_Wait waits for: its event has the communicator and the kind of peer of the start.
 * What MPI_Waitany, MPI_Waitsome and MPI_Test... complete is chance: their identity is the call alone, and which
 * request completed, how many, with whom and how much are attributes. A test that completes nothing is a failed poll,
 * also where there was nothing to complete.
 *
 * Sizes: of the message where one request completes, as posted where several do. What receives brought is counted by
 * peer, of all of them (pmpi_hook_arrived). Which starts are completed is a distance in events, or a list of such
 * (session/starts.h). MPI_Wait without anything to complete is with nobody; a receive that was cancelled brought
 * nothing. One that failed is over where MPI has given its request up: whose it was is told, as posted; it is not
 * counted as received.
 */
#include "pmpi/complete.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    MPI_Request *handle;
    int room;
    MPI_Status *status;
    int status_room;
} complete_many __attribute__((tls_model("initial-exec")));

/* The program's variable: an address, never looked through. */
static const void *complete_where(const struct pmpi_hook_complete *before, int i)
{
    return (const char *)before->where + (size_t)i * before->stride;
}

static pthread_key_t complete_key;
static bool complete_keyed;

static void complete_thread_ends(void *unused)
{
    (void)unused;
    free(complete_many.handle);
    free(complete_many.status);
    memset(&complete_many, 0, sizeof complete_many);
}

__attribute__((constructor)) static void complete_prepare(void)
{
    complete_keyed = pthread_key_create(&complete_key, complete_thread_ends) == 0;
}

static void complete_keep(void)
{
    if (complete_keyed)
        (void)pthread_setspecific(complete_key, &complete_many);
}

MPI_Request *pmpi_hook_complete_room(int count)
{
    if (count > complete_many.room) {
        MPI_Request *larger = realloc(complete_many.handle, 2 * (size_t)count * sizeof(*larger));
        if (larger) {
            complete_many.handle = larger;
            complete_keep();
            complete_many.room = 2 * count;
        }
    }
    return count <= complete_many.room ? complete_many.handle : NULL;
}

/* Whether the request had something to complete; `start` is NULL when it is not known. */
static bool complete_pending(MPI_Request request, const struct pmpi_hook_start *start)
{
    return request != MPI_REQUEST_NULL && (!start || !start->persistent || start->active);
}

/* How many events ago it was started in this stream; 0: not known, in another one, or before this one began anew. */
static uint32_t complete_distance(const struct session_here *here, const struct pmpi_hook_start *start)
{
    uint64_t distance = here->event - start->event;
    return distance <= here->before && distance <= INT32_MAX ? (uint32_t)distance : 0;
}

/* Peer and size of the one start that completed, and when it was started. */
static void complete_values(struct pmpi_hook_call *call, const struct pmpi_hook_start *start, const MPI_Status *status)
{
    struct session_here here = session_here(call->stream);
    int64_t peer = start->peer, bytes = start->bytes, distance = complete_distance(&here, start);
    if (status && start->receive && pmpi_hook_cancelled(status)) {
        bytes = 0;
        distance = GRAMMAR_CANCELLED;
    } else if (status && start->receive && start->peer_class != JOB_PEER_NULL) {
        if (start->peer_class == JOB_PEER_ANY || start->peer_class == JOB_PEER_NONE)
            peer = status->MPI_SOURCE >= 0 ? status->MPI_SOURCE : GRAMMAR_PEER_NULL;
        if (start->peer_class == JOB_PEER_ANY)
            pmpi_hook_note_source(start->comm, status->MPI_SOURCE);
        bytes = pmpi_hook_arrived(call, start, status);
    }
    if (peer != GRAMMAR_PEER_NONE)
        pmpi_hook_value(call, GRAMMAR_PEER, peer);
    pmpi_hook_value(call, GRAMMAR_BYTES, bytes);
    pmpi_hook_value(call, GRAMMAR_STARTS, distance);
}

static bool complete_one(struct pmpi_hook_call *call, MPI_Request before, const void *where, const MPI_Status *status)
{
    struct pmpi_hook_start room;
    const struct pmpi_hook_start *start = pmpi_hook_request_complete(before, where, &room);
    bool pending = complete_pending(before, start);
    if (start && pending)
        complete_values(call, start, status);
    return pending;
}

/* Values that a loop's other waits have are there for one that had nothing to complete, too. */
bool pmpi_hook_complete_one(struct pmpi_hook_call *call, MPI_Request before, const void *where,
                            const MPI_Status *status)
{
    if (complete_one(call, before, where, status))
        return true;
    if (call->info->what.blocking) {
        pmpi_hook_value(call, GRAMMAR_PEER, GRAMMAR_PEER_NULL);
        pmpi_hook_value(call, GRAMMAR_BYTES, 0);
        pmpi_hook_value(call, GRAMMAR_STARTS, 0);
    }
    return false;
}

/* Several requests that completed in one call. */
struct complete_several {
    struct session_here here;
    struct session_starts starts;
    int64_t bytes;
    int number;
};

static void complete_several_begin(const struct pmpi_hook_call *call, struct complete_several *several)
{
    several->here = session_here(call->stream);
    session_starts_begin(&several->starts);
    several->bytes = several->number = 0;
}

/* One of them, unless it had nothing to complete; `status` may be NULL. */
static inline __attribute__((always_inline)) void complete_among(struct pmpi_hook_call *call,
                                                                 const struct pmpi_hook_complete *before, int i,
                                                                 const MPI_Status *status,
                                                                 struct complete_several *several)
{
    struct pmpi_hook_start room;
    const struct pmpi_hook_start *start =
        pmpi_hook_request_complete(before->handle[i], complete_where(before, i), &room);
    if (!complete_pending(before->handle[i], start))
        return;
    several->number++;
    session_starts_add(&several->starts, start ? complete_distance(&several->here, start) : 0);
    if (!start)
        return;
    several->bytes += start->bytes;
    pmpi_hook_arrived(call, start, status);
}

static void complete_several_values(struct pmpi_hook_call *call, int number, const struct complete_several *several)
{
    pmpi_hook_value(call, GRAMMAR_INDEX, number);
    pmpi_hook_value(call, GRAMMAR_BYTES, several->bytes);
    pmpi_hook_value(call, GRAMMAR_STARTS, session_starts_value(call->stream, &several->starts));
}

bool pmpi_hook_in_status(int result)
{
    int class;
    return PMPI_Error_class(result, &class) == MPI_SUCCESS && class == MPI_ERR_IN_STATUS;
}

/* What has failed, or not ended, is taken out; what MPI has given up is forgotten. `indices`: NULL for all. */
static void complete_drop_failed(const struct pmpi_hook_complete *before, const int indices[], int number, int first,
                                 const MPI_Status *statuses)
{
    struct pmpi_hook_handles now = {before->where, before->stride != sizeof(MPI_Request)};
    for (int k = 0; before->handle && k < number; k++) {
        int i = indices ? indices[k] - first : k;
        if (statuses != MPI_STATUSES_IGNORE && statuses[k].MPI_ERROR == MPI_SUCCESS)
            continue;
        if (pmpi_hook_request_at(now, i) == MPI_REQUEST_NULL)
            pmpi_hook_request_forget(before->handle[i], complete_where(before, i));
        before->handle[i] = MPI_REQUEST_NULL;
    }
}

bool pmpi_hook_complete_all(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before,
                            const MPI_Status *statuses)
{
    struct complete_several several;
    complete_several_begin(call, &several);
    if (!before->handle)
        return true;
    if (before->failed)
        complete_drop_failed(before, NULL, before->count, 0, statuses);
    for (int i = 0; i < before->count; i++)
        if (before->handle[i] != MPI_REQUEST_NULL) /* Isend's often are at once */
            complete_among(call, before, i, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i], &several);
    complete_several_values(call, several.number, &several);
    return several.number > 0;
}

/* A persistent one that MPI has given up is freed. */
bool pmpi_hook_complete_gone(MPI_Request before, struct pmpi_hook_handles now)
{
    struct pmpi_hook_start start;
    if (before == MPI_REQUEST_NULL || pmpi_hook_request_at(now, 0) != MPI_REQUEST_NULL)
        return false;
    if (pmpi_hook_request_find(before, now.at, &start) && start.persistent)
        pmpi_hook_request_forget(before, now.at);
    return true;
}

int pmpi_hook_complete_gone_any(const struct pmpi_hook_complete *before)
{
    for (int i = 0; before->handle && i < before->count; i++)
        if (pmpi_hook_complete_gone(before->handle[i], (struct pmpi_hook_handles){
                complete_where(before, i), before->stride != sizeof(MPI_Request)}))
            return i;
    return -1;
}

bool pmpi_hook_complete_any(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int index,
                            const MPI_Status *status)
{
    if (before->failed) /* what it says of the index need not be so */
        index = pmpi_hook_complete_gone_any(before);
    if (index < 0 || index >= before->count)
        return false;
    pmpi_hook_value(call, GRAMMAR_INDEX, index);
    if (before->handle)
        complete_one(call, before->handle[index], complete_where(before, index), status);
    return true;
}

bool pmpi_hook_complete_some(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, const int indices[],
                             int number, int first, const MPI_Status *statuses)
{
    struct complete_several several;
    if (number < 0)
        return false;
    if (before->failed)
        complete_drop_failed(before, indices, number, first, statuses);
    complete_several_begin(call, &several);
    for (int i = 0; before->handle && i < number; i++)
        complete_among(call, before, indices[i] - first, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i],
                       &several);
    complete_several_values(call, number, &several);
    return true;
}

void pmpi_hook_complete_expect(struct pmpi_hook_call *call, MPI_Request before, const void *where)
{
    struct pmpi_hook_start start;
    bool known = pmpi_hook_request_find(before, where, &start) && complete_pending(before, &start);
    pmpi_hook_alone_with(call, known ? start.comm : GRAMMAR_NONE, known ? start.peer_class : JOB_PEER_NONE);
}

MPI_Status *pmpi_hook_complete_statuses(const struct pmpi_hook_complete *before)
{
    int count = before->count;
    if (!before->handle || count < 1)
        return MPI_STATUSES_IGNORE;
    if (count > complete_many.status_room) {
        MPI_Status *larger = realloc(complete_many.status, 2 * (size_t)count * sizeof(*larger));
        if (!larger)
            return MPI_STATUSES_IGNORE;
        complete_many.status = larger;
        complete_many.status_room = 2 * count;
        complete_keep();
    }
    return complete_many.status;
}
