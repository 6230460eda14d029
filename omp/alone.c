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
 * Also in libpythia_pmpi, which a script's processes get whatever they are: where nothing that is loaded needs MPI.
 * What loads MPI later (an interpreter) and calls MPI_Init ends the session of the process alone for that of the ranks:
 * what was recorded until then is forgotten. libpythia_omp stays out of the way where MPI is loaded: it sees only the
 * half of it.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/log.h"
#include "base/name.h"
#include "base/symbols.h"
#include "job/job.h"
#include "omp/hooks.h"
#include "libgomp/real.h"
#include "omp/team.h"
#include "session/ask.h"
#include "session/end.h"
#include "session/life.h"
#include "session/tree.h"
#include "tasks/task.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool running; /* from start until MPI begins */
static pid_t process;

static const struct session_world world = { .rank = 0, .ranks = 1, .mpi = "" };

static void child(void)
{
    session_off(NULL);
}

/* --- Whether the program is without MPI --- */

static bool is_mpi(const char *path)
{
    static const char *const names[] = { "libmpi.so", "libmpi_", "libmpich", "libmpifort", "libmpicxx", "libpmpi" };
    return base_name_begins(path, names, sizeof names / sizeof *names);
}

/* Of all that is loaded, this library and MPI's own aside. */
static bool program_needs_mpi(const char *this_library)
{
    const struct link_map *m = NULL;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    bool found = false;
    if (program && dlinfo(program, RTLD_DI_LINKMAP, &m) == 0)
        for (; m && !found; m = m->l_next)
            found = strcmp(m->l_name, this_library) != 0 && !is_mpi(m->l_name) && base_symbols_needs(m, is_mpi);
    if (program)
        dlclose(program);
    return found;
}

static bool is_alone(void)
{
    Dl_info own, its;
    void *init = base_symbols_first(_r_debug.r_map, "MPI_Init");
    if (!init)
        return true;
    if (dladdr(init, &its) && dladdr(&world, &own) && its.dli_fbase == own.dli_fbase) /* libpythia_pmpi's */
        return !program_needs_mpi(own.dli_fname);
    session_tree_said();
    base_log_warn("an MPI program: libpythia_omp stays off, use libpythia_pmpi, which sees both");
    return false;
}

/* --- Life --- */

/* MPI begins after all. */
static void give_way(void)
{
    if (!running || getpid() != process)
        return;
    running = false;
    job_destroy(session_finish());
}

static void start(void)
{
    const void *reference = NULL;
    if (!is_alone())
        return;
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

static void start_first(void)
{
    base_fpu_t kept = base_fpu_hold();
    uint64_t before = base_clock_system();
    start();
    session_took_start(base_clock_system() - before);
    base_fpu_give_back(kept);
}

/* Asked at each region while nothing is recorded. */
static bool alone_start(void)
{
    pthread_once(&once, start_first);
    return running && session_mode() != SESSION_OFF;
}

static void say_teams(void)
{
    struct omp_hook_team_counts c;
    omp_hook_team_count(&c);
    base_log_debug(
        "omp: %llu executions of %u regions, %llu with another team, %llu to try it; %llu comparisons of turns (the "
        "last of %llu regions), the best setting is %s; %u regions left alone",
        (unsigned long long)c.considered, c.sites, (unsigned long long)c.changed, (unsigned long long)c.trials,
        (unsigned long long)c.comparisons, (unsigned long long)c.turn, c.best, c.kept);
}

static void alone_finish(void)
{
    if (!running || getpid() != process)
        return;
    running = false;
    enum session_mode mode = session_mode();
    bool acted = session_acts("team");
    base_fpu_t kept = base_fpu_hold();
    struct job *job = session_finish();
    session_tell_left(session_left());
    if (job && acted)
        say_teams();
    if (job)
        session_publish(job, mode);
    job_destroy(job);
    base_fpu_give_back(kept);
}

static void alone_ends(int status, const void *from)
{
    (void)status, (void)from;
    alone_finish();
}

static __attribute__((constructor)) void alone_load(void)
{
    static const struct session_hooks hooks = {
        .start = alone_start,
        .give_way = give_way,
        .begins = omp_hook_team_begin,
        .regions = omp_hook_team_store,
        .tasks = tasks_collect,
        .thread_ends = omp_hook_team_leave,
    };
    session_hooks_set(&hooks);
    session_at_end(alone_ends);
}

static __attribute__((destructor)) void alone_unload(void)
{
    alone_finish();
    session_summary_wait();
}
