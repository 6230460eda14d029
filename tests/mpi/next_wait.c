/* SPDX-License-Identifier: MIT */
/*
 * A preload that holds pythia_next_wait() against what happens, on any program: after each call it asks when this rank
 * waits next for WAIT_US (1000) or more. A wait is a call's time above the shortest of its function on this rank.
 *
 *   mpirun -n 4 pythia predict env LD_PRELOAD=next_wait.so:$LD_PRELOAD ./app
 *
 * Each rank prints: waits R: asked A, known K, said S (with half a chance or more), came C (of these: the next wait was
 * there before twice the time to it and its length were over), all W waits, medians of |in - actual| / actual and of
 * |for - actual| / actual of those that came.
 */
#define _GNU_SOURCE
#define PYTHIA_OPTIONAL
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pythia.h"

enum { MOST = 65536 };

static struct { double asked_at, in, wait; int open; } said;
static double in_error[MOST], for_error[MOST];
static uint32_t errors, asked, known, sure, came, waits;
static int inside; /* a call of the MPI library's own */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double at_least(void)
{
    static double ns;
    const char *us = getenv("WAIT_US");
    return ns > 0 ? ns : (ns = 1e3 * (us ? atof(us) : 1000));
}

static void waited(double begin, double wait)
{
    double in = begin - said.asked_at;
    waits++;
    if (!said.open)
        return;
    said.open = 0;
    if (in > 2 * said.in + said.wait + at_least() || in < 0)
        return;
    came++;
    if (errors == MOST)
        return;
    in_error[errors] = fabs(said.in - in) / fmax(in, 1e4);
    for_error[errors++] = fabs(said.wait - wait) / wait;
}

static void ask(double end)
{
    double chance = 0;
    if (said.open && end > said.asked_at + 2 * said.in + said.wait + at_least())
        said.open = 0; /* it did not come */
    if (said.open || !pythia_next_wait)
        return;
    asked++;
    if (pythia_next_wait((uint64_t)at_least(), &said.in, &said.wait, &chance))
        return;
    known++;
    said.asked_at = end;
    said.open = chance >= 0.5;
    sure += chance >= 0.5;
}

static void after(double *least, double begin)
{
    double end = now(), took = end - begin;
    *least = *least <= 0 || took < *least ? took : *least;
    if (took - *least >= at_least())
        waited(begin, took - *least);
    ask(end);
}

#define WRAP(name, parameters, arguments)                              \
    int name parameters                                                \
    {                                                                  \
        static int(*real) parameters;                                  \
        static double least;                                           \
        if (!real)                                                     \
            real = (int(*) parameters)dlsym(RTLD_NEXT, #name);         \
        if (inside)                                                    \
            return real arguments;                                     \
        inside = 1;                                                    \
        double begin = now();                                          \
        int result = real arguments;                                   \
        after(&least, begin);                                          \
        inside = 0;                                                    \
        return result;                                                 \
    }

#define BUFFERS const void *a, void *b, int n, MPI_Datatype t
WRAP(MPI_Barrier, (MPI_Comm c), (c))
WRAP(MPI_Bcast, (void *a, int n, MPI_Datatype t, int root, MPI_Comm c), (a, n, t, root, c))
WRAP(MPI_Reduce, (BUFFERS, MPI_Op o, int root, MPI_Comm c), (a, b, n, t, o, root, c))
WRAP(MPI_Allreduce, (BUFFERS, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
WRAP(MPI_Allgather, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, u, c))
WRAP(MPI_Alltoall, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c),
     (a, n, t, b, m, u, c))
WRAP(MPI_Wait, (MPI_Request *r, MPI_Status *s), (r, s))
WRAP(MPI_Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
WRAP(MPI_Waitany, (int n, MPI_Request *r, int *i, MPI_Status *s), (n, r, i, s))
WRAP(MPI_Recv, (void *a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (a, n, t, from, tag, c, s))
WRAP(MPI_Send, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (a, n, t, to, tag, c))
WRAP(MPI_Sendrecv,
     (const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int other,
      MPI_Comm c, MPI_Status *s),
     (a, n, t, to, tag, b, m, u, from, other, c, s))

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of, uint32_t count)
{
    qsort(of, count, sizeof *of, by_value);
    return count ? of[count / 2] : NAN;
}

int MPI_Finalize(void)
{
    int (*real)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize"), rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "waits %d: asked %u known %u said %u came %u all %u median-in %.3f median-for %.3f\n", rank, asked,
            known, sure, came, waits, median(in_error, errors), median(for_error, errors));
    return real();
}
