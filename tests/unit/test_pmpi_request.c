/* SPDX-License-Identifier: MIT */
/* The request table against a flat array: random starts and completions, shared handles, moved variables, threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/attr.h"
#include "pmpi/request.h"
#include "tests/unit/unit.h"

enum { LIVE = 300, STEPS = 200000, THREADS = 4 };

/* Handles that look like the library's: pointers or integers. */
static MPI_Request handle_of(unsigned n)
{
    MPI_Request r;
    uintptr_t value = 0x7f0000001000u + (uintptr_t)n * 64;
    memset(&r, 0, sizeof r);
    memcpy(&r, &value, sizeof r < sizeof value ? sizeof r : sizeof value);
    return r;
}

static struct pmpi_hook_start start_of(int peer, int64_t bytes)
{
    return (struct pmpi_hook_start){.peer = peer, .bytes = bytes, .comm = 1, .active = true};
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Each slot of `variable` is a request of its own; the model is the arrays. Returns the number of wrong answers. */
static int wrong_answers(unsigned first, uint64_t seed)
{
    static _Thread_local MPI_Request variable[LIVE];
    static _Thread_local bool live[LIVE];
    static _Thread_local struct pmpi_hook_start model[LIVE];
    int wrong = 0;
    memset(live, 0, sizeof live);
    for (int step = 0; step < STEPS; step++) {
        unsigned n = (unsigned)(random_next(&seed) % LIVE);
        struct pmpi_hook_start found;
        if (!live[n]) {
            variable[n] = handle_of(first + n);
            model[n] = start_of((int)(random_next(&seed) % 1000), step);
            wrong += !pmpi_hook_request_put(variable[n], &variable[n], &model[n]);
            live[n] = true;
            continue;
        }
        bool known = pmpi_hook_request_find(variable[n], &variable[n], &found);
        wrong += !known || found.peer != model[n].peer || found.bytes != model[n].bytes;
        if (random_next(&seed) % 2) {
            pmpi_hook_request_complete(variable[n], &variable[n], &found);
            wrong += pmpi_hook_request_find(variable[n], &variable[n], &found);
            live[n] = false;
        }
    }
    for (unsigned n = 0; n < LIVE; n++)
        if (live[n])
            pmpi_hook_request_forget(variable[n], &variable[n]);
    return wrong;
}

START_TEST(follows_a_flat_array)
{
    ck_assert_int_eq(wrong_answers(0, 88172645463325252u), 0);
    ck_assert_int_eq(wrong_answers(0, 7u), 0); /* the table is empty again */
}
END_TEST

static void *thread_main(void *argument)
{
    unsigned t = (unsigned)(uintptr_t)argument;
    return (void *)(intptr_t)wrong_answers((t + 1) * 10000, 1234567u + t);
}

START_TEST(keeps_threads_apart)
{
    pmpi_hook_request_threads(true);
    pthread_t thread[THREADS];
    for (uintptr_t t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&thread[t], NULL, thread_main, (void *)t), 0);
    for (int t = 0; t < THREADS; t++) {
        void *wrong;
        pthread_join(thread[t], &wrong);
        ck_assert_int_eq((intptr_t)wrong, 0);
    }
}
END_TEST

/* One handle for many sends: each variable has its own start, in any order of completion. */
START_TEST(tells_shared_handles_apart)
{
    MPI_Request variable[40], moved[40], one = handle_of(77);
    struct pmpi_hook_start start, found;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 40; i++) {
            variable[i] = moved[i] = one;
            start = start_of(i, i * 10);
            ck_assert(pmpi_hook_request_put(one, &variable[i], &start));
        }
        for (int i = 39; i >= 0; i--) {
            int k = turn == 1 ? 39 - i : i;
            ck_assert_msg(pmpi_hook_request_find(one, &variable[k], &found) && found.peer == k,
                          "turn %d, %d of 40: peer %d", turn, k, found.peer);
            pmpi_hook_request_complete(one, &variable[k], &found);
        }
    }
    /* Moved elsewhere, a start of that handle is found, though not which. */
    for (int i = 0; i < 40; i++) {
        start = start_of(i, 10);
        pmpi_hook_request_put(one, &variable[i], &start);
    }
    for (int i = 0; i < 40; i++) {
        ck_assert(pmpi_hook_request_find(one, &moved[i], &found));
        ck_assert_int_eq(found.bytes, 10);
        pmpi_hook_request_complete(one, &moved[i], &found);
    }
}
END_TEST

