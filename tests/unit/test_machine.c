/* SPDX-License-Identifier: MIT */
/* Energy by counters that are made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/energy.h"
#include "session/internal.h"
#include "tests/unit/unit.h"

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
        UNIT_TEST(what_no_file_takes_is_not_read),
        UNIT_TEST(counters_are_summed_and_wrap), UNIT_TEST(without_counters_it_says_why),
    };
    return unit_run("machine", tests, UNIT_COUNT(tests));
}
