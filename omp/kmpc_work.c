/* SPDX-License-Identifier: MIT */
/*
 * Work that shares (shares.h) take from libomp's constructs, as they would get it from libomp: which iterations a
 * static loop has for whom, and in which order a reduction adds, is seen in what a program computes.
 *
 *   static          one piece each, the first ones with an iteration more; with chunks: in turn
 *   other loops     as they come (constructs.c)
 *   reduction       up to four threads: by the code's own atomic accesses, or one after another with the lock; else a
 *                   binary tree of the team's numbers, which share 0 adds when all have come
 *
 * Threads: any.  Hook-safe: yes.
 */
#include "include/pythia.h"
#include "libgomp/kmpc.h"
#include "omp/shares.h"

/* --- Loops --- */

/* Schedules by their numbers there, ordered ones likewise. */
enum { STATIC_CHUNKS = 33, STATIC = 34, DYNAMIC = 35, AS_SET = 37,
       STATIC_GREEDY = 40, STATIC_BALANCED = 41, STEAL = 44, STATIC_SIMD = 45, AS_SET_SIMD = 47,
       ORDERED = 64, DISTRIBUTED = 91, PLAIN = 255 /* without how they are modified */ };

/* Iterations of a loop, whatever the type of their numbers. Where there are none `lower` is behind `upper`. */
struct range {
    uint64_t lower, upper; /* the first and the last one */
    int64_t step;
    bool any;
};
#define RANGE(lower, upper, step) \
    ((struct range){ (uint64_t)(lower), (uint64_t)(upper), step, (step) > 0 ? (lower) <= (upper) : (lower) >= (upper) })

static uint64_t count_of(const struct range *r)
{
    uint64_t by = r->step > 0 ? (uint64_t)r->step : -(uint64_t)r->step;
    return r->any ? (r->step > 0 ? r->upper - r->lower : r->lower - r->upper) / by + 1 : 0;
}

static uint64_t divided(uint64_t count, uint64_t parts)
{
    return count / parts + (count % parts != 0);
}

/* To so many of its iterations, from number `first` on. */
static void cut(struct range *r, uint64_t first, uint64_t size)
{
    uint64_t step = (uint64_t)r->step;
    if (size == 0) {
        r->lower = r->upper + (r->step > 0 ? 1 : (uint64_t)-1);
        return;
    }
    r->lower += first * step;
    r->upper = r->lower + (size - 1) * step;
}

/* In one piece each, the first ones with one iteration more. Returns whether the last one is this share's. */
static bool cut_evenly(struct range *r, uint64_t count)
{
    uint64_t team = omp_hook_thread.team, number = omp_hook_thread.number, more = count % team;
    cut(r, number * (count / team) + (number < more ? number : more), count / team + (number < more));
    return number == (count < team ? count : team) - 1;
}

/* In turn; *stride: how far it is to this share's next ones. */
static bool cut_chunks(struct range *r, uint64_t count, uint64_t chunk, int64_t *stride)
{
    uint64_t team = omp_hook_thread.team, number = omp_hook_thread.number;
    chunk = chunk < count ? chunk : count;
    uint64_t chunks = divided(count, chunk), left = number < chunks ? count - number * chunk : 0;
    cut(r, number * chunk, chunk < left ? chunk : left);
    *stride = (int64_t)(chunk * team * (uint64_t)r->step);
    return (chunks - 1) % team == number;
}

static bool cut_static(struct range *r, int32_t schedule, int64_t wanted, int64_t *stride)
{
    uint64_t count = count_of(r), chunk = wanted > 0 ? (uint64_t)wanted : 1;
    *stride = r->step;
    schedule &= PLAIN;
    if (count == 0 || schedule >= DISTRIBUTED) /* to leagues, of which there is one */
        return count > 0;
    if (schedule == STATIC)
        return cut_evenly(r, count);
    if (schedule == STATIC_SIMD)
        chunk = (divided(count, omp_hook_thread.team) + chunk - 1) & ~(chunk - 1);
    return cut_chunks(r, count, chunk, stride);
}

static enum omp_hook_schedule schedule_of(int32_t schedule)
{
    schedule &= PLAIN;
    switch (schedule > ORDERED ? schedule - ORDERED + STATIC_CHUNKS - 1 : schedule) {
    case STATIC_CHUNKS: case STATIC: case STATIC_GREEDY: case STATIC_BALANCED: case STATIC_SIMD:
        return OMP_HOOK_STATIC;
    case DYNAMIC: case STEAL:
        return OMP_HOOK_DYNAMIC;
    case AS_SET: case AS_SET_SIMD:
        return OMP_HOOK_AS_SET;
    default:
        return OMP_HOOK_GUIDED;
    }
}

static void start_loop(int32_t schedule, struct range r, int64_t chunk)
{
    uint64_t step = (uint64_t)r.step;
    bool chunks = chunk > 0 && (schedule & PLAIN) != STATIC;
    struct omp_hook_loop l = omp_constructs_loop(schedule_of(schedule), r.step > 0, r.lower, r.upper + step, step,
                                                 chunks ? (uint64_t)chunk : 0, false);
    l.count = count_of(&r);
    l.halves = true;
    omp_constructs_start(&l);
}

static bool next_part(struct range *r, int32_t *last)
{
    bool is_last;
    uint64_t end, step;
    if (!omp_constructs_next(&r->lower, &end, &step, &is_last))
        return false;
    r->upper = end - step;
    r->step = (int64_t)step;
    if (last)
        *last = is_last;
    return true;
}

