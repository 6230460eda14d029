/* SPDX-License-Identifier: MIT */
/*
 * The order in which locks are taken, written down once. Who holds one takes only later ones:
 *
 *   callback -> comm -> members -> session -> tasks -> index -> file -> modules, energy -> heap
 *
 * A build with --enable-debug keeps what each thread holds and ends the process at a lock that is out of order, so that
 * a deadlock that could happen is found in the runs where it did not.
 *
 * Cost: none without --enable-debug.  Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_BASE_LOCK_H
#define PYTHIA_BASE_LOCK_H

#include <pthread.h>

#include "config.h"

enum base_lock {
    BASE_LOCK_CALLBACK, /* pmpi/callback.c: who has registered */
    BASE_LOCK_COMM,     /* pmpi/comm.c: handles of communicators */
    BASE_LOCK_MEMBERS,  /* pmpi/members.c: ranks of communicators */
    BASE_LOCK_SESSION,  /* session/internal.h: streams, the job of definitions, the reference */
    BASE_LOCK_TASKS,    /* tasks/stats.c: blocks of counters */
    BASE_LOCK_INDEX,    /* oracle/index.c: times and uses at first sight */
    BASE_LOCK_FILE,     /* file/open.c: blocks and attributes at first sight */
    BASE_LOCK_MODULES,  /* base/modules.c: what is loaded */
    BASE_LOCK_ENERGY,   /* base/energy.c: counters */
    BASE_LOCK_HEAP,     /* base/heap.c: blocks of ours */
    BASE_LOCKS
};

#ifdef PYTHIA_DEBUG
void base_lock_taken(enum base_lock which);    /* about to be */
void base_lock_released(enum base_lock which);
#else
static inline void base_lock_taken(enum base_lock which)
{
    (void)which;
}

static inline void base_lock_released(enum base_lock which)
{
    (void)which;
}
#endif

static inline void base_lock_take(pthread_mutex_t *lock, enum base_lock which)
{
    base_lock_taken(which);
    pthread_mutex_lock(lock);
}

static inline void base_lock_release(pthread_mutex_t *lock, enum base_lock which)
{
    pthread_mutex_unlock(lock);
    base_lock_released(which);
}

#endif
