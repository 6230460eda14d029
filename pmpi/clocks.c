/* SPDX-License-Identifier: MIT */
#include "pmpi/clocks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "pmpi/members.h"
#include "session/clock.h"
#include "session/stream.h"

enum { CLOCKS_TAG = 7412 };

static struct {
    MPI_Comm node, first; /* ranks of this node; the first ranks of all nodes, MPI_COMM_NULL on others */
    int nodes;            /* 0: nothing is known of clocks */
} clocks = {.node = MPI_COMM_NULL, .first = MPI_COMM_NULL};

/* Whether all ranks have the same. */
static bool clocks_alike(uint64_t value, MPI_Comm comm)
{
    uint64_t ends[2] = {value, ~value};
    return PMPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, comm) == MPI_SUCCESS && ends[0] == ~ends[1];
}

/* --- Between nodes --- */

static int clocks_send(void *comm, int to, const int64_t value[2])
{
    return PMPI_Send(value, 2, MPI_INT64_T, to, CLOCKS_TAG, *(MPI_Comm *)comm);
}

static int clocks_receive(void *comm, int from, int64_t value[2])
{
    return PMPI_Recv(value, 2, MPI_INT64_T, from, CLOCKS_TAG, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
}

static int64_t clocks_now(void *comm)
{
    (void)comm;
    return (int64_t)base_clock_system();
}

/* What the first rank of the node measured, for all of it. */
static bool clocks_measure(struct session_clock_offset *o)
{
    int64_t told[5] = {0};
    if (clocks.first != MPI_COMM_NULL) {
        struct session_clock_line line = {.context = &clocks.first, .send = clocks_send, .receive = clocks_receive,
                                          .now = clocks_now};
        PMPI_Comm_rank(clocks.first, &line.rank);
        PMPI_Comm_size(clocks.first, &line.ranks);
        bool good = session_clock_measure(&line, o) == 0;
        memcpy(told, (const int64_t[]){o->at, o->offset, o->error, line.ranks, good}, sizeof told);
    }
    if (PMPI_Bcast(told, 5, MPI_INT64_T, 0, clocks.node) != MPI_SUCCESS)
        return false;
    *o = (struct session_clock_offset){told[0], told[1], told[2]};
    clocks.nodes = (int)told[3];
    return told[4] != 0;
}

static bool clocks_split(uint64_t node, MPI_Comm comm)
{
    int rank = 0, local = 0;
    PMPI_Comm_rank(comm, &rank);
    if (PMPI_Comm_split(comm, (int)(node >> 33), rank, &clocks.node) != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(clocks.node, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(clocks.node, &local);
    if (PMPI_Comm_split(comm, local ? MPI_UNDEFINED : 0, rank, &clocks.first) != MPI_SUCCESS)
        return false;
    if (clocks.first != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(clocks.first, MPI_ERRORS_RETURN);
    return clocks_alike(node, clocks.node); /* two nodes may have the same 31 bits */
}

/* Which ranks share a node, for the report. */
static void clocks_tell(void)
{
    const struct pmpi_hook_members *m = pmpi_hook_members_of(clocks.node, false);
    if (m)
        session_comm_members(session_comm("node", m->size), (struct session_members){m->runs, m->run_count}, NULL);
}

static void clocks_free(void)
{
    if (clocks.first != MPI_COMM_NULL)
        PMPI_Comm_free(&clocks.first);
    if (clocks.node != MPI_COMM_NULL)
        PMPI_Comm_free(&clocks.node);
    clocks.first = clocks.node = MPI_COMM_NULL;
}

/* Nobody knows anything where one rank does not. */
static void clocks_note(enum session_clock_moment moment, bool good, const struct session_clock_offset *o,
                        MPI_Comm comm)
{
    int all = good;
    if (PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all)
        session_clock_note(moment, o);
    else
        clocks.nodes = 0;
}

/* --- Begin and end --- */

void pmpi_hook_clocks_begin(MPI_Comm comm)
{
    uint64_t node = base_clock_node();
    struct session_clock_offset o;
    session_clock_reset();
    clocks.nodes = 1;
    if (clocks_alike(node, comm)) {
        session_clock_note(SESSION_CLOCK_BEGIN, NULL);
        return;
    }
    bool split = clocks_split(node, comm), good = split && clocks_measure(&o);
    if (split)
        clocks_tell();
    clocks_note(SESSION_CLOCK_BEGIN, good, &o, comm);
}

void pmpi_hook_clocks_end(MPI_Comm comm)
{
    struct session_clock_offset o;
    if (clocks.nodes == 1)
        session_clock_note(SESSION_CLOCK_END, NULL);
    else if (clocks.nodes > 1)
        clocks_note(SESSION_CLOCK_END, clocks_measure(&o), &o, comm);
    clocks_free();
    if (clocks.nodes == 0)
        return;
    int64_t most[2] = {-session_clock_begin(), session_clock_error()};
    if (PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, comm) == MPI_SUCCESS)
        session_clock_agree(-most[0], (uint32_t)clocks.nodes, most[1]);
}
