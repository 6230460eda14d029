/* SPDX-License-Identifier: MIT */
/* The machine as a tree, of machines that are not here; energy by counters that are made up. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/energy.h"
#include "base/topology.h"
#include "session/internal.h"
#include "tests/unit/unit.h"

/* Two packages of `nodes` nodes, in each one cache of 8 cores; core c of a machine has `threads` processors, the first
   ones one more where `uneven`. */
static void describe(unsigned nodes, unsigned threads, bool uneven, char *text, size_t size)
{
    static struct base_machine m;
    m.count = 0;
    for (unsigned thread = 0; thread <= threads; thread++)
        for (unsigned core = 0; core < 2 * nodes * 8; core++) {
            struct base_processor p = { .number = (uint16_t)m.count, .node = (uint16_t)(core / 8) };
            p.first[BASE_CORE] = (uint16_t)core;
            p.first[BASE_NODE] = p.first[BASE_CACHE] = (uint16_t)(core / 8 * 8);
            p.first[BASE_PACKAGE] = (uint16_t)(core / (8 * nodes) * 8 * nodes);
            p.bytes[BASE_NODE] = 8ull << 30;
            p.bytes[BASE_CACHE] = uneven && core < 8 ? 16 << 20 : 32 << 20;
            if (thread < threads || (uneven && core < 4))
                m.at[m.count++] = p;
        }
    base_topology_sort(&m);
    session_machine_text(&m, text, size);
}

START_TEST(what_is_alike_stands_once)
{
    char text[1024];
    describe(12, 2, false, text, sizeof text);
    ck_assert_str_eq(text, "machine\n  2 x package\n    12 x NUMA node of 8 GiB\n      L3 cache of 32 MiB\n"
                           "        8 x core\n          2 x processor\n");
    describe(1, 1, false, text, sizeof text); /* one processor a core */
    ck_assert_str_eq(text, "machine\n  2 x package\n    NUMA node of 8 GiB\n      L3 cache of 32 MiB\n"
                           "        8 x core\n");
}
END_TEST

START_TEST(what_differs_is_a_range)
{
    char text[1024];
    describe(1, 1, true, text, sizeof text);
    ck_assert_str_eq(text, "machine\n  2 x package\n    NUMA node of 8 GiB\n      L3 cache of 16 to 32 MiB\n"
                           "        8 x core\n          1 to 2 x processor\n");
}
END_TEST

START_TEST(a_short_buffer_is_no_overrun)
{
    char text[64];
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        describe(2, 2, false, text, size);
        ck_assert_uint_lt(strlen(text), size);
        ck_assert_int_eq(text[size], 'x');
    }
}
END_TEST

/* In the place of the C library's: what is read says nothing that a processor had to be visited for. */
static unsigned moves;

__attribute__((visibility("default"))) int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    moves++;
    return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}

START_TEST(the_thread_stays_where_it_is)
{
    struct job *job = job_create();
    ck_assert_ptr_nonnull(job);
    session_machine_finish(job, true);
    ck_assert_uint_ne(job->machine.tree, GRAMMAR_NONE);
    ck_assert_uint_eq(moves, 0);
    job_destroy(job);
}
END_TEST

START_TEST(what_no_file_takes_is_not_read)
{
    struct job *job = job_create();
    ck_assert_ptr_nonnull(job);
    session_machine_finish(job, false);
    ck_assert_uint_eq(job->machine.tree, GRAMMAR_NONE);
    ck_assert_uint_eq(job->machine.energy, GRAMMAR_NONE);
    job_destroy(job);
}
END_TEST

static char root[] = "/tmp/pythia-powercap.XXXXXX";

static void put(const char *zone, const char *file, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "%s\n", value);
    fclose(out);
}

static void remove_all(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(counters_are_summed_and_wrap)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("intel-rapl", "enabled", "1");
    put("intel-rapl:0", "name", "package-0");
    put("intel-rapl:0", "energy_uj", "900");
    put("intel-rapl:0", "max_energy_range_uj", "1000");
    put("intel-rapl:1", "name", "package-1");
    put("intel-rapl:1", "energy_uj", "50");
    put("intel-rapl:0:0", "name", "core"); /* part of the package */
    put("intel-rapl:0:0", "energy_uj", "7");
    put("intel-rapl:0:1", "name", "dram"); /* not part of it */
    put("intel-rapl:0:1", "energy_uj", "10");
    ck_assert(base_energy_open(root));
    ck_assert_uint_eq(base_energy_now(), 0);
    put("intel-rapl:0", "energy_uj", "950");
    put("intel-rapl:0:0", "energy_uj", "5000");
    put("intel-rapl:0:1", "energy_uj", "15");
    ck_assert_uint_eq(base_energy_now(), 55);
    put("intel-rapl:0", "energy_uj", "20"); /* wrapped: 50 up to 1000, and 20 */
    put("intel-rapl:1", "energy_uj", "150");
    ck_assert_uint_eq(base_energy_now(), 55 + 70 + 100);
    ck_assert_ptr_nonnull(strstr(base_energy_why(), "3 counters"));
    base_energy_close();
    remove_all();
}
END_TEST

START_TEST(without_counters_it_says_why)
{
    ck_assert(!base_energy_open("/nowhere/powercap"));
    ck_assert_uint_eq(base_energy_now(), 0);
    ck_assert_ptr_nonnull(strstr(base_energy_why(), "/nowhere/powercap"));
    base_energy_close();
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("intel-rapl:0", "name", "package-0");
    put("intel-rapl:0", "energy_uj", "nonsense");
    ck_assert(!base_energy_open(root));
    ck_assert_ptr_nonnull(strstr(base_energy_why(), "cannot be read"));
    base_energy_close();
    remove_all();
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(what_is_alike_stands_once), UNIT_TEST(what_differs_is_a_range),
        UNIT_TEST(a_short_buffer_is_no_overrun),
        UNIT_TEST(the_thread_stays_where_it_is),
        UNIT_TEST(what_no_file_takes_is_not_read),
        UNIT_TEST(counters_are_summed_and_wrap), UNIT_TEST(without_counters_it_says_why),
    };
    return unit_run("machine", tests, UNIT_COUNT(tests));
}
