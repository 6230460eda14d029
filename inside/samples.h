/* SPDX-License-Identifier: MIT */
/*
 * Samples of a process's threads, counted by what they were in:
 *
 *     ring ──> open samples of a thread ──an event is told──> (terminal, gap or inside, module, offset) -> how many
 *     ring of a worker ──^                                    and how many are in nothing that is known
 *
 * A thread without events works in the team of one that has some: what it was in is the region that this one was in.
 * In no region, or of nobody's team, it is beside what is recorded.
 *
 * Memory: at most INSIDE_ROWS rows, and INSIDE_OPEN samples that no event was told for yet: of a gap that is longer
 * they are a sample, evenly of all that it had.
 * Threads: one at a time.  Hook-safe: no.
 */
#pragma once

#include "base/hash.h"
#include "inside/mark.h"
#include "inside/ring.h"
#include "job/inside.h"

struct job;

enum { INSIDE_ROWS = 8192, INSIDE_OPEN = 8192 };

struct inside_table {
    struct base_hash by_place;
    struct inside_row { uint32_t terminal, kind, module /* base/modules.h */; uint64_t offset, samples; } *row;
    uint32_t count, room;
    uint64_t unknown; /* samples: an event ended before anybody could ask, or there was no room */
};

struct inside_thread {
    struct inside_mark *mark; /* NULL: it has no events */
    pid_t thread;         /* whose clock is read; 0: nobody's */
    struct inside_ring ring;
    struct inside_sample *open;
    uint32_t count, room;
    uint64_t seen;        /* samples since none was open */
};

/* Reads the clock of this thread (0: of none), if it has that of another one: so many samples a second. */
void inside_thread_follow(struct inside_thread *t, pid_t thread, uint64_t rate);
/* Takes what the thread has told and what its clock has; `ahead`: the events' clock less CLOCK_MONOTONIC, ns. Returns
   whether it asks something: the thread is to look at its next event. */
bool inside_thread_take(struct inside_thread *t, struct inside_table *table, int64_t ahead);
/* Likewise, for a thread without events: of its team's first thread, or of nobody's (NULL). Before the other one's.
   `table` NULL: what is nobody's counts nowhere. */
void inside_thread_lend(struct inside_thread *t, struct inside_thread *to, struct inside_table *table, int64_t ahead);
void inside_thread_forget(struct inside_thread *t); /* what is open counts nowhere */
void inside_thread_close(struct inside_thread *t);

void inside_table_close(struct inside_table *t);
/* To the rank's job, which has the events' terminals: what is known, and of the threads what is open, as before no
   event. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int inside_table_finish(const struct inside_table *t, const struct inside_thread *threads, uint32_t count,
                        uint32_t rank, struct job *job);
