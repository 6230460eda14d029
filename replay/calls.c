/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "replay/calls.h"

struct call { const char *name; uint8_t what; };

static const struct call calls[] = {
    { "MPI_Send", BIND_SEND },         { "MPI_Bsend", BIND_SEND },
    { "MPI_Rsend", BIND_SEND },        { "MPI_Ssend", BIND_SEND },
    { "MPI_Recv", BIND_RECV },         { "MPI_Mrecv", BIND_RECV },
    { "MPI_Isend", BIND_ISEND },       { "MPI_Ibsend", BIND_ISEND },
    { "MPI_Irsend", BIND_ISEND },      { "MPI_Issend", BIND_ISEND },
    { "MPI_Irecv", BIND_IRECV },       { "MPI_Imrecv", BIND_IRECV },
    { "MPI_Sendrecv", BIND_SENDRECV }, { "MPI_Sendrecv_replace", BIND_SENDRECV },
    { "MPI_Start", BIND_START },       { "MPI_Startall", BIND_STARTALL },
    { "MPI_Wait", BIND_WAIT_ONE },     { "MPI_Waitany", BIND_WAIT_ONE },
    { "MPI_Test", BIND_WAIT_ONE },     { "MPI_Testany", BIND_WAIT_ONE },
    { "MPI_Waitall", BIND_WAIT_ALL },  { "MPI_Testall", BIND_WAIT_ALL },
    { "MPI_Waitsome", BIND_WAIT_ONE }, { "MPI_Testsome", BIND_WAIT_ONE },
    { "MPI_Init", BIND_INIT },         { "MPI_Init_thread", BIND_INIT },
    { "MPI_Finalize", BIND_FINALIZE }, { "MPI_Win_fence", BIND_WINDOW },
    { "MPI_Win_create", BIND_WINDOW }, { "MPI_Win_allocate", BIND_WINDOW },
    { "MPI_Win_free", BIND_WINDOW },   { "MPI_Win_allocate_shared", BIND_WINDOW },
    { "MPI_Probe", BIND_PROBE },       { "MPI_Mprobe", BIND_PROBE },      { "MPI_Iprobe", BIND_PROBE },
    { "MPI_Improbe", BIND_PROBE },
    { "MPI_Comm_free", BIND_LOCAL },   /* it waits for nobody, and ranks may free in any order */
    { "MPI_Comm_create_group", BIND_LOCAL }, /* who takes part is not in its communicator's name */
};

static const struct { const char *name; uint8_t shape; } shapes[] = {
    { "MPI_Bcast", REPLAY_FROM }, { "MPI_Scatter", REPLAY_FROM }, { "MPI_Scatterv", REPLAY_FROM },
    { "MPI_Reduce", REPLAY_TO }, { "MPI_Gather", REPLAY_TO }, { "MPI_Gatherv", REPLAY_TO },
    { "MPI_Allgather", REPLAY_GROW }, { "MPI_Allgatherv", REPLAY_GROW },
    { "MPI_Scan", REPLAY_PREFIX }, { "MPI_Exscan", REPLAY_PREFIX },
};

/* A collective that waits: a blocking one, also one that makes communicators or windows. */
static bool synchronises(const struct job_terminal *t)
{
    return t->blocking && t->comm != GRAMMAR_NONE &&
           (t->call_kind == JOB_COLLECTIVE || t->call_kind == JOB_COMMUNICATOR);
}

/* MPI_Iallreduce */
static bool begins_collective(const struct job_terminal *t, const char *name)
{
    return t->call_kind == JOB_COLLECTIVE && !t->blocking && t->comm != GRAMMAR_NONE &&
           !strncmp(name, "MPI_I", 5);
}

/* "MPI_Ibcast" is "MPI_Bcast" in this. */
static bool same_operation(const char *name, const char *blocking)
{
    bool begins = !strncmp(name, "MPI_I", 5);

    return begins ? tolower((unsigned char)blocking[4]) == name[5] && !strcmp(name + 6, blocking + 5)
                  : !strcmp(name, blocking);
}

enum bind_what replay_call_what(const struct job *j, const struct job_terminal *t)
{
    const char *name = job_text(j, t->function);

    if (t->phase != JOB_LEAF)
        return BIND_NOTHING;
    if (t->kind == JOB_REGION)
        return BIND_REGION;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(name, calls[i].name))
            return (enum bind_what)calls[i].what;
    if (begins_collective(t, name))
        return BIND_ICOLLECTIVE;
    return synchronises(t) ? BIND_COLLECTIVE : BIND_LOCAL;
}

enum replay_shape replay_call_shape(const struct job *j, const struct job_terminal *t)
{
    const char *name = job_text(j, t->function);

    if (!strncmp(name, "MPI_Neighbor_", 13) || !strncmp(name, "MPI_Ineighbor_", 14))
        return REPLAY_NEAR;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (same_operation(name, shapes[i].name))
            return (enum replay_shape)shapes[i].shape;
    return REPLAY_ALL;
}
