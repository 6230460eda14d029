/* SPDX-License-Identifier: MIT */
/*
 * Regions that must keep their teams, as told.c has them, of programs that carry something from one iteration to the
 * next: which iterations a thread got, and in which order, is seen in the result. Each was taken for harmless once.
 * merged.c has those whose threads put such values together.
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
        no_or_of_count,
        no_or_of_count_after,
        no_and_of_count,
        no_first_index_in_loop2,
        no_first_flag_decides,
        no_array_count,
        no_array_last,
        no_malloc_array,
        no_malloc_struct,
        no_pointer_walks,
        no_scratch_carry,
        no_dynamic_count,
        no_limit_each,
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
        no_or_last,
        no_or_shift,
        no_memset_share_all,
        no_difference,
        no_two_counts,
        no_firstprivate_carry,
        no_stack_depth,
    };
    for (int i = 0; i < N; i++)
        table[i] = i * 7 % 13;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i](N);
    printf("%d\n", (int)(sizeof all / sizeof *all));
    return 0;
}
