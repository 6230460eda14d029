/* SPDX-License-Identifier: MIT */
/*
 * Preloaded behind Pythia's hooks, so that what it adds is part of what they see: one region or one kind of message is
 * slower by a share of its own time. In front of them it makes one collective more.
 *
 *   SLOWER_REGION=N SLOWER_PERCENT=P   the program's region whose function is at offset N in its file, as the report
 *                                      gives it
 *   SLOWER_SEND=1 SLOWER_PERCENT=P     MPI_Isend
 *   SLOWER_BARRIER=N                   an MPI_Barrier before the N-th MPI_Allreduce of each rank
 *
 * A process in which nothing of what was asked for came ends with code 9: it would be taken for a changed run. What
 * came is told on standard error: "slower: 300 times, 10.12 %".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
static int64_t own_ns, more_ns;

static __attribute__((destructor)) void tell(void)
{
    if (option("SLOWER_REGION") < 0 && option("SLOWER_SEND") < 0 && option("SLOWER_BARRIER") < 0)
        return;
    char line[80];
    int n = snprintf(line, sizeof line, "slower: %d times, %.2f %%\n", changed,
                     own_ns ? 100.0 * (double)more_ns / (double)own_ns : 0);
    (void)!write(STDERR_FILENO, line, (size_t)n);
    if (!changed)
        _exit(9);
}

/* What began at `begin` takes longer. */
static void stretch(int64_t begin)
{
    static int percent = -2;

    changed++;

    if (percent == -2)
        percent = option("SLOWER_PERCENT");
    int64_t end = now(), own = end - begin, last = end + own * percent / 100;
    while ((end = now()) < last)
        ;
    own_ns += own;
    more_ns += end - begin - own;
}

/* Of the program's regions; -1: a library's. Regions are entered by the first thread only. */
static int offset_of(region_fn *body)
{
    static struct { region_fn *body; int offset; } seen[256];
    static int count;
    Dl_info in, program;

    for (int i = 0; i < count; i++)
        if (seen[i].body == body)
            return seen[i].offset;
    bool own = dladdr((void *)(uintptr_t)body, &in) && dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
               in.dli_fbase == program.dli_fbase;
    int offset = own ? (int)((uintptr_t)body - (uintptr_t)program.dli_fbase) : -1;
    if (count < 256) {
        seen[count].body = body;
        seen[count++].offset = offset;
    }
    return offset;
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
    if (slow >= 0 && offset_of(body) == slow)
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
