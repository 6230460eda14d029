/* SPDX-License-Identifier: MIT */
/*
 * Where a thread computes, asked of the kernel's own clock of that thread, without a signal:
 *
 *     thread  ──────x────────x────────x──>      perf_event_open: at each step of its processor time, in user code
 *                   │        │        │
 *     ring    | when, where | when, where | …   two pages that the kernel writes and we read
 *
 * The thread takes part in nothing: no handler runs, no call of its is interrupted. It pays the timer's interrupt.
 *
 * Threads: one reader a ring.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inside_ring {
    int fd;       /* readable once something is in it */
    void *memory; /* NULL: it is not open */
};
struct inside_sample {
    uint64_t at /* ns of CLOCK_MONOTONIC */, address;
    bool other; /* of a thread of its team, which has no events of its own */
};

/* Of a thread of this process, so many samples a second. 0, or -1 with errno. */
int inside_ring_open(struct inside_ring *r, pid_t thread, uint64_t rate);
void inside_ring_close(struct inside_ring *r); /* one that is not open, too */
/* The oldest ones, at most `room`; what does not fit stays. */
uint32_t inside_ring_read(struct inside_ring *r, struct inside_sample *samples, uint32_t room);
/* Whether the kernel lets this process have one; where not, why. */
bool inside_ring_allowed(char *why, size_t size);
