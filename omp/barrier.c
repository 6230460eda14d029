/* SPDX-License-Identifier: MIT */
/*
 * Where threads of a team wait for each other inside a region: at barriers, those that end loops, sections and singles
 * among them, and for their turn in an ordered loop. Only threads that are timed look at the clock (teams/share.h).
 * Locks are in holds.c, waits for tasks in tasks/wait.c. A wait for another iteration (ordered depend(sink)) is not
 * seen: its function takes as many arguments as the loop is deep.
 */
#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/shares.h"
#include "teams/share.h"

static bool rest(void)
{
    bool timed = teams_share_timed();
    if (timed)
        teams_share_rest();
    return timed;
}

static void resume(const bool *timed)
{
    if (*timed)
        teams_share_resume();
}

#define OMP_HOOK_BARRIER(type, name, parameters, arguments)                   \
    PYTHIA_API type name parameters;                                          \
    type name parameters                                                      \
    {                                                                         \
        bool timed __attribute__((cleanup(resume), unused)) = rest();         \
        return libgomp_real()->name arguments;                                \
    }
#define OMP_HOOK_MEET(type, name, parameters, arguments, share)               \
    PYTHIA_API type name parameters;                                          \
    type name parameters                                                      \
    {                                                                         \
        if (omp_shares_inside(base_frame_here()))                             \
            return share;                                                     \
        bool timed __attribute__((cleanup(resume), unused)) = rest();         \
        return libgomp_real()->name arguments;                                \
    }
#include "libgomp/omp_calls.def"

PYTHIA_API void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
    bool waits = teams_share_timed() && teams_share_wait();
    libgomp_real()->GOMP_ordered_start();
    if (waits)
        teams_share_waited();
}
