/* SPDX-License-Identifier: MIT */
/* The hooks' side: a thread's spans become events of its stream. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/guard.h"
#include "session/internal.h"

/* One event in so many is timed for the summary's cost. What took longer than this was preempted: not our cost. */
enum { COST_SAMPLE = 64, PREEMPTED_NS = 50000, STREAMS_MOST = 65536 /* a program may begin threads without end */ };

static __thread struct { struct session_stream *stream; uint32_t generation; bool left_out; } own
    __attribute__((tls_model("initial-exec")));

/* The main thread's grammar gets half of the process's memory, the next 15 the other half, and all others together about
   as much again: who comes late gets less, but enough for a usual grammar. */
static size_t memory_share(uint32_t thread)
{
    enum { FIRST = 16, ENOUGH = 128 << 10 };
    size_t memory = (size_t)session.options.memory, share = memory / 2 / FIRST;
    if (thread == 0)
        return memory / 2;
    if (thread < FIRST || share < ENOUGH)
        return share;
    share = share * FIRST / thread * FIRST / thread;
    return share > ENOUGH ? share : ENOUGH;
}

struct grammar *session_stream_grammar(uint32_t thread)
{
    return grammar_create(memory_share(thread));
}

static void stream_destroy(struct session_stream *s)
{
    grammar_destroy(s->grammar);
    oracle_destroy(s->oracle);
    session_peers_close(&s->peers);
    session_keys_close(&s->keys);
    session_callsites_close(&s->callsites);
    session_sums_close(s);
    free(s);
}

/* NULL: out of memory, or (*left_out) STREAMS_MOST are recorded already. */
static struct session_stream *stream_create(bool *left_out)
{
    struct session_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_lock(&session.lock);
    s->thread = session.stream_count;
    *left_out = s->thread >= STREAMS_MOST;
    s->predicts = session_mode() == SESSION_PREDICT;
    if (!*left_out && (!s->predicts || session.options.update))
        s->grammar = session_stream_grammar(s->thread);
    if (!*left_out && s->predicts)
        s->oracle = session_predict_oracle(s->thread);
    session.incomplete |= !*left_out && !s->grammar;
    s->control_seen = atomic_load(&session.control);
    s->resets_seen = atomic_load(&session.resets);
    s->paused_seen = atomic_load(&session.paused_ns);
    bool usable = session_mode() != SESSION_OFF && !*left_out && (s->grammar || s->predicts);
    if (usable) {
        s->progress_at = session_progress_first(s->thread);
        s->begin = s->last = s->thread == 0 ? session.begin : base_clock_now();
        s->next = session.streams;
        session.streams = s;
        session.stream_count++;
    }
    pthread_mutex_unlock(&session.lock);
    if (!usable) {
        stream_destroy(s);
        return NULL;
    }
    return s;
}

/* This thread's first event in this session. */
static __attribute__((noinline)) void own_stream_open(void)
{
    base_fpu_t kept = base_fpu_hold();
    own.stream = stream_create(&own.left_out);
    base_fpu_give_back(kept);
    own.generation = session.generation;
    if (!own.stream && !own.left_out)
        session_off("out of memory for a thread's stream");
}

static inline struct session_stream *stream_enter(void)
{
    if (atomic_load_explicit(&session.mode, memory_order_relaxed) == SESSION_OFF ||
        atomic_load_explicit(&session.paused, memory_order_relaxed) || !base_guard_enter())
        return NULL;
    if (__builtin_expect(own.generation != session.generation, 0))
        own_stream_open();
    if (__builtin_expect(!own.stream, 0))
        base_guard_leave();
    else if (__builtin_expect(own.stream->control_seen != atomic_load_explicit(&session.control, memory_order_relaxed), 0))
        session_control_stream(own.stream);
    return own.stream;
}

struct session_stream *session_enter(void)
{
    return stream_enter();
}

struct session_stream *session_enter_region(void)
{
    return session.records >> SESSION_REGIONS & 1 ? stream_enter() : NULL;
}

