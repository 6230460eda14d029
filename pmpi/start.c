/* SPDX-License-Identifier: MIT */
/* Persistent requests: each start is the event, with the peer and size that the request was made with. */
#include "pmpi/hook.h"

void pmpi_hook_restart_one(struct pmpi_hook_call *call, struct pmpi_hook_handles request)
{
    struct pmpi_hook_start start;
    if (!call->accepted || !pmpi_hook_request_find(pmpi_hook_request_at(request, 0), NULL, &start))
        return;
    pmpi_hook_on_start(call, &start);
    pmpi_hook_value(call, GRAMMAR_BYTES, start.bytes);
    pmpi_hook_value(call, GRAMMAR_INDEX, start.tag);
    pmpi_hook_restarted(call, pmpi_hook_request_at(request, 0), &start);
}

void pmpi_hook_restart_all(struct pmpi_hook_call *call, struct pmpi_hook_handles requests, int count)
{
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    for (int i = 0; call->accepted && i < count; i++)
        if (pmpi_hook_restarted(call, pmpi_hook_request_at(requests, i), &start))
            bytes += start.bytes;
    pmpi_hook_value(call, GRAMMAR_INDEX, count);
    pmpi_hook_value(call, GRAMMAR_BYTES, bytes);
}

void pmpi_hook_request_freed(struct pmpi_hook_handles request)
{
    if (request.at && atomic_load_explicit(&pmpi_hook_kinds, memory_order_relaxed))
        pmpi_hook_request_forget(pmpi_hook_request_at(request, 0), request.at);
}
