/* SPDX-License-Identifier: MIT */
/*
 * Where the ranks of a run stood when their parts were written: of a run that ended well there are none.
 *
 *   1. in the order of ranks, then threads, each once: of the thread that began MPI, or of the first one, 0; and of
 *      others that waited in a call
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

struct job_end {
    uint32_t rank, thread;
    uint32_t function; /* string: the call that it was in, or had been in last; "" before the first one */
    uint32_t callsite; /* of it, one frame; GRAMMAR_NONE: not known */
    uint32_t inside;   /* 1: it was in that call, 0: out of it */
    uint32_t board;    /* string: what else whom it waits for is found from (watch/kept.h) */
    uint64_t since_ns; /* so long */
};
struct job_ends {
    struct job_end *of;
    uint32_t count, room;
};
