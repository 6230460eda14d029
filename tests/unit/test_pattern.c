/* SPDX-License-Identifier: MIT */
/* Patterns of communication: each is recognised at several sizes, and no longer when one edge is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/model.h"
#include "tests/unit/unit.h"

enum { MOST = 4096 };

static struct findings_edge edges[MOST];
static uint32_t count;

static void edge(uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (edges[i].from == from && edges[i].to == to)
            return;
    ck_assert_uint_lt(count, MOST);
    edges[count++] = (struct findings_edge){from, to, 1, 100};
}

static int order(const void *a, const void *b)
{
    const struct findings_edge *x = a, *y = b;
    return BASE_ORDER(x->from, y->from) ?: BASE_ORDER(x->to, y->to);
}

static const char *name(uint32_t ranks)
{
    static char text[64];
    qsort(edges, count, sizeof *edges, order);
    findings_pattern_name(edges, count, ranks, text);
    return text;
}

static void expect(uint32_t ranks, const char *expected)
{
    ck_assert_msg(strcmp(name(ranks), expected) == 0, "%u ranks, %u edges: '%s', not '%s'", ranks, count, name(ranks),
                  expected);
}

/* Neighbours in a grid. */
static void grid(const uint32_t n[3], bool around, bool corners)
{
    count = 0;
    for (uint32_t r = 0; r < n[0] * n[1] * n[2]; r++)
        for (int d = 0; d < 27; d++) {
            const int step[3] = {d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1};
            const uint32_t at[3] = {r / n[2] / n[1], r / n[2] % n[1], r % n[2]};
            uint32_t to = 0;
            bool inside = corners || abs(step[0]) + abs(step[1]) + abs(step[2]) <= 1;
            for (int k = 0; k < 3; k++) {
                int x = (int)at[k] + step[k], size = (int)n[k];
                inside &= (around && size > 1) || (x >= 0 && x < size);
                to = to * n[k] + (uint32_t)((x + size) % size);
            }
            if (inside)
                edge(r, to);
        }
}

START_TEST(rings_and_shifts)
{
    for (uint32_t ranks = 3; ranks < 40; ranks += 4) {
        count = 0;
        for (uint32_t r = 0; r < ranks; r++)
            edge(r, (r + 1) % ranks);
        expect(ranks, "ring (rank + 1)");
        for (uint32_t r = 0; r < ranks; r++)
            edge((r + 1) % ranks, r);
        if (ranks > 3)
            expect(ranks, "ring (both ways)");
        count = 0;
        for (uint32_t r = 0; r + 1 < ranks; r++)
            edge(r, r + 1);
        expect(ranks, "chain (rank + 1)"); /* neither a ring nor a halo: half of its edges are not there */
        for (uint32_t r = 0; r + 1 < ranks; r++)
            edge(r + 1, r);
        expect(ranks, "1-D halo (chain)");
    }
    count = 0;
    for (uint32_t r = 0; r < 12; r++)
        edge(r, (r + 5) % 12);
    expect(12, "irregular");
    count = 0;
    edge(0, 1), edge(2, 1);
    expect(3, "master and workers (rank 1)"); /* all to one of three, as a chain would be */
    count = 0;
    edge(0, 1), edge(2, 1), edge(2, 3);
    expect(4, "irregular");
}
END_TEST

START_TEST(grids)
{
    grid((const uint32_t[]){1, 4, 6}, false, false);
    expect(24, "2-D halo (4 x 6)");
    grid((const uint32_t[]){1, 4, 6}, true, false);
    expect(24, "2-D halo (4 x 6, around)");
    grid((const uint32_t[]){1, 5, 5}, false, true);
    expect(25, "2-D halo (5 x 5, corners)");
    grid((const uint32_t[]){3, 4, 5}, false, false);
    expect(60, "3-D halo (3 x 4 x 5)");
    grid((const uint32_t[]){4, 4, 4}, false, true);
    expect(64, "3-D halo (4 x 4 x 4, corners)");
    edge(0, 63);
    expect(64, "irregular");
}
END_TEST

