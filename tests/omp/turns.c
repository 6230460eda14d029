/* SPDX-License-Identifier: MIT */
/* A loop of 0.4 s whose turns have as many regions each, or (argument irregular) now and then some more. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 2000 };
static double a[LENGTH], b[LENGTH];

static void add(void)
{
#pragma omp parallel for
    for (int i = 0; i < LENGTH; i++)
        a[i] += 1;
}

static void copy(void)
{
#pragma omp parallel for
    for (int i = 0; i < LENGTH; i++)
        b[i] = a[i];
}

int main(int argc, char **argv)
{
    int irregular = argc > 1 && strcmp(argv[1], "irregular") == 0;
    double expected = 0, begin = omp_get_wtime();
    unsigned state = 1;
    while (omp_get_wtime() - begin < 0.4) {
        add();
        expected++;
        copy();
        state = state * 1103515245 + 12345;
        for (unsigned more = irregular ? (state >> 16) % 8 : 0; more > 0; more--)
            copy();
    }
    for (int i = 0; i < LENGTH; i++)
        if (b[i] != expected)
            return printf("wrong at %d\n", i), 1;
    puts("right");
    return 0;
}
