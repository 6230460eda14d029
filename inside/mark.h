/* SPDX-License-Identifier: MIT */
/*
 * What a thread is asked about the time of a sample: which event came next.
 *
 *     reader  ── asked = t ───────────────────────>            the reader knows when and where, not before what
 *     thread        ... computes ...  MPI_Recv returns: "since, begin, end, terminal"
 *
 *     t:   < since: an event ended before the thread saw the question      it is not known what t was in
 *          < begin: in the gap before this event       < end: inside it    else: ask for the next one
 *
 *   1. `event` is the thread's while `asked` is not 0, and the reader's while `answered`
 *   2. whoever asks makes the thread look at its next event (session/stream.c), for which there is a branch already: an
 *      event about which nobody asks costs nothing
 *
 * Threads: one asks, one answers.  Hook-safe: yes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inside_event {
    uint64_t since, begin, end; /* ns: its gap began, it began, it ended */
    uint32_t terminal;
    uint32_t around; /* of the region that its gap was in, the thread's innermost; UINT32_MAX: in none */
    bool region;     /* it is one itself */
};

struct inside_mark {
    _Atomic pid_t thread;       /* whose it is, as the kernel numbers it; 0: nobody's */
    _Atomic uint64_t asked;     /* ns; 0: nothing */
    _Atomic bool answered;
    struct inside_event event;
};

/* Threads: who asks. */
static inline void inside_ask(struct inside_mark *m, uint64_t at)
{
    atomic_store_explicit(&m->asked, at, memory_order_release);
}

/* Threads: the mark's. Whether an event that ended at `end` is asked about. */
static inline bool inside_asks(const struct inside_mark *m, uint64_t end)
{
    uint64_t at = atomic_load_explicit(&m->asked, memory_order_acquire);
    return at && end > at;
}

static inline void inside_tell(struct inside_mark *m, const struct inside_event *event)
{
    m->event = *event;
    atomic_store_explicit(&m->asked, 0, memory_order_relaxed);
    atomic_store_explicit(&m->answered, true, memory_order_release);
}
