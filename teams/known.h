/* SPDX-License-Identifier: MIT */
/*
 * Functions that are judged by their name: those of OpenMP's run time, and a short list of others whose behaviour is
 * known. What is on no list is an unknown call.
 */
#pragma once

#include <stdbool.h>

enum teams_known {
    TEAMS_UNKNOWN_CALL,
    TEAMS_ALLOCATES,   /* whoever defines it */
    TEAMS_HARMLESS,    /* waits for nobody, and has nothing of a thread's: mathematics, memory, output */
    TEAMS_LOOKS,       /* likewise, and says what is in memory */
    TEAMS_COMPUTES,    /* BLAS: likewise, where its library does without OpenMP */
    TEAMS_OPENS,       /* begins an output statement of Fortran's: its unit is locked … */
    TEAMS_CLOSES,      /* … until here */
    TEAMS_EXITS,       /* does not come back: the process ends */
    TEAMS_THROWS,      /* likewise: an exception goes on */
    TEAMS_CATCHES,     /* begins or ends what catches one */
    TEAMS_ASKS_ITSELF, /* what a share is told of itself */
    TEAMS_BOUNDS,      /* starts or continues a loop that is shared, or sections: shares are told when it ends; what
                          it is told where to write it does not remember */
    TEAMS_MEETS,       /* the other constructs of shares: barrier, single, ends of loops */
    TEAMS_TAKES,       /* a lock: another share of the thread goes on while it is not free */
    TEAMS_LOCKS,       /* begins a critical or an atomic construct, … */
    TEAMS_UNLOCKS,     /* … ends it */
    TEAMS_ASKS,        /* any other question about teams */
    TEAMS_WAITS,       /* ordered, nested locks, looks at locks, taskyield */
    TEAMS_JOINS,       /* waits for tasks that it made itself */
    TEAMS_MAKES_TASKS,
    TEAMS_NESTS,
    TEAMS_MPI,
    TEAMS_ERRNO,       /* tells where it is */
    TEAMS_THREAD_DATA,
};

enum teams_known teams_known(const char *name);
/* Whether a module is of the system's runtime (C, mathematics, loader, compilers, OpenMP, MPI), whose functions are
   judged by names alone. NULL: it is none. */
bool teams_known_library(const char *path);
struct code_image;
/* Whether a module is BLAS and does without OpenMP: what it computes may be done by threads of its own, but waits for no
   other share, and does not ask which one calls it. */
bool teams_known_computes(const struct code_image *m);
static inline int teams_known_leaves(enum teams_known known)
{
    return known == TEAMS_EXITS || known == TEAMS_THROWS;
}
