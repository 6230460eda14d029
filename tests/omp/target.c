/* SPDX-License-Identifier: MIT */
/* Target constructs: TURNS of a region, an update, a region with a team inside, inside of a data region; then data that
   is entered and left, and one region that is not waited for. Prints sums; no device is needed. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };
static double a[N], b[N];

static void scale(double by)
{
#pragma omp target map(to : a[0 : N / 2]) map(tofrom : b) firstprivate(by)
    for (int i = 0; i < N; i++)
        b[i] += by * a[i];
}

static double sum(void)
{
    double s = 0;
#pragma omp target teams distribute parallel for map(to : b) map(tofrom : s) reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += b[i];
    return s;
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp target data map(to : a) map(tofrom : b)
    for (int turn = 0; turn < turns; turn++) {
        scale(turn);
#pragma omp target update from(b)
        printf("%g\n", sum());
    }
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(release : a)
#pragma omp target nowait map(tofrom : b)
    b[0] = 1;
#pragma omp taskwait
#pragma omp parallel num_threads(3)
#pragma omp master
    {
#pragma omp target map(tofrom : b)
        b[1] = 2;
    }
    printf("%g %g\n", b[0], b[1]);
    return 0;
}
