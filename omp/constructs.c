/* SPDX-License-Identifier: MIT */
/*
 * Work that shares (shares.h) take from constructs: iterations of loops, sections, single.
 *
 *     share 0   1 2 3 | 4 ...      a construct's number is how many constructs a share has met: the same in each share.
 *     share 1   1 2   |            The first to come makes it, in a place of a ring; the place is another one's when
 *                                  all shares have come to a later construct. Who finds it taken lets others go on.
 *
 * Iterations are counted from 0, whatever the loop's numbers are: one iterator does for all of libgomp's.
 *
 * Threads: any.  Hook-safe: yes.
 */
#include <stdatomic.h>
#include <string.h>

#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/shares.h"

enum { WORKS = 256 };

static struct work {
    _Alignas(64) atomic_uint_least64_t taken; /* number of the construct whose it is */
    atomic_uint_least64_t ready;              /* likewise, when the rest is set */
    atomic_uint left;                         /* shares that have come to a later one */
    struct omp_hook_loop loop;
    void *copy; /* of single's data */
    _Alignas(64) atomic_uint_least64_t next; /* iteration */
} works[WORKS];
static uint64_t before; /* the last construct of regions before */

static struct work *work_of(uint64_t construct)
{
    return &works[construct % WORKS];
}

static void make(struct work *w, uint64_t construct, const struct omp_hook_loop *loop)
{
    if (loop)
        w->loop = *loop;
    atomic_store_explicit(&w->left, 0, memory_order_relaxed);
    atomic_store_explicit(&w->next, 0, memory_order_relaxed);
    atomic_store_explicit(&w->ready, construct, memory_order_release);
}

uint64_t omp_constructs_begin(const struct omp_hook_loop *first)
{
    if (first->schedule == OMP_HOOK_NO_LOOP)
        return before;
    struct work *w = work_of(before + 1);
    atomic_store_explicit(&w->taken, before + 1, memory_order_relaxed);
    make(w, before + 1, first);
    return before + 1;
}

void omp_constructs_end(uint64_t last)
{
    before = last > before ? last : before;
}

/* Whether the place may be taken: by whom it was, no share is there any more. */
static bool is_free(struct work *w, uint64_t whose)
{
    return whose <= before || atomic_load_explicit(&w->left, memory_order_acquire) == omp_hook_thread.team;
}

/* The next construct of this share; whether it is the first one there. */
static bool constructs_enter(const struct omp_hook_loop *loop, struct work **to)
{
    struct omp_share *own = omp_shares_own();
    if (own->construct > before)
        atomic_fetch_add_explicit(&work_of(own->construct)->left, 1, memory_order_release);
    uint64_t construct = ++own->construct;
    struct work *w = *to = work_of(construct);
    own->trip = 0;
    for (;;) {
        uint64_t whose = atomic_load_explicit(&w->taken, memory_order_acquire);
        if (whose == construct)
            break;
        if (!is_free(w, whose)) {
            (void)omp_shares_yield();
        } else if (atomic_compare_exchange_strong(&w->taken, &whose, construct)) {
            make(w, construct, loop);
            return true;
        }
    }
    while (atomic_load_explicit(&w->ready, memory_order_acquire) != construct)
        ; /* another thread is about to */
    return false;
}

/* --- Iterations --- */

/* By this share's number; false: none is left. */
static bool take_static(const struct omp_hook_loop *l, struct omp_share *own, uint64_t *from, uint64_t *to)
{
    uint64_t team = omp_hook_thread.team, number = omp_hook_thread.number, trip = own->trip++;
    if (l->chunk == 0) {
        uint64_t each = l->count / team, more = l->count % team;
        *from = number * each + (number < more ? number : more);
        *to = *from + each + (number < more);
        return trip == 0 && *from < *to;
    }
    if (__builtin_mul_overflow(trip * team + number, l->chunk, from) || *from >= l->count)
        return false;
    *to = l->chunk < l->count - *from ? *from + l->chunk : l->count;
    return true;
}

/* So many at once, where so many are left. */
static uint64_t size_of(const struct omp_hook_loop *l, uint64_t left)
{
    uint64_t team = omp_hook_thread.team, part = l->chunk;
    if (l->schedule == OMP_HOOK_GUIDED && !l->halves)
        part = left / team + (left % team != 0);
    else if (l->schedule == OMP_HOOK_GUIDED && left / (2 * team) > l->chunk)
        part = left / (2 * team);
    part = part > l->chunk ? part : l->chunk;
    return part < left ? part : left;
}

/* As they come. */
static bool take_next(struct work *w, uint64_t *from, uint64_t *to)
{
    const struct omp_hook_loop *l = &w->loop;
    uint64_t at = atomic_load_explicit(&w->next, memory_order_relaxed), size;
    do {
        if (at == l->count)
            return false;
        size = size_of(l, l->count - at);
    } while (!atomic_compare_exchange_weak_explicit(&w->next, &at, at + size, memory_order_relaxed,
                                                    memory_order_relaxed));
    *from = at;
    *to = at + size;
    return true;
}

/* By their numbers. */
static bool take_numbers(struct work *w, uint64_t *from, uint64_t *to)
{
    const struct omp_hook_loop *l = &w->loop;
    return l->schedule == OMP_HOOK_STATIC ? take_static(l, omp_shares_own(), from, to) : take_next(w, from, to);
}

static bool constructs_take(struct work *w, uint64_t *begin, uint64_t *end)
{
    const struct omp_hook_loop *l = &w->loop;
    uint64_t from, to;
    if (!take_numbers(w, &from, &to))
        return false;
    *begin = l->start + from * l->step;
    *end = to == l->count ? l->end : l->start + to * l->step;
    return true;
}

