/* SPDX-License-Identifier: MIT */
/*
 * Completions.
 *
 * The program chooses what MPI_Wait waits for: its event has the communicator and the kind of partner of the start.
 * What MPI_Waitany, MPI_Waitsome and MPI_Test... complete is chance: their identity is the call alone, and which request
 * completed, how many, with whom and how much are attributes. A test that completes nothing is a failed poll, also
 * where there was nothing to complete.
 *
 * Sizes: of the message where one request completes, as posted where several do.
 */
#include "pmpi/complete.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    MPI_Request *handle;
    int room;
} complete_many __attribute__((tls_model("initial-exec")));

MPI_Request *pmpi_hook_complete_room(struct pmpi_hook_complete *before, int count)
{
    before->handle = before->few;
    if (count <= PMPI_HOOK_FEW)
        return before->few;
    if (count > complete_many.room) {
        MPI_Request *larger = realloc(complete_many.handle, 2 * (size_t)count * sizeof(*larger));
        if (larger) {
            complete_many.handle = larger;
            complete_many.room = 2 * count;
        }
    }
    MPI_Request *room = count <= complete_many.room ? complete_many.handle : NULL;
    before->handle = room;
    return room;
}

static void complete_save(struct pmpi_hook_complete *before, const MPI_Request *requests, int count)
{
    MPI_Request *to = requests ? pmpi_hook_complete_room(before, count) : NULL;
    before->handle = to;
    before->where = requests;
    before->stride = sizeof(*requests);
    if (to && count > 0)
        memcpy(to, requests, (size_t)count * sizeof(*to));
}

/* The program's variable, as request.h knows it: an address, never looked through. */
static const MPI_Request *complete_where(const struct pmpi_hook_complete *before, int i)
{
    return (const MPI_Request *)(const void *)((const char *)before->where + (size_t)i * before->stride);
}

/* Whether the request had something to complete; `start` is NULL when it is not known. */
static bool complete_pending(MPI_Request request, const struct pmpi_hook_start *start)
{
    return request != MPI_REQUEST_NULL && (!start || !start->persistent || start->active);
}

/* Peer and size of the one start that completed. */
static void complete_values(struct pmpi_hook_call *call, const struct pmpi_hook_start *start, const MPI_Status *status)
{
    int64_t peer = start->peer, bytes = start->bytes;
    int count;
    if (status && start->receive && start->peer_class != JOB_PEER_NULL) {
        if (start->peer_class == JOB_PEER_ANY || start->peer_class == JOB_PEER_NONE)
            peer = status->MPI_SOURCE >= 0 ? status->MPI_SOURCE : GRAMMAR_PEER_NULL;
        if (start->peer_class == JOB_PEER_ANY)
            pmpi_hook_heard(start->comm, status->MPI_SOURCE);
        if (PMPI_Get_count(status, MPI_BYTE, &count) == MPI_SUCCESS && count >= 0)
            bytes = count;
    }
    if (peer != GRAMMAR_PEER_NONE)
        pmpi_hook_value(call, GRAMMAR_PEER, peer);
    pmpi_hook_value(call, GRAMMAR_BYTES, bytes);
}

bool pmpi_hook_complete_one(struct pmpi_hook_call *call, MPI_Request before, const void *where,
                            const MPI_Status *status)
{
    struct pmpi_hook_start start;
    bool known = pmpi_hook_request_complete(before, where, &start);
    bool pending = complete_pending(before, known ? &start : NULL);
    if (known && pending)
        complete_values(call, &start, status);
    return pending;
}

int pmpi_hook_complete_all(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int count)
{
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    int number = 0;
    if (!before->handle)
        return 1;
    for (int i = 0; i < count; i++) {
        MPI_Request request = before->handle[i];
        bool known = pmpi_hook_request_complete(request, complete_where(before, i), &start);
        if (!complete_pending(request, known ? &start : NULL))
            continue;
        number++;
        bytes += known ? start.bytes : 0;
    }
    pmpi_hook_value(call, GRAMMAR_INDEX, number);
    pmpi_hook_value(call, GRAMMAR_BYTES, bytes);
    return number;
}

void pmpi_hook_complete_any(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int index,
                            const MPI_Status *status)
{
    pmpi_hook_value(call, GRAMMAR_INDEX, index);
    if (before->handle)
        pmpi_hook_complete_one(call, before->handle[index], complete_where(before, index), status);
}

void pmpi_hook_complete_some(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, const int indices[],
                             int number, int first)
{
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    pmpi_hook_value(call, GRAMMAR_INDEX, number);
    for (int i = 0; before->handle && i < number; i++) {
        MPI_Request request = before->handle[indices[i] - first];
        if (pmpi_hook_request_complete(request, complete_where(before, indices[i] - first), &start))
            bytes += start.bytes;
    }
    pmpi_hook_value(call, GRAMMAR_BYTES, bytes);
}

