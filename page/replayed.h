/* SPDX-License-Identifier: MIT */
/*
 * A job as the replay runs it, event by event of each rank's first thread: for traces (trace_replay.c, otf2.c).
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "job/turns.h"
#include "page/export.h"
#include "replay/machine.h"

struct page_rank {
    const struct job_class *c;    /* NULL: of a rank without events */
    struct grammar_flat *grammar; /* its own */
    struct grammar_cursor at;     /* at the event that is told */
    bool open, begun;             /* there is an event; its call or region has begun */
    int64_t begin;
};

/* Stands first in the caller's own, which functions get as their context. */
struct page_replayed {
    struct report *r;
    struct page_rank *rank;
    struct replay_watch watch; /* the caller's, but for context and `comes` */
    /* An event, from when its call or region begins to when its rank goes on: ns, MPI_Init ends at 0. */
    void (*event)(void *context, uint32_t rank, int64_t begin, int64_t end);
};

void page_replayed_open(struct page_replayed *p, struct report *r);
void page_replayed_run(struct page_replayed *p); /* once */
void page_replayed_close(struct page_replayed *p);
