/* SPDX-License-Identifier: MIT */
/*
 * Where threads of a team wait for each other inside a region: at barriers, those that end loops, sections and singles
 * among them, and for their turn in an ordered loop. Only threads that are timed look at the clock (teams/share.h).
 * GOMP_barrier itself is in in_turn.c, locks and waits for tasks are in tasks/wait.c. A wait for another iteration
 * (ordered depend(sink)) is not seen: its function takes as many arguments as the loop is deep.
 */
#include "include/pythia.h"
#include "libgomp/real.h"
#include "teams/share.h"

#define OMP_HOOK_BARRIER(type, name, parameters, arguments)   \
    PYTHIA_API type name parameters;                          \
    type name parameters                                      \
    {                                                         \
        if (!teams_share_timed())                             \
            return libgomp_real()->name arguments;            \
        teams_share_rest();                                   \
        type result = libgomp_real()->name arguments;         \
        teams_share_resume();                                 \
        return result;                                        \
    }
#define OMP_HOOK_BARRIER_ONLY(name, parameters, arguments)    \
    PYTHIA_API void name parameters;                          \
    void name parameters                                      \
    {                                                         \
        if (!teams_share_timed()) {                           \
            libgomp_real()->name arguments;                   \
            return;                                           \
        }                                                     \
        teams_share_rest();                                   \
        libgomp_real()->name arguments;                       \
        teams_share_resume();                                 \
    }
#include "libgomp/omp_calls.def"

PYTHIA_API void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
    if (!teams_share_timed()) {
        libgomp_real()->GOMP_ordered_start();
        return;
    }
    teams_share_wait();
    libgomp_real()->GOMP_ordered_start();
    teams_share_waited();
}
