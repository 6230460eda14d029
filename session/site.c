/* SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "session/site.h"

#include <libunwind.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "session/internal.h"
#include "session/unwind.h"

enum {
    CALLSITE_FRAMES = 32, /* frames above the return address that a callsite has at most */
    CALLSITE_OURS = 16, /* frames of this library below it at most */
    CALLSITE_WAYS = 16, /* slots that a stack may take */
    CALLSITE_SETS = 32,
    CALLSITE_SLOTS = CALLSITE_SETS * CALLSITE_WAYS,
    CALLSITE_WORDS = 2 * SITE_PATH, /* of one stack at most */
    CALLSITE_POOL = 1 << 14,        /* words of all stacks that are remembered */
    CALLSITE_TOKENS = CALLSITE_SLOTS, /* stacks that a thread learns, before they must be earned */
    CALLSITE_LONGEST = 100000, /* ns: who takes longer has lost the processor */
    LEARN_EVERY = 64
};

struct callsite_word {
    const uintptr_t *where;
    uintptr_t value;
};

/* A line of cache. */
struct callsite_slot {
    uintptr_t frame; /* 0: empty */
    void *from;      /* NULL: never filled */
    const struct callsite_word *words, *end; /* in the pool */
    const char *function; /* of the identity that was looked up here last; NULL: there was none yet */
    uint32_t comm, peer_class; /* the same */
    uint32_t entry;
    struct session_site site;
    uint32_t next; /* slot that was filled before this one, + 1 */
};

/* Kept with the stream. Another thread has another stack: for it, all slots are empty. */
struct callsite_cache {
    uint32_t filled;               /* the slot that was filled last, + 1; 0: all are empty */
    uint32_t depth;
    uint32_t words; /* taken of the pool */
    uint32_t calls; /* that missed, modulo LEARN_EVERY */
    uint32_t tokens;
    uint32_t turn; /* whose turn it is to be replaced */
    struct callsite_slot slot[CALLSITE_SLOTS] __attribute__((aligned(64)));
    struct callsite_word pool[CALLSITE_POOL];
};

/* --- Walking --- */

static struct session_site site_of_frames(struct session_stream *stream, void **frames, uint32_t count, uint32_t depth)
{
    uint32_t path = count < SITE_PATH ? count : SITE_PATH, own = count < depth + 1 ? count : depth + 1;
    return (struct session_site){ session_callsite(stream, frames, own), session_path(stream, frames, path) };
}

/* The frames above `from`, found in a backtrace by its value: how many frames of ours are below it depends on what the
   compiler inlined. */
static struct session_site callsite_walk(struct session_stream *stream, void *from, uint32_t depth)
{
    void *frames[CALLSITE_OURS + SITE_PATH];
    int found = session_unwind(frames, CALLSITE_OURS + SITE_PATH);
    for (int i = 0; i < found && i <= CALLSITE_OURS; i++)
        if (frames[i] == from)
            return site_of_frames(stream, &frames[i], (uint32_t)(found - i), depth);
    return site_of_frames(stream, &from, 1, depth);
}

static uint32_t callsite_depth(void)
{
    return session_depth() < CALLSITE_FRAMES ? session_depth() : CALLSITE_FRAMES;
}

#if defined(__x86_64__)

/* --- Learning --- */

struct callsite_frame {
    unw_word_t pc, sp, base; /* base: the frame pointer, if it is one here */
    unw_save_loc_t saved;    /* where the frames inside keep it */
};

struct callsite_lesson {
    struct callsite_word *words;
    uint32_t room, count;
    uintptr_t frame; /* of who asks: words below it come and go */
};

static bool callsite_see(unw_cursor_t *cursor, struct callsite_frame *f)
{
    return !unw_get_reg(cursor, UNW_REG_IP, &f->pc) && !unw_get_reg(cursor, UNW_REG_SP, &f->sp) &&
           !unw_get_reg(cursor, UNW_X86_64_RBP, &f->base) && !unw_get_save_loc(cursor, UNW_X86_64_RBP, &f->saved) &&
           f->pc;
}

static bool callsite_note(struct callsite_lesson *l, uintptr_t where, uintptr_t value)
{
    if (l->count == l->room || where % sizeof(uintptr_t) || where < l->frame || *(const uintptr_t *)where != value)
        return false;
    l->words[l->count++] = (struct callsite_word){(const uintptr_t *)where, value};
    return true;
}

/* Notes what led from one frame to the next: the return address, which lies just below where the next one begins, and
   the frame pointer where it points into its frame. Anywhere else it is a variable of the program's and decides
   nothing. */
