/* SPDX-License-Identifier: MIT */
/* Machines that are not here, as files of their own /sys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/topology.h"
#include "tests/unit/unit.h"

static char root[] = "/tmp/pythia-topology.XXXXXX";
static struct base_machine m;

/* How many levels, in order, processor i shares with the one before it; 0 for the first. */
static unsigned shared(unsigned i)
{
    unsigned k = 0;
    while (i > 0 && k < BASE_LEVELS && m.at[i].first[m.order[k]] == m.at[i - 1].first[m.order[k]])
        k++;
    return k;
}

static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *out = fopen(whole, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "%s\n", text);
    fclose(out);
}

static void put_cpu(unsigned i, const char *what, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/%s", i, what);
    put(path, text);
}

/* Two packages of a node each, four caches, eight cores, sixteen processors: 0 to 7 and, again, 8 to 15. */
static void put_machine(void)
{
    char text[64];
    put("sys/devices/system/cpu/online", "0-15");
    put("sys/devices/system/node/online", "0-1");
    for (unsigned i = 0; i < 16; i++) {
        unsigned core = i % 8, cache = core / 2 * 2, package = core / 4 * 4;
        snprintf(text, sizeof text, "%u,%u", core, core + 8);
        put_cpu(i, "topology/thread_siblings_list", text);
        snprintf(text, sizeof text, "%u-%u,%u-%u", cache, cache + 1, cache + 8, cache + 9);
        put_cpu(i, "cache/index3/shared_cpu_list", text);
        put_cpu(i, "cache/index3/size", "32768K");
        snprintf(text, sizeof text, "%u-%u,%u-%u", package, package + 3, package + 8, package + 11);
        put_cpu(i, "topology/core_siblings_list", text);
        put(package ? "sys/devices/system/node/node1/cpulist" : "sys/devices/system/node/node0/cpulist", text);
    }
    put("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       8388608 kB\nNode 0 MemFree: 5 kB");
    put("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       4194304 kB\nNode 1 MemFree: 5 kB");
}

static void begin(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(those_that_share_more_are_closer)
{
    static const unsigned order[16] = { 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15 };
    begin();
    put_machine();
    ck_assert(base_topology_read(root, &m));
    ck_assert_uint_eq(m.count, 16);
    for (unsigned i = 0; i < 16; i++) {
        ck_assert_uint_eq(m.at[i].number, order[i]);
        ck_assert_uint_eq(shared(i), i == 0 || i == 8 ? 0 : i % 2 ? 4 : i % 4 ? 3 : 2);
        ck_assert_uint_eq(m.at[i].node, i / 8);
    }
    end();
}
END_TEST

/* Sub-NUMA clusters: the cache is the package's, and has two nodes. */
START_TEST(a_cache_may_be_wider_than_a_node)
{
    char text[64];
    begin();
    put_machine();
    put("sys/devices/system/node/online", "0-3");
    for (unsigned n = 0; n < 4; n++) {
        char path[128];
        snprintf(path, sizeof path, "sys/devices/system/node/node%u/cpulist", n);
        snprintf(text, sizeof text, "%u-%u,%u-%u", 2 * n, 2 * n + 1, 2 * n + 8, 2 * n + 9);
        put(path, text);
    }
    for (unsigned i = 0; i < 16; i++) {
        snprintf(text, sizeof text, "%u-%u,%u-%u", i % 8 / 4 * 4, i % 8 / 4 * 4 + 3, i % 8 / 4 * 4 + 8,
                 i % 8 / 4 * 4 + 11);
        put_cpu(i, "cache/index3/shared_cpu_list", text);
    }
    ck_assert(base_topology_read(root, &m));
    ck_assert_uint_eq(m.order[0], BASE_PACKAGE);
    ck_assert_uint_eq(m.order[1], BASE_CACHE);
    ck_assert_uint_eq(m.order[2], BASE_NODE);
    ck_assert_uint_eq(shared(4), 2); /* the other node */
    end();
}
END_TEST

START_TEST(only_what_the_group_may_use)
{
    begin();
    put_machine();
    put("proc/self/cgroup", "3:cpu,cpuacct:/x\n0::/job/step");
    put("sys/fs/cgroup/job/step/cpuset.cpus.effective", "3,5-6,13");
    ck_assert(base_topology_read(root, &m));
    ck_assert_uint_eq(m.count, 4);
    ck_assert_uint_eq(m.at[0].number, 3);
    ck_assert_uint_eq(m.at[1].number, 5);
    ck_assert_uint_eq(m.at[2].number, 13);
    ck_assert_uint_eq(m.at[2].first[BASE_PACKAGE], 5); /* the first of those that are left */
    put("proc/self/cgroup", "9:cpuset:/old");
    put("sys/fs/cgroup/cpuset/old/cpuset.effective_cpus", "15");
    ck_assert(base_topology_read(root, &m));
    ck_assert_uint_eq(m.count, 1);
    ck_assert_uint_eq(m.at[0].number, 15);
    end();
}
END_TEST

START_TEST(what_is_not_told_is_not_made_up)
{
    begin();
    ck_assert(!base_topology_read(root, &m));
    ck_assert_uint_eq(m.count, 0);
    put("sys/devices/system/cpu/online", "0-2");
    ck_assert(base_topology_read(root, &m));
    ck_assert_uint_eq(m.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(m.at[i].number, i);
        ck_assert_uint_eq(m.at[i].first[BASE_NODE], 0);
    }
    cpu_set_t set;
    ck_assert(base_topology_list("0-2", &set));
    ck_assert_uint_eq(base_topology_cores(root, &set), 0);
    end();
}
END_TEST

START_TEST(cores_of_a_set)
{
    static const struct { const char *set; unsigned cores; } sets[] = {
        { "0,8", 1 }, { "8", 1 }, { "0-7", 8 }, { "0-15", 8 }, { "1,8-9,15", 3 },
    };
    begin();
    put_machine();
    for (unsigned i = 0; i < UNIT_COUNT(sets); i++) {
        cpu_set_t set;
        ck_assert(base_topology_list(sets[i].set, &set));
        ck_assert_uint_eq(base_topology_cores(root, &set), sets[i].cores);
    }
    end();
}
END_TEST

START_TEST(lists_of_processors)
{
    cpu_set_t set;
    ck_assert(base_topology_list("0-3,8\n", &set));
    ck_assert_int_eq(CPU_COUNT(&set), 5);
    ck_assert(CPU_ISSET(8, &set));
    ck_assert(!base_topology_list("", &set));
    ck_assert(!base_topology_list("x", &set));
    ck_assert(!base_topology_list("5-3", &set));
    ck_assert(base_topology_list("1000-99999999999999999999", &set)); /* no further than a set goes */
    ck_assert_int_eq(CPU_COUNT(&set), CPU_SETSIZE - 1000);
}
END_TEST

START_TEST(this_machine)
{
    cpu_set_t mask;
    ck_assert(base_topology_read("", &m));
    ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    for (unsigned i = 0; i < m.count; i++)
        CPU_CLR(m.at[i].number, &mask);
    ck_assert_int_eq(CPU_COUNT(&mask), 0);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(those_that_share_more_are_closer), UNIT_TEST(a_cache_may_be_wider_than_a_node),
        UNIT_TEST(only_what_the_group_may_use), UNIT_TEST(what_is_not_told_is_not_made_up),
        UNIT_TEST(cores_of_a_set), UNIT_TEST(lists_of_processors), UNIT_TEST(this_machine),
    };
    return unit_run("base/topology", tests, UNIT_COUNT(tests));
}
