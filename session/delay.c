/* SPDX-License-Identifier: MIT */
/*
 * How long this rank's first thread was ready and had no processor: the kernel counts that for each thread. It is read
 * at the begin and at the end of the session, never in a hook. A thread that ended may have left its
 * number to another one: where the thread of that number has waited less than the first one had at the begin, nothing
 * is counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "session/internal.h"

static struct { bool known; long thread; uint64_t ready, at; } begin;

/* "ns on a processor, ns ready without one, times"; a kernel that does not count says 0 of a thread that has run. */
static bool read_ready(long thread, uint64_t *ns)
{
    char text[96];
    uint64_t ran;

    base_io_text(text, sizeof text, "/proc/self/task/%ld/schedstat", thread);
    return sscanf(text, "%" SCNu64 " %" SCNu64, &ran, ns) == 2 && ran;
}

void session_delay_start(void)
{
    begin.thread = syscall(SYS_gettid);
    begin.at = base_clock_now();
    begin.known = read_ready(begin.thread, &begin.ready);
}

void session_delay_finish(struct job *job)
{
    uint64_t wall = base_clock_now() - begin.at, until, ready;

    if (!begin.known || !read_ready(begin.thread, &until) || until < begin.ready)
        return;
    ready = until - begin.ready < wall ? until - begin.ready : wall;
    job->delay = (struct job_delay){ .ranks = 1, .ready_ns = ready, .wall_ns = wall, .most_ns = ready };
}
