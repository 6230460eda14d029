/* SPDX-License-Identifier: MIT */
/* What becomes of the ranks' jobs. */
#include "pmpi/life.h"

#include <unistd.h>

#include "base/log.h"
#include "job/job.h"
#include "merge/merge_mpi.h"
#include "pythia.h"

void pmpi_hook_finish(MPI_Comm comm, enum session_mode mode, struct job *mine)
{
    struct job *whole = NULL;
    uint64_t left = session_left(), all_left = 0;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (PMPI_Reduce(&left, &all_left, 1, MPI_UINT64_T, MPI_SUM, 0, comm) == MPI_SUCCESS && rank == 0)
        session_tell_left(all_left);
    int error = merge_mpi_reduce(mine, comm, &whole);
    if (rank != 0)
        return;
    if (whole) { /* ranks that run without Pythia have no part */
        int world = 0, here = 0;
        PMPI_Comm_size(MPI_COMM_WORLD, &world);
        PMPI_Comm_size(comm, &here);
        whole->info.missing += (uint32_t)(world - here);
    }
    if (error || !whole)
        base_log_warn("nothing is written: %s", error ? pythia_strerror(error) : "no rank has a recording");
    else
        session_publish(whole, mode);
    job_destroy(whole);
}

void pmpi_hook_write_part(uint32_t rank, struct job *mine)
{
    char why[512];
    if (!mine)
        return;
    (void)session_ends_add(mine);
    if (session_part_write(mine, true, why, sizeof why))
        base_log_warn("rank %u: its part is lost: %s", rank, why);
    else if (session_parts_first())
        base_log_info("the program ended without MPI_Finalize: parts are in %s (pythia merge joins them)",
                      session_parts_path());
    job_destroy(mine);
}
