/* SPDX-License-Identifier: MIT */
/*
 * More regions that must keep their teams, as proof.c has them: what a thread knows of itself or of the others gets
 * into a result by a way that is easily overlooked. Each was taken for harmless once.
 */
#include <omp.h>
#include <stdio.h>

enum { N = 200 };
double x[N], y[N]; /* known outside, so that what is stored in them is stored */
int count, done, table[N];
long total;

#define CASE(name)                              \
    __attribute__((noinline)) void name(int n); \
    void name(int n)

struct many {
    int a[12];
};
union both {
    int i;
    char c[4];
    short s[2];
    long l;
};

__attribute__((noinline)) static int sum_of(struct many m)
{
    int s = 0;
    for (int i = 0; i < 12; i++)
        s += m.a[i];
    return s;
}

/* --- The number, compared otherwise than for being 0 --- */

CASE(no_other_than_the_first)
{
#pragma omp parallel
    if (omp_get_thread_num() > 0)
        count = 7;
}

CASE(no_first_four_alike)
{
#pragma omp parallel
    if (omp_get_thread_num() < 4)
        count = 7;
}

CASE(no_first_of_a_team)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        if (me < n)
            count = 7;
        (void)size;
    }
}

CASE(no_number_compared_with_itself)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me == (me & 1))
            count = 7;
    }
}

CASE(no_switch)
{
#pragma omp parallel
    {
        int v;
        switch (omp_get_thread_num()) {
        case 0:
            v = 3;
            break;
        case 1:
            v = 9;
            break;
        case 2:
            v = 11;
            break;
        default:
            v = 2;
        }
#pragma omp single
        count = v;
    }
}

/* --- What it decides becomes data --- */

CASE(no_chosen_by_number)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        int v = me > 3 ? table[1] : table[2];
#pragma omp single
        count = v;
    }
}

CASE(no_borrow)
{
#pragma omp parallel
    {
        unsigned me = (unsigned)omp_get_thread_num();
        int v = me < 1u ? -1 : 0;
#pragma omp single
        count = v;
    }
}

CASE(no_value_of_the_master)
{
#pragma omp parallel
    {
        int v = 1;
#pragma omp master
        {
            v = 2;
            count++;
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = v;
    }
}

CASE(no_value_of_a_single)
{
#pragma omp parallel
    {
        int v = 1;
#pragma omp single
        {
            v = 2;
            count++;
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = v;
    }
}

/* --- It goes by memory --- */

CASE(no_part_of_a_union)
{
#pragma omp parallel
    {
        volatile union both u;
        u.l = 0;
        u.i = omp_get_thread_num();
        u.c[0] = 0;
        int v = u.s[0] + (int)u.l;
#pragma omp single
        count = v;
    }
}

CASE(no_structure_handed_on)
{
#pragma omp parallel
    {
        struct many m = { { 0 } };
        m.a[7] = omp_get_thread_num();
        int v = sum_of(m);
#pragma omp single
        count = v;
    }
}

CASE(no_long_double)
{
#pragma omp parallel
    {
        long double h = omp_get_thread_num();
#pragma omp single
        y[0] = (double)(h * 2);
    }
}

/* --- The size, and shares of the work --- */

CASE(no_size_in_iterations)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        (void)me;
#pragma omp for
        for (int i = 0; i < n; i++)
            table[i] = i + size;
    }
}

CASE(no_share_is_told)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        (void)me;
        int share = n / size;
#pragma omp single
        count = share;
    }
}

CASE(no_share_decides)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        (void)me;
        int share = n / size;
        if (share > 20)
            count = 7;
    }
}

CASE(no_share_is_an_index)
{
#pragma omp parallel
    {
        int size = omp_get_num_threads(), me = omp_get_thread_num();
        (void)me;
        int v = table[n / size];
#pragma omp single
        count = v;
    }
}

/* --- What a thread did before --- */

CASE(no_seed_and_index)
{
#pragma omp parallel
    {
        unsigned seed = 42;
#pragma omp for
        for (int i = 0; i < n; i++) {
            seed = seed * 1103515245 + 12345;
            table[i] = i + (int)(seed >> 16);
        }
    }
}

CASE(no_any_iteration)
{
#pragma omp parallel
    {
        int any = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            x[i] = y[i];
            any = 1;
        }
#pragma omp single
        count = any;
    }
}

CASE(no_sum_of_a_few)
{
#pragma omp parallel
    {
        volatile int a[2] = { 0, 0 };
        a[n & 1] += 1;
#pragma omp atomic
        total += a[0];
    }
}

CASE(no_hits_by_a_seed)
{
    long hits = 0;
#pragma omp parallel reduction(+ : hits)
    {
        unsigned seed = 42;
#pragma omp for
        for (int i = 0; i < n; i++) {
            seed = seed * 1103515245 + 12345;
            if ((seed >> 16 & 3) == 1)
                hits++;
        }
    }
    total = hits;
}

CASE(no_sum_by_a_seed)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        unsigned seed = 42;
#pragma omp for
        for (int i = 0; i < n; i++) {
            seed = seed * 1103515245 + 12345;
            sum += seed >> 16;
        }
    }
    total = sum;
}

CASE(no_sum_of_sums)
{
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        long mine = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            mine += table[i];
            sum += mine;
        }
    }
    total = sum;
}

CASE(no_sum_begun_anew)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        if (table[i] == 3)
            sum = 0;
        else
            sum += table[i];
    }
    total = sum;
}

/* --- Who came first --- */

__attribute__((noinline)) static int draw(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345;
    return (int)(*seed >> 16);
}

CASE(no_seed_in_a_structure)
{
#pragma omp parallel
    {
        struct { unsigned first, second, seed, last; } s = { 1, 1, 1, 1 };
#pragma omp for
        for (int i = 0; i < N; i++)
            x[i] = draw(&s.seed);
    }
}

/* What each thread sums up does not fit: the more threads, the less is lost. */
CASE(no_sum_that_wraps)
{
#pragma omp parallel
    {
        unsigned s = 0;
#pragma omp for nowait
        for (int i = 0; i < N; i++)
            s += (unsigned)table[i];
#pragma omp atomic
        total += s;
    }
}

CASE(no_first_to_come)
{
#pragma omp parallel
    {
        int found = __atomic_fetch_or(&done, 1, __ATOMIC_SEQ_CST);
#pragma omp single
        count = found;
    }
}

CASE(no_toggle)
{
#pragma omp parallel
    {
        int old = done;
        while (!__atomic_compare_exchange_n(&done, &old, !old, 0, 5, 5))
            ;
    }
}

int main(void)
{
    void (*const all[])(int) = {
        no_other_than_the_first,
        no_first_four_alike,
        no_first_of_a_team,
        no_number_compared_with_itself,
        no_switch,
        no_chosen_by_number,
        no_borrow,
        no_value_of_the_master,
        no_value_of_a_single,
        no_part_of_a_union,
        no_structure_handed_on,
        no_long_double,
        no_size_in_iterations,
        no_share_is_told,
        no_share_decides,
        no_share_is_an_index,
        no_seed_and_index,
        no_any_iteration,
        no_sum_of_a_few,
        no_hits_by_a_seed,
        no_sum_by_a_seed,
        no_sum_of_sums,
        no_sum_begun_anew,
        no_seed_in_a_structure,
        no_sum_that_wraps,
        no_first_to_come,
        no_toggle,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        done = 0;
        all[i](N);
    }
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
