/* SPDX-License-Identifier: MIT */
/* The hooks' side: a thread's spans become events of its stream. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fpu.h"
#include "base/guard.h"
#include "base/lock.h"
#include "session/append.h"
#include "session/internal.h"
#include "session/memo.h"
#include "watch/board.h"

static void close_left(struct session_stream *s, struct base_frame here);

/* A hook was left while it had the guard. */
static __attribute__((noinline)) void stream_was_left(void)
{
    if (!base_here.stream || base_here.generation != session.generation)
        return;
    base_here.stream->left++;
    if (atomic_load_explicit(&base_here.stream->busy, memory_order_relaxed)) { /* by a signal handler that jumped */
        session_off("a signal handler jumped out of Pythia itself");
        stream_release(base_here.stream);
    }
}

/* Somebody has the guard or left it, a span is open, or something has changed. What changes from here on is seen the
   next time. */
static __attribute__((noinline)) struct session_stream *enter_slowly(struct base_frame frame)
{
    uint32_t epoch = atomic_load(&base_hot.epoch);
    if (session_mode() == SESSION_OFF || /* what start wrote is there */
        atomic_load_explicit(&session.paused, memory_order_relaxed))
        return NULL;
    enum base_guard guard = base_guard_enter(frame);
    if (guard == BASE_GUARD_INSIDE)
        return NULL;
    if (guard == BASE_GUARD_LEFT)
        stream_was_left();
    if (base_here.generation != session.generation)
        session_own_open();
    struct session_stream *s = base_here.stream;
    if (!s) {
        base_guard_leave();
        return NULL;
    }
    if (s->control_seen != atomic_load_explicit(&session.control, memory_order_relaxed))
        session_control_stream(s);
    close_left(s, frame);
    base_here.epoch = epoch;
    return s;
}

struct session_stream *session_enter_from(struct base_frame frame)
{
    struct session_stream *s = base_here.stream;
    if (__builtin_expect(base_here.epoch != atomic_load_explicit(&base_hot.epoch, memory_order_acquire) ||
                         base_here.holder.at != 0, 0) || s->open_count)
        return enter_slowly(frame);
    base_here.holder = frame;
    return s;
}

struct session_stream *session_enter_region(struct base_frame frame)
{
    return session.records >> SESSION_REGIONS & 1 ? session_enter_from(frame) : NULL;
}

void session_leave(void)
{
    base_guard_leave();
}

/* --- Events --- */

