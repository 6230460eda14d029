/* SPDX-License-Identifier: MIT */
#include "session/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/guard.h"
#include "base/lock.h"
#include "session/append.h"

/* --- Contexts --- */

static const char *known_name(const struct session_named *n, const char *name, uint32_t *entry)
{
    for (uint32_t i = 1; i < n->contexts; i++)
        if (!strcmp(n->context[i]->name, name)) {
            *entry = n->context[i]->entry;
            return n->context[i]->name;
        }
    return NULL;
}

static uint32_t define_path(const char *name, uint32_t outer)
{
    uint32_t path = GRAMMAR_NONE;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job)
        path = job_named_path(session.job, name, outer);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return path;
}

/* Who moves the contexts is busy: a checkpoint reads them. */
static uint32_t context_append(struct session_stream *s, struct session_named *n, const struct session_context *c)
{
    uint32_t number = GRAMMAR_NONE;
    struct session_context *own = malloc(sizeof *own);
    if (own && stream_take(s) && !base_array_append(&n->context, &n->contexts, &n->room, &own, 1, sizeof own)) {
        *own = *c;
        number = n->contexts - 1;
    } else {
        free(own);
    }
    stream_release(s);
    return number;
}

/* Its region on the board: what is around it, and it. */
static void put_on_board(struct session_stream *s, struct session_context *c)
{
    const struct session_context *around = s->named->context[c->parent];
    struct watch_board *b = base_here.board;

    c->board = s->named->contexts < WATCH_REGIONS ? s->named->contexts : around->board;
    if (!b || c->board == around->board)
        return;
    char outer[sizeof b->region->name] = "";
    if (around->board)
        memcpy(outer, b->region[around->board].name, sizeof outer);
    if (*outer)
        snprintf(b->region[c->board].name, sizeof b->region->name, "%.26s > %.26s", outer, c->name);
    else
        snprintf(b->region[c->board].name, sizeof b->region->name, "%.55s", c->name);
}

/* A name within what is open; GRAMMAR_NONE: out of memory. */
static uint32_t context_add(struct session_stream *s, const char *name)
{
    struct session_context c = { .parent = s->context, .terminal = { GRAMMAR_NONE, GRAMMAR_NONE } };
    const char *text = known_name(s->named, name, &c.entry);
    c.name = text ? text : strdup(name);
    if (!c.name)
        return GRAMMAR_NONE;
    if (!text) {
        struct session_key key = { .function = c.name, .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE,
                                   .kind = JOB_NAMED };
        c.entry = session_keys_find(&s->keys, &key);
    }
    put_on_board(s, &c);
    c.sum.path = define_path(c.name, s->named->context[s->context]->sum.path);
    bool known = c.entry != GRAMMAR_NONE && c.sum.path != GRAMMAR_NONE;
    uint32_t number = known ? context_append(s, s->named, &c) : GRAMMAR_NONE;
    if (number == GRAMMAR_NONE && !text)
        session_off("out of memory for a region by name"); /* its identity may be known: the text stays */
    return number;
}

static __attribute__((noinline)) uint32_t context_look(struct session_stream *s, const char *name)
{
    struct session_named *n = s->named;
    uint32_t c = 1;
    int kept = errno;
    while (c < n->contexts && (n->context[c]->parent != s->context || strcmp(n->context[c]->name, name)))
        c++;
    if (c == n->contexts)
        c = c < NAMED_CONTEXTS ? context_add(s, name) : GRAMMAR_NONE;
    errno = kept;
    return c;
}

/* A name's text belongs to the first context that has it. */
static void named_destroy(struct session_named *n)
{
    for (uint32_t i = n ? n->contexts : 0; i-- > 1;) {
        uint32_t k = 1;
        while (k < i && n->context[k]->name != n->context[i]->name)
            k++;
        if (k == i)
            free((void *)(uintptr_t)n->context[i]->name);
    }
    for (uint32_t i = 0; n && i < n->contexts; i++)
        free(n->context[i]);
    if (n)
        free(n->context);
    free(n);
}

static __attribute__((noinline)) bool named_create(struct session_stream *s)
{
    const struct session_context nothing = { .name = "", .sum.path = GRAMMAR_NONE };
    int kept = errno;
    struct session_named *n = calloc(1, sizeof *n);
    bool made = n && context_append(s, n, &nothing) != GRAMMAR_NONE;
    if (made && stream_take(s)) {
        s->named = n;
    } else {
        named_destroy(n);
        if (!made)
            session_off("out of memory for a region by name");
    }
    stream_release(s);
    errno = kept;
    return s->named;
}

