/* SPDX-License-Identifier: MIT */
/*
 * A library that nobody here wrote: OpenBLAS for OpenMP, singular values (dgesdd) or eigenvalues (dsyev) of small
 * matrices.
 *   omp_blas dgesdd|dsyev ORDER TURNS  ->  "Elapsed N seconds, sum S"
 * It is loaded at run time (Debian's libopenblas0-openmp); without it: exit code 77.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void dgesdd_fn(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
                       const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *iwork,
                       int *info);
typedef void dsyev_fn(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                      double *work, const int *lwork, int *info);

struct problem {
    int n, lwork, *iwork;
    double *matrix, *a, *values, *u, *vt, *work;
};

static double *numbers(size_t n)
{
    double *p = calloc(n, sizeof *p);
    if (!p)
        exit(1);
    return p;
}

static void *library(void)
{
    static const char *const names[] = { "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
                                         "libopenblas.so.0" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlopen(names[i], RTLD_NOW);
        if (found)
            return found;
    }
    return NULL;
}

static void start(struct problem *p, int n)
{
    size_t square = (size_t)n * (size_t)n;
    p->n = n;
    p->lwork = 16 * n * n + 64 * n;
    p->iwork = calloc(8 * (size_t)n, sizeof *p->iwork);
    p->matrix = numbers(square);
    p->a = numbers(square);
    p->u = numbers(square);
    p->vt = numbers(square);
    p->values = numbers((size_t)n);
    p->work = numbers((size_t)p->lwork);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            p->matrix[i * n + j] = p->matrix[j * n + i] = sin(1 + i * 0.7 + j * 1.3) + (i == j ? n : 0);
}

static int solve(struct problem *p, dgesdd_fn *dgesdd, dsyev_fn *dsyev)
{
    int info = 0;
    memcpy(p->a, p->matrix, (size_t)p->n * (size_t)p->n * sizeof *p->a);
    if (dgesdd)
        dgesdd("A", &p->n, &p->n, p->a, &p->n, p->values, p->u, &p->n, p->vt, &p->n, p->work, &p->lwork, p->iwork,
               &info);
    else
        dsyev("V", "U", &p->n, p->a, &p->n, p->values, p->work, &p->lwork, &info);
    return info;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct problem p;
    dgesdd_fn *dgesdd = NULL;
    dsyev_fn *dsyev = NULL;
    int n = argc == 4 ? atoi(argv[2]) : 0, turns = argc == 4 ? atoi(argv[3]) : 0;
    if (n < 2 || n > 2000 || turns < 1 || (strcmp(argv[1], "dgesdd") != 0 && strcmp(argv[1], "dsyev") != 0)) {
        fprintf(stderr, "usage: %s dgesdd|dsyev ORDER TURNS\n", argv[0]);
        return 2;
    }
    void *blas = library();
    void *found = blas ? dlsym(blas, strcmp(argv[1], "dsyev") == 0 ? "dsyev_" : "dgesdd_") : NULL;
    if (!found) {
        fprintf(stderr, "omp_blas: no OpenBLAS here (Debian: libopenblas0-openmp)\n");
        return 77;
    }
    memcpy(strcmp(argv[1], "dsyev") == 0 ? (void *)&dsyev : (void *)&dgesdd, &found, sizeof found);
    start(&p, n);
    double begin = now(), sum = 0;
    for (int i = 0; i < turns; i++)
        if (solve(&p, dgesdd, dsyev))
            return 1;
    double took = now() - begin;
    for (int i = 0; i < n; i++)
        sum += p.values[i];
    printf("Elapsed %.6f seconds, sum %.9g\n", took, sum);
    return 0;
}
