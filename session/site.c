/* SPDX-License-Identifier: MIT */
#include "session/site.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cfi.h"
#include "base/clock.h"
#include "base/modules.h"
#include "base/python.h"
#include "session/internal.h"
#include "session/memo.h"
#include "watch/board.h"

enum {
    CALLSITE_FRAMES = 32, /* frames above the return address that a callsite has at most */
    CALLSITE_OURS = 16, /* frames of this library below it at most */
    CALLSITE_WAYS = 16, /* slots that a stack may take */
    CALLSITE_SETS = 32,
    CALLSITE_WORDS = 2 * SITE_PATH, /* of one stack at most */
    CALLSITE_POOL = 1 << 14,        /* words of all stacks that are remembered */
    CALLSITE_TOKENS = SITE_SLOTS,   /* stacks that a thread learns, before they must be earned */
    CALLSITE_LEFT_OUT = 4,     /* modules whose frames tell nothing */
    CALLSITE_ROWS = 256,       /* of unwind tables */
    CALLSITE_LINES = 256,      /* of Python */
    LEARN_EVERY = 64
};

struct session_word {
    const uintptr_t *where;
    uintptr_t value;
};

/* Kept with the stream. Another thread has another stack: for it, all slots are empty. */
struct callsite_cache {
    struct session_memo memo[SITE_SLOTS] __attribute__((aligned(64))); /* of each slot that is filled; not cleared */
    struct session_slot slot[SITE_SLOTS];
    uint32_t filled;               /* the slot that was filled last, + 1; 0: all are empty */
    uint32_t words; /* taken of the pool */
    uint32_t calls; /* that missed, modulo LEARN_EVERY */
    uint32_t tokens;
    uint32_t turn; /* whose turn it is to be replaced */
    struct { uintptr_t pc; bool left_out; struct base_cfi_row row; } row[CALLSITE_ROWS];
    struct { uint64_t hash; void *line; } line[CALLSITE_LINES];
    struct session_word pool[CALLSITE_POOL];
};

/* --- Frames that tell nothing --- */

static struct { uintptr_t begin, end; } callsite_left_out[CALLSITE_LEFT_OUT];
static atomic_uint callsite_left_out_count;

static void callsite_leave_out(void *context, uintptr_t begin, uintptr_t end, uint64_t bias, const char *build_id,
                               const char *path)
{
    uintptr_t at = (uintptr_t)context;
    uint32_t n = atomic_load(&callsite_left_out_count);
    (void)bias, (void)build_id, (void)path;
    if (at < begin || at >= end || n == CALLSITE_LEFT_OUT)
        return;
    callsite_left_out[n].begin = begin;
    callsite_left_out[n].end = end;
    atomic_store_explicit(&callsite_left_out_count, n + 1, memory_order_release);
}

