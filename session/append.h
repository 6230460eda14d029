/* SPDX-License-Identifier: MIT */
/*
 * How an event gets into its stream: what stream.c (calls, parallel regions) and named.c (regions by name) have in
 * common, inline in each way there is.
 *
 * Private to these two.  Threads: the stream's, which has taken it.  Hook-safe: yes, first sight aside.
 */
#pragma once

#include <errno.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "session/internal.h"
#include "watch/board.h"

/* One event in so many is timed for the summary's cost, from the end of what it is; it or the next one that shows
   nothing new. A hook reads the clock twice, of which that has one: another one is added. What took longer than this
   was preempted: not our cost. */
enum { COST_SAMPLE = 64, PREEMPTED_NS = 50000 };

static inline void follow(struct session_stream *s, const struct grammar_event *e, uint32_t peer_class)
{
    uint32_t terminal = s->keys.reference_terminal[e->terminal];
    base_fpu_t kept = base_fpu_hold();
    session_peers_before(s, peer_class, e);
    oracle_follow(s->oracle, terminal, e->gap, e->duration);
    session_peers_after(s, peer_class, terminal, e);
    base_fpu_give_back(kept);
}

/* What following took (now and then some us, to score itself) is no time of the program's: not of the next gap, and not
   of the span around. A recorded stream counts its append as part of the gap, so that it adds up to the wall time. */
static inline void leave_out(struct session_stream *s, uint64_t ns)
{
    s->last += ns;
    s->followed_ns += ns;
    if (s->open_count)
        s->open[s->open_count - 1].inside += ns;
}

/* `in_region`: what was before the event was in a parallel region. */
static inline __attribute__((always_inline)) void note_timeline(struct session_stream *s, const struct grammar_event *e,
                                                                bool in_region, enum job_kind kind, uint64_t begin,
                                                                uint64_t end)
{
    if (kind != JOB_NAMED) /* it has no time, and nobody asks how long the gaps before it are */
        job_noted_add(s->timeline.noted[e->terminal], e->gap, e->duration);
    if (s->timeline.series)
        session_series_note(s->timeline.series, in_region ? JOB_SERIES_OMP : JOB_SERIES_COMPUTATION, e->gap,
                            kind == JOB_REGION ? JOB_SERIES_OMP : JOB_SERIES_MPI, begin, end);
}

static inline uint64_t look_at(const struct session_stream *s)
{
    return atomic_load_explicit(&s->look_at, memory_order_relaxed);
}

/* Of the region that the gap before an event was in: GRAMMAR_NONE: in none. */
static inline uint32_t region_around(const struct session_stream *s, uint32_t entry, enum job_phase phase)
{
    uint32_t spans = s->open_count;
    if (phase == JOB_OPEN) /* it is on the stack, and others that it is around */
        for (uint32_t i = 0; i < s->open_count && spans == s->open_count; i++)
            spans = !s->open[i].opened ? i : spans;
    bool closes = phase == JOB_CLOSE && s->keys.entries[entry].key.kind == JOB_REGION;
    uint32_t around = closes ? entry : spans ? s->open[spans - 1].entry : GRAMMAR_NONE;
    uint32_t terminal = around == GRAMMAR_NONE ? around : s->keys.entries[around].terminal[JOB_OPEN];
    return terminal == GRAMMAR_NONE ? terminal : s->keys.job_terminal[terminal];
}

/* Whoever has a sample asks for what it was in; the next event is looked at as long as somebody does. */
static inline void answer(struct session_stream *s, const struct grammar_event *e, uint32_t entry, enum job_phase phase)
{
    if (inside_asks(&s->inside, s->last))
        inside_tell(&s->inside, &(struct inside_event){
            s->last - e->duration - e->gap, s->last - e->duration, s->last, s->keys.job_terminal[e->terminal],
            region_around(s, entry, phase), s->keys.entries[entry].key.kind == JOB_REGION });
    bool asked = atomic_load_explicit(&s->inside.asked, memory_order_relaxed) != 0;
    atomic_store_explicit(&s->look_at, asked ? 0 : s->sample_at, memory_order_relaxed);
}

