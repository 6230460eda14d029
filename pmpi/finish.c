/* SPDX-License-Identifier: MIT */
/* What becomes of the ranks' jobs. */
#include "pmpi/life.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/options.h"
#include "merge/job.h"
#include "merge/merge_mpi.h"
#include "pythia.h"

static void finish_summary(const struct job *job)
{
    unsigned long long events = 0, wall = 0, mpi = 0, cost = 0;
    for (uint32_t i = 0; i < job->stream_count; i++) {
        events += job->streams[i].events;
        wall += job->streams[i].wall_ns;
        mpi += job->streams[i].mpi_ns;
        cost += job->streams[i].cost_ns;
    }
    base_log_info("recorded ranks=%u streams=%u events=%llu terminals=%u classes=%u mpi=%.1f%% cost=%.2f%% in %s",
                  job->info.ranks, job->stream_count, events, job->terminal_count, job->class_count,
                  wall ? 100.0 * (double)mpi / (double)wall : 0.0, wall ? 100.0 * (double)cost / (double)wall : 0.0,
                  session_output_path());
}

static void finish_recorded(const struct job *job)
{
    char why[512];
    if (job_write(job, session_output_path(), why, sizeof why))
        base_log_warn("the recording is lost: %s", why);
    else
        finish_summary(job);
}

/* Where the score of a predicted run goes: into the file that was predicted from, or a copy of it where -o says. */
static const char *finish_score_path(void)
{
    struct pythia_options options;
    base_options_load(&options);
    return options.output && options.output[0] ? session_output_path() : session_input_path();
}

static void finish_predicted(const struct job *job)
{
    char why[512];
    struct job *reference = NULL;
    session_print_predicted(job);
    int error = job_read(session_input_path(), &reference, why, sizeof why);
    if (!error) {
        reference->oracle = job->oracle;
        error = job_write(reference, finish_score_path(), why, sizeof why);
    }
    if (error)
        base_log_warn("the score of this run is not stored: %s", why);
    job_destroy(reference);
}

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
    else if (mode == SESSION_RECORD)
        finish_recorded(whole);
    else
        finish_predicted(whole);
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
