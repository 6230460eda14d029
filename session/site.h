/* SPDX-License-Identifier: MIT */
/*
 * Where an event is: the callsite (the return address into the program and the frames above it that tell it apart),
 * and the path, which is all frames up to main; for the price of a few loads.
 *
 * A program calls from few places, each time with the same stack. What a walk of the stack found is kept with the
 * words that decided it: each frame's return address and, where it has one, frame pointer, and where they lay.
 *
 *     frame address, from  -->  callsite 7, path 12      0x7ffc10 holds 0x401a2e (returns to the loop)
 *                                                        0x7ffc08 holds 0x7ffc60 (its frame pointer)
 *                                                        0x7ffc68 holds 0x401b90 (returns to main) ...
 *
 *   1. frames of this library have fixed sizes: the innermost one's address and `from` tell where the program's begin
 *   2. a frame's layout follows from its program counter, stack pointer and frame pointer (base/cfi.h says how): where
 *      all words from the innermost on are as they were, so is the stack, and the site is the same
 *   3. a word is read only after those inside it were found right: it is in a frame that is there
 *   4. stacks that are met but once (deep recursion) are walked and drive out none: one in LEARN_EVERY calls is learned
 *   5. frames of Pythia and of the OpenMP library above `from` are left out: whether they are there depends on how the
 *      threads of this execution of a region are timed, and on how many run it
 *   6. in a Python program (base/python.h) its lines take the place of the interpreter's frames; a callsite begins with
 *      them, then come return address and frames below. They are compared by a hash, not word by word
 *   7. a path ends after SITE_PATH frames, or where the tables say no more; on processors other than x86-64 and aarch64
 *      it is the return address alone
 *
 * Cost: about 1 ns a frame; walked, 10 ns a frame, and where the row of its program counter is not kept .3 us.
 * Memory: some 32 KiB a thread, 16 to 48 bytes for each frame of a stack; at most 330 KiB with memos.
 * Threads: any, a cache belongs to its thread.  Hook-safe: yes, first sight aside.
 */
#pragma once

#include <stdint.h>

#include "session/stream.h"

enum { SITE_PATH = 64, SITE_SLOTS = 512 };

/* What is remembered of a stack: a line of cache. */
struct session_slot {
    uintptr_t frame; /* 0: empty; else with Python's lines */
    void *from;      /* NULL: never filled */
    const struct session_word *words, *end; /* in the pool */
    const char *function; /* of the identity that was looked up here last; NULL: there was none yet */
    uint32_t comm, peer_class; /* the same */
    uint32_t entry;
    uint32_t callsite, path;
    uint32_t next; /* slot that was filled before this one, + 1 */
};

/* Numbers for a key, and of the path as struct job_stop has it: GRAMMAR_NONE where it is not recorded, or not known. */
struct session_site {
    uint32_t callsite, path;
    struct session_slot *slot; /* NULL: the stack is not remembered */
};

/* Of `from`, the return address of a hook that is at most a few frames above this call. */
struct session_site session_site_of(struct session_stream *stream, void *from);
/* The same of a hook whose own frame is known, and keeps a frame pointer: base_frame_here(). */
struct session_site session_site_at(struct session_stream *stream, struct base_frame hook);
/* The number of the identity (session_identify) of a call whose stack was found. Where the last call from there had
   this identity, it is found with the stack; calls in between may have taken the slot for another one. */
uint32_t session_identify_anew(struct session_stream *stream, const struct session_key *key, struct session_slot *slot);
static inline uint32_t session_identify_at(struct session_stream *stream, const struct session_key *key,
                                           struct session_slot *slot)
{
    return __builtin_expect(slot && slot->function == key->function && slot->callsite == key->callsite &&
                            slot->comm == key->comm && slot->peer_class == key->peer_class, 1)
               ? slot->entry : session_identify_anew(stream, key, slot);
}
/* What was remembered of stacks holds no more: another thread has the stream, or a library went. */
void session_sites_forget(struct session_stream *stream);
/* Frames of the module that has this address are left out from now on; never the program's. Hook-safe: no; before
   other threads have stacks that go through it. */
void session_sites_leave_out(const void *address);
/* The path alone, for what is told apart by other things; no walk where nothing is recorded. */
uint32_t session_path_of(struct session_stream *stream, void *from);