uint32_t session_terminal_define(struct session_stream *s, uint32_t entry, enum job_phase phase)
{
    uint64_t before = base_clock_now();
    base_fpu_t kept = base_fpu_hold();
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    uint32_t known = session.job ? session.job->terminal_count : 0;
    uint32_t number = session_define(s, &s->keys.entries[entry], phase);
    uint32_t reference = number == GRAMMAR_NONE ? GRAMMAR_NONE : session_predict_terminal(s, number);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    if (s->keys.entries[entry].key.kind == JOB_REGION && !atomic_load(&session.team))
        session_ask_team();
    base_fpu_give_back(kept);
    uint32_t again = number < known ? session_keys_again(&s->keys, number) : GRAMMAR_NONE;
    if (again != GRAMMAR_NONE)
        number = again;
    else if (number != GRAMMAR_NONE &&
             (!s->grammar || session_timeline_room(&s->timeline, s->keys.terminals + 1)))
        number = session_keys_number(&s->keys, number, reference);
    else
        number = GRAMMAR_NONE;
    s->keys.entries[entry].terminal[phase] = number;
    if (base_here.board && phase == JOB_LEAF)
        watch_board_met(base_here.board, entry, session_from(s, &s->keys.entries[entry].key));
    watch_board_modules();
    session_took_since(s, before);
    return number;
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

/* The spans around a new one, from the outermost, get their opening events: something is inside them after all. */
static __attribute__((noinline)) void open_spans(struct session_stream *s)
{
    for (uint32_t i = 0; i < s->open_count; i++) {
        struct session_open *span = &s->open[i];
        struct grammar_event e;
        e.channels = 0;
        if (!span->opened && stream_take(s))
            append(s, span->entry, JOB_OPEN, JOB_REGION, span->path, span->begin, span->begin, &e, i > 0, false);
        stream_release(s);
        span->opened = true;
    }
}

static void leave_out_opening(struct session_stream *s)
{
    if (s->opening_ns && stream_take(s)) {
        leave_out(s, s->opening_ns);
        s->opening_ns = 0;
    }
    stream_release(s);
}

void session_open_around(struct session_stream *s)
{
    if (!s->open[s->open_count - 1].opened)
        open_spans(s);
    leave_out_opening(s);
}

/* An event of this identity comes next: what is around it is opened. */
static inline void open_around(struct session_stream *s, uint32_t entry)
{
    if (__builtin_expect(entry == GRAMMAR_NONE, 0))
        session_off("out of memory for a new identity");
    else if (s->open_count && !s->open[s->open_count - 1].opened)
        open_spans(s);
}

/* A place on the stack of open spans; NULL when out of memory. */
static inline struct session_open *span_push(struct session_stream *s)
{
    if (__builtin_expect(s->open_count == s->open_room, 0) &&
        base_array_room(&s->open, &s->open_room, (uint64_t)s->open_count + 1, sizeof *s->open))
        return NULL;
    return &s->open[s->open_count++];
}

static __attribute__((noinline)) uint32_t region_entry(struct session_stream *s, const char *name, uintptr_t fn)
{
    struct session_key key = {
        .function = name, .region = fn, .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE, .kind = JOB_REGION };
    return session_keys_find(&s->keys, &key);
}

/* The stream's guard is taken, and given back. */
static inline __attribute__((always_inline)) void span_open(struct session_stream *s, struct session_span *span,
                                                            uintptr_t fn, uint32_t path, uint32_t entry,
                                                            uint32_t terminal, void *owner)
{
    uint64_t begin = session_now(s), serial = ++s->serial;
    *span = (struct session_span){begin, serial, entry, s->open_count, s->call_ns};
    struct session_open *open = span_push(s);
    if (__builtin_expect(open != NULL, 1))
        *open = (struct session_open){base_here.holder, owner, begin, 0, serial, entry, path, terminal, false};
    else
        session_off("out of memory for a region");
    if (base_here.board && entry != GRAMMAR_NONE)
        watch_board_region(base_here.board, fn, begin);
    base_guard_leave();
}

__attribute__((flatten))
void session_begin_region(struct session_stream *s, struct session_span *span, const char *name, uintptr_t fn,
                          uint32_t path, uint32_t *entry, void *owner)
{
    uint32_t e = *entry;
    if (__builtin_expect(e >= s->keys.table.used || s->keys.entries[e].key.region != fn ||
                         s->keys.entries[e].key.function != name, 0))
        e = *entry = region_entry(s, name, fn);
    open_around(s, e);
    leave_out_opening(s);
    uint32_t terminal = e == GRAMMAR_NONE ? GRAMMAR_NONE : s->keys.entries[e].terminal[JOB_LEAF];
    span_open(s, span, fn, path, e, terminal, owner);
}

void session_memo_open(const struct session_memo *memo, struct base_frame frame, struct session_span *span,
                       void *owner)
{
    session_memo_enter(frame);
    span_open(memo->stream, span, (uintptr_t)memo->what, memo->path, memo->entry, memo->terminal, owner);
}

/* Inside the innermost of so many spans. The gap before those that are not opened yet is still to come, from `last` to
   their begin: both move. */
static void skip_inside(struct session_stream *s, uint32_t spans, uint64_t ns)
{
    s->last += ns;
    s->skipped_ns += ns;
    while (spans && !s->open[spans - 1].opened)
        s->open[--spans].begin += ns;
    if (spans)
        s->open[spans - 1].inside += ns;
}

void session_stream_skip(struct session_stream *s, uint64_t ns)
{
    skip_inside(s, s->open_count, ns);
}

/* `span` is no longer on the stack. */
static inline void account(struct session_stream *s, const struct session_open *span, uint64_t end)
{
    uint64_t total = end - span->begin, exclusive = total > span->inside ? total - span->inside : 0;
    s->region_ns += exclusive;
    if (span->opened) {
        s->keys.entries[span->entry].exclusive.samples++;
        s->keys.entries[span->entry].exclusive.total += exclusive;
    }
    if (s->open_count)
        s->open[s->open_count - 1].inside += total;
}

/* After an append: ns that passed since the event ended. */
static inline void leave_skipped(struct session_stream *s, uint64_t ns)
{
    if (ns == 0)
        return;
    if (s->predicts) { /* append() has left it out, with what the oracle took */
        s->followed_ns -= ns;
        s->skipped_ns += ns;
    } else {
        session_stream_skip(s, ns);
    }
}

static inline void show(const struct session_stream *s, uint32_t entry, const struct grammar_event *e, uint64_t end)
{
    if (base_here.board)
        watch_board_left(base_here.board, entry, e->gap, e->duration, end, s->call_ns);
    else if (s->place)
        watch_thread_left(s->place, end);
}

static inline void show_region(const struct session_stream *s, uint32_t entry, const struct grammar_event *e,
                               uint64_t end)
{
    show(s, entry, e, end);
    if (base_here.board)
        base_here.board->omp_ns = s->region_ns;
}

static void span_end(struct session_stream *s, const struct session_open *span, struct grammar_event *e, uint64_t end,
                     uint64_t skipped)
{
    bool opened = span->opened;
    if (stream_take(s) && span->entry != GRAMMAR_NONE) {
        append(s, span->entry, opened ? JOB_CLOSE : JOB_LEAF, JOB_REGION, span->path, opened ? end : span->begin, end,
               e, opened || s->open_count, !opened && !skipped);
        account(s, span, end);
        leave_skipped(s, skipped);
        show_region(s, span->entry, e, end);
    }
    stream_release(s);
}

/* The innermost span was left: it ends now, for when that was is not known. */
static __attribute__((noinline)) void close_innermost(struct session_stream *s)
{
    struct grammar_event e;
    e.channels = 0;
    s->left++;
    session_named_close(s, s->open_count);
    span_end(s, &s->open[--s->open_count], &e, session_now(s), 0);
}

/* Ends the spans whose hooks do not run any more, as seen from the frame `here`; what is inside one that does not does
   not run, either. */
static void close_left(struct session_stream *s, struct base_frame here)
{
    uint32_t running = 0;
    while (running < s->open_count && base_frame_runs(s->open[running].frame, here))
        running++;
    while (s->open_count > running)
        close_innermost(s);
}

void session_stream_close_all(struct session_stream *s)
{
    while (s->open_count)
        close_innermost(s);
    session_named_close(s, 0);
}

void *session_owner(struct base_frame here)
{
    struct session_stream *s = base_here.stream;
    if (!s || base_guard_enter(here) == BASE_GUARD_INSIDE)
        return NULL;
    close_left(s, here);
    base_guard_leave();
    return s->open_count ? s->open[s->open_count - 1].owner : NULL;
}

/* Something is around it or was inside, it is new, or what was inside was left. Returns whether others were inside. */
static __attribute__((noinline)) bool end_other(struct session_stream *s, const struct session_span *span,
                                                struct grammar_event *e, uint64_t end, uint64_t skipped)
{
    int kept = errno;
    bool contains = false;
    while (s->open_count > span->level && s->open[s->open_count - 1].serial != span->serial) /* it has not shown yet */
        close_innermost(s);
    if (s->open_count > span->level) {
        session_named_close(s, s->open_count);
        const struct session_open *open = &s->open[--s->open_count]; /* where it was, until another one is opened */
        end = end < s->last ? s->last : end;
        end = end < open->begin ? open->begin : end;
        contains = open->opened;
        span_end(s, open, e, end, skipped);
    }
    base_guard_leave();
    errno = kept;
    return contains;
}

/* Most are outermost and plain: nothing was inside, and the terminal is known. */
bool session_end_at(struct session_stream *s, struct session_span *span, struct grammar_event *e, uint64_t end,
                    uint64_t skipped)
{
    if (base_guard_enter(base_frame_here()) == BASE_GUARD_LEFT)
        stream_was_left();
    const struct session_open *open = s->open;
    if (__builtin_expect(s->open_count != 1 || open->serial != span->serial || open->opened || s->context ||
                         skipped || open->terminal == GRAMMAR_NONE, 0))
        return end_other(s, span, e, end, skipped);
    s->open_count = 0;
    if (stream_take(s)) {
        uint64_t begin = open->begin;
        e->terminal = open->terminal;
        end = end < begin ? begin : end;
        append_known(s, open->entry, JOB_LEAF, JOB_REGION, open->path, begin, end, e, false, end, true);
        s->region_ns += e->duration;
        show_region(s, open->entry, e, end);
    }
    stream_release(s);
    base_guard_leave();
    return false;
}

/* What can be is written before the append: so little of it has to be kept in registers meanwhile. */
static inline __attribute__((always_inline)) void whole(struct session_stream *s, uint32_t entry, uint32_t path,
                                                        struct grammar_event *e, uint64_t begin, uint64_t end,
                                                        uint64_t skipped)
{
    struct session_open *around = NULL;
    if (__builtin_expect(entry == GRAMMAR_NONE || s->open_count, 0)) {
        open_around(s, entry);
        around = s->open_count ? &s->open[s->open_count - 1] : NULL;
    }
    s->opening_ns = 0; /* passed after `end`: append() leaves out all that did */
    begin = begin < s->last ? s->last : begin;
    end = end < begin ? begin : end;
    if (stream_take(s) && entry != GRAMMAR_NONE) {
        s->call_ns += end - begin;
        if (around)
            around->inside += end - begin;
        append(s, entry, JOB_LEAF, JOB_CALL, path, begin, end, e, around, !skipped);
        leave_skipped(s, skipped);
        show(s, entry, e, end);
    }
    stream_release(s);
}

void session_whole(struct session_stream *s, const struct session_key *key, uint32_t path, struct grammar_event *e,
                   uint64_t begin, uint64_t end, uint64_t skipped)
{
    whole(s, session_keys_find(&s->keys, key), path, e, begin, end, skipped);
    base_guard_leave();
}

void session_whole_as(struct session_stream *s, uint32_t entry, uint32_t path, struct grammar_event *e, uint64_t begin,
                      uint64_t end)
{
    whole(s, entry, path, e, begin, end, 0);
    base_guard_leave();
}

void session_memo_whole(const struct session_memo *memo, struct grammar_event *e, uint64_t begin, uint64_t end)
{
    struct session_stream *s = memo->stream;
    begin = begin < s->last ? s->last : begin;
    end = end < begin ? begin : end;
    if (stream_take(s)) {
        s->call_ns += end - begin;
        e->terminal = memo->terminal;
        append_known(s, memo->entry, JOB_LEAF, JOB_CALL, memo->path, begin, end, e, false, end, true);
        show(s, memo->entry, e, end);
    }
    stream_release(s);
    base_guard_leave();
}
