/* SPDX-License-Identifier: MIT */
/*
 * Two ranks, 24 messages to and fro, each from a line of its own: so each one's time is in the file as it was. The
 * receiver waits. With -DSHIM a preload instead: odd ranks are on a node of their own, whose clock is 3 s ahead and a
 * tenth too fast.
 */
#ifdef SHIM
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

void __tsan_init(void);
void __tsan_init(void) {} /* as a sanitizer: what stands here stands before the C library for Pythia, too */

static int odd(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    return rank && atoi(rank) % 2;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *), skewed = -1;
    static long long zero;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    if (skewed < 0)
        skewed = odd();
    int result = real(id, t);
    if (skewed && id == CLOCK_MONOTONIC && !result) {
        long long ns = t->tv_sec * 1000000000LL + t->tv_nsec;
        zero = zero ? zero : ns;
        ns += 3000000000LL + (ns - zero) / 10;
        *t = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    return result;
}

int uname(struct utsname *name)
{
    static int (*real)(struct utsname *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "uname");
    int result = real(name);
    if (odd())
        strcpy(name->nodename, "another");
    return result;
}
#else
#include <mpi.h>
#include <unistd.h>

#define TO(receiver)                                                                         \
    if (rank == (receiver)) {                                                                \
        MPI_Recv(&rank, 0, MPI_INT, 1 - rank, __COUNTER__, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
    } else if (rank < 2) {                                                                   \
        usleep(4000);                                                                        \
        MPI_Send(&rank, 0, MPI_INT, 1 - rank, __COUNTER__ - 1, MPI_COMM_WORLD);              \
    }
#define FOUR TO(1) TO(0) TO(1) TO(0)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FOUR FOUR FOUR FOUR FOUR FOUR
    MPI_Finalize();
    return 0;
}
#endif
