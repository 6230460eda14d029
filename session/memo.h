/* SPDX-License-Identifier: MIT */
/*
 * The same call again: most events have the identity of the last one from their place. What follows from the identity
 * is kept beside the place's slot (session/site.h), and is not looked up again.
 *
 *     stack -> slot -> memo  { MPI_Isend, communicator, datatype }  ->  { entry, terminal, path, what the hook knows }
 *
 *   1. a memo holds as long as its slot; the hook says whether its handles mean what they meant (`version`)
 *   2. values (count, peer, tag) are no part of it: they are new with each event
 *   3. one is found only where a thread may take its stream without another look (base_hot.epoch) and no span is open;
 *      else, and where it does not fit, the event goes the long way, which fills it
 *
 * Nothing here changes what is recorded: with PYTHIA_QUICK=no all events go the long way (for tests).
 * Cost: a look-up is that of the stack's words. Memory: a line of cache a slot, touched when used.
 * Threads: a memo belongs to its thread.  Hook-safe: yes.
 */
#pragma once

#include <stdint.h>

#include "base/guard.h"
#include "session/site.h"
#include "session/stream.h"

struct session_memo {
    const void *what;     /* the hook's name of the call; NULL: nothing is kept */
    uint64_t handle[2];   /* that it was given */
    struct session_stream *stream;
    uint32_t entry, terminal, path;
    uint32_t job_terminal;    /* session_terminal() */
    /* The hook's. */
    const void *of;       /* what its handles are */
    unsigned version;
    uint16_t size;        /* bytes of an element */
    uint16_t peer_class;  /* enum job_peer_class */
};

/* The slot that it belongs to: the memos of a thread stand before its slots, each a line of cache. */
static inline struct session_slot *session_memo_slot(const struct session_memo *memo)
{
    return (struct session_slot *)(uintptr_t)memo + SITE_SLOTS;
}

/* What is kept of the call `what`, whose return address lies at `at`; NULL: nothing, or it may be no event. */
const struct session_memo *session_memo_find(const void *what, const uintptr_t *at);
/* It is an event: as session_enter_from(). */
static inline void session_memo_enter(struct base_frame frame)
{
    base_here.holder = frame;
}
/* A region begins that it was found by, `what` the outlined function: as session_enter_region() and
   session_begin_region(). */
void session_memo_open(const struct session_memo *memo, struct base_frame frame, struct session_span *span,
                       void *owner);
/* It has ended: as session_whole_as(). errno stays. */
void session_memo_whole(const struct session_memo *memo, struct grammar_event *event, uint64_t begin, uint64_t end);
/* To be filled by the hook, `what` last. NULL: the call is no event yet, or its place is not remembered. */
struct session_memo *session_memo_of(struct session_stream *stream, struct session_slot *slot, uint32_t entry,
                                     uint32_t path);