static bool callsite_note_step(struct callsite_lesson *l, const struct callsite_frame *f,
                               const struct callsite_frame *next)
{
    bool pointer = f->base >= f->sp && f->base < next->sp;
    if (pointer &&
        (f->saved.type != UNW_SLT_MEMORY || !callsite_note(l, (uintptr_t)f->saved.u.addr, (uintptr_t)f->base)))
        return false;
    return callsite_note(l, (uintptr_t)next->sp - sizeof(uintptr_t), (uintptr_t)next->pc);
}

/* Walks up from here and notes what decides the way. `frames` gets the path, at most `most`; returns how many, 0 when
   this stack cannot be remembered. */
static uint32_t callsite_learn(struct callsite_lesson *l, void *from, void **frames, uint32_t most)
{
    unw_context_t context;
    unw_cursor_t cursor;
    struct callsite_frame now, next;
    uint32_t found = 0;
    base_fpu_word_t word = base_fpu_word();
    int failed = unw_getcontext(&context); /* what stores the unit's state; the rest reads memory */
    base_fpu_word_back(word);
    if (failed || unw_init_local(&cursor, &context) || !callsite_see(&cursor, &now))
        return 0;
    for (uint32_t all = 0; found < most && unw_step(&cursor) > 0; all++, now = next) {
        if (!callsite_see(&cursor, &next) || (found && !callsite_note_step(l, &now, &next)))
            return 0;
        if (found || (uintptr_t)next.pc == (uintptr_t)from)
            frames[found++] = (void *)(uintptr_t)next.pc;
        else if (all > CALLSITE_OURS)
            return 0;
    }
    return found;
}

/* --- The cache --- */

/* Lives as long as the process, like the stream. */
static struct callsite_cache *callsite_create(void)
{
    enum { ALIGN = _Alignof(struct callsite_cache) };
    uintptr_t block = (uintptr_t)malloc(sizeof(struct callsite_cache) + ALIGN - 1); /* base/heap.h has no other */
    struct callsite_cache *c = block ? (void *)((block + ALIGN - 1) / ALIGN * ALIGN) : NULL;
    if (c) {
        memset(c, 0, offsetof(struct callsite_cache, pool)); /* what is not used of the pool is not touched */
        c->depth = callsite_depth();
        c->tokens = CALLSITE_TOKENS;
        session_unwind_start();
    }
    return c;
}

static void callsite_empty(struct callsite_cache *c)
{
    while (c->filled) {
        struct callsite_slot *slot = &c->slot[c->filled - 1];
        c->filled = slot->next;
        *slot = (struct callsite_slot){0};
    }
    c->words = 0;
}

void session_sites_forget(struct session_stream *stream)
{
    if (!stream->sites)
        return;
    callsite_empty(stream->sites);
    stream->sites->tokens = CALLSITE_TOKENS;
}

/* The first slot of its set. */
static uint32_t callsite_set(uintptr_t frame, void *from)
{
    uint64_t mixed = ((uint64_t)frame ^ (uint64_t)(uintptr_t)from * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 40) % CALLSITE_SETS * CALLSITE_WAYS;
}