static __attribute__((noinline)) uint32_t way_anew(struct session_stream *s, uint32_t path)
{
    uint32_t both = path;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    if (session.job)
        both = job_named_within(session.job, path, s->named->context[s->context]->sum.path);
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return both == GRAMMAR_NONE ? path : both;
}

uint32_t session_named_way(struct session_stream *s, uint32_t path)
{
    uint32_t slot = (path ^ s->context * 37) & (NAMED_WAYS - 1), context = s->context;
    __typeof__(&s->named->way[0]) w = &s->named->way[slot];
    if (__builtin_expect(w->context != context || w->path != path, 0)) {
        w->both = way_anew(s, path);
        w->context = context;
        w->path = path;
    }
    return w->both;
}

/* --- Events --- */

/* What of the stream's time is over. */
static inline uint64_t time_of(const struct session_stream *s)
{
    return s->last - s->skipped_ns - s->followed_ns - s->idle_ns;
}

/* The stream's number of a begin or an end. */
static inline uint32_t terminal_of(struct session_stream *s, struct session_context *c, enum job_phase phase)
{
    uint32_t *own = &c->terminal[phase == JOB_CLOSE];
    if (__builtin_expect(*own == GRAMMAR_NONE, 0))
        *own = session_terminal_of(s, c->entry, phase);
    return *own;
}

/* The gap before it is the context's. */
static inline __attribute__((always_inline)) void event(struct session_stream *s, struct session_context *c,
                                                        struct session_context *around, enum job_phase phase,
                                                        uint64_t now)
{
    struct grammar_event e;
    e.channels = 0;
    e.terminal = terminal_of(s, c, phase);
    if (__builtin_expect(e.terminal == GRAMMAR_NONE, 0)) {
        session_off("out of memory for a new event");
        return;
    }
    around->sum.own_ns += now - s->last;
    append_known(s, c->entry, JOB_CLOSE, JOB_NAMED, GRAMMAR_NONE, now, now, &e, s->open_count > 0, now, true);
}

/* By its end its times have passed: what they are now is taken off when it begins, and added when it ends. */
static inline void add_times(const struct session_stream *s, struct job_named *sum, uint64_t sign)
{
    sum->ns += sign * time_of(s);
    sum->mpi_ns += sign * s->call_ns;
    sum->omp_ns += sign * s->region_ns;
}

static inline void count_on(struct session_stream *s, uint32_t context, const char *given)
{
    struct session_named *n = s->named;
    struct job_named *sum = &n->context[context]->sum;
    n->open[n->count].given = given;
    n->open[n->count].context = context;
    n->open[n->count++].spans = s->open_count;
    sum->entries++;
    add_times(s, sum, -1);
    s->context = context;
}

/* The innermost one ends: the stream is taken. */
static inline __attribute__((always_inline)) void close_one(struct session_stream *s, uint64_t now)
{
    struct session_named *n = s->named;
    struct session_context *c = n->context[s->context];
    event(s, c, c, JOB_CLOSE, now);
    add_times(s, &c->sum, 1);
    n->count--;
    s->context = c->parent;
    if (base_here.board)
        base_here.board->in_region = n->context[c->parent]->board;
}

/* All down to `count` end, not by themselves. */
static __attribute__((noinline)) void close_unended(struct session_stream *s, uint32_t count)
{
    uint64_t now = session_now(s);
    if (stream_take(s))
        for (; s->named->count > count; close_one(s, now))
            s->named->context[s->context]->sum.unended++;
    stream_release(s);
}

void session_named_close(struct session_stream *s, uint32_t spans)
{
    uint32_t count = s->named ? s->named->count : 0;
    while (count && s->named->open[count - 1].spans >= spans)
        count--;
    if (s->named && count < s->named->count)
        close_unended(s, count);
}

/* --- The program's side --- */

/* The context of a name that begins now, where it began before within the same: most do. 0: it may have not. */
static inline uint32_t context_again(const struct session_stream *s, const struct session_named *n, const char *name)
{
    uint32_t slot = ((uint32_t)(uintptr_t)name * 0x9e3779b1u >> 16 ^ s->context) & (NAMED_RECENT - 1);
    uint32_t c = n->recent[slot].context;
    return c && n->recent[slot].name == name && n->recent[slot].parent == s->context && !s->open_count &&
                   n->count < NAMED_DEEPEST && !n->beyond && !strcmp(n->context[c]->name, name)
               ? c : 0;
}

