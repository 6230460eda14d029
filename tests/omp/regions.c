/* SPDX-License-Identifier: MIT */
/*
 * Regions of every kind that gcc makes a call for, each entered TURNS times; checks its own results.
 * Prints on standard output, for the test: what it did, and nothing else.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 10, N = 1000 };
static long a[N];
static long failures;

static void check(long got, long expected, const char *what)
{
    if (got != expected) {
        fprintf(stderr, "%s: %ld, not %ld\n", what, got, expected);
        failures++;
    }
}

static long sum(void)
{
    long s = 0;
    for (int i = 0; i < N; i++)
        s += a[i];
    return s;
}

__attribute__((noinline)) static void plain(void)
{
    long n = 0;
#pragma omp parallel
    {
#pragma omp atomic
        n += 1;
    }
    check(n > 0, 1, "plain");
}

__attribute__((noinline)) static void not_parallel(void)
{
    int n = 0;
#pragma omp parallel if (0)
    n += omp_get_num_threads();
    check(n, 1, "if(0)");
}

__attribute__((noinline)) static void three(void)
{
    int n = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
        n += 1;
    }
    check(n, 3, "num_threads(3)");
}

__attribute__((noinline)) static void sections(void)
{
    int x = 0, y = 0;
#pragma omp parallel sections
    {
#pragma omp section
        x = 1;
#pragma omp section
        y = 2;
    }
    check(x + y, 3, "sections");
}

#define LOOP(name, clause)                           \
    __attribute__((noinline)) static void name(void) \
    {                                                \
        _Pragma(#clause)                             \
        for (int i = 0; i < N; i++)                  \
            a[i]++;                                  \
    }
LOOP(static_loop, omp parallel for schedule(static))
LOOP(dynamic_loop, omp parallel for schedule(dynamic, 16))
LOOP(monotonic_loop, omp parallel for schedule(monotonic : dynamic, 16))
LOOP(guided_loop, omp parallel for schedule(guided))
LOOP(runtime_loop, omp parallel for schedule(runtime))

__attribute__((noinline)) static void reduction(void)
{
    long s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += i;
    check(s, (long)N * (N - 1) / 2, "reduction");
}

/* A task reduction: GOMP_parallel_reductions. */
__attribute__((noinline)) static void task_reduction(void)
{
    long s = 0;
#pragma omp parallel reduction(task, + : s)
    {
#pragma omp single
        for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+ : s)
            s += i;
        }
    }
    check(s, 28, "task reduction");
}

__attribute__((noinline)) static void nested(void)
{
    int n = 0;
#pragma omp parallel
    {
#pragma omp parallel
        {
#pragma omp atomic
            n += omp_get_num_threads();
        }
    }
    check(n > 0, 1, "nested");
}

int main(void)
{
    for (int i = 0; i < TURNS; i++) {
        plain();
        not_parallel();
        three();
        sections();
        static_loop();
        dynamic_loop();
        monotonic_loop();
        guided_loop();
        runtime_loop();
        reduction();
        task_reduction();
        nested();
    }
    check(sum(), (long)TURNS * 5 * N, "loops");
    printf("%s\n", failures ? "wrong" : "right");
    return failures ? 1 : 0;
}
