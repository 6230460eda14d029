/* SPDX-License-Identifier: MIT */
/* Parallel regions with too little in them for several threads. */
#include <stdio.h>

enum { CELLS = 200, TURNS = 20000 };

int main(void)
{
    static double cell[CELLS];
    for (int turn = 0; turn < TURNS; turn++) {
#pragma omp parallel for
        for (int i = 0; i < CELLS; i++)
            cell[i] += .5 * (turn - cell[i]);
    }
    printf("%g\n", cell[0]);
    return 0;
}
