/* SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "session/unwind.h"

#include <errno.h>
#include <libunwind.h>
#include <pthread.h>

#include "base/fpu.h"
#include "base/io.h"

static void first_use(void)
{
    void *frame;
    (void)unw_backtrace(&frame, 1);
}

static void prepare(void)
{
    base_io_high(first_use);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void session_unwind_start(void)
{
    pthread_once(&once, prepare);
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
