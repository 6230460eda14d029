/* SPDX-License-Identifier: MIT */
/* The function that made a time longer: planted ones are named with bounds that hold, chance is not. */
#include <stdlib.h>
#include <string.h>

#include "contracts/grown.h"
#include "tests/unit/unit.h"

enum { FUNCTIONS = 3 };

static const struct findings_place places[FUNCTIONS] = {
    { .symbol = "tenth", .function = "tenth", .module = "app" },
    { .symbol = "third", .function = "third", .module = "app" },
    { .symbol = "most", .function = "most", .module = "app" },
};
static uint64_t state = 1;

static double even(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* So many samples, drawn by these times, which are what an execution takes. */
static struct contracts_made drawn(struct findings_inside_function f[FUNCTIONS], const double ns[FUNCTIONS],
                                   uint32_t samples)
{
    double all = ns[0] + ns[1] + ns[2];

    memset(f, 0, FUNCTIONS * sizeof *f);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        f[i].place = &places[i];
    for (uint32_t i = 0; i < samples; i++) {
        double at = even() * all;
        f[at < ns[0] ? 0 : at < ns[0] + ns[1] ? 1 : 2].samples++;
    }
    return (struct contracts_made){ { .samples = samples, .function = f, .count = FUNCTIONS }, all, 0 };
}

static uint32_t named(const struct contracts_grown *g, uint32_t count, uint32_t place)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += g[i].place == &places[place];
    return n;
}

/* A thousand times over: what grew is named, first and within its bounds; what did not, seldom. */
START_TEST(planted)
{
    enum { TIMES = 1000 };
    static const double before[] = { 1e6, 3e6, 6e6 }, after[] = { 1e6, 5e6, 6e6 };
    uint32_t found = 0, within = 0, others = 0, first = 0;

    for (int i = 0; i < TIMES; i++) {
        struct findings_inside_function f[2][FUNCTIONS];
        struct contracts_made made[2] = { drawn(f[0], before, 1000), drawn(f[1], after, 1000) };
        uint32_t count;
        struct contracts_grown *g = contracts_grown_find(made, 0, &count);
        found += named(g, count, 1);
        first += count && g[0].place == &places[1];
        within += count && g[0].low <= 2e6 && g[0].high >= 2e6;
        others += named(g, count, 0) + named(g, count, 2);
        free(g);
    }
    ck_assert_uint_eq(found, TIMES);
    ck_assert_uint_eq(first, TIMES);
    ck_assert_uint_ge(within, TIMES * 93 / 100);
    ck_assert_uint_le(others, TIMES * 7 / 100); /* of two, each in 2.5 of 100 */
}
END_TEST

/* All of a machine is slower: that is nobody's. */
START_TEST(pace)
{
    static const double before[] = { 1e6, 3e6, 6e6 }, after[] = { 1.2e6, 5.6e6, 7.2e6 };
    struct findings_inside_function f[2][FUNCTIONS];
    struct contracts_made made[2] = { drawn(f[0], before, 100000), drawn(f[1], after, 100000) };
    uint32_t count;
    struct contracts_grown *g = contracts_grown_find(made, 0, &count);

    ck_assert_uint_eq(count, 3);
    free(g);
    g = contracts_grown_find(made, .2, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(g->place, &places[1]);
    ck_assert_double_eq_tol(g->ns[0], 3e6, 1e5);
    ck_assert_double_eq_tol(g->change, 2e6, 1e5);
    free(g);
}
END_TEST

/* Less; one that is only in one of them, or in a program that has another name; few samples; times that are unsure. */
START_TEST(edges)
{
    static const double before[] = { 1e6, 3e6, 6e6 }, after[] = { 1e6, 0, 6e6 };
    struct findings_inside_function f[2][FUNCTIONS];
    struct findings_place renamed = places[2];
    struct contracts_made made[2] = { drawn(f[0], before, 1000), drawn(f[1], after, 1000) };
    uint32_t count;

    renamed.module = "app-new";
    f[1][2].place = &renamed;
    f[1][1] = f[1][2];
    made[1].part.count = 2;
    struct contracts_grown *g = contracts_grown_find(made, 0, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(g->place->symbol, "third");
    ck_assert(g->high < 0);
    ck_assert(strstr(contracts_grown_text(g), " less)"));
    free(g);
    struct contracts_made back[2] = { made[1], made[0] };
    g = contracts_grown_find(back, 0, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(g->low > 0);
    ck_assert_double_eq(g->ns[0], 0);
    free(g);
    made[0].error = made[1].error = 2;
    g = contracts_grown_find(made, 0, &count);
    ck_assert_uint_eq(count, 0);
    free(g);
    made[0] = drawn(f[0], before, FINDINGS_INSIDE_FEW - 1);
    made[0].error = made[1].error = 0;
    g = contracts_grown_find(made, 0, &count);
    ck_assert_uint_eq(count, 0);
    free(g);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(planted), UNIT_TEST(pace), UNIT_TEST(edges) };

    return unit_run("contracts/grown", tests, UNIT_COUNT(tests));
}
