/* SPDX-License-Identifier: MIT */
/* What becomes of the ranks' jobs. */
#include "pmpi/life.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "merge/job.h"
#include "merge/merge_mpi.h"
#include "pythia.h"

void pmpi_hook_finish(MPI_Comm comm, enum session_mode mode, struct job *mine)
{
    struct job *whole = NULL;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    int error = merge_mpi_reduce(mine, comm, &whole);
    if (rank != 0)
        return;
    if (error || !whole)
        base_log_warn("nothing is written: %s", error ? pythia_strerror(error) : "no rank has a recording");
    else
        session_publish(whole, mode);
    job_destroy(whole);
}

void pmpi_hook_write_part(uint32_t rank, struct job *mine)
{
    char directory[PATH_MAX], path[PATH_MAX + 32], why[PATH_MAX + 128];
    if (!mine)
        return;
    snprintf(directory, sizeof directory, "%s.parts", session_output_path());
    snprintf(path, sizeof path, "%s/rank-%u.pythia", directory, rank);
    bool made = mkdir(directory, 0777) == 0;
    if (!made && errno != EEXIST)
        snprintf(why, sizeof why, "%s: %s", directory, strerror(errno));
    if ((!made && errno != EEXIST) || job_write(mine, path, why, sizeof why))
        base_log_warn("rank %u: its part is lost: %s", rank, why);
    else if (made || rank == 0)
        base_log_info("the program ended without MPI_Finalize: parts are in %s (pythia merge joins them)", directory);
    job_destroy(mine);
}
