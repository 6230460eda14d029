/* SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "session/unwind.h"

#include <errno.h>
#include <libunwind.h>
#include <pthread.h>

#include "base/fpu.h"
#include "base/io.h"

/* A step, not unw_backtrace(), which makes a table of 256 KiB for the thread. */
static void first_use(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    if (!unw_getcontext(&context) && !unw_init_local(&cursor, &context))
        (void)unw_step(&cursor);
}

static void prepare(void)
{
    base_io_high(first_use);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void session_unwind_start(void)
{
    base_fpu_word_t word = base_fpu_word();
    pthread_once(&once, prepare);
    base_fpu_word_back(word);
}

/* Inlined by nobody, so that the frame above the first is the caller's. */
__attribute__((noinline)) int session_unwind(void **frames, int most)
{
    int kept = errno;
    base_fpu_word_t word = base_fpu_word();
    pthread_once(&once, prepare);
    int found = unw_backtrace(frames, most);
    base_fpu_word_back(word);
    errno = kept;
    return found;
}