static bool callsite_is_left_out(uintptr_t pc)
{
    uint32_t n = atomic_load_explicit(&callsite_left_out_count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (pc >= callsite_left_out[i].begin && pc < callsite_left_out[i].end)
            return true;
    return false;
}

void session_sites_leave_out(const void *address)
{
    uint64_t offset;
    uint32_t module = base_modules_find(address, &offset);
    if (module != 0 && module != BASE_MODULE_NONE && !callsite_is_left_out((uintptr_t)address))
        base_modules_each(callsite_leave_out, (void *)(uintptr_t)address);
}

/* --- Walking --- */

/* A walk up from a hook. */
struct callsite_way {
    void *from;
    uintptr_t frame;             /* callsite_key() of who asks, or of where the hook's return address lies */
    uintptr_t lowest;            /* words below that come and go */
    struct session_word *words; /* what decides the way; NULL: not asked for */
    uint32_t count;
    bool lost; /* words do not tell the way */
    uint32_t found; /* frames, from `from` on … */
    uint32_t lines; /* … and behind them lines of Python: its own frames lie above the interpreter's innermost one */
    void *frames[SITE_PATH];
};

/* The row of an instruction; NULL: none. */
static const struct base_cfi_row *callsite_row(struct callsite_cache *c, uintptr_t pc, bool *left_out)
{
    uint32_t i = (uint32_t)(pc * 0x9e3779b97f4a7c15u >> 40) % CALLSITE_ROWS;
    if (c->row[i].pc != pc) {
        c->row[i].pc = 0;
        if (!base_cfi_find(pc, &c->row[i].row))
            return NULL;
        c->row[i].pc = pc;
        c->row[i].left_out = callsite_is_left_out(pc);
    }
    *left_out = c->row[i].left_out;
    return &c->row[i].row;
}

static void callsite_note(struct callsite_way *w, const uintptr_t *where)
{
    w->lost = w->lost || w->count == CALLSITE_WORDS || (uintptr_t)where < w->lowest;
    if (!w->lost)
        w->words[w->count++] = (struct session_word){where, *where};
}

/* Notes what led from one frame to the next: what its row read there, and, where that goes by the frame pointer, the
   word `base` in which a frame inside kept it. Anything else is a variable of the program's and decides nothing. */
static void callsite_note_step(struct callsite_way *w, const struct base_cfi_row *row, const struct base_cfi_read *read,
                               const uintptr_t *base)
{
    if (row->frame.from == BASE_CFI_BASE || row->back.from == BASE_CFI_BASE || row->base.from == BASE_CFI_BASE)
        callsite_note(w, base);
    if (read->frame)
        callsite_note(w, read->frame);
    callsite_note(w, read->back);
}

/* The frames above `from`, found on the way by its value: how many frames of ours are below it depends on what the
   compiler inlined. */
static void callsite_climb(struct callsite_cache *c, struct callsite_way *w)
{
    struct base_cfi_place at;
    struct base_cfi_read read;
    const struct base_cfi_row *row;
    const uintptr_t *base = NULL; /* where the frame pointer of the frame at hand is kept */
    BASE_CFI_HERE(&at);
    bool left_out;
    for (uint32_t all = 0; w->found < SITE_PATH && (w->found || all <= CALLSITE_OURS); all++) {
        if (!(row = callsite_row(c, base_cfi_at(&at), &left_out)))
            return;
        if (left_out && w->found > 1) /* the frame at hand, which the last step found; the first is `from` */
            w->found--;
        if (!base_cfi_step(&at, row, &read))
            return;
        if (w->found)
            callsite_note_step(w, row, &read, base);
        if (w->found && w->lines && base_python_runs(at.pc))
            return;
        if (w->found || (void *)at.pc == w->from)
            w->frames[w->found++] = (void *)at.pc;
        base = read.base ? read.base : base;
    }
}

/* Lines of Python behind the other frames. */
static void callsite_add_lines(struct callsite_cache *c, struct callsite_way *w, const struct base_python_frame *python)
{
    uint32_t count = w->lines;
    w->lines = 0;
    for (uint32_t i = 0; i < count && w->found + w->lines < SITE_PATH; i++) {
        uint32_t n = (uint32_t)(python[i].hash >> 40) % CALLSITE_LINES;
        if (c->line[n].hash != python[i].hash) {
            c->line[n].line = base_python_line(&python[i]);
            c->line[n].hash = python[i].hash;
        }
        if (c->line[n].line)
            w->frames[w->found + w->lines++] = c->line[n].line;
    }
}

/* Lines first: what a call is known by. At most so many of them, and of the frames below. Returns how many. */
static uint32_t callsite_frames(const struct callsite_way *w, uint32_t most, void *frames[SITE_PATH])
{
    uint32_t lines = w->lines < most ? w->lines : most, others = w->found < most ? w->found : most;
    memcpy(frames, w->frames + w->found, lines * sizeof *frames);
    memcpy(frames + lines, w->frames, others * sizeof *frames);
    return lines + others;
}

static struct session_site callsite_walk(struct session_stream *stream, struct callsite_way *w)
{
    uint32_t depth = session_depth() < CALLSITE_FRAMES ? session_depth() : CALLSITE_FRAMES;
    struct base_python_frame python[BASE_PYTHON_FRAMES];
    void *frames[SITE_PATH];
    w->lost = !w->words;
    w->lines = stream->sites ? base_python_frames(python) : 0;
    if (stream->sites)
        callsite_climb(stream->sites, w);
    w->lost = w->lost || !w->found;
    if (!w->found)
        w->frames[w->found++] = w->from;
    if (w->lines)
        callsite_add_lines(stream->sites, w, python);
    uint32_t count = callsite_frames(w, depth + 1, frames);
    return (struct session_site){ session_callsite(stream, frames, count),
                                  session_path(stream, w->frames, w->found + w->lines), NULL };
}

_Static_assert(sizeof(struct session_slot) == WATCH_WAY_STEP, "a board knows ways by their slots");
_Static_assert(sizeof(struct session_memo) == sizeof(struct session_slot) &&
               offsetof(struct callsite_cache, slot) == sizeof(((struct callsite_cache *)0)->memo),
               "session_memo_slot()");
_Static_assert((int)SITE_SLOTS < (int)WATCH_WAYS, "one more is for what is not remembered");

/* --- The cache --- */

/* Lives as long as the process, like the stream. */
static struct callsite_cache *callsite_create(void)
{
    enum { ALIGN = _Alignof(struct callsite_cache) };
    uintptr_t block = (uintptr_t)malloc(sizeof(struct callsite_cache) + ALIGN - 1); /* base/heap.h has no other */
    struct callsite_cache *c = block ? (void *)((block + ALIGN - 1) / ALIGN * ALIGN) : NULL;
    if (c) {
        memset(c->slot, 0, offsetof(struct callsite_cache, pool) - offsetof(struct callsite_cache, slot));
        c->tokens = CALLSITE_TOKENS;
    }
    return c;
}

static void callsite_empty(struct callsite_cache *c)
{
    while (c->filled) {
        struct session_slot *slot = &c->slot[c->filled - 1];
        c->filled = slot->next;
        *slot = (struct session_slot){0};
    }
    c->words = 0;
}

void session_sites_forget(struct session_stream *stream)
{
    if (!stream->sites)
        return;
    callsite_empty(stream->sites);
    memset(stream->sites->row, 0, sizeof stream->sites->row);
    stream->sites->tokens = CALLSITE_TOKENS;
}

/* What a slot is found by, of the frame that asks: lines of Python are not in its words. Never 0. */
static inline uintptr_t callsite_key(uintptr_t frame)
{
    return __builtin_expect(base_hot.python == BASE_PYTHON_KNOWN, 0) ? (frame + base_python_hash()) ?: 1 : frame;
}

/* The first slot of its set. */
static uint32_t callsite_set(uintptr_t frame, void *from)
{
    uint64_t mixed = ((uint64_t)frame + 2 * (uint64_t)(uintptr_t)from) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 40) % CALLSITE_SETS * CALLSITE_WAYS;
}

