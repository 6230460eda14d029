/* SPDX-License-Identifier: MIT */
/*
 * Which lines of a Python program this thread is in, from the interpreter's own frames: read, never asked for.
 *
 *     _PyRuntime.autoTSSkey -> this thread's state -> frame        f_code, instruction -> "halo", halo.py:31
 *                                                     |  previous
 *                                                     frame        f_code, instruction -> "<module>", halo.py:90
 *
 * CPython 3.11, 3.12 (their layouts are fixed) and 3.13 (which says its own, _Py_DebugOffsets), in the program or in a
 * library; of others, and where threads run without the GIL, nothing is known.
 *
 *   1. only this thread's frames are read, while it is in a call that they made: nobody changes or frees them then,
 *      whether it has the GIL or not. No lock of the interpreter's is taken, and none of its functions called
 *   2. a thread's state is asked for anew each time, by its key, so that one that was deleted is not met; none is known
 *      while the interpreter ends
 *   3. what tells code apart is its content too, not its address alone, where other code may lie later: file, name,
 *      lines
 *   4. a line is an address of base_modules_script(), by file, first line, qualified name and file name: the same in
 *      each process and each run
 *
 * Cost: a load in programs that are not Python's; else some 65 instructions a frame, of a new line 1 us.
 * Threads: any.  Hook-safe: yes, but for base_python_start(); a new line costs malloc and a lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hot.h"

enum { BASE_PYTHON_FRAMES = 64 /* the innermost ones of more */ };
#define BASE_PYTHON_ID "python:" /* of modules that are Python's, then FIRST LINE:QUALIFIED NAME:FILE */

struct base_python_frame {
    const char *code, *at; /* the object, the instruction in it */
    uint64_t hash;         /* of both and of the code's content */
};

/* base_hot.python */
enum base_python { BASE_PYTHON_NOT, BASE_PYTHON_SOUGHT /* its threads' key is not known yet */, BASE_PYTHON_KNOWN,
                   BASE_PYTHON_STRANGE /* of another version */ };

/* Looks for an interpreter. Calls the loader. */
void base_python_start(void);
/* Looks for the key in this thread, while that is not known. */
void base_python_seek(void);
/* Hash of this thread's frames, where it is known how to read them; 0: it has none. */
uint64_t base_python_hash(void);
/* The frames, innermost first: how many. */
uint32_t base_python_frames(struct base_python_frame frames[BASE_PYTHON_FRAMES]);
/* The line that a frame is at; NULL: it cannot be read, or only imports. */
void *base_python_line(const struct base_python_frame *f);
/* Whether the instruction is the interpreter's. */
bool base_python_runs(uintptr_t pc);
