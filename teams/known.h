/* SPDX-License-Identifier: MIT */
/*
 * Functions that are judged by their name: those of OpenMP's run time, and a short list of others whose behaviour is
 * known. What is on no list is an unknown call.
 */
#ifndef PYTHIA_TEAMS_KNOWN_H
#define PYTHIA_TEAMS_KNOWN_H

enum teams_known {
    TEAMS_UNKNOWN_CALL,
    TEAMS_PURE,      /* changes nothing that others see: mathematics, comparing, allocating */
    TEAMS_ALLOCATES, /* the same, and its result is memory that nobody else has */
    TEAMS_WRITES,    /* writes where its arguments point to, no more */
    TEAMS_ACTS,      /* does something that others see, and never waits for them: output */
    TEAMS_LEAVES,    /* does not come back */
    TEAMS_ASKS_SIZE,
    TEAMS_ASKS_NUMBER, /* omp_get_num_threads, omp_get_thread_num as compilers call them */
    TEAMS_ASKS_ITSELF, /* the same two by the names that only programs call (Fortran) */
    TEAMS_ASKS,        /* any other question about teams */
    TEAMS_BOUNDS,      /* starts or continues a loop that is shared, or a list of sections */
    TEAMS_SINGLE,      /* 1 for one thread of the team, 0 for the others */
    TEAMS_BARRIER,
    TEAMS_SYNC,        /* ends of constructs, order */
    TEAMS_LOCKS,
    TEAMS_UNLOCKS, /* critical and atomic constructs */
    TEAMS_WAITS,   /* locks of the program's, taskyield */
    TEAMS_JOINS,   /* waits for tasks that it made itself */
    TEAMS_MAKES_TASKS,
    TEAMS_NESTS,
    TEAMS_MPI,
    TEAMS_THREAD_DATA,
};

enum teams_known teams_known(const char *name);
/* How many registers of its arguments such a function may look at: vectors aside, and vectors. */
unsigned teams_known_arguments(const char *name);
unsigned teams_known_numbers(const char *name);

#endif
