/* SPDX-License-Identifier: MIT */
/*
 * Locks of what hooks do seldom: first sights, growth, communicators.
 *
 * A signal handler of the program may jump out of a hook (siglongjmp) that holds one. The thread still has it then: who
 * takes it again finds it so, and goes on. (That signals wait meanwhile is no way: the kernel gives them to another
 * thread, and a handler that jumps there runs two threads on one stack.)
 *
 * The order in which locks are taken, written down once. Who holds one takes only later ones:
 *
 *   callback -> comm -> members -> session -> tasks -> reader -> index -> file -> modules, energy -> heap
 *
 * A build with --enable-debug keeps what each thread holds and ends the process at a lock that is out of order, so that
 * a deadlock that could happen is found in the runs where it did not.
 *
 * Cost: none without --enable-debug.  Threads: any.  Hook-safe: no.
 */
#pragma once

#include <pthread.h>

enum base_lock {
    BASE_LOCK_CALLBACK, /* pmpi/callback.c: who has registered */
    BASE_LOCK_COMM,     /* pmpi/comm.c: handles of communicators */
    BASE_LOCK_MEMBERS,  /* pmpi/members.c: ranks of communicators */
    BASE_LOCK_SESSION,  /* session/internal.h: streams, the job of definitions, the reference */
    BASE_LOCK_TASKS,    /* tasks/stats.c: blocks of counters */
    BASE_LOCK_READER,   /* teams/safety.c: the thread that reads code */
    BASE_LOCK_INDEX,    /* oracle/index.c: times and uses at first sight */
    BASE_LOCK_FILE,     /* file/open.c: blocks and attributes at first sight */
    BASE_LOCK_MODULES,  /* base/modules.c: what is loaded */
    BASE_LOCK_ENERGY,   /* base/energy.c: counters */
    BASE_LOCK_HEAP,     /* base/heap.c: blocks of ours */
    BASE_LOCKS
};

void base_lock_take(pthread_mutex_t *lock, enum base_lock which);
void base_lock_release(pthread_mutex_t *lock, enum base_lock which);
