/* SPDX-License-Identifier: MIT */
/*
 * The session of an OpenMP program without MPI: starts at the first region, ends when the process exits.
 *
 * At the first region and not when the library is loaded: what a preload is inherited by (shells, wrappers, compilers)
 * has no regions, and leaves no job file behind.
 *
 *   none ── first region ──> running ── destructor ──> over
 *                               └── fork ──> (child) over: the parent alone writes
 *
 * Where an MPI library is loaded this library stays out of the way: libpythia_pmpi sees both.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "job/job.h"
#include "omp/hooks.h"
#include "omp/real.h"
#include "omp/team.h"
#include "session/session.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool running; /* written once, by start */
static pid_t process;

static const struct session_world world = { .rank = 0, .ranks = 1, .mpi = "" };

static void child(void)
{
    session_off(NULL);
}

static void start(void)
{
    const void *reference = NULL;
    if (dlsym(RTLD_DEFAULT, "MPI_Init")) {
        base_log_warn("an MPI program: libpythia_omp stays off, use libpythia_pmpi, which sees both");
        return;
    }
    enum session_mode mode = session_choose(&world);
    if (mode == SESSION_PREDICT) {
        reference = session_reference();
        if (!reference)
            return;
    }
    if (mode == SESSION_OFF)
        return;
    process = getpid();
    pthread_atfork(NULL, NULL, child);
    running = session_start(&world, reference, 0) != SESSION_OFF;
}

static bool alone_start(void)
{
    pthread_once(&once, start);
    return running && session_mode() != SESSION_OFF;
}

static void say_teams(void)
{
    struct omp_hook_team_counts c;
    omp_hook_team_count(&c);
    base_log_debug("omp: %llu executions of %u regions, %llu with another team, %llu to try it; %llu comparisons of turns, the "
                   "best way is %s; %u regions left alone",
                   (unsigned long long)c.considered, c.sites, (unsigned long long)c.changed, (unsigned long long)c.trials,
                   (unsigned long long)c.comparisons, c.best, c.kept);
}

static __attribute__((constructor)) void alone_load(void)
{
    omp_hook_start = alone_start;
}

static __attribute__((destructor)) void alone_unload(void)
{
    if (!running || getpid() != process)
        return;
    enum session_mode mode = session_mode();
    bool acted = session_acts("team");
    struct job *job = session_finish();
    session_tell_left(session_left());
    if (!job)
        return;
    if (acted)
        say_teams();
    session_publish(job, mode);
    job_destroy(job);
}
