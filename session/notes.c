/* SPDX-License-Identifier: MIT */
/* What hooks say of a stream beside its events: polls that found nothing, messages, when it begins, what is skipped. */
#include "base/clock.h"
#include "session/internal.h"
#include "watch/board.h"

/* --- Polls --- */

enum { POLLED_OWN = 100 }; /* ns that the hooks themselves may take between two polls */

void session_polled(struct session_stream *s, uint32_t entry, uint64_t begin, uint64_t end)
{
    uint64_t took = end - begin, since = begin - s->polled_until;
    bool again = s->polled_at == s->events;
    s->polls++;
    s->polled_ns = (again ? s->polled_ns + (since <= took + POLLED_OWN ? since : 0) : 0) + took;
    s->polled_until = end;
    s->polled_at = s->events;
    if (entry == GRAMMAR_NONE)
        return;
    s->keys.entries[entry].polls.samples++;
    s->keys.entries[entry].polls.total += took;
}

uint64_t session_polls_begin(const struct session_stream *s, uint64_t begin)
{
    uint64_t room = begin > s->last ? begin - s->last : 0, polled = s->polled_at == s->events ? s->polled_ns : 0;
    return begin - (polled < room ? polled : room);
}

/* --- Time --- */

uint64_t session_last(const struct session_stream *s)
{
    return s->last;
}

void session_took(struct session_stream *s, uint64_t ns)
{
    uint64_t all = atomic_load_explicit(&s->first_ns, memory_order_relaxed) + ns;
    atomic_store_explicit(&s->first_ns, all, memory_order_relaxed);
    s->first_at = s->events;
}

void session_took_since(struct session_stream *s, uint64_t before)
{
    enum { LONGEST = 100000 }; /* ns: who takes longer has lost the processor */
    uint64_t took = base_clock_now() - before;
    session_took(s, took < LONGEST ? took : LONGEST);
}

static void begin_at(struct session_stream *s, uint64_t begin, uint64_t last)
{
    atomic_store(&session.begin, begin);
    if (stream_take(s) && !s->events) {
        s->begin = begin;
        s->last = last;
        (void)session_stream_timeline(s, begin); /* without memory it begins a little early */
    }
    stream_release(s);
}

void session_begins(struct session_stream *s)
{
    uint64_t now = base_clock_now();
    begin_at(s, now, now);
}

void session_began(struct session_stream *s, uint64_t ago)
{
    atomic_store(&session.before, ago);
    if (watch_board_here) {
        watch_board_here->began -= ago;
        watch_board_here->launch_ns += ago;
    }
    begin_at(s, s->begin - ago, s->last - ago);
}

uint64_t session_skip(struct session_stream *s, uint64_t since)
{
    uint64_t now = session_now(s);
    if (now > since && stream_take(s))
        session_stream_skip(s, now - since);
    stream_release(s);
    return now;
}

uint32_t session_terminal(struct session_stream *s, uint32_t entry)
{
    uint32_t terminal = entry == GRAMMAR_NONE ? GRAMMAR_NONE : s->keys.entries[entry].terminal[JOB_LEAF];
    if (__builtin_expect(terminal == GRAMMAR_NONE && entry != GRAMMAR_NONE, 0)) {
        if (stream_take(s))
            terminal = session_terminal_of(s, entry, JOB_LEAF);
        stream_release(s);
    }
    return terminal == GRAMMAR_NONE ? GRAMMAR_NONE : s->keys.job_terminal[terminal];
}

void session_message(struct session_stream *s, uint32_t terminal, bool receives, uint32_t peer, uint64_t bytes)
{
    if (!s->grammar || terminal == GRAMMAR_NONE)
        return;
    if (stream_take(s))
        session_flows_add(&s->flows, terminal, receives, peer, bytes);
    stream_release(s);
}

struct session_sight session_see(const struct session_stream *s)
{
    uint64_t now = session_now(s);
    return (struct session_sight){.now = now,
                                  .id = s->events,
                                  .gap_ns = now - s->last,
                                  .thread = s->thread,
                                  .rank = session.world.rank};
}