void omp_constructs_start(const struct omp_hook_loop *loop)
{
    struct work *w;
    (void)constructs_enter(loop, &w);
}

bool omp_constructs_next(uint64_t *begin, uint64_t *end, uint64_t *step, bool *last)
{
    struct work *w = work_of(omp_shares_own()->construct);
    uint64_t from, to;
    if (!take_numbers(w, &from, &to))
        return false;
    *step = w->loop.step;
    *begin = w->loop.start + from * *step;
    *end = w->loop.start + to * *step;
    *last = to == w->loop.count;
    return true;
}

static bool next_share(uint64_t *begin, uint64_t *end)
{
    return constructs_take(work_of(omp_shares_own()->construct), begin, end);
}

static bool start_share(const struct omp_hook_loop *loop, uint64_t *begin, uint64_t *end)
{
    omp_constructs_start(loop);
    return next_share(begin, end);
}

/* --- Loops as compilers describe them --- */

struct omp_hook_loop omp_constructs_loop(enum omp_hook_schedule schedule, bool up, uint64_t start, uint64_t end,
                                         uint64_t step, uint64_t chunk, bool any)
{
    struct omp_hook_loop l = { .schedule = schedule, .start = start, .end = end, .step = step, .chunk = chunk };
    if (any)
        l.count = up ? (end - start - 1) / step + 1 : (start - end - 1) / -step + 1;
    if (schedule == OMP_HOOK_AS_SET) {
        enum { STATIC = 1, DYNAMIC, GUIDED, AUTO, MONOTONIC = INT32_MIN };
        int kind, size;
        libgomp_real()->omp_get_schedule(&kind, &size);
        kind &= ~MONOTONIC;
        l.schedule = kind == DYNAMIC ? OMP_HOOK_DYNAMIC : kind == GUIDED ? OMP_HOOK_GUIDED : OMP_HOOK_STATIC;
        l.chunk = kind == AUTO || size < 0 ? 0 : (uint64_t)size;
    }
    if (l.schedule != OMP_HOOK_STATIC && l.chunk == 0)
        l.chunk = 1;
    return l;
}

static unsigned first_section(unsigned count)
{
    uint64_t section, end;
    struct omp_hook_loop l = omp_constructs_loop(OMP_HOOK_DYNAMIC, true, 1, count + 1ull, 1, 1, count > 0);
    return start_share(&l, &section, &end) ? (unsigned)section : 0;
}

static unsigned next_section(void)
{
    uint64_t section, end;
    return next_share(&section, &end) ? (unsigned)section : 0;
}

/* --- Single --- */

bool omp_constructs_single(void)
{
    struct work *w;
    return constructs_enter(NULL, &w);
}

/* Who has the data waits for the others to take it. */
void *omp_constructs_copy(void)
{
    struct work *w;
    if (constructs_enter(NULL, &w))
        return NULL;
    omp_shares_barrier();
    return w->copy;
}

void omp_constructs_copied(void *data)
{
    work_of(omp_shares_own()->construct)->copy = data;
    omp_shares_barrier();
}

/* --- What programs call --- */

#define OMP_HOOK_WORK(type, name, parameters, arguments, share)                              \
    PYTHIA_API type name parameters;                                                         \
    type name parameters                                                                     \
    {                                                                                        \
        return omp_shares_inside(base_frame_here()) ? share : libgomp_real()->name arguments; \
    }

/* The same for numbers of either type: `up` is said of those that have no sign. */
#define NEXT(name, type)                                                  \
    PYTHIA_API bool name(type *begin, type *end);                         \
    bool name(type *begin, type *end)                                     \
    {                                                                     \
        uint64_t from, to;                                                \
        if (!omp_shares_inside(base_frame_here()))                        \
            return libgomp_real()->name(begin, end);                      \
        if (!next_share(&from, &to))                             \
            return false;                                                 \
        *begin = (type)from;                                              \
        *end = (type)to;                                                  \
        return true;                                                      \
    }
#define START(name, type, parameters, arguments, schedule, up, chunk)                                              \
    PYTHIA_API bool name parameters;                                                                               \
    bool name parameters                                                                                           \
    {                                                                                                              \
        uint64_t from, to;                                                                                         \
        if (!omp_shares_inside(base_frame_here()))                                                                 \
            return libgomp_real()->name arguments;                                                                 \
        struct omp_hook_loop l = omp_constructs_loop(schedule, up, (uint64_t)start, (uint64_t)end, (uint64_t)step, \
                                                     (uint64_t)(chunk), (up) ? start < end : start > end);         \
        if (!start_share(&l, &from, &to))                                                                 \
            return false;                                                                                          \
        *first = (type)from;                                                                                       \
        *last = (type)to;                                                                                          \
        return true;                                                                                               \
    }
#define OMP_HOOK_LOOP(name, schedule, CHUNK)                                                                        \
    NEXT(GOMP_loop_##name##_next, long)                                                                             \
    NEXT(GOMP_loop_ull_##name##_next, unsigned long long)                                                           \
    START(GOMP_loop_##name##_start, long,                                                                           \
          (long start, long end, long step, CHUNK(long chunk,) long *first, long *last),                            \
          (start, end, step, CHUNK(chunk,) first, last), schedule, step > 0, CHUNK(chunk) + 0)                      \
    START(GOMP_loop_ull_##name##_start, unsigned long long,                                                         \
          (bool up, unsigned long long start, unsigned long long end, unsigned long long step,                      \
           CHUNK(unsigned long long chunk,) unsigned long long *first, unsigned long long *last),                   \
          (up, start, end, step, CHUNK(chunk,) first, last), schedule, up, CHUNK(chunk) + 0)
#include "libgomp/omp_calls.def"