/* What it took since `before` is timed, now and then, and in a predicted run left out: the oracle's part, too. errno is
   kept. */
static inline __attribute__((always_inline)) void append_timed(struct session_stream *s, uint32_t entry,
                                                               enum job_phase phase, struct grammar_event *e,
                                                               uint64_t before)
{
    bool timed = s->events > s->sample_at && s->events - 1 != s->first_at;
    int kept = errno;
    if (s->oracle)
        follow(s, e, s->keys.entries[entry].key.peer_class);
    if (timed && base_here.board)
        watch_board_season(base_here.board, s->last);
    uint64_t after = base_clock_now();
    uint64_t cost = timed ? base_clock_now() - before : 0;
    if (timed && cost < PREEMPTED_NS) {
        s->cost_sum += cost;
        s->cost_samples++;
        s->sample_at = s->events + COST_SAMPLE;
        s->quick_to = s->oracle && session.options.quick ? s->sample_at : 0;
    }
    if (!s->predicts)
        answer(s, e, entry, phase);
    else if (after >= s->progress_at && s->oracle)
        session_progress_note(s, entry, after);
    errno = kept;
    if (!s->predicts)
        return;
    if (phase == JOB_OPEN) /* a span that began a while ago: the time passes now, before the one inside begins */
        s->opening_ns += after - before;
    else
        leave_out(s, after - s->last);
}

/* What the oracle expected, and nothing is due: it takes as little as recording does, and like that is part of the gap
   that comes. */
static inline bool follow_expected(struct session_stream *s, const struct grammar_event *e, uint32_t peer_class,
                                   uint64_t end)
{
    uint32_t terminal;
    if (s->events > s->quick_to || end >= s->progress_at || !session_peers_idle(&s->peers, peer_class, e))
        return false;
    terminal = s->keys.reference_terminal[e->terminal];
    if (!oracle_follow_expected(s->oracle, terminal, e->gap, e->duration))
        return false;
    session_peers_pass(&s->peers, peer_class, terminal, e);
    return true;
}

/* The values and the terminal of `e` are there; the rest is filled in here: an event is written once and never
   copied. `plain`: nothing is to be left out of the time after it. */
static inline __attribute__((always_inline)) void append_known(struct session_stream *s, uint32_t entry,
                                                               enum job_phase phase, enum job_kind kind, uint32_t path,
                                                               uint64_t begin, uint64_t end, struct grammar_event *e,
                                                               bool in_region, uint64_t before, bool plain)
{
    bool look = s->events >= look_at(s);
    e->gap = begin - s->last;
    e->duration = end - begin;
    s->last = end;
    s->events++;
    if (s->grammar) {
        note_timeline(s, e, in_region, kind, begin, end);
        if (kind != JOB_NAMED)
            session_hops_note(&s->hops, e->terminal, s->context ? session_named_way(s, path) : path, e->gap,
                              e->duration);
        grammar_append(s->grammar, e);
    }
    if (__builtin_expect(look, 0) &&
        !(plain && follow_expected(s, e, s->keys.entries[entry].key.peer_class, end)))
        append_timed(s, entry, phase, e, before);
}

static inline __attribute__((always_inline)) void append(struct session_stream *s, uint32_t entry,
                                                         enum job_phase phase, enum job_kind kind, uint32_t path,
                                                         uint64_t begin, uint64_t end, struct grammar_event *e,
                                                         bool in_region, bool plain)
{
    uint64_t before = phase == JOB_OPEN && s->events >= look_at(s) ? base_clock_now() : end;
    e->terminal = session_terminal_of(s, entry, phase);
    if (__builtin_expect(e->terminal == GRAMMAR_NONE, 0))
        session_off("out of memory for a new event");
    else
        append_known(s, entry, phase, kind, path, begin, end, e, in_region, before, plain);
}
