/* SPDX-License-Identifier: MIT */
/*
 * Preloaded behind Pythia's hooks, so that what it adds is part of what they see: one region or one kind of message is
 * slower by a share of its own time. In front of them it makes one collective more.
 *
 *   SLOWER_REGION=N SLOWER_PERCENT=P   the region that the program enters as the N-th one, counted from 0
 *   SLOWER_SEND=1 SLOWER_PERCENT=P     MPI_Isend
 *   SLOWER_BARRIER=N                   an MPI_Barrier before the N-th MPI_Allreduce of each rank
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef void region_fn(void *);
typedef void parallel_fn(region_fn *, void *, unsigned, unsigned);
typedef int send_fn(const void *, int, void *, int, int, void *, void *);
typedef int reduce_fn(const void *, void *, int, void *, void *, void *);
typedef int barrier_fn(void *);

parallel_fn GOMP_parallel;
send_fn PMPI_Isend;
reduce_fn MPI_Allreduce;

static int option(const char *name)
{
    const char *text = getenv(name);

    return text ? atoi(text) : -1;
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What began at `begin` takes longer. */
static void stretch(int64_t begin)
{
    static int percent = -2;

    if (percent == -2)
        percent = option("SLOWER_PERCENT");
    int64_t end = now();
    for (end += (end - begin) * percent / 100; now() < end;)
        ;
}

/* Regions are entered by the first thread only. */
static int number_of(region_fn *body)
{
    static region_fn *seen[256];
    static int count;

    for (int i = 0; i < count; i++)
        if (seen[i] == body)
            return i;
    if (count < 256)
        seen[count++] = body;
    return count - 1;
}

void GOMP_parallel(region_fn *body, void *data, unsigned threads, unsigned flags)
{
    static parallel_fn *next;
    static int slow = -2;
    int64_t begin = now();

    if (!next) {
        next = (parallel_fn *)dlsym(RTLD_NEXT, "GOMP_parallel");
        slow = option("SLOWER_REGION");
    }
    next(body, data, threads, flags);
    if (slow >= 0 && number_of(body) == slow)
        stretch(begin);
}

int PMPI_Isend(const void *data, int count, void *type, int to, int tag, void *comm, void *request)
{
    static send_fn *next;
    static int slow = -2;
    int64_t begin = now();

    if (!next) {
        next = (send_fn *)dlsym(RTLD_NEXT, "PMPI_Isend");
        slow = option("SLOWER_SEND");
    }
    int result = next(data, count, type, to, tag, comm, request);
    if (slow > 0)
        stretch(begin);
    return result;
}

int MPI_Allreduce(const void *in, void *out, int count, void *type, void *op, void *comm)
{
    static reduce_fn *next;
    static int before = -2, calls;

    if (!next) {
        next = (reduce_fn *)dlsym(RTLD_NEXT, "MPI_Allreduce");
        before = option("SLOWER_BARRIER");
    }
    if (calls++ == before)
        ((barrier_fn *)dlsym(RTLD_NEXT, "MPI_Barrier"))(comm);
    return next(in, out, count, type, op, comm); /* a jump: the callsite stays the program's */
}
