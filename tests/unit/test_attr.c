/* SPDX-License-Identifier: MIT */
/*
 * Value models against a flat list of the values: whatever a model claims must be so.
 */
#include <stdlib.h>
#include <string.h>

#include "grammar/attr.h"
#include "tests/unit/unit.h"

enum { ROOM = 512 };

struct list { uint64_t count; int64_t value[ROOM]; };

static uint64_t rnd(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void audit(const struct grammar_attr *a, const struct list *l, unsigned seed)
{
    int64_t v, min = INT64_MAX, max = INT64_MIN;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < l->count; i++) {
        sum += (uint64_t)l->value[i];
        min = l->value[i] < min ? l->value[i] : min;
        max = l->value[i] > max ? l->value[i] : max;
    }
    ck_assert_msg(a->count == l->count && (uint64_t)a->sum == sum, "seed %u: count or sum", seed);
    ck_assert_msg(a->min == min && a->max == max, "seed %u: extremes", seed);
    ck_assert_msg(grammar_attr_constant(a, &v) == (min == max), "seed %u: constant or not", seed);
}

static void append(struct grammar_attr *a, struct list *l, int64_t value)
{
    if (l->count == 0)
        grammar_attr_start(a, GRAMMAR_BYTES, value, 0);
    else
        grammar_attr_add(a, value, 0);
    l->value[l->count++] = value;
}

/* Joined in any order they are the same. */
START_TEST(joined_models)
{
    for (unsigned seed = 1; seed < 2000; seed++) {
        static struct list l, m;
        struct grammar_attr a, b, c;
        uint64_t random = seed;
        l.count = m.count = 0;
        for (uint64_t n = 1 + rnd(&random) % 20, k = seed % 3; n > 0; n--)
            append(&a, &l, k ? (int64_t)(rnd(&random) % k) * INT64_MAX : -3);
        for (uint64_t n = 1 + rnd(&random) % 20, k = seed % 5; n > 0; n--)
            append(&b, &m, k ? (int64_t)(rnd(&random) % k) : -3);
        audit(&a, &l, seed);
        audit(&b, &m, seed);
        c = b;
        grammar_attr_join(&c, &a);
        grammar_attr_join(&a, &b);
        ck_assert_msg(!memcmp(&a, &c, sizeof a), "seed %u: joined the other way they are others", seed);
        memcpy(l.value + l.count, m.value, m.count * sizeof *m.value);
        l.count += m.count;
        audit(&a, &l, seed);
    }
}
END_TEST

/* Parts add up to the whole; of a constant both are exact. */
START_TEST(parts_add_up)
{
    for (unsigned seed = 1; seed < 2000; seed++) {
        static struct list l;
        struct grammar_attr a, out, whole;
        uint64_t random = seed, n = 2 + rnd(&random) % 40;
        int64_t value;
        l.count = 0;
        for (uint64_t i = 0; i < n; i++)
            append(&a, &l, seed % 2 ? 7 : (int64_t)(rnd(&random) % 100) - 50);
        whole = a;
        grammar_attr_split(&a, 1 + rnd(&random) % (n - 1), &out);
        ck_assert_uint_eq(a.count + out.count, n);
        ck_assert_int_eq(a.sum + out.sum, whole.sum);
        ck_assert(out.min == whole.min && out.max == whole.max);
        if (grammar_attr_constant(&out, &value))
            ck_assert(value == out.min && out.sum == value * (int64_t)out.count);
    }
}
END_TEST

/* Durations by size: the last key takes what does not fit; splitting shares them out. */
START_TEST(team_sizes)
{
    struct grammar_attr a, b, out;
    uint64_t counts = 0, sums = 0;

    grammar_attr_start(&a, GRAMMAR_TEAM, 1, 10);
    for (int64_t i = 2; i < 9; i++)
        grammar_attr_add(&a, i, 10);
    ck_assert_uint_eq(a.length, GRAMMAR_ATTR_KEYS);
    ck_assert_int_eq(a.key[GRAMMAR_ATTR_KEYS - 1].value, -1);
    grammar_attr_start(&b, GRAMMAR_TEAM, 2, 30);
    grammar_attr_join(&b, &a);
    ck_assert_uint_eq(b.count, 9);
    grammar_attr_split(&b, 4, &out);
    for (int k = 0; k < GRAMMAR_ATTR_KEYS; k++) {
        counts += b.key[k].count + out.key[k].count;
        sums += b.key[k].sum + out.key[k].sum;
    }
    ck_assert_uint_eq(counts, 9);
    ck_assert_uint_eq(sums, 110);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(joined_models),
        UNIT_TEST(parts_add_up),
        UNIT_TEST(team_sizes),
    };
    return unit_run("attr", tests, UNIT_COUNT(tests));
}