/* Two at a time, in their order: a slot has an even number of words. */
static inline bool callsite_holds(const struct callsite_slot *slot)
{
    for (const struct callsite_word *w = slot->words; w < slot->end; w += 2)
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

/* Steps up and remembers the way in a slot of the set; GRAMMAR_NONE: it cannot be remembered. */
static struct session_site callsite_remember(struct session_stream *stream, uint32_t set, uintptr_t frame, void *from)
{
    static const struct session_site none = {GRAMMAR_NONE, GRAMMAR_NONE};
    struct callsite_cache *c = stream->sites;
    void *frames[SITE_PATH] = {from};
    if (c->words + CALLSITE_WORDS > CALLSITE_POOL)
        callsite_empty(c);
    uint32_t place = callsite_victim(c, set);
    struct callsite_slot *slot = &c->slot[place];
    struct callsite_lesson lesson = {.words = c->pool + c->words, .room = CALLSITE_WORDS, .frame = frame};
    slot->frame = 0;
    uint32_t found = callsite_learn(&lesson, from, frames, SITE_PATH);
    struct session_site site = found ? site_of_frames(stream, frames, found, c->depth) : none;
    if (site.callsite == GRAMMAR_NONE)
        return none;
    if (lesson.count % 2) {
        lesson.words[lesson.count] = lesson.words[lesson.count - 1];
        lesson.count++;
    }
    uint32_t next = slot->from ? slot->next : c->filled; /* it is in the list, or comes in */
    if (!slot->from)
        c->filled = place + 1;
    *slot = (struct callsite_slot){
        .frame = frame, .from = from, .words = lesson.words, .end = lesson.words + lesson.count, .site = site,
        .next = next};
    c->words += lesson.count;
    return site;
}

/* Not in the cache: steps up and remembers the way when that is affordable, else walks. A thread's first ones are steps
   alone: unw_backtrace() begins with a quarter of a MiB for the thread, which one that ends soon does not earn. */
static __attribute__((noinline)) struct session_site callsite_miss(struct session_stream *stream, uintptr_t frame,
                                                                   void *from)
{
    struct callsite_cache *c = stream->sites ? stream->sites : (stream->sites = callsite_create());
    struct session_site site = {GRAMMAR_NONE, GRAMMAR_NONE};
    if (!c)
        return callsite_walk(stream, from, callsite_depth());
    uint64_t before = base_clock_now(), took;
    if (callsite_may_learn(c))
        site = callsite_remember(stream, callsite_set(frame, from), frame, from);
    if (site.callsite == GRAMMAR_NONE)
        site = callsite_walk(stream, from, c->depth);
    took = base_clock_now() - before;
    session_took(stream, took < CALLSITE_LONGEST ? took : CALLSITE_LONGEST);
    return site;
}

/* The slot of this stack; NULL: it is not in the cache. `frame` is that of who asks. */
static inline struct callsite_slot *callsite_find(const struct session_stream *stream, uintptr_t frame, void *from)
{
    struct callsite_cache *c = stream->sites;
    struct callsite_slot *slot = c ? &c->slot[callsite_set(frame, from)] : NULL;
    for (const struct callsite_slot *end = slot + CALLSITE_WAYS; c && slot < end; slot++)
        if (slot->frame == frame && slot->from == from && callsite_holds(slot))
            return slot;
    return NULL;
}

__attribute__((noinline)) struct session_site session_site_of(struct session_stream *stream, void *from)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct callsite_slot *slot = callsite_find(stream, frame, from);
    struct session_site site = slot ? slot->site : callsite_miss(stream, frame, from);
    __asm__ volatile("" : "+r"(site.callsite)); /* no jump to callsite_miss(): this frame has to be there */
    return site;
}

/* The stack is not in the cache, or another identity was met there last. */
static __attribute__((noinline)) uint32_t identify_anew(struct session_stream *stream, struct callsite_slot *slot,
                                                        struct session_key *key, uintptr_t frame, void *from,
                                                        uint32_t *path)
{
    struct session_site site = slot ? slot->site : callsite_miss(stream, frame, from);
    key->callsite = site.callsite;
    *path = site.path;
    uint32_t entry = session_keys_find(&stream->keys, key);
    if (slot && entry != GRAMMAR_NONE) {
        slot->function = key->function;
        slot->comm = key->comm;
        slot->peer_class = key->peer_class;
        slot->entry = entry;
    }
    return entry;
}

__attribute__((noinline)) uint32_t session_identify_from(struct session_stream *stream, struct session_key *key,
                                                         void *from, uint32_t *path)
{
    /* Not the hook's: what the program has in the frame pointer may be saved by any frame above this one. */
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct callsite_slot *slot = callsite_find(stream, frame, from);
    if (__builtin_expect(slot && slot->function == key->function && slot->comm == key->comm &&
                         slot->peer_class == key->peer_class, 1)) {
        key->callsite = slot->site.callsite;
        *path = slot->site.path;
        return slot->entry;
    }
    uint32_t entry = identify_anew(stream, slot, key, frame, from, path);
    __asm__ volatile("" : "+r"(entry)); /* no jump: this frame has to be there */
    return entry;
}

#else

void session_sites_forget(struct session_stream *stream)
{
    (void)stream;
}

struct session_site session_site_of(struct session_stream *stream, void *from)
{
    return callsite_walk(stream, from, callsite_depth());
}

uint32_t session_identify_from(struct session_stream *stream, struct session_key *key, void *from, uint32_t *path)
{
    struct session_site site = callsite_walk(stream, from, callsite_depth());
    key->callsite = site.callsite;
    *path = site.path;
    return session_keys_find(&stream->keys, key);
}

#endif

__attribute__((noinline)) uint32_t session_path_of(struct session_stream *stream, void *from)
{
    if (!stream->grammar)
        return GRAMMAR_NONE;
    uint32_t path = session_site_of(stream, from).path;
    __asm__ volatile("" : "+r"(path)); /* no jump: frames of ours lie where they did */
    return path;
}
