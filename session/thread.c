/* SPDX-License-Identifier: MIT */
/*
 * Whose stream is whose: a stream is a place for threads, one after another.
 *
 *     stream 1   | thread a: events |          | thread d: events |      | thread e …
 *     stream 2      | thread b: events |    | thread c: events |
 *                                       \__/ nobody's: in no gap, and in no wall time
 *
 * A thread that begins takes the lowest place that an ended one gave back, with all that is there: grammar, oracle,
 * tables. So threads that do the same by the thousand are one loop in a few streams, as many as there were threads at
 * once, and the next thread costs no memory.
 *
 *   1. a place is given back by a destructor of thread-specific data, after what the thread left open is closed
 *   2. place 0 is the first thread's for good
 *   3. where threads are in their streams, and which places are free, is guarded by session.lock
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fpu.h"
#include "base/lock.h"
#include "session/internal.h"
#include "session/self.h"
#include "session/site.h"
#include "watch/board.h"

static pthread_key_t at_exit;
static bool keyed; /* at_exit exists: else streams are not given back */

/* --- Memory --- */

/* A frozen and packed copy takes twice what the grammars do; packing takes at most half of FIXED, and of what is free
   the heap keeps as much (base/heap.h). */
static size_t memory_of_grammars(void)
{
    enum { FIXED = 4 << 20 };
    size_t all = (size_t)session.options.memory, rest = all - (all / 2 < FIXED ? all / 2 : FIXED);
    return rest / 3;
}

/* They share it; address space is reserved for what one may come to. */
struct grammar *session_stream_grammar(uint32_t thread)
{
    enum { FIRST = 16 };
    size_t all = memory_of_grammars();
    struct grammar *g = grammar_create(thread == 0 ? all : thread < FIRST ? all / 4 : all / 4 / FIRST);
    if (g)
        grammar_share_pool(g, &session.memory);
    return g;
}

static void stream_destroy(struct session_stream *s)
{
    grammar_destroy(s->grammar);
    oracle_destroy(s->oracle);
    session_peers_close(&s->peers);
    session_keys_close(&s->keys);
    session_callsites_close(&s->callsites);
    session_callsites_close(&s->paths);
    free(s->path_number);
    session_sums_close(s);
    session_flows_close(&s->flows);
    session_hops_close(&s->hops);
    session_starts_close(&s->starts_seen);
    session_self_close(s);
    free(s->wanted);
    session_timeline_close(&s->timeline);
    free(s->open);
    session_named_free(s);
    free(s);
}

bool session_stream_timeline(struct session_stream *s, uint64_t begin)
{
    struct session_timeline fresh = {0};
    if (s->grammar && !session_timeline_room(&fresh, s->keys.terminals))
        return false;
    session_timeline_close(&s->timeline);
    s->timeline = fresh;
    if (s->grammar && s->thread == 0)
        (void)session_timeline_series(&s->timeline, begin); /* without memory there is none */
    return true;
}

/* --- Places that are free: under session.lock --- */

/* The lowest one; NULL: none. */
static struct session_stream *place_take(void)
{
    for (uint32_t word = session.free_from; word < SESSION_STREAMS / 64; word++)
        if (session.free_places[word]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(session.free_places[word]);
            session.free_places[word] &= session.free_places[word] - 1;
            session.free_from = word;
            return session.streams[64 * word + bit];
        }
    session.free_from = SESSION_STREAMS / 64;
    return NULL;
}

static void place_give(const struct session_stream *s)
{
    session.free_places[s->thread / 64] |= UINT64_C(1) << s->thread % 64;
    if (s->thread / 64 < session.free_from)
        session.free_from = s->thread / 64;
}

/* --- Beginning --- */

static int stream_fill(struct session_stream *s)
{
    s->predicts = session_mode() == SESSION_PREDICT;
    if (!s->predicts || session.options.update)
        s->grammar = session_stream_grammar(s->thread);
    if (s->predicts)
        s->oracle = session_predict_oracle(s->thread);
    session.incomplete |= !s->grammar;
    return s->grammar || s->predicts ? 0 : -1;
}

/* A new place, under session.lock. NULL: out of memory, or (*left_out) there are SESSION_STREAMS. */
static struct session_stream *stream_create(bool *left_out)
{
    *left_out = session.stream_count == SESSION_STREAMS;
    if (*left_out ||
        base_array_room(&session.streams, &session.stream_room, session.stream_count + 1, sizeof *session.streams))
        return NULL;
    struct session_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->thread = session.stream_count;
    if (stream_fill(s)) {
        stream_destroy(s);
        return NULL;
    }
    s->control_seen = atomic_load(&session.control);
    s->resets_seen = atomic_load(&session.resets);
    s->unloads_seen = atomic_load(&session_unloads);
    s->paused_seen = atomic_load(&session.paused_ns);
    s->progress_at = session_progress_first(s->thread);
    s->begin = s->last = s->thread == 0 ? session.begin : base_clock_now();
    (void)session_stream_timeline(s, s->begin); /* of no terminals yet: that takes no memory */
    return session.streams[session.stream_count++] = s;
}

