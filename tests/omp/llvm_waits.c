/* SPDX-License-Identifier: MIT */
/*
 * Regions by clang whose shares wait for one another, each in another way: a call of libomp, or an atomic access:
 * all must keep their teams. Run by two threads and more.
 */
#include <omp.h>
#include <stdio.h>

static int flag, count, x[64];
static volatile int seen;

#define CASE(name)                               \
    __attribute__((noinline)) void no_##name(void); \
    void no_##name(void)

CASE(flush)
{
    flag = 0;
#pragma omp parallel
    {
        int f = 0, n = omp_get_thread_num();
        if (n == 1) {
            flag = 1;
#pragma omp flush
        }
        while (n == 0 && !f) {
#pragma omp flush
            f = flag;
        }
        x[n]++;
    }
}

CASE(bounded_flush)
{
    flag = 0;
#pragma omp parallel
    {
        int n = omp_get_thread_num();
        if (n == 1) {
            flag = 1;
#pragma omp flush
        }
        for (int turn = 0; n == 0 && turn < 1000000; turn++) {
#pragma omp flush
            if (flag)
                break;
        }
        x[n]++;
    }
}

CASE(atomic)
{
    flag = 0;
#pragma omp parallel
    {
        int f = 0, n = omp_get_thread_num();
        if (n == 1) {
#pragma omp atomic write seq_cst
            flag = 2;
        }
        while (n == 0 && f != 2) {
#pragma omp atomic read seq_cst
            f = flag;
        }
        x[n]++;
    }
}

CASE(critical)
{
    seen = 0;
#pragma omp parallel
    {
        int f = 0, n = omp_get_thread_num();
        if (n == 1) {
#pragma omp critical
            seen = 3;
        }
        while (n == 0 && f != 3) {
#pragma omp critical
            f = seen;
        }
        x[n]++;
    }
}

CASE(all_there)
{
    count = 0;
#pragma omp parallel
    {
        int all = 0, team = omp_get_num_threads();
#pragma omp atomic
        count++;
        while (all < team) {
#pragma omp atomic read
            all = count;
        }
        x[omp_get_thread_num()] += all;
    }
}

CASE(order)
{
#pragma omp parallel
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
        x[20] = x[20] * 3 + i;
    }
}

CASE(sink)
{
#pragma omp parallel
#pragma omp for ordered(1)
    for (int i = 1; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
        x[40 + i] = x[39 + i] + i;
#pragma omp ordered depend(source)
    }
}

CASE(task)
{
#pragma omp parallel
#pragma omp single
#pragma omp task
    x[30]++;
}

int main(void)
{
    no_flush(), no_bounded_flush(), no_atomic(), no_critical(), no_all_there(), no_order(), no_sink();
    no_task();
    printf("%d\n", x[20]);
    return 0;
}
