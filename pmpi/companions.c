/* SPDX-License-Identifier: MIT */
#include "pmpi/companions.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fpu.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/options.h"

enum {
    COMPANIONS_ASKED = 1024, /* of a larger job only so many are asked for */
    COMPANIONS_SECONDS = 60, /* that a rank waits for the others */
    COMPANIONS_LATE = 5,
    COMPANIONS_TAG = 29327   /* of MPI_Comm_create_group, apart from messages */
};

static bool companions_announced;

void pmpi_hook_companions_announce(void)
{
    int error = errno;
    base_fpu_t kept = base_fpu_hold();
    if (!companions_announced && !base_rights_raised()) /* MPI_Init of Fortran may come to that of C */
        companions_announced = pmpi_hook_launcher.announce() == 0;
    base_fpu_give_back(kept);
    errno = error;
}

/* Whether another program may begin at this rank: mpirun's "-n 1 a : -n 3 b" gives the list "0 1". */
static bool companions_begins(int rank)
{
    const char *first = getenv("OMPI_FIRST_RANKS");
    for (char *end; first && *first; first = *end ? end + 1 : end) {
        if (strtol(first, &end, 10) == rank && end > first)
            return true;
        if (end == first)
            return false;
    }
    return false;
}

/* --- A watch over the meeting: MPI has no call that gives up waiting --- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t met;
    bool over; /* guarded by lock */
    unsigned late; /* seconds more: so that the lowest rank speaks, and the launcher ends the others before they do */
} companions_watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};

/* The call that waits cannot be left, nor the program go on without it. */
static void *companions_lose_patience(void *unused)
{
    struct timespec until;
    int error = 0;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(COMPANIONS_SECONDS + companions_watch.late);
    pthread_mutex_lock(&companions_watch.lock);
    while (!companions_watch.over && error == 0)
        error = pthread_cond_clockwait(&companions_watch.met, &companions_watch.lock, CLOCK_MONOTONIC, &until);
    if (!companions_watch.over) {
        base_log_warn("some ranks do not run under Pythia, and this launcher cannot be asked which: waited %d s, "
                      "the job ends; run all of them under it, or none",
                      COMPANIONS_SECONDS);
        _exit(EXIT_FAILURE);
    }
    pthread_mutex_unlock(&companions_watch.lock);
    return NULL;
}

static bool companions_watch_begin(pthread_t *thread, int rank)
{
    sigset_t all, before;
    companions_watch.late = rank < COMPANIONS_LATE ? (unsigned)rank : COMPANIONS_LATE;
    companions_watch.over = false;
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(thread, NULL, companions_lose_patience, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static void companions_watch_end(pthread_t thread)
{
    pthread_mutex_lock(&companions_watch.lock);
    companions_watch.over = true;
    pthread_cond_signal(&companions_watch.met);
    pthread_mutex_unlock(&companions_watch.lock);
    pthread_join(thread, NULL);
}

/* --- Meeting --- */

/* Who is there: of a job of many ranks some are asked for, and each speaks for those up to the next. All ranks find the
   same. Returns how many are, or -1: it is not known. */
static int companions_find(int ranks, bool *here)
{
    int step = (ranks + COMPANIONS_ASKED - 1) / COMPANIONS_ASKED, number = 0;
    for (int r = 0; r < ranks; r++) {
        bool ask = r % step == 0 || companions_begins(r);
        int present = ask ? pmpi_hook_launcher.present(r) : here[r - 1];
        if (present < 0)
            return -1;
        here[r] = present != 0;
        number += here[r];
    }
    return number;
}

static int companions_some(const bool *here, int number, int ranks, MPI_Comm *comm)
{
    MPI_Group world, some;
    int count = 0, error = MPI_ERR_NO_MEM, *member = malloc((size_t)number * sizeof *member);
    if (!member)
        return error;
    for (int r = 0; r < ranks; r++)
        if (here[r])
            member[count++] = r;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    error = PMPI_Group_incl(world, count, member, &some);
    if (error == MPI_SUCCESS) {
        error = PMPI_Comm_create_group(MPI_COMM_WORLD, some, COMPANIONS_TAG, comm);
        PMPI_Group_free(&some);
    }
    PMPI_Group_free(&world);
    free(member);
    return error;
}

/* Without the launcher's word the meeting is by messages apart: MPI_Comm_dup's could meet those of any collective. */
static int companions_presumed(int rank, int ranks, MPI_Comm *comm)
{
    pthread_t watch;
    bool *all = malloc((size_t)ranks * sizeof *all);
    if (!all || !companions_watch_begin(&watch, rank)) {
        free(all);
        return MPI_ERR_NO_MEM;
    }
    memset(all, true, (size_t)ranks * sizeof *all);
    int error = companions_some(all, ranks, ranks, comm);
    companions_watch_end(watch);
    free(all);
    return error;
}

static int companions_gather(const bool *here, int number, int rank, int ranks, MPI_Comm *comm)
{
    if (number == ranks || ranks == 1)
        return PMPI_Comm_dup(MPI_COMM_WORLD, comm);
    if (number < 0)
        return companions_presumed(rank, ranks, comm);
    if (!here[rank]) /* others do not count on this one */
        return MPI_ERR_OTHER;
    return companions_some(here, number, ranks, comm);
}

void pmpi_hook_companions_close(void)
{
    if (companions_announced)
        pmpi_hook_launcher.close();
    companions_announced = false;
}

int pmpi_hook_companions_gather(int rank, int ranks, MPI_Comm *comm)
{
    bool *here = companions_announced && ranks > 1 ? calloc((size_t)ranks, sizeof *here) : NULL;
    int number = here ? companions_find(ranks, here) : -1, mine = 0;
    int error = companions_gather(here, number, rank, ranks, comm);
    pmpi_hook_companions_close();
    free(here);
    if (error != MPI_SUCCESS) {
        *comm = MPI_COMM_NULL;
        return error;
    }
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(*comm, &mine);
    if (number > 0 && number < ranks && mine == 0)
        base_log_info("%d of %d ranks run under Pythia: these are recorded or predicted", number, ranks);
    return MPI_SUCCESS;
}
