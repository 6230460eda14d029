/* SPDX-License-Identifier: MIT */
/*
 * Where threads compute: each stream's thread has a clock (inside/ring.h) that the helper of checkpoints reads.
 *
 *     helper  ..sleeps..│ring│ask│..sleeps............│told│ring│ask│..      each sample wakes it, for some 5 us
 *     thread  ──────────x──────────── event ──────────x──────────────
 *
 * A sample belongs to what comes next only if no event ended before the helper asked: it is awake some us after the
 * sample, so gaps and calls from some ten us on are told apart; the rest is counted as not known. A thread has its
 * clock at most LOOK_NS after its first event. What the helper opens is in a table of its own, which no program sees.
 *
 * Threads without a stream have one, too. Whose team one works in it says itself where its team is timed
 * (teams/share.h), as all are at first: its samples are asked about with those of that team's first thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/threads.h"
#include "inside/samples.h"
#include "session/ask.h"
#include "session/internal.h"

enum { FIRST_NS = 5000000, LOOK_NS = 100000000, MOST_THREADS = 1024 };

static struct {
    pthread_mutex_t lock; /* what follows, between the helper and who takes a snapshot; after session.lock */
    struct inside_thread *thread; /* by number of the stream */
    uint32_t count, room;
    struct inside_thread other[MOST_THREADS]; /* those without one, as the kernel lists them */
    uint32_t others;
    struct inside_table table;
    uint32_t resets;
    int events;        /* the helper's epoll instance */
    uint64_t look, step; /* ns: when to look for new threads, and how long after the last time */
} samples = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct session_stream *stream_of(const struct inside_thread *t)
{
    return (struct session_stream *)((char *)t->mark - offsetof(struct session_stream, inside));
}

/* Of a stream, which stays where it is until the session ends. */
static bool add_thread(struct session_stream *s)
{
    if (base_array_room(&samples.thread, &samples.room, samples.count + 1u, sizeof *samples.thread))
        return false;
    samples.thread[samples.count++] = (struct inside_thread){ .mark = &s->inside, .ring.fd = -1 };
    return true;
}

/* Under session.lock. */
static void add_threads(void)
{
    while (samples.count < session.stream_count && samples.count < MOST_THREADS &&
           add_thread(session.streams[samples.count]))
        ;
}

/* Once for each sample: the clock of a thread that has ended is readable for good. */
static void samples_follow(struct inside_thread *t, pid_t thread)
{
    pid_t before = t->thread;
    inside_thread_follow(t, thread, session.options.samples);
    struct epoll_event readable = { .events = EPOLLIN | EPOLLET, .data.fd = t->ring.fd };
    if (t->thread != before && t->ring.memory)
        (void)epoll_ctl(samples.events, EPOLL_CTL_ADD, t->ring.fd, &readable);
}

/* Where it is found again first, for lists that are in one order. */
static uint32_t find(const struct inside_thread *of, uint32_t count, pid_t thread, uint32_t first)
{
    for (uint32_t i = 0; i < count; i++)
        if (of[(first + i) % count].thread == thread)
            return (first + i) % count;
    return MOST_THREADS;
}

/* Those that ended go. */
static void follow_others(void)
{
    static pid_t now[MOST_THREADS];
    static struct inside_thread kept[MOST_THREADS];
    uint32_t all = base_threads(now, MOST_THREADS), count = 0, last = 0;
    for (uint32_t i = 0; i < all && samples.count + count < MOST_THREADS; i++) {
        if (find(samples.thread, samples.count, now[i], i) < MOST_THREADS || base_helper_is(now[i]))
            continue;
        uint32_t at = find(samples.other, samples.others, now[i], last);
        kept[count] = (struct inside_thread){ .ring.fd = -1 };
        if (at < MOST_THREADS) {
            kept[count] = samples.other[at];
            samples.other[at] = (struct inside_thread){ .ring.fd = -1 };
            last = at + 1;
        }
        samples_follow(&kept[count++], now[i]);
    }
    for (uint32_t i = 0; i < samples.others; i++)
        inside_thread_close(&samples.other[i]);
    memcpy(samples.other, kept, count * sizeof *kept);
    samples.others = count;
}

static void follow_threads(void)
{
    for (uint32_t i = 0; i < samples.count; i++)
        samples_follow(&samples.thread[i], atomic_load_explicit(&samples.thread[i].mark->thread, memory_order_relaxed));
    follow_others();
}

