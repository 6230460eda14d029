/* SPDX-License-Identifier: MIT */
/* Remembered callsites against walks: random paths through functions with fixed, growing and realigned frames. */
#define UNW_LOCAL_ONLY
#include <alloca.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/ask.h"
#include "session/internal.h"
#include "session/life.h"
#include "session/site.h"
#include "tests/unit/unit.h"

enum { STEPS = 30000, DEEPEST = 7, THREADS = 4 };

struct path {
    uint64_t random;
    struct session_stream *stream;
    unsigned turns; /* as a loop counter that lives in a register */
    struct session_site old; /* of some call before */
    int wrong, asked;
};

static uint64_t random_next(struct path *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    return p->random ^= p->random << 17;
}

/* The numbers of the stack as a walk sees it. */
static struct session_site walked(struct session_stream *stream, void *from)
{
    void *frames[64];
    int found = unw_backtrace(frames, 64);
    for (int i = 0; i < found; i++) {
        uint32_t rest = (uint32_t)(found - i), most = session_depth() + 1;
        if (frames[i] == from)
            return (struct session_site){ session_callsite(stream, &frames[i], rest < most ? rest : most),
                                          session_path(stream, &frames[i], rest), NULL };
    }
    return (struct session_site){ session_callsite(stream, &from, 1), session_path(stream, &from, 1), NULL };
}

static uint32_t below; /* so many frames of ours are between the program's and who asks */

__attribute__((noinline)) static struct session_site ask(struct path *p, void *from, uint32_t frames)
{
    struct session_site site = frames ? ask(p, from, frames - 1) : session_site_of(p->stream, from);
    __asm__ volatile("" : "+r"(site.callsite)); /* no jump: this frame has to be there */
    return site;
}

/* Whether a call from there is one from there, whatever has become of its slot. */
static bool is_identified(struct path *p, const struct session_site *site)
{
    struct session_key key = {.function = "MPI_Barrier", .callsite = site->callsite};
    uint32_t entry = session_identify_at(p->stream, &key, site->slot);
    return entry != GRAMMAR_NONE && p->stream->keys.entries[entry].key.callsite == site->callsite;
}

/* Stands for a wrapper. */
__attribute__((noinline)) static void call(struct path *p)
{
    void *from = __builtin_return_address(0);
    struct session_site expected = walked(p->stream, from), said = ask(p, from, below);
    p->asked++;
    p->wrong += said.callsite != expected.callsite || said.path != expected.path;
    p->wrong += !is_identified(p, &said) || (p->old.slot && !is_identified(p, &p->old));
    p->old = p->asked % 8 ? p->old : said;
    __asm__ volatile("" ::: "memory");
}

static void wander(struct path *p, int depth);

__attribute__((noinline)) static void plain(struct path *p, int depth)
{
    wander(p, depth);
    call(p);
    __asm__ volatile("" ::: "memory");
}

/* Of the same size as plain(), so that their frames lie in the same place. */
__attribute__((noinline)) static void mirrored(struct path *p, int depth)
{
    wander(p, depth);
    call(p);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void growing(struct path *p, int depth)
{
    volatile char *room = alloca(16 + random_next(p) % 4 * 16);
    room[0] = 1;
    wander(p, depth);
    call(p);
    room[1] = 2;
}

__attribute__((noinline)) static void realigned(struct path *p, int depth)
{
    _Alignas(64) char room[64];
    __asm__ volatile("" ::"r"(room) : "memory");
    wander(p, depth);
    call(p);
    __asm__ volatile("" ::"r"(room) : "memory");
}

/* Registers full of what changes. */
__attribute__((noinline)) static void busy(struct path *p, int depth)
{
    uint64_t a = random_next(p), b = random_next(p), c = random_next(p), d = random_next(p), e = random_next(p);
    for (int i = 0; i < 3; i++) {
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
        call(p);
        a ^= b + c, d ^= e + (uint64_t)i;
    }
    wander(p, depth);
    p->turns += (unsigned)(a ^ d);
}

static void wander(struct path *p, int depth)
{
    static void (*const next[])(struct path *, int) = {plain, mirrored, growing, realigned, busy};
    if (depth < DEEPEST && random_next(p) % 4)
        next[random_next(p) % 5](p, depth + 1);
    call(p);
}

static void *travel(void *seed)
{
    struct path p = {.random = *(uint64_t *)seed, .stream = session_enter_from(base_frame_here())};
    ck_assert_ptr_nonnull(p.stream);
    for (int i = 0; i < STEPS / 10 || p.asked < STEPS; i++)
        wander(&p, 0);
    session_leave();
    ck_assert_int_eq(p.wrong, 0);
    return NULL;
}

static void start(const char *depth)
{
    struct session_world alone = {.rank = 0, .ranks = 1, .mpi = ""};
    setenv("PYTHIA_DEPTH", depth, 1);
    setenv("PYTHIA_VERBOSE", "0", 1);
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
}

START_TEST(test_remembered_callsites_are_those_of_a_walk)
{
    static const char *const depth[] = {"0", "1", "2", "4", "8", "16"};
    uint64_t seed = 0x9e3779b97f4a7c15u + (uint64_t)_i;
    below = _i % 2 ? 9 : 0;
    start(depth[_i]);
    travel(&seed);
    job_destroy(session_finish());
}
END_TEST

START_TEST(test_a_thread_remembers_its_own)
{
    pthread_t thread[THREADS];
    uint64_t seed[THREADS];
    start("3");
    for (int t = 0; t < THREADS; t++) {
        seed[t] = 77 + (uint64_t)t;
        ck_assert_int_eq(pthread_create(&thread[t], NULL, travel, &seed[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    job_destroy(session_finish());
}
END_TEST

START_TEST(test_numbers_are_of_one_session)
{
    uint64_t seed = 5;
    for (int i = 0; i < 3; i++) {
        start(i % 2 ? "2" : "5");
        travel(&seed);
        job_destroy(session_finish());
    }
}
END_TEST

/* Addresses of its frame in all registers that calls keep, the frame pointer among them. Returns the time that a stack
   took that was not remembered. */
__attribute__((noinline)) static uint64_t poll(struct path *p)
{
    uint64_t room[6], *a = room, *b = room + 1, *c = room + 2, *d = room + 3, *e = room + 4, *f = room + 5, before = 0;
    for (int i = 0; i < 1000; i++) {
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f) : : "memory");
        __asm__ volatile("" : "+m"(i)); /* the loop has one call in it, whatever the compiler: each would be a place */
        call(p);
        if (i == 2)
            before = p->stream->first_ns;
    }
    return p->stream->first_ns - before;
}

START_TEST(test_who_polls_is_not_walked_again)
{
    below = _i ? 9 : 0;
    start("3");
    struct path p = {.stream = session_enter_from(base_frame_here())};
    ck_assert_uint_eq(poll(&p), 0);
    ck_assert_int_eq(p.asked, 1000);
    ck_assert_int_eq(p.wrong, 0);
    session_sites_forget(p.stream);
    uint64_t before = p.stream->first_ns;
    ck_assert_uint_eq(poll(&p), 0);
    ck_assert_uint_gt(p.stream->first_ns, before); /* once more */
    session_leave();
    job_destroy(session_finish());
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(test_remembered_callsites_are_those_of_a_walk, 6),
    UNIT_TEST(test_a_thread_remembers_its_own),
    UNIT_LOOP(test_who_polls_is_not_walked_again, 2),
    UNIT_TEST(test_numbers_are_of_one_session),
};

int main(void)
{
    return unit_run("session/site", tests, UNIT_COUNT(tests));
}
