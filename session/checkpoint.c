/* SPDX-License-Identifier: MIT */
/*
 * What has been recorded so far, kept safe while the program runs: every PYTHIA_CHECKPOINT seconds this process's part
 * replaces the one before it in <output>.parts/; the first ones come sooner, after an eighth, a quarter and a half.
 *
 *     writer  ──append──append──append──·wait·──append──       held: a few us to some ms, once in many seconds
 *     helper  ..sleeps......hold│freeze│release│pack, write, sync, rename│..sleeps......
 *
 * A thread of its own does it: a hook must not do I/O, and a rank that is stuck in a call has no hook to do it in. A
 * stream belongs to its thread, so the helper takes hold of one stream at a time (stream.c), freezes its grammar and
 * lets go; everything slow happens afterwards. Freezing brings a grammar up to date, which it would be later anyway:
 * the recording is the same without.
 *
 * The cost limits itself: after a checkpoint that took t of processor time the next one waits at least 200 t, so it
 * stays under half a per cent, whatever the size of the grammars; and at least 20 times as long as it took by the
 * clock, so that ranks by the thousand leave a file system nearly all of its time. They begin at different times: each
 * of the first ones comes after a half to the whole of its step, by number of rank.
 *
 * A file system that stops holds up the helper alone. A run that ends meanwhile waits for it a little and leaves it
 * behind: by then it only has what is its own. Should its file appear after all it removes that again.
 *
 * The helper makes no MPI call, and opens files in a table of its own.
 */
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/lock.h"
#include "base/log.h"
#include "merge/merge.h"
#include "session/internal.h"

enum { COST_FACTOR = 200, WALL_FACTOR = 20, EARLY = 8, STACK = 256 * 1024 };
enum { LEAVE_SECONDS = 2 /* to a file being written, at the end */, AGAIN_NS = 20000000 };
static const uint64_t second = 1000000000;

static struct {
    struct base_helper thread;     /* owner: who starts and finishes the session */
    _Atomic bool writing;          /* it has what it writes, and asks for nothing of the session */
    _Atomic bool left;             /* behind, while it wrote; there is no other one in this process then */
    _Atomic unsigned wanted, done; /* checkpoints asked for out of turn, and answered */
    _Atomic int ends;              /* the signal that ends the process; 0: none has come */
    uint64_t events;               /* helper's: in the last checkpoint */
    bool failed;                   /* helper's: that it can't be written was said */
} helper;

/* --- A snapshot of the streams --- */

/* Waits until the stream's thread is outside of it; from then on it waits for release. */
static void hold(struct session_stream *s)
{
    atomic_store_explicit(&s->held, 1, memory_order_relaxed);
    session_barrier();
    while (atomic_load_explicit(&s->busy, memory_order_acquire))
        usleep(20);
}

static bool freeze(struct session_stream *s, struct session_frozen *f)
{
    hold(s);
    bool done = session_stream_freeze(s, f);
    session_stream_release(s);
    return done;
}

/* The streams that there are, oldest first; they stay until the session ends, which waits for the helper. */
static uint32_t list_streams(struct session_stream ***list)
{
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    uint32_t count = session.stream_count;
    *list = malloc(((size_t)count + 1) * sizeof **list);
    if (*list && count)
        memcpy(*list, session.streams, count * sizeof **list);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return *list ? count : 0;
}

/* Definitions as they are by now: all that the frozen streams use, and numbered alike. */
static struct job *copy_definitions(void)
{
    struct job *copy = job_create();
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (copy && (!session.job || merge_job(copy, session.job) || session_fill_info(copy))) {
        job_destroy(copy);
        copy = NULL;
    }
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return copy;
}

static struct job *snapshot(void)
{
    struct session_stream **list;
    uint32_t count = list_streams(&list), made = 0;
    struct session_frozen *frozen = calloc((size_t)count + 1, sizeof *frozen);
    int error = !list || !frozen;
    while (!error && made < count)
        if (freeze(list[made], &frozen[made]))
            made++;
        else
            error = 1;
    struct job *job = error ? NULL : copy_definitions();
    error |= !job || session_samples_add(job, false);
    for (uint32_t i = 0; i < made; i++)
        if (error)
            session_frozen_drop(&frozen[i]);
        else
            error = session_frozen_add(&frozen[i], job);
    free(frozen);
    free(list);
    if (!error)
        return job;
    job_destroy(job);
    return NULL;
}

struct job *session_snapshot(void)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; /* who holds a stream holds it alone: freezing settles it */
    pthread_mutex_lock(&one);
    struct job *job = snapshot();
    pthread_mutex_unlock(&one);
    return job;
}

/* --- The helper --- */

static uint64_t events_in(const struct job *job)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < job->stream_count; i++)
        events += job->streams[i].events;
    return events;
}

/* What can't be written now may be written the next time: said once, by one rank. */
static void complain(const char *why)
{
    if (!helper.failed && session.world.rank == 0)
        base_log_warn("no checkpoint: %s; the program runs on, a run that dies leaves nothing newer", why);
    helper.failed = true;
}

