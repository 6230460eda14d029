/* SPDX-License-Identifier: MIT */
/*
 * What of a run is recorded: kinds of calls by option, stretches of time by MPI_Pcontrol.
 *
 *     events   a b c │ pause          │ d e f           gaps and durations of the stream leave the pause out
 *                                     └─ resume: the time between joins session.paused_ns
 *
 * A stream belongs to its thread, so a resume or a reset only raises session.control; each thread notices at its next
 * event and does what there is to do with its own stream, while it says that it is busy. By what the stream is in:
 *
 *                        a pause has ended        a reset                           a snapshot
 *   outside of regions   last += pause            empty; begin = last = the reset   held, frozen, let go
 *   in one, not opened   … its begin += pause     … its begin = the reset           the same, without it
 *   in one, opened       … its inside += pause    … not opened, begin = the reset   the same, opened
 *   busy                 at its next event        at its next event                 waits until it is idle
 *   idle since a reset   at its next event        at its next event                 empty, at the reset
 *
 * A library that is unloaded raises it, too: what lies at its addresses later is another place.
 *
 * One snapshot at a time: the helper's and the program's wait for each other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/modules.h"
#include "pythia.h"
#include "session/internal.h"
#include "session/site.h"
#include "session/tree.h"

/* --- Kinds of calls --- */

static uint32_t kind_bit(const char *word, size_t length)
{
    if (length == 3 && !strncmp(word, "all", 3))
        return ~0u;
    if (length == 3 && !strncmp(word, "omp", 3))
        return 1u << SESSION_REGIONS;
    if (length == 5 && !strncmp(word, "named", 5))
        return 1u << SESSION_NAMED;
    unsigned kind = job_call_kind_named(word, length);
    return kind == JOB_NO_CALL_KIND ? 0 : 1u << kind;
}

int session_kinds(const struct pythia_options *o, uint32_t *mask, char *why, size_t size)
{
    const char *list = *o->classes ? o->classes : o->kinds;
    uint32_t all = 1u << JOB_NO_CALL_KIND | 1u << JOB_OTHER;
    for (const char *w = list; w; w = strchr(w, ','), w += w != NULL) {
        size_t length = strcspn(w, ",");
        uint32_t bit = kind_bit(w, length);
        if (!bit) {
            snprintf(why, size, "PYTHIA_KINDS: '%.*s' is none of p2p, completion, probe, collective, onesided, io, "
                     "communicator, life, omp, named, all", (int)(length < 60 ? length : 60), w);
            return -1;
        }
        all |= bit;
    }
    *mask = all;
    return 0;
}

/* --- Pauses --- */

void session_pause(bool pause)
{
    static uint64_t since; /* guarded by session.lock */
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    bool paused = atomic_load(&session.paused);
    if (pause && !paused) {
        since = base_clock_now();
        atomic_store(&session.paused, true);
        session_epoch_next();
    } else if (!pause && paused) {
        atomic_fetch_add(&session.paused_ns, base_clock_now() - since);
        atomic_fetch_add(&session.control, 1);
        atomic_store(&session.paused, false);
        session_epoch_next();
    }
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
}

void session_reset(void)
{
    if (session_mode() != SESSION_RECORD && !(session_mode() == SESSION_PREDICT && session.options.update))
        return;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    atomic_store(&session.begin, base_clock_now());
    atomic_store(&session.before, 0);
    atomic_fetch_add(&session.resets, 1);
    atomic_fetch_add(&session.control, 1);
    session_epoch_next();
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
}

/* What is open stays open, and has just begun: it gets its opening event again when something happens inside. */
static void reopen_spans(struct session_stream *s)
{
    for (uint32_t i = 0; i < s->open_count; i++) {
        s->open[i].begin = s->begin;
        s->open[i].inside = 0;
        s->open[i].opened = false;
    }
}

static void restart(struct session_stream *s, uint64_t begin)
{
    struct grammar *fresh = session_stream_grammar(s->thread);
    if (!fresh || !session_stream_timeline(s, begin)) {
        grammar_destroy(fresh); /* it goes on with what it has */
        return;
    }
    grammar_destroy(s->grammar);
    s->grammar = fresh;
    session_sums_close(s);
    for (uint32_t entry = 0; entry < s->keys.table.used; entry++)
        s->keys.entries[entry].exclusive = s->keys.entries[entry].polls = (struct job_count){0, 0};
    session_flows_close(&s->flows);
    session_hops_close(&s->hops);
    s->passed += s->events;
    s->events = s->cost_samples = s->cost_sum = s->sample_at = s->quick_to = s->first_at = s->polls = 0;
    atomic_store_explicit(&s->first_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&s->look_at, 0, memory_order_relaxed);
    s->threads = (struct job_threads){0};
    s->call_ns = s->adopted_calls = s->region_ns = s->skipped_ns = s->followed_ns = s->idle_ns = 0;
    s->begin = s->last = begin;
}

void session_control_finish(struct session_stream *s)
{
    if (s->grammar && s->resets_seen != atomic_load(&session.resets)) {
        restart(s, atomic_load(&session.begin));
        session_named_restart(s, false);
    }
}

/* --- Libraries that go --- */

_Atomic uint32_t session_unloads;

static int (*real_dlclose)(void *);

__attribute__((constructor)) static void find_dlclose(void)
{
    session_find_next("dlclose", &real_dlclose);
}

/* Each stream looks what it still knows at its next event. */
PYTHIA_API int dlclose(void *library)
{
    uint64_t before = session_mode() == SESSION_OFF ? 0 : base_modules_unloaded();
    if (!real_dlclose)
        find_dlclose();
    int result = real_dlclose(library), kept = errno;
    if (session_mode() != SESSION_OFF && base_modules_unloaded() != before) {
        atomic_fetch_add(&session_unloads, 1);
        atomic_fetch_add(&session.control, 1);
        session_epoch_next();
    }
    errno = kept;
    return result;
}

static void forget_unloaded(struct session_stream *s)
{
    uint32_t unloads = atomic_load(&session_unloads);
    if (unloads == s->unloads_seen)
        return;
    session_keys_forget(&s->keys);
    session_callsites_forget(&s->callsites);
    session_callsites_forget(&s->paths);
    session_sites_forget(s);
    s->unloads_seen = unloads;
}

void session_control_stream(struct session_stream *s)
{
    uint64_t paused = atomic_load(&session.paused_ns), delta = paused - s->paused_seen;
    uint32_t resets = atomic_load(&session.resets);
    s->control_seen = atomic_load(&session.control);
    if (stream_take(s)) {
        forget_unloaded(s);
        if (resets != s->resets_seen && s->grammar) {
            restart(s, atomic_load(&session.begin));
            reopen_spans(s);
            session_named_restart(s, true);
        }
        uint64_t now = base_clock_now(), most = now > s->last ? now - s->last : 0;
        session_stream_skip(s, delta < most ? delta : most);
        s->paused_seen = paused;
        s->resets_seen = resets;
    }
    stream_release(s);
}
