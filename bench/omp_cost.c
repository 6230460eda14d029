/* SPDX-License-Identifier: MIT */
/*
 * What the hooks add to a parallel region: the time of an empty one, again and again, as percentiles.
 * Run by bench/omp_cost.sh without hooks, with hooks that are off, recording and predicting.
 *   omp_cost LABEL COUNT [one]
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOPS = 5 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static void one(void)
{
#pragma omp parallel if (0)
    __asm__ volatile("");
}

__attribute__((noinline)) static void full(void)
{
#pragma omp parallel
    __asm__ volatile("");
}

static void measure(const char *label, const char *what, void (*run)(void), size_t count)
{
    uint64_t *took = malloc(count * sizeof *took);
    if (!took)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = now();
        run();
        took[i] = now() - begin;
    }
    double mean = 1e30;
    for (int loop = 0; loop < LOOPS; loop++) {
        uint64_t begin = now();
        for (size_t i = 0; i < count; i++)
            run();
        double each = (double)(now() - begin) / (double)count;
        mean = each < mean ? each : mean;
    }
    qsort(took, count, sizeof *took, ascending);
    printf("%-12s %-8s %9llu %9llu %9llu %9.1f\n", label, what, (unsigned long long)took[count / 2],
           (unsigned long long)took[count - 1 - count / 100], (unsigned long long)took[count - 1 - count / 1000], mean);
    free(took);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4)
        return 2;
    size_t count = (size_t)strtoul(argv[2], NULL, 10);
    if (count < 1000)
        return 2;
    for (size_t i = 0; i < count / 10; i++) { /* warms up */
        one();
        if (argc == 3)
            full();
    }
    measure(argv[1], "clock", nothing, count);
    measure(argv[1], "one", one, count);
    if (argc == 3)
        measure(argv[1], "team", full, count);
    return 0;
}
