/* SPDX-License-Identifier: MIT */
/*
 * `pythia doctor`: what works on this machine, and why something does not. A line a check:
 *
 *     ok    preload       libpythia_pmpi.so comes first in ./app
 *     note  binding       2 threads of each rank share one core; mpirun --bind-to none
 *     FAIL  MPI           ./app uses MPICH 4.0.2, Pythia was built for Open MPI 4.1.4; configure --with-mpi=mpich
 *     ^     ^ what was checked   ^ what was found                                     ^ how to repair it
 *
 * ok: works. note: works, but slowly, in part, or only perhaps. FAIL: would break; the exit code is then 1.
 *
 *   doctor.c          the command line, the order of the checks
 *   doctor_machine.c  what needs no program: libraries, clock, options
 *   doctor_program.c  the program's file and what it would load; the program itself is never run
 *   doctor_launch.c   ranks, binding, cores: a probe of ours runs in the program's place
 *   doctor_omp.c      its parallel regions, for `pythia doctor --omp`
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/binary.h"

enum doctor_state { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_BROKEN };

/* Prints one line. `repair` is what to do about it, NULL where there is nothing to be done. */
void doctor_say(enum doctor_state state, const char *checked, const char *repair, const char *found, ...)
    __attribute__((format(printf, 4, 5)));
#define GOOD(checked, ...) doctor_say(DOCTOR_GOOD, checked, NULL, __VA_ARGS__)
#define NOTE(checked, repair, ...) doctor_say(DOCTOR_NOTE, checked, repair, __VA_ARGS__)
#define FAIL(checked, repair, ...) doctor_say(DOCTOR_BROKEN, checked, repair, __VA_ARGS__)

/* What the user wants to run: `mpirun -n 4 ./app 10` */
struct doctor_target {
    char **argv;            /* all of it, NULL-terminated */
    size_t program;         /* index of ./app in it */
    const char *name;       /* ./app */
    char path[PATH_MAX];    /* the file that it stands for */
    char library[PATH_MAX]; /* what would be preloaded; "" none */
    struct binary binary;
    bool no_openmp;         /* it loads no OpenMP runtime at its start: a rank is one thread */
    enum doctor_mpi { DOCTOR_NO_MPI, DOCTOR_OPEN_MPI, DOCTOR_MPICH, DOCTOR_MPI_UNKNOWN } mpi;
};

/* "Open MPI", "MPICH"; the MPI that this was built for. */
const char *doctor_mpi_name(enum doctor_mpi mpi);
enum doctor_mpi doctor_built_for(void);

/* `target` may be NULL. */
void doctor_machine(const struct doctor_target *target);
/* Fills in target->mpi and target->no_openmp. */
void doctor_program(struct doctor_target *target);
void doctor_launch(const struct doctor_target *target);
/* `pythia doctor --probe`, as a rank: tells what it finds in one line. Returns an exit code. */
int doctor_probe(void);

/* `pythia doctor --omp [--] CMD…`: the parallel regions of the program at `path`; argv is the program and its
   arguments. Returns an exit code, TOOL_NO when something would break. */
int tool_doctor_omp(const char *path, char **argv);
