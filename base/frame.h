/* SPDX-License-Identifier: MIT */
/*
 * Whether a function is still running, asked from another one: a hook may be left without returning, by longjmp,
 * siglongjmp or a C++ exception.
 *
 *      base of the stack   | main        |
 *                          | solve       |  return address ─┐
 *      frame.at ---------> | *at == word | <────────────────┘ of the hook
 *                          | the hook    |
 *      here.at ----------> |   ...       |  who asks
 *
 * A frame is the place of a function's return address and what is there. On one stack the function runs as long as who
 * asks is below it and the word is what it was: whoever is called from the frame above after a jump writes its own
 * return address there. On another stack (of signals, of user-level threads) order means nothing, the word decides.
 *
 *   1. only words of this thread's own stack are read directly, and those above the asking frame; elsewhere the kernel
 *      is asked for the word, for that stack may be gone
 *   2. a word that was jumped over and is by chance still there makes a frame seem to run until it is overwritten; on
 *      aarch64, where that is no rare chance, the list of frames is followed, as far as functions keep one
 *
 *   3. a thread says where its stack is before its first question; until then no word is on it, and the kernel is asked
 *
 * Cost: some ns, on aarch64 a load for each frame between; below another stack a system call.
 * Threads: any, about its own frames.  Hook-safe: questions, also in a signal handler.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct base_frame {
    const uintptr_t *at;
    uintptr_t word; /* 0: not known, order alone decides */
};

/* The frame of the function that this stands in. */
static inline __attribute__((always_inline)) struct base_frame base_frame_here(void)
{
    const uintptr_t *frame = __builtin_frame_address(0); /* on all processors: frame pointer, return address */
    return (struct base_frame){frame + 1, frame[1]};
}

/* The frame of a function that the one at `place` has called, or of the one that `place` is in: it runs as long as
   nobody above asks. */
static inline struct base_frame base_frame_at(const void *place)
{
    return (struct base_frame){place, 0};
}

/* Finds this thread's stack, once: it allocates memory, and may read a file. */
void base_frame_prepare(void);
/* Whether it runs, asked from the frame `here`. */
bool base_frame_runs(struct base_frame frame, struct base_frame here);
