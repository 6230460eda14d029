/* SPDX-License-Identifier: MIT */
/*
 * Preloaded behind Pythia's hooks, so that what it adds is part of what they see: one region or one kind of message is
 * slower by a share of its own time. In front of them it makes one collective more.
 *
 *   SLOWER_REGION=N SLOWER_PERCENT=P   the region that the program enters as the N-th one, counted from 0; a library's
 *                                      regions, such as those by which Pythia measures, do not count
 *   SLOWER_SEND=1 SLOWER_PERCENT=P     MPI_Isend
 *   SLOWER_BARRIER=N                   an MPI_Barrier before the N-th MPI_Allreduce of each rank
 *
 * A process in which nothing of what was asked for came ends with code 9: it would be taken for a changed run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

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

static int changed; /* how often something was */

static __attribute__((destructor)) void tell(void)
{
    static const char line[] = "slower: what SLOWER_… asks for did not come\n";

    if (changed || (option("SLOWER_REGION") < 0 && option("SLOWER_SEND") < 0 && option("SLOWER_BARRIER") < 0))
        return;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(9);
}

/* What began at `begin` takes longer. */
static void stretch(int64_t begin)
{
    static int percent = -2;

    changed++;

    if (percent == -2)
        percent = option("SLOWER_PERCENT");
    int64_t end = now();
    for (end += (end - begin) * percent / 100; now() < end;)
        ;
}

static int is_of_library(region_fn *body)
{
    Dl_info body_in, program;

    return dladdr((void *)(uintptr_t)body, &body_in) && dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
           body_in.dli_fbase != program.dli_fbase;
}

/* -1: not one of the program's. Regions are entered by the first thread only. */
static int number_of(region_fn *body)
{
    static struct { region_fn *body; int number; } seen[256];
    static int count, numbers;

    for (int i = 0; i < count; i++)
        if (seen[i].body == body)
            return seen[i].number;
    int number = is_of_library(body) ? -1 : numbers++;
    if (count < 256) {
        seen[count].body = body;
        seen[count++].number = number;
    }
    return number;
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
    if (calls++ == before) {
        changed++;
        ((barrier_fn *)dlsym(RTLD_NEXT, "MPI_Barrier"))(comm);
    }
    return next(in, out, count, type, op, comm); /* a jump: the callsite stays the program's */
}
