/* SPDX-License-Identifier: MIT */
/*
 * The reentrancy guard: the first and last thing in every hook, so that Pythia never measures itself.
 *
 * A load and a store (base_here.holder). It is held by a frame: one that was left without returning (base/frame.h)
 * holds it no more, and the next hook notices.
 * Threads: any, each has its own.  Hook-safe: yes.
 */
#pragma once

#include "base/hot.h"

enum base_guard {
    BASE_GUARD_INSIDE, /* this thread has it already */
    BASE_GUARD_TAKEN,
    BASE_GUARD_LEFT    /* taken; who had it was left */
};

/* Takes the guard for the frame `here`. */
static inline enum base_guard base_guard_enter(struct base_frame here)
{
    enum base_guard result = BASE_GUARD_TAKEN;
    if (__builtin_expect(base_here.holder.at != 0, 0)) {
        if (base_frame_runs(base_here.holder, here))
            return BASE_GUARD_INSIDE;
        result = BASE_GUARD_LEFT;
    }
    base_here.holder = here;
    return result;
}

static inline void base_guard_leave(void)
{
    base_here.holder.at = 0;
}

/* This thread is Pythia's own: it never leaves. */
static inline void base_guard_stay(void)
{
    base_here.holder = base_frame_at((const void *)UINTPTR_MAX);
}
