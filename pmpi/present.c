/* SPDX-License-Identifier: MIT */
#include "pmpi/present.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/options.h"

enum {
    PRESENT_ASKED = 1024, /* of a larger job only so many are asked for */
    PRESENT_SECONDS = 60, /* that a rank waits for the others before it says so */
    PRESENT_NAP_MOST_US = 500
};

static bool present_announced, present_whole; /* all ranks run under Pythia, and the launcher says so */

uint64_t pmpi_hook_present_announce(void)
{
    uint64_t shared = 0;
    int error = errno;
    base_fpu_t kept = base_fpu_hold();
    if (!base_rights_raised())
        present_announced = pmpi_hook_launcher.announce(&shared) == 0;
    base_fpu_give_back(kept);
    errno = error;
    return shared;
}

/* Whether another program may begin at this rank: mpirun's "-n 1 a : -n 3 b" gives the list "0 1". */
static bool present_begins(int rank)
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
    struct base_helper helper;
    uint64_t until;
} present_watch;

/* The call that waits cannot be left, nor the program go on without it; and whoever is late may still come. */
static void present_tell(void)
{
    while (base_helper_sleep(&present_watch.helper, present_watch.until)) {
        if (base_clock_system() < present_watch.until)
            continue;
        base_log_warn("waiting for all ranks since %d s: this launcher cannot be asked which of them run under Pythia; "
                      "if some do not, end the job, and run all of them under it, or none", PRESENT_SECONDS);
        present_watch.until = UINT64_MAX;
    }
}

/* The ranks that wait may be any: the lowest of them would be known to nobody. */
static bool present_watch_begin(void)
{
    present_watch.until = base_clock_system() + PRESENT_SECONDS * UINT64_C(1000000000);
    return base_helper_start(&present_watch.helper, present_tell, 0);
}

/* --- Meeting --- */

/* Who is there: of a job of many ranks some are asked for, and each speaks for those up to the next. All ranks find the
   same. Returns how many are, or -1: it is not known. */
static int present_find(int ranks, bool *here)
{
    int step = (ranks + PRESENT_ASKED - 1) / PRESENT_ASKED, number = 0;
    for (int r = 0; r < ranks; r++) {
        bool ask = r % step == 0 || present_begins(r);
        int present = ask ? pmpi_hook_launcher.present(r) : here[r - 1];
        if (present < 0)
            return -1;
        here[r] = present != 0;
        number += here[r];
    }
    return number;
}

static int present_some(const bool *here, int number, int ranks, MPI_Comm *comm)
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
        error = PMPI_Comm_create_group(MPI_COMM_WORLD, some, PMPI_HOOK_PRESENT_TAG, comm);
        PMPI_Group_free(&some);
    }
    PMPI_Group_free(&world);
    free(member);
    return error;
}

/* Without the launcher's word the meeting is by messages apart: MPI_Comm_dup's could meet those of any collective. All
   are there, or the job stands. */
static int present_presumed(int ranks, MPI_Comm *comm)
{
    bool *all = malloc((size_t)ranks * sizeof *all);
    if (!all || !present_watch_begin()) {
        free(all);
        return MPI_ERR_NO_MEM;
    }
    memset(all, true, (size_t)ranks * sizeof *all);
    int error = present_some(all, ranks, ranks, comm);
    (void)base_helper_stop(&present_watch.helper, BASE_HELPER_EVER);
    free(all);
    if (error == MPI_SUCCESS && (error = PMPI_Comm_free(comm)) == MPI_SUCCESS)
        *comm = MPI_COMM_WORLD;
    return error;
}

static int present_gather(const bool *here, int number, int rank, int ranks, MPI_Comm *comm)
{
    if (number == ranks || ranks == 1) {
        *comm = MPI_COMM_WORLD;
        return MPI_SUCCESS;
    }
    if (number < 0)
        return present_presumed(ranks, comm);
    if (!here[rank]) /* others do not count on this one */
        return MPI_ERR_OTHER;
    return present_some(here, number, ranks, comm);
}

void pmpi_hook_present_close(void)
{
    if (present_announced)
        pmpi_hook_launcher.close();
    present_announced = false;
}

/* --- Meeting again, at the end --- */

/* What is asked makes no difference: MPI makes progress. */
static void present_meanwhile(void)
{
    static int naps;
    int there;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
    usleep(naps < PRESENT_NAP_MOST_US ? (useconds_t)++naps : PRESENT_NAP_MOST_US);
}

bool pmpi_hook_present_meet(void)
{
    return present_whole && pmpi_hook_launcher.meet && pmpi_hook_launcher.meet(present_meanwhile) == 0;
}

int pmpi_hook_present_gather(int rank, int ranks, MPI_Comm *comm)
{
    bool *here = present_announced && ranks > 1 ? calloc((size_t)ranks, sizeof *here) : NULL;
    int number = here ? present_find(ranks, here) : -1, mine = 0;
    int error = present_gather(here, number, rank, ranks, comm);
    present_whole = here && number == ranks;
    pmpi_hook_present_close();
    free(here);
    if (error != MPI_SUCCESS) {
        *comm = MPI_COMM_NULL;
        return error;
    }
    if (*comm != MPI_COMM_WORLD)
        PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(*comm, &mine);
    if (number > 0 && number < ranks && mine == 0)
        base_log_info("%d of %d ranks run under Pythia: these are recorded or predicted", number, ranks);
    return MPI_SUCCESS;
}
