/* SPDX-License-Identifier: MIT */
#include "base/lock.h"

#include <stddef.h>

#include "config.h"

/* What this thread holds, of each kind. */
static _Thread_local pthread_mutex_t *held[BASE_LOCKS] __attribute__((tls_model("initial-exec")));

#ifdef PYTHIA_DEBUG
#include <stdio.h>
#include <stdlib.h>

static void check_order(enum base_lock which)
{
    for (int later = which; later < BASE_LOCKS; later++)
        if (held[later]) {
            fprintf(stderr, "pythia: lock %d is taken by a thread that holds %d: see base/lock.h\n", which, later);
            abort();
        }
}
#else
static void check_order(enum base_lock which)
{
    (void)which;
}
#endif

void base_lock_take(pthread_mutex_t *lock, enum base_lock which)
{
    if (held[which] == lock)
        return;
    check_order(which);
    pthread_mutex_lock(lock);
    held[which] = lock;
}

void base_lock_release(pthread_mutex_t *lock, enum base_lock which)
{
    held[which] = NULL;
    pthread_mutex_unlock(lock);
}
