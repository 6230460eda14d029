/* SPDX-License-Identifier: MIT */
/*
 * What completions of all bindings share (pmpi/complete.c says what their events are).
 *
 * A `where` is the address of the program's request variable, C's or Fortran's; a `status` is NULL where there
 * is none to read (no memory for ours): then the actual source and size are not told.
 *
 * Threads: any.  Hook-safe: yes, but for the first completion of more requests than ever before.
 */
#pragma once

#include <string.h>

#include "pmpi/hook.h"
#include "session/starts.h"

enum { PMPI_HOOK_FEW = 64 };

/* The requests before the call, which sets them to MPI_REQUEST_NULL: few on the stack, more in a buffer of the thread
   that grows and stays. `handle` is NULL when out of memory, or where the program passes a null pointer. */
struct pmpi_hook_complete {
    MPI_Request few[PMPI_HOOK_FEW];
    MPI_Request *handle;
    const void *where; /* the program's variables ... */
    size_t stride;     /* ... and the bytes from one to the next */
    int count;
    bool failed; /* the call said that some of them have; their statuses say which */
};

/* The thread's buffer; NULL when out of memory. */
MPI_Request *pmpi_hook_complete_room(int count);
static inline void pmpi_hook_complete_save(struct pmpi_hook_complete *before, struct pmpi_hook_handles requests,
                                           int count)
{
    MPI_Request *to = !requests.at ? NULL : count > PMPI_HOOK_FEW ? pmpi_hook_complete_room(count) : before->few;
    before->handle = to;
    before->where = requests.at;
    before->stride = requests.fortran ? sizeof(MPI_Fint) : sizeof(MPI_Request);
    before->count = count;
    if (to && count > 0 && !requests.fortran)
        memcpy(to, requests.at, (size_t)count * sizeof(*to));
    for (int i = 0; to && i < count && requests.fortran; i++)
        to[i] = pmpi_hook_request_at(requests, i);
}
bool pmpi_hook_in_status(int result);
/* What a call on several requests returned: whether there are completions, perhaps beside failures. */
static inline bool pmpi_hook_complete_accepted(struct pmpi_hook_complete *before, int result)
{
    before->failed = result != MPI_SUCCESS;
    return !before->failed || pmpi_hook_in_status(result);
}
/* After a failure of a call on one request: whether MPI has given it up, that is, it is over. */
bool pmpi_hook_complete_gone(MPI_Request before, struct pmpi_hook_handles now);
/* The same of a call that completes one of several: the index of the one that is over; -1: none is. */
int pmpi_hook_complete_gone_any(const struct pmpi_hook_complete *before);
static inline bool pmpi_hook_complete_accepted_any(struct pmpi_hook_complete *before, int result)
{
    before->failed = result != MPI_SUCCESS;
    return !before->failed || pmpi_hook_complete_gone_any(before) >= 0;
}
/* Before a wait: its event has the communicator and the kind of peer of the start. */
void pmpi_hook_complete_expect(struct pmpi_hook_call *call, MPI_Request before, const void *where);

/* After a call that was accepted: what it completed. Each returns whether there was something to complete, true where
   the handles are not known. `statuses` may be MPI_STATUSES_IGNORE. */
bool pmpi_hook_complete_one(struct pmpi_hook_call *call, MPI_Request before, const void *where,
                            const MPI_Status *status);
bool pmpi_hook_complete_all(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before,
                            const MPI_Status *statuses);
/* The one at `index`, from 0; beyond the array (MPI_UNDEFINED; that and one in some MPICH's Fortran): none. */
bool pmpi_hook_complete_any(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int index,
                            const MPI_Status *status);
/* `number` of them (below 0: there were none to complete) at `indices`, which count from `first`. */
bool pmpi_hook_complete_some(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, const int indices[],
                             int number, int first, const MPI_Status *statuses);

/* Where the program ignores the statuses: some to hand to MPI, of this thread until its next completion;
   MPI_STATUSES_IGNORE where the handles are not known, or when out of memory. That MPI fills them takes less than to
   find out whether anything is received. */
MPI_Status *pmpi_hook_complete_statuses(const struct pmpi_hook_complete *before);
/* The statuses to hand to MPI: the program's, or these. */
static inline MPI_Status *pmpi_hook_complete_used(const struct pmpi_hook_complete *before, MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE ? pmpi_hook_complete_statuses(before) : statuses;
}

/* A poll that completed nothing is no event. */
static inline void pmpi_hook_end_if(struct pmpi_hook_call *call, bool done)
{
    if (done)
        pmpi_hook_end(call);
    else
        pmpi_hook_nothing(call);
}