void pmpi_hook_complete_expect(struct pmpi_hook_call *call, MPI_Request before, const void *where)
{
    struct pmpi_hook_start start;
    if (pmpi_hook_request_find(before, where, &start) && complete_pending(before, &start)) {
        call->key.comm = start.comm;
        call->key.peer_class = start.peer_class;
    }
}

static void complete_end(struct pmpi_hook_call *call, bool done)
{
    if (done)
        pmpi_hook_end(call);
    else
        pmpi_hook_nothing(call);
}

PYTHIA_API int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    static const struct pmpi_hook_info info = {"MPI_Wait", JOB_COMPLETION, true, false};
    struct pmpi_hook_call call;
    if (!request || !pmpi_hook_open(&call, &info))
        return PMPI_Wait(request, status);
    MPI_Request before = *request;
    MPI_Status own, *used = pmpi_hook_status(status, &own);
    pmpi_hook_complete_expect(&call, before, request);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Wait(request, used);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    if (call.accepted)
        pmpi_hook_complete_one(&call, before, request, used);
    pmpi_hook_end(&call);
    return result;
}

PYTHIA_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    static const struct pmpi_hook_info info = {"MPI_Test", JOB_COMPLETION, false, true};
    struct pmpi_hook_call call;
    if (!request || !pmpi_hook_open(&call, &info))
        return PMPI_Test(request, flag, status);
    MPI_Request before = *request;
    MPI_Status own, *used = pmpi_hook_status(status, &own);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Test(request, flag, used);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    bool done = call.accepted && *flag && pmpi_hook_complete_one(&call, before, request, used);
    complete_end(&call, done);
    return result;
}

PYTHIA_API int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    static const struct pmpi_hook_info info = {"MPI_Waitall", JOB_COMPLETION, true, false};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Waitall(count, array_of_requests, array_of_statuses);
    complete_save(&before, array_of_requests, count);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Waitall(count, array_of_requests, array_of_statuses);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    if (call.accepted)
        pmpi_hook_complete_all(&call, &before, count);
    pmpi_hook_end(&call);
    return result;
}

PYTHIA_API int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
    static const struct pmpi_hook_info info = {"MPI_Testall", JOB_COMPLETION, false, true};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Testall(count, array_of_requests, flag, array_of_statuses);
    complete_save(&before, array_of_requests, count);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Testall(count, array_of_requests, flag, array_of_statuses);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    bool done = call.accepted && *flag && pmpi_hook_complete_all(&call, &before, count) > 0;
    complete_end(&call, done);
    return result;
}

PYTHIA_API int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    static const struct pmpi_hook_info info = {"MPI_Waitany", JOB_COMPLETION, true, false};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Waitany(count, array_of_requests, index, status);
    MPI_Status own, *used = pmpi_hook_status(status, &own);
    complete_save(&before, array_of_requests, count);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Waitany(count, array_of_requests, index, used);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    if (call.accepted && *index != MPI_UNDEFINED)
        pmpi_hook_complete_any(&call, &before, *index, used);
    pmpi_hook_end(&call);
    return result;
}

PYTHIA_API int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    static const struct pmpi_hook_info info = {"MPI_Testany", JOB_COMPLETION, false, true};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Testany(count, array_of_requests, index, flag, status);
    MPI_Status own, *used = pmpi_hook_status(status, &own);
    complete_save(&before, array_of_requests, count);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Testany(count, array_of_requests, index, flag, used);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    bool done = call.accepted && *flag && *index != MPI_UNDEFINED;
    if (done)
        pmpi_hook_complete_any(&call, &before, *index, used);
    complete_end(&call, done);
    return result;
}

PYTHIA_API int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[])
{
    static const struct pmpi_hook_info info = {"MPI_Waitsome", JOB_COMPLETION, true, false};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    complete_save(&before, array_of_requests, incount);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    if (call.accepted && *outcount != MPI_UNDEFINED)
        pmpi_hook_complete_some(&call, &before, array_of_indices, *outcount, 0);
    pmpi_hook_end(&call);
    return result;
}

PYTHIA_API int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[])
{
    static const struct pmpi_hook_info info = {"MPI_Testsome", JOB_COMPLETION, false, true};
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    complete_save(&before, array_of_requests, incount);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    bool done = call.accepted && *outcount != MPI_UNDEFINED && *outcount > 0;
    if (done)
        pmpi_hook_complete_some(&call, &before, array_of_indices, *outcount, 0);
    complete_end(&call, done);
    return result;
}