START_TEST(masters_and_trees)
{
    count = 0;
    for (uint32_t r = 1; r < 9; r++)
        edge(0, r), edge(r, 0);
    expect(9, "master and workers (rank 0)");
    count = 0;
    for (uint32_t r = 0; r < 9; r++)
        edge(r, 4);
    expect(9, "master and workers (rank 4)");
    edge(3, 5);
    expect(9, "irregular");
}
END_TEST

START_TEST(others)
{
    for (uint32_t ranks = 4; ranks <= 8; ranks *= 2) {
        count = 0;
        for (uint32_t r = 0; r < ranks; r++)
            for (uint32_t bit = 1; bit < ranks; bit *= 2)
                edge(r, r ^ bit);
        expect(ranks, ranks == 4 ? "2-D halo (2 x 2)" : "3-D halo (2 x 2 x 2)");
    }
    count = 0;
    for (uint32_t r = 0; r < 12; r++)
        for (uint32_t to = 0; to < 12; to++)
            edge(r, to);
    expect(12, "all to all");
    edges[5].bytes = 100000;
    ck_assert_str_ne(name(12), "all to all");
    count = 0;
    for (uint32_t r = 0; r < 16; r++)
        edge(r, r ^ 1);
    expect(16, "pairs");
    for (count = 0; count < 4;)
        edge(count, 7 - count);
    expect(8, "pairs"); /* one way */
    count--;
    expect(8, "irregular");
    count = 0;
    edge(0, 1), edge(1, 0), edge(2, 3), edge(3, 1);
    expect(4, "irregular");
    count = 0;
    expect(4, "to itself");
    edge(0, 1);
    expect(2, "pair");
    edge(1, 0);
    expect(2, "pair");
    expect(1, "irregular"); /* a damaged job: more ranks in its edges than it has */
}
END_TEST

/* A name for most of the edges would say what is not so. */
START_TEST(most_of_the_messages)
{
    count = 0;
    for (uint32_t r = 0; r < 16; r++)
        edge(r, (r + 1) % 16);
    for (uint32_t i = 0; i < count; i++)
        edges[i].messages = 100;
    expect(16, "ring (rank + 1)");
    edge(3, 9);
    expect(16, "irregular");
}
END_TEST

/* --- Random graphs: what a name says is so --- */

static bool joined(uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < count; i++)
        if ((edges[i].from == a && edges[i].to == b) || (edges[i].from == b && edges[i].to == a))
            return true;
    return false;
}

/* How many steps from a to b in the grid n, corners counted as the steps along each dimension; 9: not neighbours. */
static uint32_t steps(const uint32_t n[3], uint32_t a, uint32_t b, bool around)
{
    uint32_t all = 0;

    for (int k = 2; k >= 0; a /= n[k], b /= n[k], k--) {
        uint32_t d = a % n[k] > b % n[k] ? a % n[k] - b % n[k] : b % n[k] - a % n[k];
        if (d > 1 && !(around && d == n[k] - 1))
            return 9;
        all += d > 0;
    }
    return all;
}

/* Every edge joins neighbours, and every two neighbours along a dimension have an edge (around: if anybody's goes). */
static bool is_grid_of(const uint32_t n[3], uint32_t ranks, bool around, bool corners)
{
    bool around_in[3] = { false };

    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = edges[i].from, b = edges[i].to;
        if (steps(n, a, b, around) > (corners ? 3 : 1))
            return false;
        for (int k = 2; k >= 0; a /= n[k], b /= n[k], k--)
            around_in[k] |= (uint32_t)abs((int)(a % n[k]) - (int)(b % n[k])) > 1;
    }
    for (uint32_t a = 0; a < ranks; a++)
        for (uint32_t stride = 1, k = 3; k-- > 0; stride *= n[k]) {
            uint32_t at = a / stride % n[k];
            if (n[k] < 2 || (at + 1 == n[k] && (n[k] == 2 || !around_in[k])))
                continue;
            if (!joined(a, at + 1 < n[k] ? a + stride : a - at * stride))
                return false;
        }
    return around == (around_in[0] || around_in[1] || around_in[2]);
}

