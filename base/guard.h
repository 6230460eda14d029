/* SPDX-License-Identifier: MIT */
/*
 * The reentrancy guard: the first and last thing in every hook, so that Pythia never measures itself.
 *
 * One thread-local flag in the initial-exec model: a load and a store, no call into the loader.
 * Threads: any, each has its own.  Hook-safe: yes.
 */
#ifndef PYTHIA_BASE_GUARD_H
#define PYTHIA_BASE_GUARD_H

#include <stdbool.h>

extern __thread int base_guard_depth __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Takes the guard; false when this thread has it already. */
static inline bool base_guard_enter(void)
{
    if (base_guard_depth)
        return false;
    base_guard_depth = 1;
    return true;
}

static inline void base_guard_leave(void)
{
    base_guard_depth = 0;
}

#endif
