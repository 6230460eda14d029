/* SPDX-License-Identifier: MIT */
/*
 * What each hook needs first: of the process, where hardly anybody writes, and of the thread. A line of cache each, for
 * a hook comes when the program has used up the caches, and waits for every line of its own. Other rooms' words, too:
 * each says what its own mean and who writes them.
 *
 * Threads: any.  Hook-safe: yes; a thread's in the initial-exec model: no call into the loader.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/frame.h"

/* base/clock.h */
struct base_clock {
    uint64_t tsc0, ns0, rate;
    bool tsc; /* the formula there holds */
};

struct base_hot {
    struct base_clock clock;
    atomic_int python;            /* base/python.h: whether there is an interpreter */
    atomic_int mode;              /* session/life.h: what this process does */
    _Atomic uint32_t epoch;       /* session/internal.h: of what a thread has to look at */
    _Atomic uint32_t handles;     /* pmpi/comm.h: of what communicators' handles mean */
} __attribute__((aligned(64)));

struct base_here {
    struct base_frame holder;      /* base/guard.h */
    struct watch_board *board;     /* watch/board.h: to write on; NULL: none */
    struct session_stream *stream; /* session/internal.h */
    uint32_t generation, epoch;
    bool left_out;
} __attribute__((aligned(64)));

extern struct base_hot base_hot __attribute__((visibility("hidden")));
extern __thread struct base_here base_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
