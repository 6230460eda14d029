/* SPDX-License-Identifier: MIT */
/*
 * Regions that must keep their teams, as told.c has them, of programs that carry something from one iteration to the
 * next: which iterations a thread got, and in which order, is seen in the result. Each was taken for harmless once.
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

__attribute__((noinline)) static int twice(int a)
{
    return 2 * a + table[0];
}

__attribute__((noinline)) static void put(int i, int a)
{
    out[i] = a;
}

__attribute__((noinline)) static int get(const int *a)
{
    return *a + table[1];
}

__attribute__((noinline)) static void inc(int *a)
{
    a[0]++;
}

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

CASE(no_or_of_count)
{
    unsigned m = 0;
#pragma omp parallel reduction(| : m)
    {
        unsigned c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i])
                c++;
            m |= c;
        }
    }
    bits = m;
}

CASE(no_or_of_count_after)
{
    unsigned m = 0;
#pragma omp parallel reduction(| : m)
    {
        unsigned c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i])
                c++;
        }
        m |= c;
    }
    bits = m;
}

CASE(no_and_of_count)
{
    unsigned m = ~0u;
#pragma omp parallel reduction(& : m)
    {
        unsigned c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (table[i])
                c++;
            m &= c;
        }
    }
    bits = m;
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

CASE(no_first_index_in_loop2)
{
#pragma omp parallel
    {
        int first = -1;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            if (first < 0)
                first = i;
            out[i] = table[first];
        }
    }
}

CASE(no_first_flag_decides)
{
#pragma omp parallel
    {
        int first = 1;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            if (first)
                out[i] = 7;
            first = 0;
        }
    }
}

CASE(no_array_count)
{
#pragma omp parallel
    {
        int c[8] = { 0 };
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = c[table[i] & 7]++;
        }
    }
}

CASE(no_array_last)
{
#pragma omp parallel
    {
        int c[8] = { 0 };
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = c[table[i] & 7];
            c[table[i] & 7] = i;
        }
    }
}

CASE(no_malloc_array)
{
#pragma omp parallel
    {
        int *c = calloc(8, sizeof *c);
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            out[i] = c[table[i] & 7]++;
        free(c);
    }
}

CASE(no_malloc_struct)
{
#pragma omp parallel
    {
        struct {
            int a, b;
            double d;
        } *c = malloc(sizeof *c);
        c->a = 3;
        c->b = 0;
        c->d = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            c->d += 1;
            x[i] = c->d;
        }
        free(c);
    }
}

CASE(no_pointer_walks)
{
#pragma omp parallel
    {
        int *p = table;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            out[i] = *p++;
    }
}

CASE(no_scratch_carry)
{
#pragma omp parallel
    {
        double w[16];
        memset(w, 0, sizeof w);
#pragma omp for
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 16; j++)
                w[j] = w[j] * 0.5 + x[i];
            y[i] = w[3];
        }
    }
}

CASE(no_dynamic_count)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n; i++) {
            c++;
            if (c == 5)
                out[i] = 1;
        }
    }
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

CASE(no_limit_each)
{
    int s = 0;
#pragma omp parallel reduction(+ : s)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (s < 10)
                s += table[i];
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

CASE(no_count_to_double)
{
    double s = 0;
#pragma omp parallel reduction(max : s)
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            c += table[i];
        s = c;
    }
    most = s;
}

CASE(no_collapse_first)
{
#pragma omp parallel
    {
        int first = 1;
#pragma omp for collapse(2)
        for (int i = 0; i < n / 10; i++)
            for (int j = 0; j < 10; j++) {
                out[i * 10 + j] = first;
                first = 0;
            }
    }
}

CASE(no_arg_result)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            out[i] = twice(c);
        }
    }
}

CASE(no_arg_put)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            put(i, c);
        }
    }
}

CASE(no_arg_sqrt)
{
#pragma omp parallel
    {
        double c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c += x[i];
            y[i] = sin(c);
        }
    }
}

CASE(no_arg_get)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
            out[i] = get(&c);
        }
    }
}

CASE(no_seed_by_function)
{
#pragma omp parallel
    {
        int c = 5;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c = twice(c);
            out[i] = c;
        }
    }
}

CASE(no_print_count)
{
#pragma omp parallel
    {
        int c = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            c++;
#pragma omp critical
            fprintf(stderr, "%d", c);
        }
    }
}

CASE(no_heap_inc)
{
#pragma omp parallel
    {
        int *c = calloc(4, sizeof *c);
#pragma omp for
        for (int i = 0; i < n; i++) {
            inc(c);
            out[i] = c[0];
        }
        free(c);
    }
}

CASE(no_idle_writes)
{
#pragma omp parallel
    {
        int any = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = i;
            any = 1;
        }
        if (!any)
            count = 5;
    }
}

CASE(no_last_threaded)
{
#pragma omp parallel
    {
        int last = -1;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = i;
            last = i;
        }
        if (last >= 0)
            out[last] = 77;
    }
}

CASE(no_last_threaded_value)
{
#pragma omp parallel
    {
        int last = -1;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = i;
            last = i;
        }
        if (last >= 0)
            count = table[last];
    }
}

CASE(no_first_threaded)
{
#pragma omp parallel
    {
        int first = 1;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            if (first) {
                count = i;
                first = 0;
            }
            out[i] = i;
        }
    }
}

CASE(no_stop)
{
#pragma omp parallel
    {
        int stop = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            if (stop)
                continue;
            out[i] = i;
            if (table[i] == 5)
                stop = 1;
        }
    }
}

CASE(no_every_second)
{
#pragma omp parallel
    {
        int odd = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = odd;
            odd = !odd;
        }
    }
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

CASE(no_or_last)
{
    unsigned m = 0;
#pragma omp parallel reduction(| : m)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            m = (unsigned)table[i];
        }
    }
    bits = m;
}

CASE(no_or_shift)
{
    unsigned m = 0;
#pragma omp parallel reduction(| : m)
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            m = m << 1 | (unsigned)(table[i] & 1);
        }
    }
    bits = m;
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

CASE(no_memset_share_all)
{
#pragma omp parallel
    {
        int *p = out;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            *p++ = 0;
    }
}

CASE(no_difference)
{
#pragma omp parallel
    {
        int k = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            out[i] = i - k;
            k++;
        }
    }
}

CASE(no_two_counts)
{
#pragma omp parallel
    {
        int k = 0, j = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            k += 2;
            j += 3;
            out[i] = j - k;
        }
    }
}

CASE(no_firstprivate_carry)
{
    int c = 7;
#pragma omp parallel for firstprivate(c)
    for (int i = 0; i < n; i++) {
        out[i] = c;
        c = c + 1;
    }
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

CASE(no_stack_depth)
{
#pragma omp parallel
    {
        int stack[64], top = 0;
#pragma omp for
        for (int i = 0; i < n; i++) {
            stack[top & 63] = i;
            top++;
            out[i] = stack[(top - 1) & 32];
        }
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
        no_or_of_count,
        no_or_of_count_after,
        no_and_of_count,
        no_atomic_max_of_count,
        no_atomic_or_of_count,
        no_atomic_add_in_loop,
        no_atomic_add_of_seed,
        no_logical_or_of_count,
        no_last_index_summed,
        no_last_index_or,
        no_first_index_in_loop2,
        no_first_flag_decides,
        no_array_count,
        no_array_last,
        no_malloc_array,
        no_malloc_struct,
        no_pointer_walks,
        no_scratch_carry,
        no_dynamic_count,
        no_sum_twice,
        no_sum_in_other_and_more,
        no_sum_shadow,
        no_limit_each,
        no_short_sum,
        no_count_to_double,
        no_collapse_first,
        no_arg_result,
        no_arg_put,
        no_arg_sqrt,
        no_arg_get,
        no_seed_by_function,
        no_print_count,
        no_heap_inc,
        no_idle_writes,
        no_last_threaded,
        no_last_threaded_value,
        no_first_threaded,
        no_stop,
        no_every_second,
        no_minmax_clamp,
        no_min_of_max,
        no_argmax,
        no_max_last,
        no_max_last_if,
        no_or_last,
        no_or_shift,
        no_histogram_sum_max,
        no_memset_share_all,
        no_difference,
        no_two_counts,
        no_firstprivate_carry,
        no_carried_or,
        no_carried_or_store,
        no_carried_or_atomic,
        no_master_or,
        no_stack_depth,
    };
    for (int i = 0; i < N; i++)
        table[i] = i * 7 % 13;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i](N);
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
