/* SPDX-License-Identifier: MIT */
#include "pmpi/companions.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/log.h"

enum {
    COMPANIONS_ASKED = 1024, /* of a larger job only so many are asked for */
    COMPANIONS_TAG = 29327   /* of MPI_Comm_create_group, apart from messages */
};

static bool companions_announced;

void pmpi_hook_companions_announce(void)
{
    if (!companions_announced) /* MPI_Init of Fortran may come to that of C */
        companions_announced = pmpi_hook_launcher.announce() == 0;
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

static int companions_gather(const bool *here, int number, int rank, int ranks, MPI_Comm *comm)
{
    if (number < 0 || number == ranks)
        return PMPI_Comm_dup(MPI_COMM_WORLD, comm);
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
