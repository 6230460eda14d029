/* SPDX-License-Identifier: MIT */
#include "base/frame.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_stack_end __attribute__((weak)); /* of the loader: where main's stack begins */

static __thread struct { uintptr_t low, high; } frame_stack __attribute__((tls_model("initial-exec")));

/* The first thread's stack without reading /proc/self/maps, which takes longer the more is mapped. The kernel keeps so
   much below it free; where more is allowed something else may be there. */
static bool frame_prepare_first(void)
{
    enum { KEPT_FREE = 128 << 20 };
    struct rlimit limit;
    if (syscall(SYS_gettid) != getpid() || !&__libc_stack_end || getrlimit(RLIMIT_STACK, &limit) ||
        limit.rlim_cur > KEPT_FREE)
        return false;
    frame_stack.low = (uintptr_t)__libc_stack_end - limit.rlim_cur;
    frame_stack.high = (uintptr_t)__libc_stack_end;
    return true;
}

/* A handler that comes meanwhile finds nothing on it. */
void base_frame_prepare(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    int saved = errno;
    if (frame_stack.high)
        return;
    frame_stack.low = frame_stack.high = 1;
    if (!frame_prepare_first() && pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &low, &size) == 0) {
            frame_stack.low = (uintptr_t)low;
            frame_stack.high = (uintptr_t)low + size;
        }
        pthread_attr_destroy(&attr);
    }
    errno = saved;
}

static inline bool frame_is_mine(const void *place)
{
    return (uintptr_t)place >= frame_stack.low && (uintptr_t)place < frame_stack.high;
}

/* From a stack that may be gone. */
static __attribute__((noinline)) bool frame_holds_elsewhere(struct base_frame frame)
{
    uintptr_t word = 0;
    struct iovec to = {&word, sizeof word}, from = {(void *)frame.at, sizeof word};
    int saved = errno;
    bool read = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof word;
    errno = saved;
    return read && word == frame.word;
}

#if defined(__aarch64__)
/* Return addresses are where frames end, so nobody need write where that of a frame was that is gone; but frames are a
   list there, from the innermost one outwards. */
static __attribute__((no_sanitize("address", "thread"))) bool frame_is_listed(struct base_frame frame,
                                                                              struct base_frame here)
{
    enum { MOST = 256, ALIGN = 16 };
    uintptr_t at = (uintptr_t)(here.at - 1), wanted = (uintptr_t)(frame.at - 1);
    for (int i = 0; i < MOST && at < wanted; i++) {
        uintptr_t next = *(const uintptr_t *)at;
        if (next <= at || next % ALIGN || !frame_is_mine((const void *)next))
            return true; /* somebody keeps no list: the word has decided */
        at = next;
    }
    return at <= wanted;
}
#else
static bool frame_is_listed(struct base_frame frame, struct base_frame here)
{
    (void)frame;
    (void)here;
    return true;
}
#endif

__attribute__((no_sanitize("address", "thread"))) bool base_frame_runs(struct base_frame frame, struct base_frame here)
{
    if (frame_is_mine(frame.at)) {
        if (frame_is_mine(here.at) && (frame.word ? here.at >= frame.at : here.at > frame.at))
            return false;
        if (frame.word && *frame.at != frame.word)
            return false;
        return !frame.word || !frame_is_mine(here.at) || frame_is_listed(frame, here);
    }
    return !frame.word || frame_holds_elsewhere(frame);
}
