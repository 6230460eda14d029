/* SPDX-License-Identifier: MIT */
#include "teams/share.h"

#include <stddef.h>

#include "base/clock.h"
#include "session/ask.h"

_Thread_local struct teams_share teams_share __attribute__((tls_model("initial-exec")));

enum { TEAMS = 64 };
static struct teams_team table[TEAMS];

static inline void share_add(atomic_uint_least64_t *to, uint64_t ns)
{
    if (ns)
        atomic_fetch_add_explicit(to, ns, memory_order_relaxed);
}

static inline uint64_t get(const atomic_uint_least64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static inline uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Stores the greater of the two. */
static void keep_greater(atomic_uint_least64_t *to, uint64_t value)
{
    uint64_t now = get(to);
    while (now < value &&
           !atomic_compare_exchange_weak_explicit(to, &now, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* --- Teams --- */

struct teams_team *teams_team_begin(uint64_t begin, uint32_t asked)
{
    for (uint32_t i = 0; i < TEAMS; i++) {
        struct teams_team *t = &table[i];
        uint32_t serial = atomic_load_explicit(&t->serial, memory_order_relaxed);
        if (serial & 1 || !atomic_compare_exchange_strong_explicit(&t->serial, &serial, serial + 1,
                                                                   memory_order_acquire, memory_order_relaxed))
            continue;
        for (int k = 0; k < JOB_THREADS_PARTS; k++)
            atomic_store_explicit(&t->part[k], 0, memory_order_relaxed);
        atomic_store_explicit(&t->inside, 0, memory_order_relaxed);
        atomic_store_explicit(&t->last, begin, memory_order_relaxed);
        atomic_store_explicit(&t->largest, asked, memory_order_relaxed);
        t->begin = begin;
        t->asked = asked;
        t->stream = session_stream_here();
        return t;
    }
    return NULL;
}

void teams_team_end(struct teams_team *t, uint64_t end, uint32_t threads, struct job_threads *to)
{
    uint64_t team = (end - t->begin) * threads, all = team + get(&t->inside), last = get(&t->last), known = 0, part;
    uint32_t largest = (uint32_t)get(&t->largest);
    share_add(&t->part[JOB_THREADS_JOIN], minus(end, last) * threads);
    for (int k = 0; k < JOB_THREADS_PARTS; k++) {
        part = get(&t->part[k]);
        if (k == JOB_THREADS_UNEVEN) /* what there is of teams inside is in the rest */
            continue;
        part = part < all - known ? part : all - known; /* clocks of processors that are not quite the same */
        to->part[k] += part;
        known += part;
    }
    to->part[JOB_THREADS_UNEVEN] += all - known;
    to->team_ns += all;
    to->timed_ns += all;
    to->samples++;
    to->threads = to->threads > largest ? to->threads : largest;
    atomic_fetch_add_explicit(&t->serial, 1, memory_order_release);
}

/* --- Shares --- */

/* Who was in a team that has ended is in none. */
static inline bool runs(struct teams_share *s)
{
    if (s->team && atomic_load_explicit(&s->team->serial, memory_order_relaxed) == s->serial)
        return true;
    s->team = NULL;
    return false;
}

bool teams_share_runs(void)
{
    return runs(&teams_share);
}

static void work_begins(struct teams_share *s, uint64_t now)
{
    s->state = TEAMS_AT_WORK;
    s->since = now;
    s->calls = session_calls_here();
    s->waited = s->inside = 0;
    share_add(&s->team->part[JOB_THREADS_WORK], s->met);
    s->met = 0;
}

static void work_ends(struct teams_share *s, uint64_t now)
{
    uint64_t calls = minus(session_calls_here(), s->calls), took = minus(now, s->since);
    s->state = TEAMS_AT_REST;
    calls = calls < took ? calls : took;
    share_add(&s->team->part[JOB_THREADS_MPI], calls);
    share_add(&s->team->part[JOB_THREADS_WAIT], s->waited);
    share_add(&s->team->part[JOB_THREADS_WORK], minus(took, calls + s->waited + s->inside));
    keep_greater(&s->team->last, now);
}

/* Whose samples a worker's are: said where that is news. */
static inline void join_stream(const struct teams_team *t)
{
    static _Thread_local uint32_t joined __attribute__((tls_model("initial-exec"))); /* + 1 */
    if (__builtin_expect(joined == t->stream + 1, 1))
        return;
    joined = t->stream + 1;
    session_samples_join(t->stream);
}

void teams_share_begin(struct teams_team *t)
{
    join_stream(t);
    struct teams_share *s = &teams_share;
    uint64_t now = base_clock_now();
    *s = (struct teams_share){ .team = t, .serial = atomic_load_explicit(&t->serial, memory_order_relaxed) };
    share_add(&t->part[JOB_THREADS_FORK], minus(now, t->begin));
    work_begins(s, now);
}

void teams_share_end(void)
{
    struct teams_share *s = &teams_share;
    if (!runs(s))
        return;
    if (s->state == TEAMS_WAITS)
        teams_share_waited();
    if (s->state == TEAMS_AT_WORK)
        work_ends(s, base_clock_now());
    s->over = true;
}

struct teams_team *teams_share_leave(uint64_t now, uint32_t asked, struct teams_share *outer)
{
    struct teams_team *inner = teams_team_begin(now, teams_share.team->asked * asked);
    if (!inner)
        return NULL;
    inner->stream = inner->stream == UINT32_MAX ? teams_share.team->stream : inner->stream;
    *outer = teams_share;
    outer->left = session_calls_here();
    teams_share.team = NULL;
    return inner;
}

void teams_share_return(const struct teams_share *outer, struct teams_team *inner, uint64_t end, uint32_t threads)
{
    struct teams_share *s = &teams_share;
    struct job_threads inside = { 0 };
    uint64_t took = end - inner->begin;
    teams_team_end(inner, end, threads ? threads : 1, &inside);
    *s = *outer;
    if (!runs(s))
        return;
    for (int k = 0; k < JOB_THREADS_PARTS; k++)
        share_add(&s->team->part[k], inside.part[k]);
    share_add(&s->team->inside, minus(inside.team_ns, took));
    keep_greater(&s->team->largest, inside.threads);
    s->inside += took;
    s->calls += minus(session_calls_here(), s->left); /* they are the region's */
}

void teams_share_rest(void)
{
    struct teams_share *s = &teams_share;
    if (s->state == TEAMS_AT_WORK && runs(s))
        work_ends(s, base_clock_now());
}

void teams_share_resume(void)
{
    struct teams_share *s = &teams_share;
    if (s->state == TEAMS_AT_REST && !s->over && runs(s))
        work_begins(s, base_clock_now());
}

bool teams_share_wait(void)
{
    struct teams_share *s = &teams_share;
    if (s->state != TEAMS_AT_WORK || !runs(s))
        return false;
    s->state = TEAMS_WAITS;
    s->wait = base_clock_now();
    return true;
}

void teams_share_never_waited(void)
{
    if (teams_share.state == TEAMS_WAITS)
        teams_share.state = TEAMS_AT_WORK;
}

void teams_share_waited(void)
{
    struct teams_share *s = &teams_share;
    if (s->state != TEAMS_WAITS || !runs(s))
        return;
    s->state = TEAMS_AT_WORK;
    s->waited += minus(base_clock_now(), s->wait + s->met);
    s->met = 0;
}

/* --- Tasks --- */

struct teams_met teams_share_task(void)
{
    struct teams_share *s = &teams_share;
    struct teams_met met = { s->state, s->state != TEAMS_AT_WORK && runs(s) };
    if (!met.met)
        return met;
    if (met.state == TEAMS_WAITS)
        teams_share_waited();
    else
        work_begins(s, base_clock_now());
    return met;
}

void teams_share_task_end(struct teams_met met)
{
    struct teams_share *s = &teams_share;
    if (!met.met || !runs(s) || s->state != TEAMS_AT_WORK)
        return;
    if (met.state == TEAMS_WAITS)
        teams_share_wait();
    else
        work_ends(s, base_clock_now());
}

void teams_share_met(uint64_t ns)
{
    struct teams_share *s = &teams_share;
    if (s->state != TEAMS_AT_WORK && runs(s))
        s->met += ns;
}