void session_leave(void)
{
    base_guard_leave();
}

/* --- Events --- */

static __attribute__((noinline)) uint32_t terminal_define(struct session_stream *s, uint32_t entry, enum job_phase phase)
{
    base_fpu_t kept = base_fpu_hold();
    pthread_mutex_lock(&session.lock);
    uint32_t number = session_define(s, &s->keys.entries[entry], phase);
    uint32_t reference = number == GRAMMAR_NONE ? GRAMMAR_NONE : session_predict_terminal(s, number);
    pthread_mutex_unlock(&session.lock);
    base_fpu_give_back(kept);
    if (number != GRAMMAR_NONE)
        number = session_keys_number(&s->keys, number, reference);
    s->keys.entries[entry].terminal[phase] = number;
    return number;
}

/* The stream's number of an entry's terminal; the first time it is defined, under the lock. */
static inline uint32_t terminal_of(struct session_stream *s, uint32_t entry, enum job_phase phase)
{
    uint32_t terminal = s->keys.entries[entry].terminal[phase];
    return __builtin_expect(terminal == GRAMMAR_NONE, 0) ? terminal_define(s, entry, phase) : terminal;
}

static void follow(struct session_stream *s, const struct grammar_event *e, uint8_t peer_class,
                   const struct session_values *values)
{
    uint32_t terminal = s->keys.reference_terminal[e->terminal];
    base_fpu_t kept = base_fpu_hold();
    session_peers_before(s, peer_class, values);
    oracle_follow(s->oracle, terminal, e->gap, e->duration);
    session_peers_after(s, peer_class, terminal, values);
    base_fpu_give_back(kept);
}

static void deliver(struct session_stream *s, const struct grammar_event *e, uint8_t peer_class,
                    const struct session_values *values)
{
    if (s->grammar)
        grammar_append(s->grammar, e);
    if (s->oracle)
        follow(s, e, peer_class, values);
}

