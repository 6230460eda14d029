/* SPDX-License-Identifier: MIT */
/* Runs 64 regions, each a few times, and prints how many more bytes of the program's heap are in use afterwards. */
#include <malloc.h>
#include <stdio.h>

static double field[64];

#define REGION(i)                             \
    for (int turn = 0; turn < 3; turn++) {    \
        _Pragma("omp parallel for")           \
        for (int k = 0; k < 64; k++)          \
            field[k] += (i) + turn;           \
    }
#define FOUR(i) REGION(i) REGION((i) + 1) REGION((i) + 2) REGION((i) + 3)
#define SIXTEEN(i) FOUR(i) FOUR((i) + 4) FOUR((i) + 8) FOUR((i) + 12)

int main(void)
{
    REGION(0) /* libgomp makes its team */
    int before = mallinfo().uordblks;
    SIXTEEN(0)
    SIXTEEN(16)
    SIXTEEN(32)
    SIXTEEN(48)
    printf("%d\n", mallinfo().uordblks - before);
    return 0;
}
