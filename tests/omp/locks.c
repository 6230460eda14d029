/* SPDX-License-Identifier: MIT */
/*
 * Regions whose threads take locks, with at least four threads: what one holds while another one wants it, whoever
 * gives it back, and whatever is met in between. Prints what they leave, which does not depend on their order.
 */
#include <omp.h>
#include <stdio.h>

enum { MOST = 64, TURNS = 50 };
static omp_lock_t lock, pair[2], chain[MOST + 1];
static long count, sum[MOST];

/* Each for itself. */
static void counts(void)
{
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < 100; i++) {
        omp_set_lock(&lock);
        count += i;
        omp_unset_lock(&lock);
    }
}

/* One within another, and a critical section within both. */
static void nests(void)
{
#pragma omp parallel
    for (int i = 0; i < 5; i++) {
        omp_set_lock(&pair[0]);
        omp_set_lock(&pair[1]);
#pragma omp critical
        count += i;
        omp_unset_lock(&pair[1]);
        omp_unset_lock(&pair[0]);
    }
}

/* The first one has it until all have come: the others take it before and behind. */
static void keeps_over_a_barrier(void)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me == 1)
            omp_set_lock(&lock);
        sum[me] += 1;
#pragma omp barrier
        if (me == 1)
            omp_unset_lock(&lock);
        omp_set_lock(&lock);
        count += sum[(me + 1) % omp_get_num_threads()];
        omp_unset_lock(&lock);
    }
}

/* Each gives the next one's back, downwards: the last one begins. */
static void hands_on(void)
{
    for (int i = 0; i < MOST; i++)
        omp_set_lock(&chain[i]);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        omp_set_lock(&chain[me + 1 == omp_get_num_threads() ? MOST : me]);
        count = count * 3 % 1000003 + me;
        omp_unset_lock(&chain[me ? me - 1 : MOST]);
    }
    for (int i = 0; i < MOST; i++) {
        (void)omp_test_lock(&chain[i]);
        omp_unset_lock(&chain[i]);
    }
}

/* One waits with what another one gives back behind a single. */
static void gives_back_elsewhere(void)
{
    omp_set_lock(&lock);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me == 0)
            omp_set_lock(&lock);
        if (me == 3)
            omp_unset_lock(&lock);
#pragma omp single
        count++;
    }
    omp_unset_lock(&lock);
}

int main(void)
{
    omp_init_lock(&lock);
    omp_init_lock(&pair[0]);
    omp_init_lock(&pair[1]);
    for (int i = 0; i <= MOST; i++)
        omp_init_lock(&chain[i]);
    for (int i = 0; i < TURNS; i++) {
        counts();
        nests();
        keeps_over_a_barrier();
        hands_on();
        gives_back_elsewhere();
    }
    printf("%ld %ld %ld\n", count, sum[0], sum[3]);
    return 0;
}
