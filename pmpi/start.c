/* SPDX-License-Identifier: MIT */
/* Persistent requests: each start is the event, with the peer and size that the request was made with. */
#include "pmpi/hook.h"

void pmpi_hook_start_values(struct pmpi_hook_call *call, const struct pmpi_hook_start *start)
{
    pmpi_hook_on_start(call, start);
    pmpi_hook_value(call, GRAMMAR_BYTES, start->bytes);
    pmpi_hook_value(call, GRAMMAR_INDEX, start->tag);
}

PYTHIA_API int MPI_Start(MPI_Request *request)
{
    static const struct pmpi_hook_info info = {"MPI_Start", JOB_P2P, false, false};
    struct pmpi_hook_call call;
    struct pmpi_hook_start start;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Start(request);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Start(request);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    if (call.accepted && pmpi_hook_request_find(*request, NULL, &start)) {
        pmpi_hook_start_values(&call, &start);
        pmpi_hook_restarted(&call, *request, &start);
    }
    pmpi_hook_end(&call);
    return result;
}

PYTHIA_API int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    static const struct pmpi_hook_info info = {"MPI_Startall", JOB_P2P, false, false};
    struct pmpi_hook_call call;
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    if (!pmpi_hook_open(&call, &info))
        return PMPI_Startall(count, array_of_requests);
    pmpi_hook_begin(&call, __builtin_return_address(0));
    int result = PMPI_Startall(count, array_of_requests);
    pmpi_hook_returned(&call, result == MPI_SUCCESS);
    for (int i = 0; call.accepted && i < count; i++)
        if (pmpi_hook_restarted(&call, array_of_requests[i], &start))
            bytes += start.bytes;
    pmpi_hook_value(&call, GRAMMAR_INDEX, count);
    pmpi_hook_value(&call, GRAMMAR_BYTES, bytes);
    pmpi_hook_end(&call);
    return result;
}

/* No event: it only ends what is known about the request. */
PYTHIA_API int MPI_Request_free(MPI_Request *request)
{
    if (request && atomic_load_explicit(&pmpi_hook_kinds, memory_order_relaxed))
        pmpi_hook_request_forget(*request, request);
    return PMPI_Request_free(request);
}
