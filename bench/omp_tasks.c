/* SPDX-License-Identifier: MIT */
/*
 * Programs of tasks at chosen grains: KERNEL GRAIN [inline] [REPEATS] -> "seconds result", the best of REPEATS.
 *
 *   fib       recursive Fibonacci                    grain: below which number it is computed serially
 *   queens    N-Queens                               grain: rows placed by tasks, the rest serially
 *   cholesky  tiled factorisation with dependences   grain: size of a tile
 *   tree      an unbalanced tree (heavy-tailed)      grain: work in a node, in steps
 *
 * `inline` makes every task undeferred, by its own if clause.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int defer = 1;

/* --- fib --- */

static long fib_serial(int n)
{
    return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

static long fib(int n, int grain)
{
    long a, b;
    if (n < 2 || n < grain)
        return fib_serial(n);
#pragma omp task shared(a) if (defer)
    a = fib(n - 1, grain);
#pragma omp task shared(b) if (defer)
    b = fib(n - 2, grain);
#pragma omp taskwait
    return a + b;
}

/* --- queens --- */

static int safe(const char *row, int n)
{
    for (int i = 0; i < n; i++)
        if (row[i] == row[n] || row[i] - row[n] == n - i || row[n] - row[i] == n - i)
            return 0;
    return 1;
}

static long queens(const char *before, int placed, int n, int grain)
{
    long sum[16] = { 0 }, all = 0;
    if (placed == n)
        return 1;
    for (int column = 0; column < n; column++) {
        char row[16];
        memcpy(row, before, (size_t)placed);
        row[placed] = (char)column;
        if (!safe(row, placed))
            continue;
        if (placed < grain) {
#pragma omp task shared(sum) firstprivate(row, column) if (defer)
            sum[column] = queens(row, placed + 1, n, grain);
        } else {
            sum[column] = queens(row, placed + 1, n, grain);
        }
    }
    if (placed < grain) {
#pragma omp taskwait
    }
    for (int column = 0; column < n; column++)
        all += sum[column];
    return all;
}

/* --- cholesky --- */

static void factor(double *a, int b)
{
    for (int k = 0; k < b; k++) {
        a[k * b + k] = sqrt(a[k * b + k]);
        for (int i = k + 1; i < b; i++)
            a[i * b + k] /= a[k * b + k];
        for (int j = k + 1; j < b; j++)
            for (int i = j; i < b; i++)
                a[i * b + j] -= a[i * b + k] * a[j * b + k];
    }
}

static void solve(const double *l, double *x, int b)
{
    for (int i = 0; i < b; i++)
        for (int k = 0; k < b; k++) {
            double s = x[i * b + k];
            for (int j = 0; j < k; j++)
                s -= x[i * b + j] * l[k * b + j];
            x[i * b + k] = s / l[k * b + k];
        }
}

static void update(double *c, const double *x, const double *y, int b)
{
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            double s = 0;
            for (int k = 0; k < b; k++)
                s += x[i * b + k] * y[j * b + k];
            c[i * b + j] -= s;
        }
}

static double cholesky(int n, int b)
{
    int tiles = n / b;
    double *a = malloc((size_t)n * (size_t)n * sizeof *a), trace = 0;
#define TILE(i, j) (a + ((size_t)(i) * (size_t)tiles + (size_t)(j)) * (size_t)(b * b))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            TILE(i / b, j / b)[i % b * b + j % b] = i == j ? n : 1.0 / (1 + abs(i - j));
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < tiles; k++) {
        double *kk = TILE(k, k);
#pragma omp task depend(inout : *kk) if (defer)
        factor(kk, b);
        for (int i = k + 1; i < tiles; i++) {
            double *ik = TILE(i, k);
#pragma omp task depend(in : *kk) depend(inout : *ik) if (defer)
            solve(kk, ik, b);
        }
        for (int j = k + 1; j < tiles; j++)
            for (int i = j; i < tiles; i++) {
                double *ij = TILE(i, j), *ik = TILE(i, k), *jk = TILE(j, k);
#pragma omp task depend(in : *ik, *jk) depend(inout : *ij) if (defer)
                update(ij, ik, jk, b);
            }
    }
    for (int i = 0; i < n; i++)
        trace += TILE(i / b, i / b)[i % b * b + i % b];
    free(a);
    return trace;
}

/* --- tree --- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A node has 4 children with a probability below a quarter: most are leaves, a few carry nearly everything. */
static long tree(uint64_t node, int depth, int grain)
{
    long sum[4] = { 0 };
    uint64_t x = node;
    for (int i = 0; i < grain; i++)
        x = mix(x + (uint64_t)i);
    volatile uint64_t sink = x;
    (void)sink;
    if (depth > 3 && mix(node) % 1000 >= 235)
        return 1;
    for (int i = 0; i < 4; i++) {
#pragma omp task shared(sum) if (defer)
        sum[i] = tree(mix(node * 4 + (uint64_t)i + 1), depth + 1, grain);
    }
#pragma omp taskwait
    return 1 + sum[0] + sum[1] + sum[2] + sum[3];
}

static double run(const char *kernel, int size, int grain)
{
    double result = 0;
    if (!strcmp(kernel, "cholesky"))
        return cholesky(size, grain);
#pragma omp parallel
#pragma omp single
    {
        char row[16] = { 0 };
        if (!strcmp(kernel, "fib"))
            result = (double)fib(size, grain);
        else if (!strcmp(kernel, "queens"))
            result = (double)queens(row, 0, size, grain);
        else
            for (int i = 0; i < size; i++)
                result += (double)tree((uint64_t)i + 7, 0, grain);
    }
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 4 || !strstr("fib queens cholesky tree", argv[1])) {
        fprintf(stderr, "usage: %s fib|queens|cholesky|tree SIZE GRAIN [REPEATS [inline]]\n", argv[0]);
        return 2;
    }
    int repeats = argc > 4 ? atoi(argv[4]) : 1;
    double best = 1e30, result = 0;
    defer = argc <= 5;
    for (int i = 0; i < repeats; i++) {
        double begin = omp_get_wtime();
        result = run(argv[1], atoi(argv[2]), atoi(argv[3]));
        double took = omp_get_wtime() - begin;
        best = took < best ? took : best;
    }
    printf("%.6f %.12g\n", best, result);
    return 0;
}
