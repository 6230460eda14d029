/* SPDX-License-Identifier: MIT */
/*
 * What allocates in hooks, and what happens where it cannot: libc's allocator is counted, watched and made to fail. Not
 * under a sanitizer, which has one of its own.
 */
#include <errno.h>

#include "tests/unit/session_calls.h"

#if UNIT_ADDRESS_SANITIZER || defined(__SANITIZE_THREAD__)
int main(void)
{
    return unit_skip("a sanitizer allocates by itself");
}
#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Thread_local bool fails; /* what grows; Check itself allocates */
static _Thread_local unsigned allocated;
static const struct session_stream *watched; /* its entries are moved only while it is busy */
static unsigned moved, moved_idle;

void *malloc(size_t size)
{
    allocated++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocated++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    allocated++;
    if (watched && old && old == watched->keys.entries) {
        moved++;
        moved_idle += !atomic_load(&watched->busy);
    }
    return fails ? errno = ENOMEM, NULL : __libc_realloc(old, size);
}

/* Three hundred functions: their keys move several times. */
START_TEST(keys_move_while_their_stream_is_busy)
{
    static char name[300][8];
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("first");
    watched = session.streams[0];
    for (int i = 0; i < 300; i++) {
        snprintf(name[i], sizeof name[i], "f%d", i);
        call(name[i]);
    }
    watched = NULL;
    ck_assert_uint_gt(moved, 2);
    ck_assert_uint_eq(moved_idle, 0);
    job_destroy(finish_and_check());
}
END_TEST

/* A recording that cannot begin anew goes on with what it has; nothing points to what is not there. */
START_TEST(a_reset_without_memory_changes_nothing)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("a");
    call("b");
    session_reset();
    fails = true;
    call("a");
    fails = false;
    call("b");
    struct job *j = finish_and_check();
    expect_events(j, 0, "a b a b");
    job_destroy(j);
}
END_TEST

/* Numbers of events go on over a reset, but what was before it is not there: nothing can be so many events ago. */
START_TEST(a_reset_ends_what_completions_point_to)
{
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 5; i++)
        call("a");
    const struct session_stream *s = session.streams[0];
    uint64_t start = session_here(s).event;
    ck_assert_uint_eq(session_here(s).before, 5);
    session_reset();
    call("b");
    ck_assert_uint_eq(session_here(s).event, start + 1);
    ck_assert_uint_eq(session_here(s).before, 1);
    ck_assert_uint_le(session_here(s).event - start, session_here(s).before); /* begun after it: one event ago */
    ck_assert_uint_gt(session_here(s).event - (start - 1), session_here(s).before);
    job_destroy(finish_and_check());
}
END_TEST

/* Past the cap, where the oldest half is folded: an append may come from inside of the program's malloc. */
START_TEST(an_append_allocates_nothing)
{
    enum { MEMORY = 1 << 20, EVENTS = 400000 };
    struct grammar *g = grammar_create(MEMORY);
    uint64_t state = 5;
    allocated = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct grammar_event e;
        state = state * 6364136223846793005u + 1442695040888963407u;
        grammar_event_set(&e, (uint32_t)(state >> 33) % 300, 10, 20);
        grammar_append(g, &e);
    }
    unsigned within = allocated; /* Check allocates, too */
    ck_assert_uint_gt(grammar_lost(g), 0);
    ck_assert_uint_eq(within, 0);
    grammar_destroy(g);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(keys_move_while_their_stream_is_busy),
        UNIT_TEST(a_reset_without_memory_changes_nothing),
        UNIT_TEST(a_reset_ends_what_completions_point_to),
        UNIT_TEST(an_append_allocates_nothing),
    };
    setenv("PYTHIA_MODE", "record", 1);
    setenv("PYTHIA_CHECKPOINT", "0", 1);
    return unit_run("starved", tests, UNIT_COUNT(tests));
}
#endif