/* Two at a time, in their order: a slot has an even number of words. */
static inline bool callsite_holds(const struct session_slot *slot)
{
    for (const struct session_word *w = slot->words; w < slot->end; w += 2)
        if (*w[0].where != w[0].value || *w[1].where != w[1].value)
            return false;
    return true;
}

static bool callsite_may_learn(struct callsite_cache *c)
{
    if (++c->calls % LEARN_EVERY == 0 && c->tokens < CALLSITE_TOKENS)
        c->tokens++;
    if (c->tokens == 0)
        return false;
    c->tokens--;
    return true;
}

/* The slot to fill: an empty one, or any. One of the same key may stand for another way there: a function that
   communicates is called from several places at one depth. */
static uint32_t callsite_victim(struct callsite_cache *c, uint32_t set)
{
    for (uint32_t i = set; i < set + CALLSITE_WAYS; i++)
        if (!c->slot[i].frame)
            return i;
    return set + c->turn++ % CALLSITE_WAYS;
}

/* Walks and remembers the way in a slot of the set, if words tell it. */
static struct session_site callsite_remember(struct session_stream *stream, uint32_t set, struct callsite_way *w)
{
    struct callsite_cache *c = stream->sites;
    if (c->words + CALLSITE_WORDS > CALLSITE_POOL)
        callsite_empty(c);
    uint32_t place = callsite_victim(c, set);
    struct session_slot *slot = &c->slot[place];
    slot->frame = 0;
    w->words = c->pool + c->words;
    struct session_site site = callsite_walk(stream, w);
    if (w->lost || site.callsite == GRAMMAR_NONE)
        return site;
    if (w->count % 2) {
        w->words[w->count] = w->words[w->count - 1];
        w->count++;
    }
    uint32_t next = slot->from ? slot->next : c->filled; /* it is in the list, or comes in */
    if (!slot->from)
        c->filled = place + 1;
    *slot = (struct session_slot){
        .frame = w->frame, .from = w->from, .words = w->words, .end = w->words + w->count, .callsite = site.callsite,
        .path = site.path, .next = next};
    c->memo[place].what = NULL;
    c->words += w->count;
    site.slot = slot;
    return site;
}

/* Not in the cache: walks, and remembers the way when that is affordable. */
static __attribute__((noinline)) struct session_site callsite_miss(struct session_stream *stream, uintptr_t frame,
                                                                   uintptr_t lowest, void *from)
{
    struct callsite_cache *c = stream->sites ? stream->sites : (stream->sites = callsite_create());
    uint64_t before = base_clock_now();
    if (base_hot.python == BASE_PYTHON_SOUGHT)
        base_python_seek();
    struct callsite_way way = {.from = from, .frame = callsite_key(frame), .lowest = lowest};
    struct session_site site = c && callsite_may_learn(c)
                                   ? callsite_remember(stream, callsite_set(way.frame, from), &way)
                                   : callsite_walk(stream, &way);
    void *frames[SITE_PATH];
    if (base_here.board)
        watch_board_way(base_here.board, site.slot, c ? c->slot : NULL, frames,
                        callsite_frames(&way, SITE_PATH, frames));
    session_took_since(stream, before);
    return site;
}