/* The same of any; 0: it is not recorded. */
static __attribute__((noinline)) uint32_t context_of(struct session_stream *s, const char *name)
{
    if (!s->named && !named_create(s))
        return 0;
    struct session_named *n = s->named;
    uint32_t c = n->beyond || n->count == NAMED_DEEPEST ? GRAMMAR_NONE : context_look(s, name);
    if (s->open_count)
        session_open_around(s);
    if (c == GRAMMAR_NONE) {
        n->beyond++;
        return 0;
    }
    uint32_t slot = ((uint32_t)(uintptr_t)name * 0x9e3779b1u >> 16 ^ s->context) & (NAMED_RECENT - 1);
    n->recent[slot].name = name;
    n->recent[slot].parent = s->context;
    n->recent[slot].context = c;
    return c;
}

PYTHIA_API void pythia_region_begin(const char *name)
{
    struct session_stream *s = name ? session_enter_from(base_frame_here()) : NULL;
    if (!s)
        return;
    if (__builtin_expect(session.records >> SESSION_NAMED & 1, 1)) {
        uint32_t c = s->named ? context_again(s, s->named, name) : 0;
        if (__builtin_expect(!c, 0))
            c = context_of(s, name);
        if (c && stream_take(s)) {
            event(s, s->named->context[c], s->named->context[s->context], JOB_OPEN, session_now(s));
            count_on(s, c, name);
            if (base_here.board)
                watch_board_begins(base_here.board, s->named->context[c]->board);
        }
        stream_release(s);
    }
    base_guard_leave();
}

/* How many are open when the innermost one of that name has ended: one of the spans at hand; GRAMMAR_NONE: none is. */
static __attribute__((noinline)) uint32_t find_open(struct session_stream *s, const char *name)
{
    struct session_named *n = s->named;
    for (uint32_t i = n->count; i && n->open[i - 1].spans == s->open_count; i--)
        if (!name || !strcmp(n->context[n->open[i - 1].context]->name, name))
            return i - 1;
    n->strays++;
    return GRAMMAR_NONE;
}

PYTHIA_API void pythia_region_end(const char *name)
{
    struct session_stream *s = session_enter_from(base_frame_here());
    if (!s)
        return;
    if (s->named && s->named->beyond) {
        s->named->beyond--;
    } else if (s->named) {
        uint32_t count = s->named->count - 1; /* most end by the text that they were begun by */
        if (__builtin_expect(count >= NAMED_DEEPEST || s->named->open[count].given != name ||
                             s->named->open[count].spans != s->open_count, 0))
            count = find_open(s, name);
        if (__builtin_expect(count != GRAMMAR_NONE && count + 1 < s->named->count, 0))
            close_unended(s, count + 1);
        if (count != GRAMMAR_NONE && stream_take(s))
            close_one(s, session_now(s));
        stream_release(s);
    }
    base_guard_leave();
}

/* --- What comes of it --- */

void session_named_teams(struct session_stream *s, const struct job_threads *t)
{
    for (uint32_t i = 0; s->named && i < s->named->count; i++)
        job_threads_sum(&s->named->context[s->named->open[i].context]->sum.teams, t);
}

void session_named_restart(struct session_stream *s, bool goes_on)
{
    struct session_named *n = s->named;
    if (!n)
        return;
    for (uint32_t i = 0; i < n->contexts; i++)
        n->context[i]->sum = (struct job_named){ .path = n->context[i]->sum.path };
    uint32_t count = goes_on ? n->count : 0;
    n->count = s->context = 0;
    while (n->count < count) {
        uint32_t context = n->open[n->count].context, spans = n->open[n->count].spans;
        event(s, n->context[context], n->context[s->context], JOB_OPEN, s->last);
        count_on(s, context, NULL);
        n->open[n->count - 1].spans = spans;
    }
}

void session_named_finish(struct session_stream *s)
{
    while (s->named && s->named->count)
        close_one(s, s->last);
}

struct job_named *session_named_rows(const struct session_stream *s, uint32_t *count)
{
    const struct session_named *n = s->named;
    struct job_named *rows = n ? calloc(n->contexts, sizeof *rows) : NULL;
    *count = rows ? n->contexts : 0;
    for (uint32_t i = 0; i < *count; i++)
        rows[i] = n->context[i]->sum;
    for (uint32_t i = 0; rows && i < n->count; i++)
        add_times(s, &rows[n->open[i].context], 1);
    for (uint32_t i = 0; i < *count; i++) {
        rows[i].rank = session.world.rank;
        rows[i].thread = s->thread > 0;
        rows[i].ranks = 1;
        rows[i].most_ns = rows[i].ns;
        rows[i].most_useful_ns = rows[i].ns - rows[i].mpi_ns;
    }
    return rows;
}

void session_named_free(struct session_stream *s)
{
    named_destroy(s->named);
    s->named = NULL;
}