START_TEST(restarts_persistent_requests)
{
    MPI_Request r = handle_of(99);
    struct pmpi_hook_start start = start_of(5, 50), found;
    start.persistent = true;
    start.active = false;
    ck_assert(pmpi_hook_request_put(r, &r, &start));
    for (int turn = 0; turn < 3; turn++) {
        ck_assert(pmpi_hook_request_find(r, &r, &found) && !found.active);
        ck_assert(pmpi_hook_request_restart(r, 0, 0, &found) && found.active && found.peer == 5);
        pmpi_hook_request_complete(r, &r, &found);
    }
    pmpi_hook_request_forget(r, &r);
    ck_assert(!pmpi_hook_request_find(r, &r, &found));
    ck_assert(!pmpi_hook_request_restart(r, 0, 0, &found));
}
END_TEST

START_TEST(knows_no_null_request)
{
    MPI_Request r = MPI_REQUEST_NULL;
    struct pmpi_hook_start start = start_of(1, 1), found;
    ck_assert(!pmpi_hook_request_put(r, &r, &start));
    ck_assert(!pmpi_hook_request_find(r, &r, &found));
    pmpi_hook_request_complete(r, &r, &found);
    pmpi_hook_request_forget(r, &r);
}
END_TEST

/* More living requests than the table holds: puts fail, nothing else does. */
START_TEST(survives_being_full)
{
    struct pmpi_hook_start start = start_of(3, 3), found;
    unsigned kept = 0, known = 0;
    for (unsigned n = 0; n < 2 * PMPI_HOOK_SLOTS; n++) {
        MPI_Request r = handle_of(200000 + n);
        kept += pmpi_hook_request_put(r, &r, &start);
    }
    ck_assert_uint_gt(kept, PMPI_HOOK_SLOTS / 2);
    ck_assert_uint_lt(kept, PMPI_HOOK_SLOTS + 1);
    for (unsigned n = 0; n < 2 * PMPI_HOOK_SLOTS; n++) {
        MPI_Request r = handle_of(200000 + n);
        known += pmpi_hook_request_find(r, NULL, &found);
        pmpi_hook_request_forget(r, NULL);
    }
    ck_assert_uint_eq(known, kept);
    ck_assert_int_eq(wrong_answers(0, 99u), 0);
}
END_TEST

static MPI_Message message_of(unsigned n)
{
    MPI_Message m;
    MPI_Request r = handle_of(n);
    memcpy(&m, &r, sizeof m < sizeof r ? sizeof m : sizeof r);
    return m;
}

/* A message and a request of the same value are two things; a message is taken once. */
START_TEST(keeps_messages_beside_requests)
{
    struct pmpi_hook_start first = start_of(1, 0), second = start_of(2, 0), found;
    MPI_Request r = handle_of(5);
    ck_assert(!pmpi_hook_message_take(MPI_MESSAGE_NULL, &found));
    ck_assert(!pmpi_hook_message_take(message_of(5), &found));
    ck_assert(pmpi_hook_request_put(r, &r, &first));
    pmpi_hook_message_put(message_of(5), &second);
    ck_assert(pmpi_hook_request_find(r, &r, &found) && found.peer == 1);
    ck_assert(pmpi_hook_message_take(message_of(5), &found) && found.peer == 2);
    ck_assert(!pmpi_hook_message_take(message_of(5), &found));
    ck_assert(pmpi_hook_request_find(r, &r, &found) && found.peer == 1);
    pmpi_hook_request_forget(r, &r);
    pmpi_hook_message_put(message_of(6), &first); /* received unseen; the handle is given out again */
    pmpi_hook_message_put(message_of(6), &second);
    ck_assert(pmpi_hook_message_take(message_of(6), &found) && found.peer == 2);
    ck_assert(!pmpi_hook_message_take(message_of(6), &found));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(follows_a_flat_array),           UNIT_TEST(keeps_threads_apart),
        UNIT_TEST(tells_shared_handles_apart),     UNIT_TEST(restarts_persistent_requests),
        UNIT_TEST(knows_no_null_request),          UNIT_TEST(survives_being_full),
        UNIT_TEST(keeps_messages_beside_requests),
    };
    return unit_run("pmpi/request", tests, UNIT_COUNT(tests));
}
