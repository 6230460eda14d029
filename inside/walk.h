/* SPDX-License-Identifier: MIT */
/*
 * Where the threads of another process are now, frame by frame, by ptrace and libunwind.
 *
 *     threads  ──────────┐ stopped: registers and stacks are copied ┌──────────>      some ms, of all its threads
 *     walker             └──────────────────────────────────────────┘ frames from the copies, by libunwind
 *
 * A process of its own does it: should it end, of whatever, the kernel lets the threads go. No signal is sent: a thread
 * is seized and interrupted, what it sleeps in goes on afterwards. (Of a few calls, as epoll_wait(), the kernel makes
 * that EINTR, as it does for any debugger.)
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { INSIDE_FRAMES = 64 };

struct inside_stack {
    pid_t thread;
    uint32_t count;             /* frames */
    uint64_t at[INSIDE_FRAMES]; /* where it is, then return addresses, innermost first */
};

struct inside_stacks {
    struct inside_stack *of; /* the main thread first, then by number */
    uint32_t count;
    uint64_t stopped_ns;     /* for how long it stood still */
};

/* 0; or a negative errno: -EPERM where the kernel forbids it, -ESRCH: there is no such process, -ENOTSUP where this is
   built without libunwind or for another processor. Allocations: the caller frees s->of. */
int inside_walk(pid_t process, struct inside_stacks *s);