#define KMPC_LOOP(suffix, type, with_sign)                                                                           \
    PYTHIA_API void __kmpc_for_static_init_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t schedule,  \
                                                    int32_t *last, type *lower, type *upper, with_sign *stride,      \
                                                    with_sign step, with_sign chunk);                                \
    void __kmpc_for_static_init_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t schedule,             \
                                         int32_t *last, type *lower, type *upper, with_sign *stride, with_sign step, \
                                         with_sign chunk)                                                            \
    {                                                                                                                \
        int64_t next;                                                                                                \
        if (!omp_shares_inside(base_frame_here())) {                                                                 \
            libgomp_kmpc()->__kmpc_for_static_init_##suffix(loc, gtid, schedule, last, lower, upper, stride, step,   \
                                                            chunk);                                                  \
            return;                                                                                                  \
        }                                                                                                            \
        struct range r = RANGE(*lower, *upper, step);                                                                \
        bool is_last = cut_static(&r, schedule, chunk, &next);                                                       \
        *stride = (with_sign)next;                                                                                   \
        *lower = (type)r.lower;                                                                                      \
        *upper = (type)r.upper;                                                                                      \
        if (last)                                                                                                    \
            *last = is_last;                                                                                         \
    }                                                                                                                \
    PYTHIA_API void __kmpc_dispatch_init_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t schedule,    \
                                                  type first, type last, with_sign step, with_sign chunk);           \
    void __kmpc_dispatch_init_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t schedule, type first,   \
                                       type last, with_sign step, with_sign chunk)                                   \
    {                                                                                                                \
        if (!omp_shares_inside(base_frame_here()))                                                                   \
            libgomp_kmpc()->__kmpc_dispatch_init_##suffix(loc, gtid, schedule, first, last, step, chunk);            \
        else                                                                                                         \
            start_loop(schedule, RANGE(first, last, step), chunk);                                                   \
    }                                                                                                                \
    PYTHIA_API int32_t __kmpc_dispatch_next_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t *last,    \
                                                     type *lower, type *upper, with_sign *stride);                   \
    int32_t __kmpc_dispatch_next_##suffix(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t *last, type *lower,  \
                                          type *upper, with_sign *stride)                                            \
    {                                                                                                                \
        struct range r;                                                                                              \
        if (!omp_shares_inside(base_frame_here()))                                                                   \
            return libgomp_kmpc()->__kmpc_dispatch_next_##suffix(loc, gtid, last, lower, upper, stride);             \
        if (!next_part(&r, last))                                                                                    \
            return 0;                                                                                                \
        *lower = (type)r.lower;                                                                                      \
        *upper = (type)r.upper;                                                                                      \
        if (stride)                                                                                                  \
            *stride = (with_sign)r.step;                                                                             \
        return 1;                                                                                                    \
    }

/* --- Copies and reductions --- */

/* The barriers keep one such construct from the next. */
static void copy_private(void *data, void (*copy)(void *, void *), bool has)
{
    static void *copied;
    if (has)
        copied = data;
    omp_shares_barrier();
    if (!has)
        copy(data, copied);
    omp_shares_barrier();
}

enum { NONE, ADD, ADD_ATOMICALLY }; /* what the code that asks is told to do */

/* All have come, and stay until this has ended. */
static void add_tree(void (*reduce)(void *, void *))
{
    uint32_t team = omp_hook_thread.team;
    for (uint32_t by = 1; by < team; by *= 2)
        for (uint32_t i = 0; i + by < team; i += 2 * by)
            reduce(omp_shares_number(i)->reduced, omp_shares_number(i + by)->reduced);
}

static int32_t reduction(struct libgomp_kmpc_place *loc, int32_t gtid, void *data, void (*reduce)(void *, void *),
                         void *lock, bool meets)
{
    enum { FLAT = 4 }; /* threads, up to which there is no tree */
    struct omp_share *own = omp_shares_own();
    bool first = omp_hook_thread.number == 0;
    own->locked = false;
    if (omp_hook_thread.team == 1)
        return ADD;
    if (omp_hook_thread.team > FLAT && data && reduce) {
        own->reduced = data;
        omp_shares_barrier();
        if (first)
            add_tree(reduce);
        if (!first || !meets)
            omp_shares_barrier();
        return first ? ADD : NONE;
    }
    if (loc && loc->flags & KMPC_ATOMIC_REDUCTION)
        return ADD_ATOMICALLY;
    libgomp_kmpc()->__kmpc_critical(loc, gtid, lock);
    own->locked = true;
    return ADD;
}

/* By those that had to add something. */
static void end_reduction(struct libgomp_kmpc_place *loc, int32_t gtid, void *lock, bool meets)
{
    struct omp_share *own = omp_shares_own();
    if (own->locked)
        libgomp_kmpc()->__kmpc_end_critical(loc, gtid, lock);
    own->locked = false;
    if (meets)
        omp_shares_barrier();
}

/* --- What programs call --- */

#define KMPC_WORK(type, name, parameters, arguments, share)                                   \
    PYTHIA_API type name parameters;                                                          \
    type name parameters                                                                      \
    {                                                                                         \
        return omp_shares_inside(base_frame_here()) ? share : libgomp_kmpc()->name arguments; \
    }
#include "libgomp/kmpc_calls.def"
