/* SPDX-License-Identifier: MIT */
/* The gap before an event by what was before it: without a position, told apart by context, whatever is rare. */
#include <math.h>

#include "oracle/internal.h"
#include "tests/unit/unit.h"

enum { MEMORY = 1 << 20, ROUNDS = 400, LATE = 100 };

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % n;
}

/* Event 9 comes after 1 2 or 3 4, in any order; its gap is 100 or 3000, one of four times 50 times as long. */
static uint64_t gap_of_nine(uint32_t kind)
{
    return (kind ? 3000 : 100) * (random_below(4) ? 1 : 50);
}

START_TEST(contexts_are_told_apart)
{
    struct oracle_options options = { .learn = MEMORY };
    struct oracle *o = oracle_create(NULL, NULL, 0, &options);
    struct oracle_answer answer;
    uint32_t near = 0, asked = 0;

    random_state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t kind = random_below(2);
        oracle_follow(o, 1 + 2 * kind, 50, 10);
        oracle_follow(o, 2 + 2 * kind, 50, 10);
        ck_assert(round < 8 || oracle_predict(o, 1, &answer) == 0);
        if (round >= LATE) {
            asked++;
            near += answer.terminal == 9 && fabs(answer.until - (kind ? 3000 : 100)) < (kind ? 600 : 20);
        }
        oracle_follow(o, 9, gap_of_nine(kind), 10);
    }
    ck_assert_uint_gt(near, asked * 9 / 10);
    oracle_destroy(o);
}
END_TEST

static const uint64_t hash = 0x123456789abcdef0u;

START_TEST(the_nearest_answers)
{
    struct oracle_gap_context slots[2][4] = { 0 };
    const struct oracle_gap_contexts one = { slots[0], 3 }, other = { slots[1], 3 };
    struct oracle_gap_answer answer = { .gap = -1 };

    oracle_gap_context_ask(&one, hash, &answer);
    ck_assert_double_lt(answer.gap, 0);
    for (int i = 0; i < 40; i++) {
        oracle_gap_context_learn(&one, hash, i % 2 ? 100 : 900);
        oracle_gap_context_learn(&other, hash, 500);
    }
    oracle_gap_context_ask(&one, hash, &answer);
    ck_assert_double_gt(answer.gap, 0);
    ck_assert_float_gt(answer.error, 0.3f);
    oracle_gap_context_ask(&other, hash, &answer);
    ck_assert_double_eq(answer.gap, 500);
    ck_assert_float_lt(answer.error, 0.01f);
    oracle_gap_context_ask(&one, hash, &answer); /* further off: nothing changes */
    ck_assert_double_eq(answer.gap, 500);
}
END_TEST

/* Another context with the same slot takes it, and does not answer for the first. */
START_TEST(slots_are_not_shared)
{
    struct oracle_gap_context slots[4] = { 0 };
    const struct oracle_gap_contexts t = { slots, 3 };
    struct oracle_gap_answer answer = { .gap = -1 };

    oracle_gap_context_learn(&t, hash, 100);
    oracle_gap_context_learn(&t, hash ^ (uint64_t)1 << 40, 900);
    oracle_gap_context_ask(&t, hash, &answer);
    ck_assert_double_lt(answer.gap, 0);
    oracle_gap_context_ask(&t, hash ^ (uint64_t)1 << 40, &answer);
    ck_assert_double_eq(answer.gap, 900);
}
END_TEST

START_TEST(who_was_nearer_wins)
{
    struct oracle_gap_errors errors = { 0, 0 };
    const struct oracle_gap_answer unknown = { .gap = -1 }, doubtful = { 100, 0.5f }, good = { 100, 0.01f };

    ck_assert(oracle_gap_context_wins(&errors, &doubtful));
    ck_assert(!oracle_gap_context_wins(&errors, &unknown));
    for (int i = 0; i < 200; i++)
        oracle_gap_errors_learn(&errors, 100, 1000, 110);
    ck_assert(!oracle_gap_context_wins(&errors, &doubtful));
    ck_assert(oracle_gap_context_wins(&errors, &good));
    for (int i = 0; i < 200; i++)
        oracle_gap_errors_learn(&errors, 1000, 100, 110);
    ck_assert(oracle_gap_context_wins(&errors, &doubtful));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(contexts_are_told_apart), UNIT_TEST(the_nearest_answers),
        UNIT_TEST(slots_are_not_shared), UNIT_TEST(who_was_nearer_wins),
    };
    return unit_run("oracle/gap_context", tests, UNIT_COUNT(tests));
}
