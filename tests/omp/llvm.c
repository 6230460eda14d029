/* SPDX-License-Identifier: MIT */
/*
 * Everything that shares take from libomp's constructs, by clang: prints who had what, and sums whose order shows. The
 * same is printed however many threads run it, as far as the program's own team decides (`sums` with a team of three
 * adds whole numbers only, whose order does not show).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int omp_get_num_threads(void), omp_get_thread_num(void), omp_get_max_threads(void), omp_get_level(void);
extern void omp_set_schedule(int kind, int chunk);

enum { MOST = 64 };
static int who[MOST];

static void show(const char *what, int count)
{
    printf("%s:", what);
    for (int i = 0; i < count; i++)
        printf(" %d", who[i]);
    puts("");
    memset(who, -1, sizeof who);
}

/* A loop of each kind, by a team of `threads`. */
#define WORK(name, type, schedule, first, test, step)                                                       \
    static void name(int threads, type low, type high)                                                      \
    {                                                                                                       \
        _Pragma("omp parallel num_threads(threads)") {                                                      \
            type last = 0;                                                                                  \
            _Pragma(schedule) for (type i = first; i test; i += step) who[(int)(i - low)] = omp_get_thread_num(); \
            (void)last;                                                                                     \
        }                                                                                                   \
        show(#name, (int)(high - low));                                                                     \
    }
WORK(even_int, int, "omp for schedule(static)", low, < high, 1)
WORK(even_unsigned, unsigned, "omp for schedule(static)", low, < high, 3)
WORK(even_long, int64_t, "omp for schedule(static)", high - 1, >= low, -1)
WORK(even_ulong, uint64_t, "omp for schedule(static) nowait", high - 1, > low, -2)
WORK(chunks_int, int, "omp for schedule(static, 3)", low, < high, 1)
WORK(chunks_unsigned, unsigned, "omp for schedule(static, 2)", high - 1, > low, -1)
WORK(chunks_long, int64_t, "omp for schedule(static, 5)", low, < high, 2)
WORK(chunks_ulong, uint64_t, "omp for schedule(static, 1)", low, < high, 1)
WORK(set, int, "omp for schedule(runtime)", low, < high, 1)

/* Loops whose iterations anyone may have: each is had once. */
#define COME(name, type, schedule, first, test, step, times)                                                \
    static void name(int threads, type low, type high)                                                      \
    {                                                                                                       \
        int left = -1;                                                                                      \
        memset(who, 0, sizeof who);                                                                         \
        _Pragma("omp parallel num_threads(threads)") for (int turn = 0; turn < times; turn++)               \
        {                                                                                                   \
            _Pragma(schedule) for (type i = first; i test; i += step)                                       \
            {                                                                                               \
                _Pragma("omp atomic") who[(int)(i - low)]++;                                                \
                left = (int)(i - low);                                                                      \
            }                                                                                               \
        }                                                                                                   \
        printf("%d ", left);                                                                                \
        show(#name, (int)(high - low));                                                                     \
    }
COME(dynamic_int, int, "omp for schedule(monotonic : dynamic, 3) lastprivate(left)", low, < high, 1, 2)
COME(dynamic_unsigned, unsigned, "omp for schedule(monotonic : dynamic) lastprivate(left)", high - 1, > low, -1, 1)
COME(guided_long, int64_t, "omp for schedule(guided, 2) lastprivate(left)", low, < high, 3, 3)
COME(guided_ulong, uint64_t, "omp for schedule(monotonic : guided) lastprivate(left)", high - 1, > low, -1, 1)
COME(in_sections, int, "omp for schedule(auto) lastprivate(left)", low, < high, 1, 1)

static void loops(int threads)
{
    even_int(threads, 0, 37), even_int(threads, -3, 0), even_int(threads, 5, 5);
    even_unsigned(threads, 4000000000u, 4000000040u), even_long(threads, -20, 21), even_ulong(threads, 1, 40);
    chunks_int(threads, -10, 27), chunks_int(threads, 0, 2), chunks_unsigned(threads, 7, 40);
    chunks_long(threads, INT64_C(5000000000), INT64_C(5000000033)), chunks_ulong(threads, 1, 30);
    for (int kind = 1; kind <= 2; kind++) {
        omp_set_schedule(1, kind == 1 ? 0 : 3);
        set(threads, 0, 38);
    }
    dynamic_int(threads, 0, 37), dynamic_unsigned(threads, 1, 20), guided_long(threads, -9, 30);
    guided_ulong(threads, 1, 41), in_sections(threads, 0, 13);
}

/* Of sums whose order shows only where a tree adds them (more than four threads), and of others. */
static double sums(int threads)
{
    double sum = 0, product = 1;
    long whole = 0, each = 0;
    int least = 100, by = threads > 4 ? 10 : 1;
#pragma omp parallel num_threads(threads) reduction(+ : sum, whole) reduction(min : least)
    {
        int n = omp_get_thread_num();
        for (int i = 0; i < 10; i++)
            sum += (double)(1 + n * 7 + i) / by;
        whole += n;
        least = least < 50 - n ? least : 50 - n;
#pragma omp for reduction(+ : each) nowait
        for (int i = 0; i < 40; i++)
            each += i;
#pragma omp barrier
#pragma omp for reduction(* : product)
        for (int i = 0; i < 10; i++)
            product *= 1 + (double)i / by;
#pragma omp atomic
        each += product > 1;
    }
    printf("sums %.17g %.17g %ld %ld %d\n", sum, product, whole, each, least);
    return sum;
}

static void constructs(int threads)
{
    int one = 0, first = 0, seen[MOST] = { 0 }, some[3] = { 0 };
    long total = 0;
#pragma omp parallel num_threads(threads) proc_bind(close)
    {
        int n = omp_get_thread_num(), copied = 0;
#pragma omp single copyprivate(copied)
        copied = 40 + omp_get_num_threads();
        seen[n] = copied + omp_get_level() * 1000;
#pragma omp single nowait
        one++;
#pragma omp barrier
#pragma omp master
        first += 100 + n;
#pragma omp critical
        total += n;
#pragma omp critical(named)
        total += 2 * n;
#pragma omp sections
        {
#pragma omp section
            some[0] += 1;
#pragma omp section
            some[1] += 2;
#pragma omp section
            some[2] += 3;
        }
#pragma omp flush
    }
    printf("constructs %d %d %ld %d %d %d:", one, first, total, some[0], some[1], some[2]);
    for (int i = 0; i < threads; i++)
        printf(" %d", seen[i]);
    puts("");
}

/* More variables than registers, of several types; an odd and an even number of words. */
static void many(int threads, char a, short b, float c, double d, long e, unsigned char f, int g)
{
    double got[MOST] = { 0 };
    int h = 8, i = 9, j = 10;
#pragma omp parallel num_threads(threads) firstprivate(a, b, c, d, e, f, g, h, i)
    got[omp_get_thread_num()] = a + b * 2 + c * 3 + d * 5 + (double)e * 7 + f * 11 + g * 13 + h + i + j;
#pragma omp parallel num_threads(threads) firstprivate(a, b, c, d, e, f, g, h)
    got[omp_get_thread_num()] += a + b + c + d + (double)e + f + g + h + i + j;
    printf("many");
    for (int t = 0; t < threads; t++)
        printf(" %g", got[t]);
    puts("");
}

/* What is said of a region is said of no other one. */
static void clauses(int deny)
{
    int size[4] = { 0 };
#pragma omp parallel num_threads(3) if (!deny)
    if (omp_get_thread_num() == 0)
        size[0] = omp_get_num_threads();
#pragma omp parallel
    if (omp_get_thread_num() == 0)
        size[1] = omp_get_num_threads();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        size[2] = omp_get_num_threads();
#pragma omp parallel
    if (omp_get_thread_num() == 0)
        size[3] = omp_get_num_threads() + omp_get_max_threads();
    printf("clauses %d %d %d %d\n", size[0], size[1], size[2], size[3]);
}

int main(void)
{
    memset(who, -1, sizeof who);
    for (int threads = 1; threads <= 7; threads += 2)
        for (int turn = 0; turn < 2; turn++) {
            loops(threads);
            sums(threads);
            constructs(threads);
            many(threads, 1, 2, 3, 4, 5, 6, 7);
            clauses(turn);
        }
    return 0;
}