/* Each rank is in one pair. */
static bool are_pairs(uint32_t ranks)
{
    for (uint32_t a = 0; a < ranks; a++) {
        uint32_t peers = 0;
        for (uint32_t b = 0; b < ranks; b++)
            peers += joined(a, b);
        if (peers != 1)
            return false;
    }
    return true;
}

/* Ranks beside each other are joined, the last and the first, too, if it is a ring; nobody else is. */
static bool is_line_of(uint32_t ranks, bool ring)
{
    uint32_t pairs = 0;

    for (uint32_t a = 0; a < ranks; a++)
        for (uint32_t b = 0; b < a; b++)
            pairs += joined(a, b);
    for (uint32_t a = 0; a + !ring < ranks; a++)
        if (!joined(a, (a + 1) % ranks))
            return false;
    return pairs == ranks - !ring;
}

static bool so(const char *text, uint32_t ranks)
{
    uint32_t n[3] = { 1, 1, 1 }, master;

    if (sscanf(text, "2-D halo (%u x %u", &n[1], &n[2]) == 2 ||
        sscanf(text, "3-D halo (%u x %u x %u", &n[0], &n[1], &n[2]) == 3)
        return n[0] * n[1] * n[2] == ranks && is_grid_of(n, ranks, strstr(text, "around"), strstr(text, "corners"));
    if (sscanf(text, "master and workers (rank %u", &master) == 1) {
        for (uint32_t i = 0; i < count; i++)
            if (edges[i].from != master && edges[i].to != master)
                return false;
        return true;
    }
    if (strncmp(text, "pair", 4) == 0)
        return are_pairs(ranks);
    if (strncmp(text, "ring", 4) == 0 || strstr(text, "chain"))
        return is_line_of(ranks, *text == 'r');
    return strcmp(text, "all to all") ? strcmp(text, "irregular") == 0 || strcmp(text, "to itself") == 0
                                      : count == ranks * (ranks - 1);
}

static uint32_t below(unsigned *seed, uint32_t n) { return (uint32_t)rand_r(seed) % n; }

/* A pattern, of which each edge is left out with a chance, and some more. Returns how many ranks there are. */
static uint32_t random_graph(unsigned *seed)
{
    uint32_t n[3] = { 1 + below(seed, 3), 1 + below(seed, 4), 2 + below(seed, 4) }, ranks = n[0] * n[1] * n[2];
    uint32_t chance = (uint32_t[]){ 0, 0, 2, 20, 50 }[below(seed, 5)];
    uint32_t more = (uint32_t[]){ 0, 0, 1, 9 }[below(seed, 4)];

    grid(n, below(seed, 2), below(seed, 2));
    for (uint32_t i = 0; i < count;)
        if (below(seed, 100) < chance)
            edges[i] = edges[--count];
        else
            i++;
    for (uint32_t i = 0; i < more; i++)
        edge(below(seed, ranks), below(seed, ranks));
    return ranks;
}

/* Whatever the edges are, a name comes at once, and is so; where nothing was left out and nothing added, one comes. */
START_TEST(random_edges)
{
    unsigned seed = (unsigned)_i + 1;
    uint32_t named = 0;

    for (int turn = 0; turn < 600; turn++) {
        uint32_t ranks = random_graph(&seed);
        const char *text = name(ranks);
        ck_assert_msg(so(text, ranks), "seed %d, turn %d: %u edges of %u ranks are no '%s'", _i, turn, count, ranks,
                      text);
        named += strcmp(text, "irregular") != 0;
    }
    ck_assert_uint_gt(named, 100);
    count = 0;
    edge(0, 0xfffffffe);
    ck_assert_str_ne(name(0xffffffff), "");
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(rings_and_shifts),     UNIT_TEST(grids),
                                              UNIT_TEST(masters_and_trees),    UNIT_TEST(others),
                                              UNIT_TEST(most_of_the_messages), UNIT_LOOP(random_edges, 8) };
    return unit_run("pattern", tests, UNIT_COUNT(tests));
}
