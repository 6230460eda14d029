/* SPDX-License-Identifier: MIT */
/*
 * A thread of Pythia's own: does something now and then beside the program, until it is told to stop.
 *
 *   void run(void) { while (base_helper_sleep(&h, next)) { … } }
 *
 *   owner:  start ............. stop (waits), perhaps leave
 *   anyone: ....... wake ......
 *
 * 1. it takes none of the program's signals, runs under the guard, and computes in a floating-point state of its own
 * 2. it is the process's that started it: a forked child has none
 *
 * One that listens sleeps until something comes to its descriptors, too. A wake-up reaches it there by a signal for its
 * thread alone, which it has blocked and reads as a descriptor: no handler runs, and nobody else sees it.
 *
 * A zeroed structure is one that does not run. It may be started again after stop.
 * Threads: start, stop and leave: one owner at a time.  Hook-safe: wake, also in a signal handler.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A time that never comes. */
#define BASE_HELPER_EVER INT64_MAX

struct base_helper {
    void (*run)(void);
    pthread_t thread;
    pid_t process; /* that has it; 0: none */
    sem_t wake;    /* made once and never destroyed: a signal handler may be about to post */
    bool made;
    atomic_bool stops;
    uint64_t noted;        /* the helper's: processor time that is in base_helper_took(), ns */
    int events, wakes;     /* helper's, where it listens: an epoll instance, and a signalfd in it */
    _Atomic pid_t listens; /* its thread; 0: it does not */
};

/* Begins `run` in a thread with that small a stack where that is possible: a program's thread-local data may need more;
   0: as the program's threads have. False: there is none. */
bool base_helper_start(struct base_helper *h, void (*run)(void), size_t stack);
/* Whether this process has it. */
bool base_helper_runs(const struct base_helper *h);
/* Only after it was once started. */
void base_helper_wake(struct base_helper *h);
/* In the helper: until the time (ns, as base_clock_system) or woken, now and then for nothing. False: it is to stop. */
bool base_helper_sleep(struct base_helper *h, uint64_t until);
/* In the helper, once, where its table of descriptors is its own (base/io.h): an epoll instance that
   base_helper_sleep() waits at from then on, the helper's until it ends. -1: it does not. */
int base_helper_listen(struct base_helper *h);
/* Tells it to stop and waits for its end, for `ns` at most. False: it still runs; stop once more, or leave. */
bool base_helper_stop(struct base_helper *h, uint64_t ns);
/* Whether a thread is a helper of this process (of the last 16 that began). */
bool base_helper_is(pid_t thread);
/* Processor time of all helpers of this process until they last slept or ended, ns. */
uint64_t base_helper_took(void);
/* Nobody waits for it any more. */
void base_helper_leave(struct base_helper *h);