/* --- Whose team a thread works in --- */

enum { JOINED = 4096 };
static _Atomic uint64_t joined[JOINED]; /* by thread, modulo: which one, and its team's stream */

void session_samples_join(uint32_t stream)
{
    pid_t thread = (pid_t)syscall(SYS_gettid);
    atomic_store_explicit(&joined[thread % JOINED], (uint64_t)thread << 32 | stream, memory_order_relaxed);
}

bool session_samples_computes(pid_t thread)
{
    bool found = (pid_t)(atomic_load_explicit(&joined[thread % JOINED], memory_order_relaxed) >> 32) == thread;
    for (uint32_t i = 0; i < session.stream_count && !found; i++)
        found = atomic_load_explicit(&session.streams[i]->inside.thread, memory_order_relaxed) == thread;
    return found;
}

/* NULL: nobody's. */
static struct inside_thread *team_of(const struct inside_thread *t)
{
    uint64_t is = atomic_load_explicit(&joined[t->thread % JOINED], memory_order_relaxed);
    uint32_t stream = (uint32_t)is;
    return (pid_t)(is >> 32) == t->thread && stream < samples.count ? &samples.thread[stream] : NULL;
}

/* All that there is so far: a reset forgets it. */
static void forget(void)
{
    for (uint32_t i = 0; i < samples.count; i++)
        inside_thread_forget(&samples.thread[i]);
    inside_table_close(&samples.table);
}

static void samples_take(void)
{
    int64_t ahead = (int64_t)(base_clock_now() - base_clock_system());
    bool paused = atomic_load(&session.paused);
    for (uint32_t i = 0; i < samples.others; i++)
        inside_thread_lend(&samples.other[i], team_of(&samples.other[i]), paused ? NULL : &samples.table,
                           ahead);
    for (uint32_t i = 0; i < samples.count; i++) {
        if (inside_thread_take(&samples.thread[i], &samples.table, ahead))
            atomic_store_explicit(&stream_of(&samples.thread[i])->look_at, 0, memory_order_relaxed);
        if (paused)
            inside_thread_forget(&samples.thread[i]);
    }
}

bool session_samples_begin(int events)
{
    char why[256] = "no epoll here";
    bool allowed = events >= 0 && inside_ring_allowed(why, sizeof why);
    if (!allowed)
        base_log_debug("rank %u: no samples: %s", session.world.rank, why);
    samples.events = events;
    samples.resets = atomic_load(&session.resets);
    samples.look = 0;
    samples.step = FIRST_NS;
    return allowed;
}

uint64_t session_samples_look(void)
{
    uint64_t now = base_clock_system();
    uint32_t resets = atomic_load(&session.resets);
    bool looks = now >= samples.look;
    if (looks)
        base_lock_take(&session.lock, BASE_LOCK_SESSION);
    pthread_mutex_lock(&samples.lock);
    if (looks) {
        add_threads();
        base_lock_release(&session.lock, BASE_LOCK_SESSION);
        follow_threads();
        samples.look = now + samples.step;
        samples.step = 2 * samples.step < LOOK_NS ? 2 * samples.step : LOOK_NS;
    }
    samples_take();
    if (resets != samples.resets)
        forget();
    samples.resets = resets;
    pthread_mutex_unlock(&samples.lock);
    return samples.look;
}

void session_samples_end(void)
{
    pthread_mutex_lock(&samples.lock);
    samples_take();
    for (uint32_t i = 0; i < samples.count; i++)
        inside_ring_close(&samples.thread[i].ring);
    for (uint32_t i = 0; i < samples.others; i++)
        inside_thread_close(&samples.other[i]);
    samples.others = 0;
    pthread_mutex_unlock(&samples.lock);
}

int session_samples_add(struct job *job, bool ends)
{
    pthread_mutex_lock(&samples.lock);
    int error = inside_table_finish(&samples.table, samples.thread, samples.count, session.world.rank, job);
    for (uint32_t i = 0; i < samples.count && ends; i++)
        inside_thread_close(&samples.thread[i]);
    if (ends) {
        inside_table_close(&samples.table);
        samples.count = 0;
    }
    pthread_mutex_unlock(&samples.lock);
    return error;
}