/* The place was nobody's until now. */
static void stream_adopt(struct session_stream *s)
{
    uint64_t now = base_clock_now(), idle = now > s->last ? now - s->last : 0;
    session_sites_forget(s);
    s->adopted_calls = s->call_ns;
    if (stream_take(s)) {
        session_hops_break(&s->hops);
        s->last += idle;
        s->idle_ns += idle;
        s->paused_seen = atomic_load(&session.paused_ns); /* pauses since it was given back are in there */
    }
    stream_release(s);
}

static struct session_stream *stream_for_thread(bool *left_out)
{
    *left_out = false;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    bool off = session_mode() == SESSION_OFF;
    struct session_stream *s = off ? NULL : place_take();
    bool adopts = s != NULL;
    if (!s && !off)
        s = stream_create(left_out);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    if (adopts) /* not under the lock: a checkpoint may hold it for a while */
        stream_adopt(s);
    return s;
}

struct watch_thread *session_place(const struct session_stream *s)
{
    return s->place;
}

void session_own_open(void)
{
    struct base_here *own = &base_here;
    base_fpu_t kept = base_fpu_hold();
    uint32_t generation = session.generation;
    uint64_t before = base_clock_processor();
    base_frame_prepare();
    own->stream = stream_for_thread(&own->left_out);
    own->generation = generation;
    uint32_t thread = own->stream ? own->stream->thread : UINT32_MAX;
    own->board = thread == 0 ? watch_board_here : NULL;
    if (own->stream)
        own->stream->place = watch_board_here && thread && thread <= WATCH_THREADS
                                 ? &watch_board_here->thread[thread - 1] : NULL;
    if (own->stream && !own->stream->predicts)
        atomic_store_explicit(&own->stream->inside.thread, (pid_t)syscall(SYS_gettid), memory_order_relaxed);
    if (own->stream && keyed)
        (void)pthread_setspecific(at_exit, own->stream);
    if (own->stream)
        session_took(own->stream, base_clock_processor() - before);
    base_fpu_give_back(kept);
    if (!own->stream && !own->left_out)
        session_off("out of memory for a thread's stream");
}

bool session_stream_busy_here(void)
{
    return base_here.generation == session.generation && base_here.stream &&
           atomic_load_explicit(&base_here.stream->busy, memory_order_relaxed);
}

/* --- Ending --- */

/* Destructors that come after this one may still make calls: these open a stream again. */
static void thread_ends(void *stream)
{
    struct session_stream *s = stream;
    int kept = errno;
    base_fpu_t state = base_fpu_hold();
    session_tell_end();
    bool mine = base_here.stream == s && base_here.generation == session.generation &&
                session_mode() != SESSION_OFF;
    if (mine && s->thread > 0) {
        session_stream_close_all(s);
        atomic_store_explicit(&s->inside.thread, 0, memory_order_relaxed);
        base_here = (struct base_here){.holder = base_here.holder};
        base_lock_take(&session.lock, BASE_LOCK_SESSION);
        if (session_mode() != SESSION_OFF) /* else the session is being finished, or over */
            place_give(s);
        base_lock_release(&session.lock, BASE_LOCK_SESSION);
    }
    base_fpu_give_back(state);
    errno = kept;
}

static void thread_make_key(void)
{
    keyed = pthread_key_create(&at_exit, thread_ends) == 0;
}

void session_threads_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, thread_make_key);
    atomic_store(&session.memory, memory_of_grammars());
}

/* At the end: their threads may still be between begin and end, with nothing to find but a mode that is off. */
void session_threads_retire(void)
{
    for (uint32_t i = 0; i < session.stream_count; i++) {
        struct session_stream *s = session.streams[i];
        s->next = session.retired;
        session.retired = s;
        oracle_destroy(s->oracle);
        grammar_destroy(s->grammar);
        session_peers_close(&s->peers);
        s->oracle = NULL;
        s->grammar = NULL;
    }
    session.stream_count = 0;
    for (uint32_t word = 0; word < SESSION_STREAMS / 64; word++)
        session.free_places[word] = 0;
    session.free_from = SESSION_STREAMS / 64;
}
