/* SPDX-License-Identifier: MIT */
/*
 * Regions whose team the program chooses: by clauses, by calls, inside of a region with one thread. Each writes down
 * what its threads are told of themselves. Prints that; 8 regions a turn have more than one thread.
 */
#include <omp.h>
#include <stdio.h>

enum { TURNS = 40, MOST = 16 };
static long seen[MOST], sum;

__attribute__((noinline)) static void tell(int what)
{
    int me = omp_get_thread_num(), level = omp_get_level();
    seen[me] = (seen[me] * 31 + what + 2 * me + 64 * omp_get_num_threads() + 256 * level +
                512 * omp_get_ancestor_thread_num(level) + 1024 * omp_get_team_size(level) +
                4096 * omp_get_ancestor_thread_num(1) + 8192 * omp_get_team_size(1) +
                16384 * omp_in_parallel() + 32768 * omp_get_active_level() + 65536 * omp_get_ancestor_thread_num(0) +
                131072 * omp_get_max_threads() + 262144 * omp_get_team_size(level + 1)) %
               1000003;
}

__attribute__((noinline)) static void clauses(int n)
{
#pragma omp parallel num_threads(n)
    tell(1);
#pragma omp parallel for num_threads(n) schedule(static) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i * (omp_get_thread_num() + 1);
#pragma omp parallel proc_bind(close)
    tell(2);
#pragma omp parallel num_threads(3) proc_bind(spread)
    {
        tell(3);
#pragma omp barrier
        long next = seen[(omp_get_thread_num() + 1) % 3] % 7;
#pragma omp barrier
        seen[omp_get_thread_num()] += next;
    }
}

__attribute__((noinline)) static void calls(int n)
{
    omp_set_num_threads(n);
#pragma omp parallel
    tell(4);
    omp_set_num_threads(4);
    omp_set_max_active_levels(3);
#pragma omp parallel
    tell(5);
    omp_set_max_active_levels(1);
}

__attribute__((noinline)) static void inside_of_one(int n)
{
#pragma omp parallel num_threads(1)
    {
        tell(6);
#pragma omp parallel num_threads(n)
        tell(7);
#pragma omp parallel if (n < 0)
        {
#pragma omp parallel
            tell(8);
            tell(9);
        }
    }
}

int main(void)
{
    for (int i = 0; i < TURNS; i++) {
        clauses(2 + i % 7);
        calls(2 + i % 5);
        inside_of_one(2 + i % 3);
    }
    for (int i = 0; i < MOST; i++)
        printf("%ld ", seen[i]);
    printf("%ld\n", sum);
    return 0;
}