void session_stream_wait(struct session_stream *s)
{
    int saved = errno;
    stream_release(s);
    while (atomic_load_explicit(&s->held, memory_order_acquire))
        syscall(SYS_futex, &s->held, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

void session_stream_release(struct session_stream *s)
{
    atomic_store_explicit(&s->held, 0, memory_order_release);
    syscall(SYS_futex, &s->held, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool session_stream_busy_here(void)
{
    return own.generation == session.generation && own.stream &&
           atomic_load_explicit(&own.stream->busy, memory_order_relaxed);
}

/* What following took (now and then some us, to score itself) is no time of the program's: not of the next gap, and not of
   the span around. A recorded stream counts its append as part of the gap, so that it adds up to the wall time. */
static void leave_out(struct session_stream *s, uint64_t ns)
{
    s->last += ns;
    s->followed_ns += ns;
    if (s->innermost)
        s->innermost->inside += ns;
}

static void append(struct session_stream *s, uint32_t entry, enum job_phase phase, uint64_t begin, uint64_t end,
                   const struct session_values *values)
{
    struct grammar_event e = {.terminal = terminal_of(s, entry, phase), .gap = begin - s->last, .duration = end - begin};
    if (e.terminal == GRAMMAR_NONE) {
        session_off("out of memory for a new event");
        return;
    }
    if (values) {
        e.channels = values->channels;
        memcpy(e.value, values->value, sizeof e.value);
    }
    s->last = end;
    bool timed = s->events++ % COST_SAMPLE == 0;
    uint64_t before = timed || (s->predicts && phase == JOB_OPEN) ? base_clock_now() : end;
    deliver(s, &e, s->keys.entries[entry].key.peer_class, values);
    if (!timed && !s->predicts)
        return;
    uint64_t after = base_clock_now();
    if (timed && after - before < PREEMPTED_NS) {
        s->cost_sum += after - before;
        s->cost_samples++;
    }
    if (!s->predicts)
        return;
    if (after >= s->progress_at && s->oracle)
        session_progress_note(s, entry, after);
    if (phase == JOB_OPEN) /* a span that began a while ago: the time passes now, before the one inside begins */
        s->opening_ns += after - before;
    else
        leave_out(s, after - end);
}

/* The spans around a new one, from the outermost, get their opening events: something is inside them after all. */
static void open_spans(struct session_stream *s, struct session_span *span)
{
    if (!span || span->opened)
        return;
    open_spans(s, span->outer);
    span->opened = true;
    if (stream_take(s))
        append(s, span->entry, JOB_OPEN, span->begin, span->begin, NULL);
    stream_release(s);
}

static void leave_out_opening(struct session_stream *s)
{
    if (s->opening_ns && stream_take(s)) {
        leave_out(s, s->opening_ns);
        s->opening_ns = 0;
    }
    stream_release(s);
}

/* A clock that never runs backwards within a stream keeps gaps from wrapping around. */
static uint64_t now_after(const struct session_stream *s)
{
    uint64_t now = base_clock_now();
    return now < s->last ? s->last : now;
}

/* The span's identity; what is around it is opened. */
static inline void span_identify(struct session_stream *s, struct session_span *span, uint8_t kind, uint32_t entry)
{
    span->entry = entry;
    span->outer = s->innermost;
    span->inside = 0;
    span->kind = kind;
    span->opened = false;
    if (__builtin_expect(entry == GRAMMAR_NONE, 0)) {
        session_off("out of memory for a new identity");
    } else if (span->outer && !span->outer->opened) {
        open_spans(s, span->outer);
        leave_out_opening(s);
    }
}

static inline void span_begin(struct session_stream *s, struct session_span *span, uint8_t kind, uint32_t entry)
{
    span_identify(s, span, kind, entry);
    span->begin = now_after(s);
    s->innermost = span;
    if (kind == JOB_REGION)
        base_guard_leave();
}

void session_begin(struct session_stream *s, struct session_span *span, const struct session_key *key)
{
    span_begin(s, span, key->kind, session_keys_find(&s->keys, key));
}

static __attribute__((noinline)) uint32_t region_entry(struct session_stream *s, const char *name, uintptr_t fn)
{
    struct session_key key = {
        .function = name, .region = fn, .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE, .kind = JOB_REGION };
    return session_keys_find(&s->keys, &key);
}

void session_begin_region(struct session_stream *s, struct session_span *span, const char *name, uintptr_t fn,
                          uint32_t *entry)
{
    uint32_t e = *entry;
    if (__builtin_expect(e >= s->keys.table.count || s->keys.entries[e].key.region != fn ||
                         s->keys.entries[e].key.function != name, 0))
        e = *entry = region_entry(s, name, fn);
    span_begin(s, span, JOB_REGION, e);
}

void session_stream_skip(struct session_stream *s, struct session_span *around, uint64_t ns)
{
    s->last += ns;
    s->skipped_ns += ns;
    if (around)
        around->inside += ns;
}

static void account(struct session_stream *s, const struct session_span *span, uint64_t end)
{
    uint64_t total = end - span->begin, exclusive = total > span->inside ? total - span->inside : 0;
    if (span->kind == JOB_REGION)
        s->region_ns += exclusive;
    else
        s->call_ns += exclusive;
    if (span->outer)
        span->outer->inside += total;
}

static void span_end(struct session_stream *s, struct session_span *span, const struct session_values *values, uint64_t end,
                     uint64_t skipped)
{
    if (stream_take(s) && span->entry != GRAMMAR_NONE) {
        if (span->opened)
            append(s, span->entry, JOB_CLOSE, end, end, values);
        else
            append(s, span->entry, JOB_LEAF, span->begin, end, values);
        account(s, span, end);
        if (s->predicts) { /* append() has left it out, with what the oracle took */
            s->followed_ns -= skipped;
            s->skipped_ns += skipped;
        } else {
            session_stream_skip(s, span->outer, skipped);
        }
    }
    stream_release(s);
    base_guard_leave();
}

void session_end(struct session_stream *s, struct session_span *span, const struct session_values *values)
{
    session_end_at(s, span, values, now_after(s), 0);
}

void session_end_at(struct session_stream *s, struct session_span *span, const struct session_values *values,
                    uint64_t end, uint64_t skipped)
{
    if (span->kind == JOB_REGION)
        base_guard_enter();
    s->innermost = span->outer;
    span_end(s, span, values, end < span->begin ? span->begin : end, skipped);
}

void session_whole(struct session_stream *s, const struct session_key *key, const struct session_values *values,
                   uint64_t begin, uint64_t end, uint64_t skipped)
{
    struct session_span span;
    span_identify(s, &span, key->kind, session_keys_find(&s->keys, key));
    s->opening_ns = 0; /* passed after `end`: append() leaves out all that did */
    span.begin = begin < s->last ? s->last : begin;
    span_end(s, &span, values, end < span.begin ? span.begin : end, skipped);
}

uint64_t session_skip(struct session_stream *s, uint64_t since)
{
    uint64_t now = now_after(s);
    if (now > since && stream_take(s))
        session_stream_skip(s, s->innermost, now - since);
    stream_release(s);
    return now;
}

uint32_t session_identify(struct session_stream *s, const struct session_key *key)
{
    return session_keys_find(&s->keys, key);
}

void session_begin_again(struct session_stream *s, struct session_span *span)
{
    uint64_t now = now_after(s);
    if (stream_take(s))
        session_stream_skip(s, span->outer, now - span->begin);
    stream_release(s);
    span->begin = now;
}

struct session_sight session_see(const struct session_stream *s)
{
    uint64_t now = now_after(s);
    return (struct session_sight){.now = now,
                                  .id = s->events,
                                  .gap_ns = now - s->last,
                                  .thread = s->thread,
                                  .rank = session.world.rank};
}

uint64_t session_events(void)
{
    return own.stream && own.generation == session.generation ? own.stream->events : 0;
}

uint64_t session_call_ns(const struct session_stream *s)
{
    return s->call_ns;
}

uint32_t session_callsite(struct session_stream *s, void *const *frames, uint32_t count)
{
    return session_callsites_find(&s->callsites, frames, count);
}

/* --- Asking --- */

int session_predict(struct session_stream *s, uint64_t distance, struct oracle_answer *answer)
{
    int status = 1;
    base_fpu_t kept = base_fpu_hold();
    if (stream_take(s) && s->oracle)
        status = oracle_predict(s->oracle, distance, answer);
    stream_release(s);
    base_fpu_give_back(kept);
    return status;
}

bool session_checks_peers;

static int expect(struct session_stream *s, const struct session_span *span, struct oracle_answer *answer)
{
    if (!s->oracle || span->entry == GRAMMAR_NONE)
        return 1;
    uint32_t terminal = terminal_of(s, span->entry, JOB_LEAF);
    if (terminal == GRAMMAR_NONE)
        return 1;
    terminal = s->keys.reference_terminal[terminal];
    return !oracle_place(s->oracle, terminal, answer) &&
           (oracle_predict(s->oracle, 1, answer) || answer->terminal != terminal);
}

int session_expect(struct session_stream *s, const struct session_span *span, struct oracle_answer *answer)
{
    int status = stream_take(s) ? expect(s, span, answer) : 1;
    stream_release(s);
    return status;
}

struct session_recorded session_recorded_there(struct session_stream *s, const struct oracle_answer *answer)
{
    struct session_recorded recorded = { NULL, NULL };
    if (stream_take(s) && s->oracle) {
        recorded.team = oracle_attr(s->oracle, answer, GRAMMAR_TEAM);
        recorded.stats = oracle_stats(s->oracle, answer);
    }
    stream_release(s);
    return recorded;
}

void session_count_action(struct session_stream *s, double gain_ns)
{
    s->actions++;
    s->gain_ns += gain_ns;
}
