/* SPDX-License-Identifier: MIT */
/*
 * What completions of all bindings share (pmpi/complete.c says what their events are).
 *
 * A `where` is the address of the program's request variable, C's or Fortran's; a `status` is NULL where there
 * is none to read (no memory for ours): then the actual source and size are not told.
 *
 * Threads: any.  Hook-safe: yes, but for the first completion of more requests than ever before.
 */
#ifndef PYTHIA_PMPI_COMPLETE_H
#define PYTHIA_PMPI_COMPLETE_H

#include "pmpi/hook.h"
#include "session/starts.h"

enum { PMPI_HOOK_FEW = 64 };

/* The handles before the call, which sets them to MPI_REQUEST_NULL. Few: on the stack; more: a buffer of the thread
   that grows and stays; NULL when out of memory, or where the program passes a null pointer. */
struct pmpi_hook_complete {
    MPI_Request few[PMPI_HOOK_FEW];
    const MPI_Request *handle;
    const void *where; /* the program's variables ... */
    size_t stride;     /* ... and the bytes from one to the next */
};

/* Room for `count` handles, for the caller to fill; NULL when out of memory. Sets before->handle. */
MPI_Request *pmpi_hook_complete_room(struct pmpi_hook_complete *before, int count);

/* Before a wait: its event has the communicator and the kind of peer of the start. */
void pmpi_hook_complete_expect(struct pmpi_hook_call *call, MPI_Request before, const void *where);
/* After: this request completed. Returns whether there was something to complete. */
bool pmpi_hook_complete_one(struct pmpi_hook_call *call, MPI_Request before, const void *where,
                            const MPI_Status *status);
/* The same of MPI_Wait, whose event is there where nothing was to be completed, too. */
void pmpi_hook_complete_wait(struct pmpi_hook_call *call, MPI_Request before, const void *where,
                             const MPI_Status *status);
/* The one at `index` (from 0). */
void pmpi_hook_complete_any(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int index,
                            const MPI_Status *status);
/* Those at `indices`, which count from `first`; of each its status (NULL: not known). */
void pmpi_hook_complete_some(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, const int indices[],
                             int number, int first, const MPI_Status *statuses);
/* All; returns how many had something to complete (1 where the handles are not known). `statuses` may be NULL. */
int pmpi_hook_complete_all(struct pmpi_hook_call *call, const struct pmpi_hook_complete *before, int count,
                           const MPI_Status *statuses);
/* Where the program ignores the statuses: some to hand to MPI, of this thread until its next completion;
   MPI_STATUSES_IGNORE where the handles are not known, or when out of memory. That MPI fills them takes less than to
   find out whether anything is received. */
MPI_Status *pmpi_hook_complete_statuses(const struct pmpi_hook_complete *before, int count);

#endif
