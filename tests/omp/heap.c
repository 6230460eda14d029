/* SPDX-License-Identifier: MIT */
/* Takes eight blocks in each turn, fills them in a region and frees them. Prints how many pages had to come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TURNS = 200, BLOCKS = 8, BYTES = 120000 };

static void turn(size_t bytes)
{
    char *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        block[i] = malloc(bytes);
#pragma omp parallel for
    for (int i = 0; i < BLOCKS; i++)
        memset(block[i], i, bytes);
    for (int i = BLOCKS; i-- > 0;)
        free(block[i]);
}

int main(void)
{
    struct rusage begin, end;
    for (int i = 0; i < TURNS; i++) /* what libgomp keeps comes to lie below */
        turn(BYTES / 2);
    getrusage(RUSAGE_SELF, &begin);
    for (int i = 0; i < TURNS; i++)
        turn(BYTES);
    getrusage(RUSAGE_SELF, &end);
    printf("%ld\n", end.ru_minflt - begin.ru_minflt);
    return 0;
}
