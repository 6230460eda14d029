/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/processors.h"
#include "tests/unit/unit.h"

static char root[64];

static void put(const char *path, const char *text)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *out = fopen(whole, "w");
    ck_assert(out != NULL);
    fputs(text, out);
    fclose(out);
}

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/pythia-cores-XXXXXX");
    ck_assert(mkdtemp(root) != NULL);
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(no_groups_no_limit)
{
    make_root();
    ck_assert(base_processors_quota(root, "") == 0);
    ck_assert(base_processors_quota(root, "0::/\n") == 0);
    ck_assert(base_processors_quota(root, "nonsense\n::\n:::::\n0:\n12:cpu\n") == 0);
    put("cpu.max", "max 100000\n");
    ck_assert(base_processors_quota(root, "0::/\n") == 0);
    put("cpu.max", "0 0\n");
    ck_assert(base_processors_quota(root, "0::/\n") == 0);
    remove_root();
}
END_TEST

START_TEST(the_least_of_all_groups_above_counts)
{
    make_root();
    put("a/cpu.max", "150000 100000\n");
    put("a/b/cpu.max", "400000 100000\n");
    put("a/b/c/cpu.max", "max 100000\n");
    ck_assert(base_processors_quota(root, "0::/a/b/c\n") == 1.5);
    ck_assert(base_processors_quota(root, "0::/a/b/c/gone\n") == 1.5);
    ck_assert(base_processors_quota(root, "0::/other\n") == 0);
    put("cpu.max", "50000 100000\n");
    ck_assert(base_processors_quota(root, "0::/a/b/c\n") == 0.5);
    remove_root();
}
END_TEST

START_TEST(the_old_groups_too)
{
    make_root();
    put("cpu/x/cpu.cfs_quota_us", "250000\n");
    put("cpu/x/cpu.cfs_period_us", "100000\n");
    ck_assert(base_processors_quota(root, "3:memory:/x\n2:cpu,cpuacct:/x\n1:cpuset:/x\n") == 2.5);
    ck_assert(base_processors_quota(root, "3:memory:/x\n1:cpuset:/x\n") == 0);
    put("cpu/x/cpu.cfs_quota_us", "-1\n");
    ck_assert(base_processors_quota(root, "2:cpuacct,cpu:/x\n") == 0);
    /* in a container the group's own name is not there, its files are at the top */
    put("cpu/cpu.cfs_quota_us", "100000\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    ck_assert(base_processors_quota(root, "2:cpu:/docker/0123\n") == 1);
    remove_root();
}
END_TEST

START_TEST(this_machine)
{
    unsigned in_mask, again;
    unsetenv("MPI_LOCALNRANKS");
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
    double alone = base_processors_share(&in_mask);
    ck_assert(in_mask >= 1 && alone >= 1 && alone <= in_mask);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "100000", 1);
    ck_assert(base_processors_share(&again) <= alone);
    ck_assert_uint_eq(again, in_mask);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(no_groups_no_limit),
        UNIT_TEST(the_least_of_all_groups_above_counts),
        UNIT_TEST(the_old_groups_too),
        UNIT_TEST(this_machine),
    };
    return unit_run("base/processors", tests, UNIT_COUNT(tests));
}