static void checkpoint(bool at_once)
{
    char why[512] = "out of memory";
    uint64_t begin = base_clock_now();
    struct job *job = session_snapshot();
    uint64_t frozen = base_clock_now(), events = job ? events_in(job) : 0;
    atomic_store(&helper.writing, job != NULL);
    bool stands = job && session_ends_add(job); /* for how long is news */
    int error = !job || ((events != helper.events || stands) && session_part_write(job, at_once, why, sizeof why));
    atomic_store(&helper.writing, false);
    if (atomic_load(&helper.left)) {
        session_part_remove();
    } else if (error) {
        complain(why);
    } else {
        base_log_debug("rank %u: checkpoint of %llu events, %llu us to freeze, %llu us to write", session.world.rank,
                       (unsigned long long)events, (unsigned long long)(frozen - begin) / 1000,
                       (unsigned long long)(base_clock_now() - frozen) / 1000);
        helper.events = events;
    }
    job_destroy(job);
}

/* The process ends by a signal: one of those that are left says where the parts are. */
static void say_parts(void)
{
    int number = atomic_load(&helper.ends);
    if (number && session_parts_first())
        base_log_warn("signal %d (%s) ended the program: parts are in %s (pythia merge joins them)", number,
                      strsignal(number), session_parts_path());
}

/* Spread evenly however many ranks there are: multiples of the golden section. */
static uint64_t spread(uint64_t step)
{
    uint32_t part = session.world.rank * UINT32_C(2654435769);
    return step - (uint64_t)((double)step * part * 0x1p-33);
}

static void write_now_and_then(void)
{
    uint64_t interval = session.options.checkpoint * second, step = interval / EARLY;
    uint64_t next = interval ? base_clock_system() + spread(step) : UINT64_MAX, look = UINT64_MAX;
    bool samples = base_io_own_table() && session.options.samples &&
                   session_samples_begin(base_helper_listen(&helper.thread));
    if (samples)
        look = session_samples_look();
    while (base_helper_sleep(&helper.thread, look < next ? look : next)) {
        unsigned wanted = atomic_load(&helper.wanted);
        bool at_once = wanted != atomic_load(&helper.done);
        if (samples)
            look = session_samples_look();
        if (!interval || (!at_once && base_clock_system() < next))
            continue;
        uint64_t before = base_clock_processor(), begin = base_clock_system();
        if (session_mode() == SESSION_RECORD)
            checkpoint(at_once);
        uint64_t now = base_clock_system(), least = (base_clock_processor() - before) * COST_FACTOR;
        least = (now - begin) * WALL_FACTOR > least ? (now - begin) * WALL_FACTOR : least;
        step = step < interval / 2 ? 2 * step : interval;
        next = step < interval ? spread(step) : interval;
        next = now + (least > next ? least : next);
        say_parts();
        atomic_store(&helper.done, wanted);
    }
    if (samples)
        session_samples_end();
}

void session_checkpoint_start(void)
{
    if ((!session.options.checkpoint && !session.options.samples) || atomic_load(&helper.left))
        return;
    helper.events = UINT64_MAX;
    helper.failed = false;
    if (base_helper_start(&helper.thread, write_now_and_then, STACK)) {
        if (session.options.checkpoint)
            session_signals_take();
    } else if (session.options.checkpoint)
        base_log_warn("rank %u: no thread for checkpoints: a run that dies leaves nothing", session.world.rank);
}

/* Waits for the helper's end, but not for a file system. */
static bool stop_in_time(void)
{
    for (uint64_t ns = LEAVE_SECONDS * second; !base_helper_stop(&helper.thread, ns); ns = AGAIN_NS) {
        atomic_store(&helper.left, true);
        if (atomic_load(&helper.writing))
            return false;
    }
    atomic_store(&helper.left, false);
    return true;
}

void session_checkpoint_stop(void)
{
    if (!base_helper_runs(&helper.thread))
        return;
    session_signals_give_back();
    if (stop_in_time())
        return;
    base_log_warn("rank %u: a checkpoint is still being written to %s; the run ends without it", session.world.rank,
                  session_parts_path());
    base_helper_leave(&helper.thread);
}

void session_checkpoint_urgent(int ends, unsigned milliseconds)
{
    if (ends)
        atomic_store(&helper.ends, ends);
    unsigned mine = atomic_fetch_add(&helper.wanted, 1) + 1;
    base_helper_wake(&helper.thread);
    for (unsigned waited = 0; waited < milliseconds && (int)(atomic_load(&helper.done) - mine) < 0; waited++)
        poll(NULL, 0, 1);
}

/* --- Asked for --- */

void session_dump(void)
{
    char why[512] = "out of memory";
    if (session_mode() != SESSION_RECORD || !base_guard_enter(base_frame_here()))
        return;
    struct job *job = session_snapshot();
    unsigned long long events = 0, rules = 0;
    for (uint32_t i = 0; job && i < job->stream_count; i++) {
        events += job->streams[i].events;
        rules += job->classes[job->streams[i].class_index].grammar->rule_count;
    }
    if (!job || session_part_write(job, false, why, sizeof why))
        base_log_warn("rank %u: no dump: %s", session.world.rank, why);
    else
        base_log_info("rank %u so far: streams=%u events=%llu terminals=%u rules=%llu in %s", session.world.rank,
                      job->stream_count, events, job->terminal_count, rules, session_parts_path());
    job_destroy(job);
    base_guard_leave();
}
