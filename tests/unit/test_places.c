/* SPDX-License-Identifier: MIT */
/* Decisions on machines that are not here: 24 nodes of 8 cores, 4 nodes of 12, and one without nodes worth the name. */
#include "include/pythia.h"
#include "places/cores.h"
#include "places/place.h"
#include "tests/unit/unit.h"

/* In each node a package, and every core two processors where `threads` is 2: i and i + all cores. */
static const struct base_machine *machine(unsigned nodes, unsigned cores, unsigned threads)
{
    static struct base_machine m;
    m.count = nodes * cores * threads;
    for (unsigned i = 0; i < m.count; i++) {
        uint16_t core = (uint16_t)(i % (nodes * cores)), node = (uint16_t)(core / cores);
        m.at[i] = (struct base_processor){ .number = (uint16_t)i, .node = node };
        m.at[i].first[BASE_CORE] = core;
        m.at[i].first[BASE_PACKAGE] = m.at[i].first[BASE_NODE] = m.at[i].first[BASE_CACHE] = (uint16_t)(node * cores);
    }
    base_topology_sort(&m);
    return &m;
}

static struct places_place decide(const struct base_machine *t, int kind, uintptr_t value, places_locate_t locate)
{
    struct places_wish wish = { .kind = kind, .value = value };
    struct places_place place;
    ck_assert_int_eq(places_decide(t, &wish, locate, &place), 0);
    return place;
}

static const struct { unsigned nodes, cores, threads; } shapes[] = { { 24, 8, 1 }, { 4, 12, 1 }, { 1, 2, 2 } };

START_TEST(threads_are_processors)
{
    const struct base_machine *t = machine(shapes[_i].nodes, shapes[_i].cores, shapes[_i].threads);
    unsigned each = shapes[_i].cores * shapes[_i].threads, all = shapes[_i].nodes * each;
    for (unsigned v = 0; v < 3 * all; v++) {
        struct places_place p = decide(t, PYTHIA_AFFINITY_THREAD, v, NULL);
        ck_assert_uint_eq(p.first, v % all); /* beyond the last: modulo */
        ck_assert_uint_eq(p.count, 1);
        ck_assert_uint_eq(p.node, v % all / each);
        cpu_set_t set;
        places_processors(t, &p, &set);
        ck_assert_int_eq(CPU_COUNT(&set), 1);
        ck_assert(CPU_ISSET(t->at[v % all].number, &set));
    }
}
END_TEST

START_TEST(nodes_are_all_their_processors)
{
    const struct base_machine *t = machine(shapes[_i].nodes, shapes[_i].cores, shapes[_i].threads);
    unsigned each = shapes[_i].cores * shapes[_i].threads;
    for (unsigned v = 0; v < 3 * shapes[_i].nodes; v++) {
        struct places_place p = decide(t, PYTHIA_AFFINITY_NODE, v, NULL);
        ck_assert_uint_eq(p.node, v % shapes[_i].nodes);
        ck_assert_uint_eq(p.count, each);
        cpu_set_t set;
        places_processors(t, &p, &set);
        ck_assert_int_eq(CPU_COUNT(&set), (int)each);
        for (unsigned c = 0; c < each; c++)
            ck_assert(CPU_ISSET(p.node * each + c, &set));
    }
}
END_TEST

/* Pages of the test live on the node that their address says. */
static int locate(uintptr_t address)
{
    return address < 0x1000 ? -14 : (int)(address >> 12) - 1;
}

START_TEST(data_are_where_their_page_is)
{
    const struct base_machine *t = machine(shapes[_i].nodes, shapes[_i].cores, shapes[_i].threads);
    for (unsigned n = 0; n < shapes[_i].nodes; n++)
        ck_assert_uint_eq(decide(t, PYTHIA_AFFINITY_DATA, (n + 1) * 0x1000u + 123, locate).node, n);
    ck_assert_uint_eq(decide(t, PYTHIA_AFFINITY_DATA, 0x10, locate).node, 0);      /* not known */
    ck_assert_uint_eq(decide(t, PYTHIA_AFFINITY_DATA, 0x5000000, locate).node, 0); /* a node that is not there */
}
END_TEST

START_TEST(pages_of_this_machine)
{
    const struct base_machine *t = machine(shapes[0].nodes, shapes[0].cores, shapes[0].threads);
    static char touched[1 << 16];
    touched[5000] = 1;
    struct places_place p = decide(t, PYTHIA_AFFINITY_DATA, (uintptr_t)&touched[5000], NULL);
    ck_assert_uint_lt(p.node, 24);
    ck_assert_uint_eq(decide(t, PYTHIA_AFFINITY_DATA, 1, NULL).node, 0); /* not mapped: the first node */
}
END_TEST

START_TEST(neighbours_share_a_core)
{
    const struct base_machine *t = machine(1, 2, 2);
    static const unsigned order[] = { 0, 2, 1, 3 };
    for (unsigned v = 0; v < 4; v++) {
        struct places_place p = decide(t, PYTHIA_AFFINITY_THREAD, v, NULL);
        cpu_set_t set;
        places_processors(t, &p, &set);
        ck_assert(CPU_ISSET(order[v], &set));
    }
}
END_TEST

START_TEST(teams_spread_by_threads_only)
{
    struct places_wish thread = { .kind = PYTHIA_AFFINITY_THREAD, .value = 5, .strict = true };
    struct places_wish node = { .kind = PYTHIA_AFFINITY_NODE, .value = 5 };
    ck_assert_uint_eq(places_of_member(&thread, 3).value, 8);
    ck_assert(places_of_member(&thread, 3).strict);
    ck_assert_uint_eq(places_of_member(&node, 3).value, 5);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    const struct base_machine *t = machine(shapes[2].nodes, shapes[2].cores, shapes[2].threads);
    struct places_place place;
    struct places_wish none = { .kind = PYTHIA_AFFINITY_NONE }, wrong = { .kind = 99 };
    ck_assert_int_eq(places_decide(t, &none, NULL, &place), PYTHIA_EINVAL);
    ck_assert_int_eq(places_decide(t, &wrong, NULL, &place), PYTHIA_EINVAL);
}
END_TEST

START_TEST(cores_of_this_machine)
{
    struct places_cores c;
    places_cores(&c);
    ck_assert(c.in_mask >= 1 && c.processors >= 1 && c.cores >= 1 && c.cores <= c.processors &&
              c.processors <= c.in_mask);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(threads_are_processors, 3), UNIT_LOOP(nodes_are_all_their_processors, 3),
        UNIT_LOOP(data_are_where_their_page_is, 3), UNIT_TEST(pages_of_this_machine),
        UNIT_TEST(neighbours_share_a_core), UNIT_TEST(teams_spread_by_threads_only), UNIT_TEST(nonsense_is_refused),
        UNIT_TEST(cores_of_this_machine),
    };
    return unit_run("places/place", tests, UNIT_COUNT(tests));
}
