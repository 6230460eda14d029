/* SPDX-License-Identifier: MIT */
/* The old pairs GOMP_..._start and GOMP_parallel_end, which gcc emitted until 4.8: called by hand, as it did. */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

extern void GOMP_parallel_start(void (*)(void *), void *, unsigned);
extern void GOMP_parallel_end(void);
extern void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_guided_start(void (*)(void *), void *, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_runtime_start(void (*)(void *), void *, unsigned, long, long, long);
extern void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
extern bool GOMP_loop_dynamic_next(long *, long *);
extern bool GOMP_loop_static_next(long *, long *);
extern bool GOMP_loop_guided_next(long *, long *);
extern bool GOMP_loop_runtime_next(long *, long *);
extern void GOMP_loop_end_nowait(void);
extern unsigned GOMP_sections_next(void);
extern void GOMP_sections_end_nowait(void);

static long count;

static void plain(void *n)
{
    __atomic_fetch_add((long *)n, 1, __ATOMIC_RELAXED);
}

static void deep(void *n)
{
    long *levels = n;
    if (levels[0]-- > 0) {
        GOMP_parallel_start(deep, n, 1);
        deep(n);
        GOMP_parallel_end();
        levels[1]++;
    }
}

#define LOOP(name)                                          \
    static void name##_body(void *n)                        \
    {                                                       \
        long from, to;                                      \
        while (GOMP_loop_##name##_next(&from, &to))         \
            __atomic_fetch_add((long *)n, to - from, __ATOMIC_RELAXED); \
        GOMP_loop_end_nowait();                             \
    }
LOOP(dynamic)
LOOP(static)
LOOP(guided)
LOOP(runtime)

static void sections_body(void *n)
{
    while (GOMP_sections_next() != 0)
        __atomic_fetch_add((long *)n, 1, __ATOMIC_RELAXED);
    GOMP_sections_end_nowait();
}

static void end(void (*body)(void *), long expected)
{
    body(&count);
    GOMP_parallel_end();
    if (expected && count != expected) {
        fprintf(stderr, "%ld, not %ld\n", count, expected);
        puts("wrong");
    }
    count = 0;
}

int main(void)
{
    long levels[2] = { 12, 0 };
    for (int i = 0; i < 5; i++) {
        GOMP_parallel_start(plain, &count, 3);
        end(plain, 3);
        GOMP_parallel_loop_dynamic_start(dynamic_body, &count, 2, 0, 100, 1, 4);
        end(dynamic_body, 100);
        GOMP_parallel_loop_static_start(static_body, &count, 2, 0, 100, 1, 4);
        end(static_body, 100);
        GOMP_parallel_loop_guided_start(guided_body, &count, 2, 0, 100, 1, 4);
        end(guided_body, 100);
        GOMP_parallel_loop_runtime_start(runtime_body, &count, 0, 0, 100, 1);
        end(runtime_body, 100);
        GOMP_parallel_sections_start(sections_body, &count, 2, 4);
        end(sections_body, 4);
    }
    deep(levels);
    puts(levels[1] == 12 ? "right" : "wrong");
    return 0;
}
