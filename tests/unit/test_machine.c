/* SPDX-License-Identifier: MIT */
/* The machine as a tree, of machines that are not here; energy by counters that are made up. */
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/energy.h"
#include "session/internal.h"
#include "tests/unit/unit.h"

static void describe(const char *synthetic, char *text, size_t size)
{
    hwloc_topology_t t;
    ck_assert_int_eq(hwloc_topology_init(&t), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(t, synthetic), 0);
    ck_assert_int_eq(hwloc_topology_load(t), 0);
    session_machine_text(t, text, size);
    hwloc_topology_destroy(t);
}

START_TEST(what_is_alike_stands_once)
{
    char text[4096];
    describe("pack:2 numa:12(memory=8GB) l3:1(size=32MB) core:8 pu:2", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\n  2 x Package\n"));
    ck_assert_ptr_nonnull(strstr(text, "12 x "));
    ck_assert_ptr_nonnull(strstr(text, "8 x core\n"));
    ck_assert_ptr_nonnull(strstr(text, "2 x processor\n"));
    describe("node:4 core:12 pu:1", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "12 x core\n"));
    ck_assert_ptr_null(strstr(text, "processor")); /* one a core */
}
END_TEST

START_TEST(a_short_buffer_is_no_overrun)
{
    char text[64];
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        describe("pack:2 core:8 pu:2", text, size);
        ck_assert_uint_lt(strlen(text), size);
        ck_assert_int_eq(text[size], 'x');
    }
}
END_TEST

/* In the place of the C library's: hwloc would go from processor to processor. */
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
        UNIT_TEST(what_is_alike_stands_once), UNIT_TEST(a_short_buffer_is_no_overrun),
        UNIT_TEST(the_thread_stays_where_it_is),
        UNIT_TEST(what_no_file_takes_is_not_read),
        UNIT_TEST(counters_are_summed_and_wrap), UNIT_TEST(without_counters_it_says_why),
    };
    return unit_run("machine", tests, UNIT_COUNT(tests));
}
