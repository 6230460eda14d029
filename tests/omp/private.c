/* SPDX-License-Identifier: MIT */
/* Threadprivate data that is set in one region and read in another: both need the same team. */
#include <omp.h>
#include <stdio.h>

static int mine;
#pragma omp threadprivate(mine)

__attribute__((noinline)) static void set(int value)
{
#pragma omp parallel
    mine = value;
}

__attribute__((noinline)) static int count(int value)
{
    int n = 0;
#pragma omp parallel reduction(+ : n)
    n += mine == value;
    return n;
}

int main(void)
{
    int size = 0;
#pragma omp parallel
#pragma omp atomic
    size++;
    for (int i = 1; i <= 300; i++) {
        set(i);
        if (count(i) != size)
            return puts("wrong"), 1;
    }
    puts("right");
    return 0;
}
