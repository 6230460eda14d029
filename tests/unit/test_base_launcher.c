/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/launcher.h"
#include "tests/unit/unit.h"

static void forget(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE",
        "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMIX_RANK",
        "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
    };
    for (size_t i = 0; i < UNIT_COUNT(names); i++)
        unsetenv(names[i]);
}

START_TEST(test_nobody_says)
{
    forget();
    ck_assert_int_eq(base_launcher_rank(), -1);
    ck_assert_int_eq(base_launcher_ranks(), 0);
    ck_assert_int_eq(base_launcher_local_rank(), -1);
    ck_assert_int_eq(base_launcher_local_ranks(), 0);
    ck_assert_str_eq(base_launcher_name(), "none");
    setenv("PMI_RANK", "", 1);
    setenv("OMPI_COMM_WORLD_RANK", "none", 1);
    ck_assert_int_eq(base_launcher_rank(), -1);
}
END_TEST

/* A batch script of Slurm has Slurm's variables, and so have the ranks of an mpirun in it. */
START_TEST(test_mpirun_in_a_batch_script)
{
    forget();
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_LOCALID", "0", 1);
    ck_assert_str_eq(base_launcher_name(), "slurm");
    setenv("PMI_RANK", "5", 1);
    setenv("MPI_LOCALRANKID", "1", 1);
    setenv("MPI_LOCALNRANKS", "4", 1);
    ck_assert_int_eq(base_launcher_rank(), 5);
    ck_assert_int_eq(base_launcher_local_rank(), 1);
    ck_assert_int_eq(base_launcher_local_ranks(), 4);
    ck_assert_str_eq(base_launcher_name(), "hydra");
}
END_TEST

START_TEST(test_srun)
{
    forget();
    setenv("PMI_RANK", "3", 1);
    setenv("SLURM_PROCID", "3", 1);
    setenv("SLURM_LOCALID", "1", 1);
    setenv("SLURM_STEP_NUM_TASKS", "6", 1);
    setenv("SLURM_TASKS_PER_NODE", "64", 1);
    setenv("SLURM_STEP_TASKS_PER_NODE", "2(x3)", 1);
    ck_assert_int_eq(base_launcher_rank(), 3);
    ck_assert_int_eq(base_launcher_ranks(), 6);
    ck_assert_int_eq(base_launcher_local_ranks(), 2);
    ck_assert_str_eq(base_launcher_name(), "slurm");
    unsetenv("SLURM_TASKS_PER_NODE");
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(test_nobody_says), UNIT_TEST(test_mpirun_in_a_batch_script),
                                              UNIT_TEST(test_srun) };
    return unit_run("base/launcher", tests, UNIT_COUNT(tests));
}