/* The slot of this stack; NULL: it is not in the cache. `frame` is callsite_key() of who asks. */
static inline struct session_slot *callsite_find(const struct session_stream *stream, uintptr_t frame, void *from)
{
    struct callsite_cache *c = stream->sites;
    struct session_slot *slot = c ? &c->slot[callsite_set(frame, from)] : NULL;
    for (const struct session_slot *end = slot + CALLSITE_WAYS; c && slot < end; slot++)
        if (slot->frame == frame && slot->from == from && callsite_holds(slot))
            return slot;
    return NULL;
}

__attribute__((noinline)) struct session_site session_site_of(struct session_stream *stream, void *from)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct session_slot *slot = callsite_find(stream, callsite_key(frame), from);
    if (__builtin_expect(slot != NULL, 1))
        return (struct session_site){ slot->callsite, slot->path, slot };
    struct session_site site = callsite_miss(stream, frame, frame, from);
    __asm__ volatile("" : "+r"(site.callsite)); /* no jump to callsite_miss(): this frame has to be there */
    return site;
}

/* The program's frame pointer, which may decide the way, lies below the return address. */
struct session_site session_site_at(struct session_stream *stream, struct base_frame hook)
{
    uintptr_t at = (uintptr_t)hook.at;
    struct session_slot *slot = callsite_find(stream, callsite_key(at), (void *)hook.word);
    return __builtin_expect(slot != NULL, 1) ? (struct session_site){ slot->callsite, slot->path, slot }
                                             : callsite_miss(stream, at, at - sizeof at, (void *)hook.word);
}

/* --- What follows from a place and its last call (session/memo.h) --- */

static inline __attribute__((always_inline)) const struct session_memo *
memo_of_key(const struct session_stream *s, const void *what, uintptr_t key, void *from)
{
    const struct session_slot *slot = callsite_find(s, key, from);
    if (__builtin_expect(!slot, 0))
        return NULL;
    const struct session_memo *memo = &s->sites->memo[slot - s->sites->slot];
    return memo->what == what ? memo : NULL;
}

/* Apart, for a call in the other one would cost each event ten instructions. */
static __attribute__((noinline)) const struct session_memo *memo_of_script(const struct session_stream *s,
                                                                           const void *what, const uintptr_t *at)
{
    return memo_of_key(s, what, callsite_key((uintptr_t)at), (void *)*at);
}

const struct session_memo *session_memo_find(const void *what, const uintptr_t *at)
{
    const struct session_stream *s = base_here.stream;
    if (__builtin_expect(base_here.epoch != atomic_load_explicit(&base_hot.epoch, memory_order_acquire) ||
                         base_here.holder.at != 0, 0) || s->open_count)
        return NULL;
    if (__builtin_expect(base_hot.python == BASE_PYTHON_KNOWN, 0))
        return memo_of_script(s, what, at);
    return memo_of_key(s, what, (uintptr_t)at, (void *)*at);
}

struct session_memo *session_memo_of(struct session_stream *stream, struct session_slot *slot, uint32_t entry,
                                     uint32_t path)
{
    stream->anew++;
    if (!slot || entry == GRAMMAR_NONE || !session.options.quick)
        return NULL;
    struct session_memo *memo = &stream->sites->memo[slot - stream->sites->slot];
    memo->what = NULL;
    memo->terminal = stream->keys.entries[entry].terminal[JOB_LEAF];
    if (memo->terminal == GRAMMAR_NONE)
        return NULL;
    memo->stream = stream;
    memo->entry = entry;
    memo->path = path;
    memo->job_terminal = stream->keys.job_terminal[memo->terminal];
    return memo;
}

uint32_t session_identify_anew(struct session_stream *stream, const struct session_key *key, struct session_slot *slot)
{
    uint32_t entry = session_keys_find(&stream->keys, key);
    if (slot && slot->callsite == key->callsite && entry != GRAMMAR_NONE) {
        slot->function = key->function;
        slot->comm = key->comm;
        slot->peer_class = key->peer_class;
        slot->entry = entry;
    }
    return entry;
}

__attribute__((noinline)) uint32_t session_path_of(struct session_stream *stream, void *from)
{
    if (!stream->grammar)
        return GRAMMAR_NONE;
    uint32_t path = session_site_of(stream, from).path;
    __asm__ volatile("" : "+r"(path)); /* no jump: frames of ours lie where they did */
    return path;
}
