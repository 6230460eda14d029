/* SPDX-License-Identifier: MIT */
/* Dominators and natural loops (loops/nest.h), against what their definitions say of graphs made at random. */
#include <stdlib.h>
#include <string.h>

#include "loops/nest.h"
#include "tests/unit/unit.h"

enum { MOST = 12 };

struct graph {
    bool edge[MOST][MOST];
    int before[MOST][MOST], head[MOST], stack[MOST];
    uint8_t member[MOST * MOST];
    struct loops_node node[MOST];
    struct loops_nest nest;
};

static void build(struct graph *g, int nodes)
{
    g->nest = (struct loops_nest){ .node = g->node, .nodes = (uint32_t)nodes, .head = g->head, .member = g->member };
    memset(g->member, 0, sizeof g->member);
    for (int to = 0; to < nodes; to++) {
        g->node[to] = (struct loops_node){ .before = g->before[to], .dominator = -1, .loop = -1 };
        for (int from = 0; from < nodes; from++)
            if (g->edge[from][to])
                g->before[to][g->node[to].before_count++] = from;
    }
    loops_find_dominators(&g->nest);
    ck_assert_uint_le(loops_count(&g->nest), (unsigned)nodes);
    loops_find(&g->nest, g->stack);
    ck_assert_uint_eq(g->nest.loops, loops_count(&g->nest));
}

/* Depth first, never through `without`. */
static bool reaches(const struct graph *g, int from, int to, int without, bool *seen)
{
    if (from == without || seen[from])
        return false;
    seen[from] = true;
    if (from == to)
        return true;
    for (int k = 0; k < (int)g->nest.nodes; k++)
        if (g->edge[from][k] && reaches(g, k, to, without, seen))
            return true;
    return false;
}

static bool is_way(const struct graph *g, int from, int to, int without)
{
    bool seen[MOST] = { false };
    return reaches(g, from, to, without, seen);
}

static bool dominates(const struct graph *g, int dominator, int node)
{
    return !is_way(g, 0, node, dominator);
}

/* A node of the loop of `head`: it leads to a node with an edge back, not through the head. */
static bool turns(const struct graph *g, int head, int node)
{
    for (int tail = 0; tail < (int)g->nest.nodes; tail++)
        if (g->edge[tail][head] && dominates(g, head, tail) && (node == head || is_way(g, node, tail, head)))
            return true;
    return false;
}

static void check_against_definition(struct graph *g)
{
    int nodes = (int)g->nest.nodes, loop = 0;
    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < nodes; b++)
            ck_assert_msg(loops_dominates(&g->nest, a, b) == dominates(g, a, b), "%d, %d", a, b);
    for (int head = 0; head < nodes; head++) {
        if (!turns(g, head, head))
            continue;
        ck_assert_int_eq(g->nest.head[loop], head);
        for (int b = 0; b < nodes; b++)
            ck_assert_int_eq(loops_holds(&g->nest, loop, b), turns(g, head, b));
        loop++;
    }
    ck_assert_int_eq((int)g->nest.loops, loop);
}

/* Each node is reached by an edge from a smaller one; any edges beside, two in three of them forward. */
START_TEST(random_graphs_are_as_defined)
{
    srand((unsigned)_i + 1);
    struct graph g = { 0 };
    int nodes = 2 + rand() % (MOST - 1);
    for (int k = 1; k < nodes; k++)
        g.edge[rand() % k][k] = true;
    for (int e = rand() % (2 * nodes); e > 0; e--) {
        int a = rand() % nodes, b = rand() % nodes;
        bool turned = rand() % 3 == 0;
        g.edge[(a > b) == turned ? a : b][(a > b) == turned ? b : a] = true;
    }
    build(&g, nodes);
    check_against_definition(&g);
}
END_TEST

/* for { for { } if (…) ; } */
START_TEST(loops_within_loops)
{
    struct graph g = { 0 };
    static const int edges[][2] = { { 0, 1 }, { 1, 2 }, { 2, 2 }, { 2, 3 }, { 2, 4 }, { 3, 4 }, { 4, 1 }, { 4, 5 } };
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        g.edge[edges[e][0]][edges[e][1]] = true;
    build(&g, 6);
    ck_assert_uint_eq(g.nest.loops, 2);
    static const int loop[] = { -1, 0, 1, 0, 0, -1 }, dominator[] = { 0, 0, 1, 2, 2, 4 };
    for (int k = 0; k < 6; k++) {
        ck_assert_int_eq(g.node[k].loop, loop[k]);
        ck_assert_int_eq(g.node[k].dominator, dominator[k]);
    }
    ck_assert_int_eq(loops_second_entry(&g.nest), -1);
    ck_assert(loops_edge_dominates(&g.nest, 0, 1, 5) && !loops_edge_dominates(&g.nest, 2, 4, 5));
}
END_TEST

START_TEST(two_entries_are_no_loop)
{
    struct graph g = { 0 };
    g.edge[0][1] = g.edge[0][2] = g.edge[1][2] = g.edge[2][1] = true;
    build(&g, 3);
    ck_assert_uint_eq(g.nest.loops, 0);
    ck_assert_int_eq(loops_second_entry(&g.nest), 1);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(random_graphs_are_as_defined, 500), UNIT_TEST(loops_within_loops),
        UNIT_TEST(two_entries_are_no_loop),
    };
    return unit_run("loops/nest", tests, UNIT_COUNT(tests));
}
