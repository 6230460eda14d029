/* SPDX-License-Identifier: MIT */
#include "pmpi/apart.h"

#include <sched.h>

#include "pmpi/present.h"

enum { APART_TAG = PMPI_HOOK_PRESENT_TAG, APART_KNOCK, APART_HEARD, APART_DONE, APART_LAST };

/* --- Receives that the program has left open --- */

#ifdef OPEN_MPI

/* Takes one where there is one. */
static bool apart_came(int other, int tag)
{
    int there = 0;
    PMPI_Iprobe(other, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (!there)
        sched_yield();
    return there && PMPI_Recv(NULL, 0, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* Sends, each time when the last one is received, by whatever receive, until there is an answer; takes what else comes
   of `beside`. */
static bool apart_call(int other, int tag, int answer, int beside)
{
    MPI_Request sent = MPI_REQUEST_NULL;
    int received = 1;
    for (bool answered = false; !answered || !received;) {
        if (received && !answered &&
            PMPI_Issend(NULL, 0, MPI_BYTE, other, tag, MPI_COMM_WORLD, &sent) != MPI_SUCCESS)
            return false;
        PMPI_Test(&sent, &received, MPI_STATUS_IGNORE);
        answered = apart_came(other, answer) || answered;
        (void)apart_came(other, beside);
    }
    return true;
}

/* After it each of the two receives what the other one sends: it has received something itself, and the other one
   knows. */
static bool apart_meet(int mine, int other)
{
    if (mine < other) {
        if (!apart_call(other, APART_KNOCK, APART_HEARD, APART_HEARD) ||
            PMPI_Send(NULL, 0, MPI_BYTE, other, APART_DONE, MPI_COMM_WORLD) != MPI_SUCCESS)
            return false;
        while (!apart_came(other, APART_LAST))
            (void)apart_came(other, APART_HEARD);
        return true;
    }
    while (!apart_came(other, APART_KNOCK))
        ;
    return apart_call(other, APART_HEARD, APART_DONE, APART_KNOCK) &&
           PMPI_Send(NULL, 0, MPI_BYTE, other, APART_LAST, MPI_COMM_WORLD) == MPI_SUCCESS;
}

#else

/* They take nothing of what makes communicators: that is apart from messages. */
static bool apart_meet(int mine, int other)
{
    (void)mine;
    (void)other;
    return true;
}

#endif

/* --- Halves --- */

/* Two halves, led by the world's ranks `mine` and `other`, are joined; *half is freed. */
static bool apart_join(MPI_Comm *half, int mine, int other)
{
    MPI_Comm between = MPI_COMM_NULL, whole = MPI_COMM_NULL;
    if (PMPI_Intercomm_create(*half, 0, MPI_COMM_WORLD, other, APART_TAG, &between) != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    bool joined = PMPI_Intercomm_merge(between, mine > other, &whole) == MPI_SUCCESS;
    PMPI_Comm_free(&between);
    if (joined)
        PMPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    if (*half != MPI_COMM_SELF)
        PMPI_Comm_free(half);
    *half = whole;
    return joined;
}

bool pmpi_hook_apart(MPI_Comm *comm)
{
    MPI_Comm apart = MPI_COMM_SELF;
    int rank = 0, size = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int half = 1; half < size; half *= 2) {
        int mine = rank / half * half, other = mine ^ half;
        if (other < size && ((rank == mine && !apart_meet(mine, other)) || !apart_join(&apart, mine, other)))
            return false;
    }
    *comm = size > 1 ? apart : MPI_COMM_WORLD;
    return true;
}
