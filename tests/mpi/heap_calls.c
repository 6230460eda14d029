/* SPDX-License-Identifier: MIT */
/* Prints how often this thread comes to the C library's heap in its first region: a handler may jump out of that. */
#include <mpi.h>
#include <stdio.h>

#include "tests/heap.h"

static __thread int counts, calls;

static void heap_called(void *caller)
{
    (void)caller;
    calls += counts;
}

int main(int argc, char **argv)
{
    static int sum;
    MPI_Init(&argc, &argv);
    counts = 1;
#pragma omp parallel reduction(+ : sum)
    sum++;
    counts = 0;
    printf("%d\n", calls);
    MPI_Finalize();
    return sum == 0;
}
