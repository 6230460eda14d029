/* SPDX-License-Identifier: MIT */
/*
 * Regions that must keep their teams, as carried.c has them: their threads put together what they carried, by a sum, an
 * extreme, bits or an atomic operation, so that the result shows which iterations each thread got.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

enum { N = 200 };
double x[N], y[N]; /* known outside, so that what is stored in them is stored */
int count, table[N], out[N];
long total;
unsigned bits;
double most;

#define CASE(name)                              \
    __attribute__((noinline)) void name(int n); \
    void name(int n)

CASE(no_max_of_count)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i])
                c++;
            if (c > m)
                m = c;
        }
    }
    count = m;
}

CASE(no_max_of_own_sum)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            c += table[i];
        if (c > m)
            m = c;
    }
    count = m;
}

CASE(no_max_of_seed)
{
    unsigned m = 0;
#pragma omp parallel reduction(max : m)
    {
        unsigned s = 42;
#pragma omp for
        for (int i = 0; i < n; i++) {
            s = s * 1103515245 + 12345;
            if (s > m)
                m = s;
        }
    }
    bits = m;
}

CASE(no_min_of_last)
{
    int m = 1000000;
#pragma omp parallel reduction(min : m)
    {
        int last = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            int d = table[i] - last;
            if (d < m)
                m = d;
            last = table[i];
        }
    }
    count = m;
}

CASE(no_max_double_sum)
{
    double m = 0;
#pragma omp parallel reduction(max : m)
    {
        double s = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            s += x[i];
            if (s > m)
                m = s;
        }
    }
    most = m;
}

CASE(no_atomic_max_of_count)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            if (table[i])
                c++;
        int old = __atomic_load_n(&count, 5);
        while (old < c && !__atomic_compare_exchange_n(&count, &old, c, 0, 5, 5))
            ;
    }
}

CASE(no_atomic_or_of_count)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            if (table[i])
                c++;
        __atomic_fetch_or(&count, c, 5);
    }
}

CASE(no_atomic_add_in_loop)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            c++;
            __atomic_fetch_add(&count, c, 5);
        }
    }
}

CASE(no_atomic_add_of_seed)
{
#pragma omp parallel
    {
        unsigned c = 42;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            c = c * 1103515245 + 12345;
#pragma omp atomic
            total += c;
        }
    }
}

CASE(no_logical_or_of_count)
{
    int m = 0;
#pragma omp parallel reduction(|| : m)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            c++;
        m = m || c > 60;
    }
    count = m;
}

CASE(no_last_index_summed)
{
    long s = 0;
#pragma omp parallel reduction(+ : s)
    {
        int last = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            last = i;
        s += last;
    }
    total = s;
}

CASE(no_last_index_or)
{
    unsigned s = 0;
#pragma omp parallel reduction(| : s)
    {
        unsigned last = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            last = (unsigned)i;
        s |= last;
    }
    bits = s;
}

CASE(no_sum_twice)
{
    int s = 0;
#pragma omp parallel reduction(+ : s)
    {
#pragma omp for
        for (int i = 0; i < n; i++)
            s += table[i];
        s = s > 5 ? s : 0;
    }
    count = s;
}

CASE(no_sum_in_other_and_more)
{
    int s = 0;
#pragma omp parallel reduction(+ : s)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c += table[i];
            s = c + 3;
        }
    }
    count = s;
}

CASE(no_sum_shadow)
{
    int s = 0;
#pragma omp parallel reduction(+ : s)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            s = c + table[i];
            c = s + 1;
        }
    }
    count = s;
}

CASE(no_short_sum)
{
    long s = 0;
#pragma omp parallel reduction(+ : s)
    {
        short c = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            c += (short)table[i];
        s += c;
    }
    total = s;
}

CASE(no_minmax_clamp)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
        m = 3;
#pragma omp for
        for (int i = 0; i < n; i++) {
            m = m > table[i] ? m : table[i];
            m = m < 50 - i ? m : 50 - i;
        }
    }
    count = m;
}

CASE(no_min_of_max)
{
    int m = 1000;
#pragma omp parallel reduction(min : m)
    {
        m = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            m = m > table[i] ? m : table[i];
        }
    }
    count = m;
}

CASE(no_argmax)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
        int k = 0, a = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i] > k) {
                k = table[i];
                a = i;
            }
        }
        m = a;
    }
    count = m;
}

CASE(no_max_last)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            m = table[i];
        }
    }
    count = m;
}

CASE(no_max_last_if)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i] & 1)
                m = table[i];
        }
    }
    count = m;
}

CASE(no_histogram_sum_max)
{
    int m = 0;
#pragma omp parallel reduction(max : m)
    {
        int w[8];
        for (int j = 0; j < 8; j++)
            w[j] = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            w[table[i] & 7]++;
        }
        for (int j = 0; j < 8; j++)
            if (w[j] > m)
                m = w[j];
    }
    count = m;
}

CASE(no_carried_or)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            int v = 0;
            if (table[i] || c > 5)
                v = 1;
            out[i] = v;
        }
    }
}

CASE(no_carried_or_store)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            if (table[i] || c > 5)
                out[i] = 3;
        }
    }
}

CASE(no_carried_or_atomic)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            if (table[i] || c > 5)
#pragma omp atomic
                count++;
        }
    }
}

CASE(no_master_or)
{
#pragma omp parallel
    {
        int v = 0;
        if (table[0] || omp_get_thread_num() == 0)
            v = 1;
#pragma omp single
        count = v;
    }
}

int main(void)
{
    void (*const all[])(int) = {
        no_max_of_count,
        no_max_of_own_sum,
        no_max_of_seed,
        no_min_of_last,
        no_max_double_sum,
        no_atomic_max_of_count,
        no_atomic_or_of_count,
        no_atomic_add_in_loop,
        no_atomic_add_of_seed,
        no_logical_or_of_count,
        no_last_index_summed,
        no_last_index_or,
        no_sum_twice,
        no_sum_in_other_and_more,
        no_sum_shadow,
        no_short_sum,
        no_minmax_clamp,
        no_min_of_max,
        no_argmax,
        no_max_last,
        no_max_last_if,
        no_histogram_sum_max,
        no_carried_or,
        no_carried_or_store,
        no_carried_or_atomic,
        no_master_or,
    };
    for (int i = 0; i < N; i++)
        table[i] = i * 7 % 13;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i](N);
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
