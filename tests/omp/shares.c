/* SPDX-License-Identifier: MIT */
/*
 * Regions that must see their teams, and whose threads wait for one another at barriers only: random scripts of steps
 * with known results whatever threads run them, and in which order. Prints what each script leaves in memory.
 *   shares SEED
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { SCRIPTS = 60, STEPS = 12, MOST = 128 };
static unsigned slot[MOST], total, taken;
static double part[MOST];
static long took[MOST];
static int step[STEPS];

static unsigned next(unsigned *seed)
{
    return (*seed = *seed * 1103515245u + 12345u) >> 16;
}

/* Not inlined: barriers and questions in functions that regions call. */
__attribute__((noinline)) static void mix(int me, int k)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    took[me] += now.tv_sec;
    slot[me] = slot[me] * 31 + (unsigned)(k * omp_get_num_threads() + me);
}

__attribute__((noinline)) static void look_at_neighbour(int me, int threads)
{
#pragma omp barrier
    unsigned seen = slot[(me + 1) % threads];
#pragma omp barrier
    slot[me] += seen * 7;
}

/* Uses its own stack across barriers. */
__attribute__((noinline)) static void keep_some(int me, int threads)
{
    unsigned own[256];
    for (int i = 0; i < 256; i++)
        own[i] = slot[me] + (unsigned)i;
#pragma omp barrier
    slot[me] += own[(me * 17 + threads) % 256];
#pragma omp barrier
    slot[me] ^= own[255 - me];
}

/* Who hands a value on takes so long that the others are there before it is known; nobody else makes one. */
__attribute__((noinline)) static void hand_on(int me, int k)
{
    unsigned what = 0;
#pragma omp single copyprivate(what)
    {
        what = ++taken + (unsigned)k;
        for (int i = 0; i < 50000; i++)
            what = what * 31 ^ what >> 7;
    }
    slot[me] = slot[me] * 3 + what;
}

__attribute__((noinline)) static void run(void)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num(), threads = omp_get_num_threads();
        for (int k = 0; k < STEPS; k++) {
            if (step[k] == 0)
                mix(me, k);
            else if (step[k] == 1)
                look_at_neighbour(me, threads);
            else if (step[k] == 2)
                keep_some(me, threads);
            else if (step[k] == 7)
                hand_on(me, k);
            if (step[k] == 3) {
#pragma omp single
                taken = taken * 5 + (unsigned)k;
            }
            if (step[k] == 4) {
#pragma omp critical
                total += slot[me];
            }
            if (step[k] == 5) {
#pragma omp for
                for (int i = 0; i < 1000; i++)
                    part[me] += 1.0 / (i + 3);
            }
            if (step[k] == 6) {
#pragma omp master
                taken += 3;
#pragma omp barrier
            }
        }
    }
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (int script = 0; script < SCRIPTS; script++) {
        for (int k = 0; k < STEPS; k++)
            step[k] = (int)(next(&seed) % 8);
        run();
        printf("%u %u", total, taken);
        for (int i = 0; i < omp_get_max_threads(); i++)
            printf(" %u %.17g", slot[i], part[i]);
        puts("");
    }
    return 0;
}
