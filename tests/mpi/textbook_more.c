/* SPDX-License-Identifier: MIT */
/* The second half of the programs of textbook.c. */
#include "textbook.h"

static double dot(const double *a, const double *b, int n)
{
    double sum = 0, all;

    for (int i = 1; i <= n; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* A row of the matrix is -1 2.1 -1. */
static void multiply(double *p, double *q, int n)
{
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

    MPI_Sendrecv(p + 1, 1, MPI_DOUBLE, left, 0, p + n + 1, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(p + n, 1, MPI_DOUBLE, right, 1, p, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++)
        q[i] = 2.1 * p[i] - p[i - 1] - p[i + 1];
}

double textbook_cg(int n, int turns)
{
    double *x = calloc(4 * (n + 2), sizeof *x), *r = x + n + 2, *p = r + n + 2, *q = p + n + 2, rho;

    for (int i = 1; i <= n; i++)
        r[i] = p[i] = 1;
    rho = dot(r, r, n);
    for (int t = 0; t < turns; t++) {
        multiply(p, q, n);
        double alpha = rho / dot(p, q, n), before = rho;
        for (int i = 1; i <= n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rho = dot(r, r, n);
        for (int i = 1; i <= n; i++)
            p[i] = r[i] + rho / before * p[i];
    }
    free(x);
    return rho < 1e-9;
}

/* A cube of n^3: lines in one direction, then transposed within rows of ranks, then within columns. */
double textbook_transpose(int n, int turns)
{
    int dims[2] = { 0, 0 }, wrap[2] = { 0, 0 }, keep[2][2] = { { 0, 1 }, { 1, 0 } };
    size_t cells = (size_t)n * n * n / ranks;
    double *a = calloc(cells + 1, sizeof *a), *b = calloc(cells + 1, sizeof *b), sum = 0, all;
    MPI_Comm grid, line[2];

    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wrap, 0, &grid);
    for (int d = 0; d < 2; d++)
        MPI_Cart_sub(grid, keep[d], &line[d]);
    for (size_t i = 0; i < cells; i++)
        a[i] = rank + i % 11;
    for (int t = 0; t < turns; t++)
        for (int d = 0; d < 2; d++) {
            int size;
            MPI_Comm_size(line[d], &size);
            for (size_t i = 1; i < cells; i++)
                a[i] = 0.5 * (a[i] + a[i - 1]);
            MPI_Alltoall(a, (int)(cells / size), MPI_DOUBLE, b, (int)(cells / size), MPI_DOUBLE, line[d]);
            memcpy(a, b, cells * sizeof *a);
        }
    for (size_t i = 0; i < cells; i++)
        sum += a[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    for (int d = 0; d < 2; d++)
        MPI_Comm_free(&line[d]);
    MPI_Comm_free(&grid);
    free(a), free(b);
    return all;
}

static void exchange_rows(double *u, int n, int up, int down)
{
    MPI_Request q[4];

    MPI_Irecv(u, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(u + (size_t)(n + 1) * n, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[1]);
    MPI_Isend(u + (size_t)n * n, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(u + n, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

double textbook_redblack(int n, int turns)
{
    int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double *u = calloc((size_t)(n + 2) * n, sizeof *u), change, most = 0;

    for (int k = 0; k < n; k++)
        u[k] = !rank;
    for (int t = 0; t < turns; t++) {
        change = 0;
        for (int colour = 0; colour < 2; colour++) {
            exchange_rows(u, n, up, down);
            for (int i = 1; i <= n; i++)
                for (int k = 1 + (i + colour) % 2; k < n - 1; k += 2) {
                    double *x = u + (size_t)i * n + k, was = *x;
                    *x = 0.25 * (x[-1] + x[1] + x[-n] + x[n]);
                    change = fmax(change, fabs(*x - was));
                }
        }
        MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(u);
    return most;
}

/* Rank r works on what rank r - 1 has done: n us a stage. */
double textbook_pipeline(int n, int turns)
{
    int from = rank ? rank - 1 : MPI_PROC_NULL, to = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double piece = 0, sum = 0, last = 0;

    for (int t = 0; t < turns; t++) {
        piece = t;
        MPI_Recv(&piece, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        nap_us(n);
        piece += rank;
        MPI_Send(&piece, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        sum += piece;
    }
    if (rank == ranks - 1)
        last = sum;
    MPI_Bcast(&last, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    return last;
}

double textbook_pingpong(int n, int turns)
{
    char *buffer = calloc(1, n);

    for (int t = 0; t < turns && rank < 2; t++)
        if (!rank) {
            MPI_Send(buffer, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            buffer[0]++;
            MPI_Send(buffer, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    n = buffer[0];
    free(buffer);
    return n;
}

double textbook_io(int n, int turns)
{
    char *buffer = malloc(n), name[] = "textbook.out";
    double sum = 0;
    MPI_File f;

    memset(buffer, rank, n);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    for (int t = 0; t < turns; t++) {
        MPI_File_write_at_all(f, ((MPI_Offset)t * ranks + rank) * n, buffer, n, MPI_BYTE, MPI_STATUS_IGNORE);
        burn(n);
    }
    for (int t = 0; t < turns; t++) {
        MPI_File_read_at_all(f, ((MPI_Offset)t * ranks + (rank + 1) % ranks) * n, buffer, n, MPI_BYTE,
                             MPI_STATUS_IGNORE);
        sum += buffer[n / 2];
    }
    MPI_File_close(&f);
    free(buffer);
    return sum;
}

double textbook_fence(int n, int turns)
{
    double *w, *mine = calloc(n, sizeof *mine), sum = 0;
    MPI_Win win;

    MPI_Win_allocate(n * sizeof *w, sizeof *w, MPI_INFO_NULL, MPI_COMM_WORLD, &w, &win);
    memset(w, 0, n * sizeof *w);
    MPI_Win_fence(0, win);
    for (int t = 0; t < turns; t++) {
        for (int i = 0; i < n; i++)
            mine[i] = w[i] + rank;
        MPI_Win_fence(0, win);
        MPI_Put(mine, n, MPI_DOUBLE, (rank + 1) % ranks, 0, n, MPI_DOUBLE, win);
        burn(5L * n);
        MPI_Win_fence(0, win);
    }
    for (int i = 0; i < n; i++)
        sum += w[i];
    MPI_Win_free(&win);
    free(mine);
    return sum;
}

/* A counter at rank 0 that gives out work. */
double textbook_passive(int n, int turns)
{
    long *counter, next = 0, one = 1, done = 0, all = 0;
    MPI_Win win;

    MPI_Win_allocate(rank ? 0 : sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    if (!rank)
        *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &next, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        if (next >= turns)
            break;
        nap_us(n);
        done += next;
    }
    MPI_Reduce(&done, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return (double)all;
}

double textbook_hybrid(int n, int turns)
{
    double *x = calloc(n, sizeof *x), sum = 0, all = 0;

    for (int t = 0; t < turns; t++) {
        sum = 0;
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = sqrt(x[i] + i + t);
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += x[i];
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(x);
    return (double)(long)(all / 1e3);
}

static long fibonacci(int n)
{
    long a, b;

    if (n < 2)
        return n;
    if (n < 14)
        return fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

double textbook_tasks(int n, int turns)
{
    long sum = 0, all = 0;

    for (int t = 0; t < turns; t++) {
#pragma omp parallel
#pragma omp single
        sum += fibonacci(22 + n % 3);
        MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    return (double)all;
}

/* Sums within rows, then of the rows' leaders, then back: communicators inside communicators. */
double textbook_nested(int n, int turns)
{
    int row = rank / 2;
    double x = rank, s, all = 0;
    MPI_Comm rows, leaders;

    MPI_Comm_split(MPI_COMM_WORLD, row, rank, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 0, rank, &leaders);
    for (int t = 0; t < turns; t++) {
        burn(n);
        MPI_Reduce(&x, &s, 1, MPI_DOUBLE, MPI_SUM, 0, rows);
        if (leaders != MPI_COMM_NULL)
            MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, leaders);
        MPI_Bcast(&all, 1, MPI_DOUBLE, 0, rows);
    }
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    MPI_Comm_free(&rows);
    return all;
}

/* Rank 0 takes what comes, in the order in which it comes; the others work up to n us. */
double textbook_arrivals(int n, int turns)
{
    double *in = calloc(ranks, sizeof *in), sum = 0;
    MPI_Request *q = malloc(ranks * sizeof *q);
    int *which = malloc(ranks * sizeof *which), some;
    unsigned seed = (unsigned)time(NULL) * (rank + 1u);

    for (int t = 0; t < turns; t++) {
        for (int i = 1; !rank && i < ranks; i++)
            MPI_Irecv(&in[i], 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, &q[i - 1]);
        for (int done = 0; !rank && done < ranks - 1; done += some) {
            MPI_Testsome(ranks - 1, q, &some, which, MPI_STATUSES_IGNORE);
            for (int i = 0; i < some; i++)
                sum += in[which[i] + 1];
        }
        double own = rank;
        if (rank) {
            nap_us((seed = seed * 1103515245u + 12345u) / 65536 % (unsigned)n);
            MPI_Send(&own, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(in), free(q), free(which);
    return sum;
}
