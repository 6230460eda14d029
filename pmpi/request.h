/* SPDX-License-Identifier: MIT */
/*
 * Requests: ties a completion to the start that made it.
 *
 *   key    | 0 | r7 | 0 | r2 | r2 | 0 | ...     open addressing in a window of PMPI_HOOK_WINDOW slots
 *   start  |   |    |   |    |    |   |         peer, bytes, communicator of the start
 *
 * A request handle usually has one slot. MPI libraries hand out one shared handle for sends that were complete at
 * once; from the second living start with the same handle on, further ones are found by handle and address of the
 * program's request variable, and by the latest start of that handle where the program moved the variable.
 *
 *   1. a key is written once its start is; under MPI_THREAD_MULTIPLE a start is read and changed by who has its
 *      handle's flag
 *   2. a slot is taken from 0 to BUSY, by compare and swap where there are threads, and given back to 0
 *   3. request_living counts the keys of each window: where there are none, and usually there are none, nothing is
 *      looked at
 *   4. a full window, a slot that another handle takes while a completion is looking, or a flag whose holder does not
 *      run costs the completion's peer and size, nothing else
 *
 * Cost: a look-up is a few loads, with many threads two writes more; nothing waits for long. Memory: 89 bytes a slot,
 * touched when used.
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pmpi/handles.h"

enum { PMPI_HOOK_SLOTS = 1 << 15, PMPI_HOOK_WINDOW = 16 };

struct pmpi_hook_idup;
struct pmpi_hook_members;

struct pmpi_hook_start {
    int64_t bytes; /* posted */
    uint64_t event; /* session_here() of the start, of a persistent one's last start; SESSION_NEVER: not started */
    const struct pmpi_hook_members *peers; /* whom ranks of the communicator are */
    int32_t tag;
    uint32_t terminal; /* session_terminal() of the call that posted a receive, … */
    int32_t peer;  /* GRAMMAR_PEER_NONE without */
    uint32_t comm; /* number, GRAMMAR_NONE without */
    uint8_t peer_class;
    bool receive;
    bool sends; /* point to point, and no receive */
    bool persistent;
    bool active; /* persistent requests: started and not completed */
    struct pmpi_hook_idup *idup;
};

/* Whether several threads may call at a time; no other call at that moment. */
void pmpi_hook_request_threads(bool many);

/* Notes a start; `where` is the program's variable. False: the table is full around there, or a null request. */
bool pmpi_hook_request_put(MPI_Request request, const void *where, const struct pmpi_hook_start *start);
/* The same for who writes the start where it is to be, at once; `request` is not null. NULL: it is to be put. */
struct pmpi_hook_start *pmpi_hook_request_new(MPI_Request request, const void *where);
/* The start of a request (`where` may be NULL). */
bool pmpi_hook_request_find(MPI_Request request, const void *where, struct pmpi_hook_start *start);
/* The request was started again (persistent), by that event, whose call has that terminal. Gives the start, its event
   that of the one before. */
bool pmpi_hook_request_restart(MPI_Request request, uint64_t event, uint32_t terminal, struct pmpi_hook_start *start);
/* The request completed: a persistent one becomes inactive, any other is forgotten, and the communicator that it
   makes is there. Returns the start but for `active` and `idup`, in the table until another one is put there, or in
   *room; NULL: it is not known. */
const struct pmpi_hook_start *pmpi_hook_request_completed(MPI_Request request, const void *where,
                                                          struct pmpi_hook_start *room);
static inline const struct pmpi_hook_start *pmpi_hook_request_complete(MPI_Request request, const void *where,
                                                                       struct pmpi_hook_start *room)
{
    return request == MPI_REQUEST_NULL ? NULL : pmpi_hook_request_completed(request, where, room);
}
/* Shows the peers of all starts that are known, each once or more often. False where several threads may call at a
   time: a start may be on its way. Cost: that of the table. */
bool pmpi_hook_request_peers(void (*show)(const struct pmpi_hook_members *peers));
/* The request was freed. */
void pmpi_hook_request_forget(MPI_Request request, const void *where);

/* A matched message is a start, too: from the probe that took it out of the queue to the receive that names it, on
   whatever thread. It has a slot of the same table; take frees it, and returns false where it is not known. */
void pmpi_hook_message_put(MPI_Message message, const struct pmpi_hook_start *start);
bool pmpi_hook_message_take(MPI_Message message, struct pmpi_hook_start *start);
