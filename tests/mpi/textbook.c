/* SPDX-License-Identifier: MIT */
/*
 * The programs of every MPI course, first half: textbook NAME [SIZE TURNS]. Each is as its author would write it, with
 * real computation, and prints one number that depends on all ranks. textbook_more.c has the second half.
 */
#include "textbook.h"

int rank, ranks;
static double *zeros(size_t n)
{
    return calloc(n + 1, sizeof(double));
}

double burn(long n)
{
    volatile double x = 1;

    for (long i = 0; i < n; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

static double pi(int n, int turns)
{
    double sum = 0, all = 0;

    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (long i = rank; i < (long)n * turns; i += ranks) {
        double x = (i + 0.5) / ((double)n * turns);
        sum += 4 / (1 + x * x);
    }
    sum /= (double)n * turns;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

static double ring(int n, int turns)
{
    int token = n, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    for (int i = 0; i < turns; i++) {
        if (rank)
            MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        burn(n);
        token++;
        MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        if (!rank)
            MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return token;
}

/* Rod, borders fixed: the ends have a null neighbour. */
static double heat1(int n, int turns)
{
    double *u = zeros(n + 2), *v = zeros(n + 2), change, most = 0;
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

    u[0] = rank ? 0 : 1;
    for (int t = 0; t < turns; t++) {
        MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[n + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (!rank)
            u[0] = 1;
        change = 0;
        for (int i = 1; i <= n; i++) {
            v[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
            change = fmax(change, fabs(v[i] - u[i]));
        }
        memcpy(u + 1, v + 1, n * sizeof *u);
        if (t % 10 == 9)
            MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(u);
    free(v);
    return most;
}

/* Plate of n x n a rank in a Cartesian grid, periodic or not, rows and columns by Isend and Irecv. */
static double heat2_of(int n, int turns, int periodic)
{
    int dims[2] = { 0, 0 }, wrap[2] = { periodic, periodic }, to[4];
    int side = n + 2;
    double *u = zeros((size_t)side * side), *v = zeros((size_t)side * side), sum = 0, all = 0;
    MPI_Comm grid;
    MPI_Datatype column;
    MPI_Request q[8];

    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wrap, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &to[0], &to[1]);
    MPI_Cart_shift(grid, 1, 1, &to[2], &to[3]);
    MPI_Type_vector(n, 1, side, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < side * side; i++)
        u[i] = rank + i % 7;
    for (int t = 0; t < turns; t++) {
        MPI_Irecv(u + 1, n, MPI_DOUBLE, to[0], 0, grid, &q[0]);
        MPI_Irecv(u + (n + 1) * side + 1, n, MPI_DOUBLE, to[1], 1, grid, &q[1]);
        MPI_Irecv(u + side, 1, column, to[2], 2, grid, &q[2]);
        MPI_Irecv(u + side + n + 1, 1, column, to[3], 3, grid, &q[3]);
        MPI_Isend(u + n * side + 1, n, MPI_DOUBLE, to[1], 0, grid, &q[4]);
        MPI_Isend(u + side + 1, n, MPI_DOUBLE, to[0], 1, grid, &q[5]);
        MPI_Isend(u + side + n, 1, column, to[3], 2, grid, &q[6]);
        MPI_Isend(u + side + 1, 1, column, to[2], 3, grid, &q[7]);
        MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= n; i++)
            for (int k = 1; k <= n; k++)
                v[i * side + k] = 0.25 * (u[(i - 1) * side + k] + u[(i + 1) * side + k] + u[i * side + k - 1] +
                                          u[i * side + k + 1]);
        memcpy(u, v, (size_t)side * side * sizeof *u);
    }
    for (int i = 0; i < side * side; i++)
        sum += u[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(u);
    free(v);
    return all;
}

static double heat2(int n, int turns)
{
    return heat2_of(n, turns, 0);
}

static double torus(int n, int turns)
{
    return heat2_of(n, turns, 1);
}

/* c = a b by rows: rank 0 has a, all get b. */
static double matrix(int n, int turns)
{
    int rows = n / ranks;
    double *a = zeros((size_t)n * n), *b = zeros((size_t)n * n), *c = zeros((size_t)n * n);
    double *pa = zeros((size_t)rows * n), *pc = zeros((size_t)rows * n), sum = 0;

    for (int i = 0; !rank && i < n * n; i++)
        a[i] = b[i] = i % 5;
    for (int t = 0; t < turns; t++) {
        MPI_Scatter(a, rows * n, MPI_DOUBLE, pa, rows * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Bcast(b, n * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        memset(pc, 0, (size_t)rows * n * sizeof *pc);
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++)
                    pc[i * n + j] += pa[i * n + k] * b[k * n + j];
        MPI_Gather(pc, rows * n, MPI_DOUBLE, c, rows * n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < n * n; i++)
        sum += c[i];
    free(a), free(b), free(c), free(pa), free(pc);
    return sum;
}

/* SUMMA: blocks are broadcast along rows and columns of a square of ranks. */
static double summa(int n, int turns)
{
    int side = (int)(sqrt(ranks) + 0.5), row = rank / side, col = rank % side;
    double *a = zeros((size_t)n * n), *b = zeros((size_t)n * n), *c = zeros((size_t)n * n);
    double *ta = zeros((size_t)n * n), *tb = zeros((size_t)n * n), sum = 0, all;
    MPI_Comm rows, cols;

    if (side * side != ranks)
        return -1;
    MPI_Comm_split(MPI_COMM_WORLD, row, col, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, col, row, &cols);
    for (int i = 0; i < n * n; i++)
        a[i] = b[i] = (rank + i) % 5;
    for (int t = 0; t < turns; t++)
        for (int s = 0; s < side; s++) {
            memcpy(ta, a, (size_t)n * n * sizeof *a);
            memcpy(tb, b, (size_t)n * n * sizeof *a);
            MPI_Bcast(ta, n * n, MPI_DOUBLE, s, rows);
            MPI_Bcast(tb, n * n, MPI_DOUBLE, s, cols);
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++)
                    for (int j = 0; j < n; j++)
                        c[i * n + j] += ta[i * n + k] * tb[k * n + j];
        }
    for (int i = 0; i < n * n; i++)
        sum += c[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&rows);
    MPI_Comm_free(&cols);
    free(a), free(b), free(c), free(ta), free(tb);
    return all;
}

/* Jobs of one to five times n, first come first served. */
static double master(int n, int turns)
{
    double sum = 0, result = 0;
    int job = 0, stop = -1, busy = 0;
    MPI_Status s;

    if (rank) {
        for (;;) {
            MPI_Recv(&job, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            if (job < 0)
                return 0;
            nap_us((long)n * (1 + job * 7 % 5));
            result = job;
            MPI_Send(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
    }
    for (int w = 1; w < ranks && job < turns; w++, job++, busy++)
        MPI_Send(&job, 1, MPI_INT, w, 0, MPI_COMM_WORLD);
    while (busy) {
        MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &s);
        sum += result;
        busy--;
        if (job < turns) {
            MPI_Send(&job, 1, MPI_INT, s.MPI_SOURCE, 0, MPI_COMM_WORLD);
            job++;
            busy++;
        }
    }
    for (int w = 1; w < ranks; w++)
        MPI_Send(&stop, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
    return sum;
}

/* Game of life, rows to two neighbours in a ring. */
static double life(int n, int turns)
{
    int up = (rank + ranks - 1) % ranks, down = (rank + 1) % ranks, alive = 0, all = 0, rows = n / ranks + 1;
    unsigned char *u = calloc((size_t)(rows + 2) * n, 1), *v = calloc((size_t)(rows + 2) * n, 1);

    for (int i = 0; i < rows * n; i++)
        u[n + i] = (i * 7 + rank) % 3 == 0;
    for (int t = 0; t < turns; t++) {
        MPI_Sendrecv(u + n, n, MPI_BYTE, up, 0, u + (size_t)(rows + 1) * n, n, MPI_BYTE, down, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + (size_t)rows * n, n, MPI_BYTE, down, 1, u, n, MPI_BYTE, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i <= rows; i++)
            for (int k = 0; k < n; k++) {
                int s = 0;
                for (int d = 0; d < 9; d++)
                    s += d != 4 ? u[(size_t)(i + d / 3 - 1) * n + (k + d % 3 - 1 + n) % n] : 0;
                v[(size_t)i * n + k] = s == 3 || (s == 2 && u[(size_t)i * n + k]);
            }
        memcpy(u + n, v + n, (size_t)rows * n);
    }
    for (int i = 0; i < rows * n; i++)
        alive += u[n + i];
    MPI_Reduce(&alive, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    free(u), free(v);
    return all;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double sample_sort(int n, int turns)
{
    double *a = zeros(n), *b = NULL, *samples = zeros((size_t)ranks * ranks), *mine = zeros(ranks), sum = 0, all;
    int *to = calloc(4 * (size_t)ranks, sizeof *to), *from = to + ranks, *at = from + ranks, *bt = at + ranks;

    for (int t = 0; t < turns; t++) {
        unsigned seed = 17 + rank + t;
        for (int i = 0; i < n; i++)
            a[i] = (seed = seed * 1664525 + 1013904223) / 4294967296.0;
        qsort(a, n, sizeof *a, by_value);
        for (int i = 0; i < ranks; i++)
            mine[i] = a[(long)i * n / ranks];
        MPI_Allgather(mine, ranks, MPI_DOUBLE, samples, ranks, MPI_DOUBLE, MPI_COMM_WORLD);
        qsort(samples, (size_t)ranks * ranks, sizeof *samples, by_value);
        memset(to, 0, ranks * sizeof *to);
        for (int i = 0, p = 0; i < n; i++) {
            while (p + 1 < ranks && a[i] >= samples[(p + 1) * ranks])
                p++;
            to[p]++;
        }
        MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
        int total = 0;
        for (int i = 0, s = 0; i < ranks; i++) {
            at[i] = s, bt[i] = total;
            s += to[i], total += from[i];
        }
        b = realloc(b, (total + 1) * sizeof *b);
        MPI_Alltoallv(a, to, at, MPI_DOUBLE, b, from, bt, MPI_DOUBLE, MPI_COMM_WORLD);
        qsort(b, total, sizeof *b, by_value);
        sum += total ? b[total / 2] : 0;
    }
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    free(a), free(b), free(samples), free(mine), free(to);
    return all;
}

static double monte_carlo(int n, int turns)
{
    long in = 0, all = 0;
    unsigned seed = 1 + rank;

    for (int t = 0; t < turns; t++) {
        for (int i = 0; i < n; i++) {
            double x = (seed = seed * 1664525 + 1013904223) / 4294967296.0;
            double y = (seed = seed * 1664525 + 1013904223) / 4294967296.0;
            in += x * x + y * y < 1;
        }
        MPI_Allreduce(&in, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    return (double)all;
}

static const struct { const char *name; double (*run)(int n, int turns); int n, turns; } programs[] = {
    { "pi", pi, 1000000, 20 },
    { "ring", ring, 1000, 400 },
    { "heat1", heat1, 100000, 400 },
    { "heat2", heat2, 200, 300 },
    { "torus", torus, 200, 300 },
    { "matrix", matrix, 256, 10 },
    { "summa", summa, 128, 20 },
    { "master", master, 1000, 200 },
    { "life", life, 400, 100 },
    { "sort", sample_sort, 100000, 5 },
    { "montecarlo", monte_carlo, 100000, 50 },
    { "cg", textbook_cg, 50000, 200 },
    { "transpose", textbook_transpose, 64, 50 },
    { "redblack", textbook_redblack, 300, 100 },
    { "pipeline", textbook_pipeline, 2000, 100 },
    { "pingpong", textbook_pingpong, 8, 5000 },
    { "io", textbook_io, 65536, 40 },
    { "fence", textbook_fence, 1000, 300 },
    { "passive", textbook_passive, 1000, 300 },
    { "hybrid", textbook_hybrid, 100000, 100 },
    { "tasks", textbook_tasks, 20000, 20 },
    { "nested", textbook_nested, 20000, 200 },
    { "arrivals", textbook_arrivals, 1000, 30 },
};

int main(int argc, char **argv)
{
    size_t i = 0, count = sizeof programs / sizeof *programs;
    double result;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (i < count && (argc < 2 || strcmp(programs[i].name, argv[1])))
        i++;
    if (i == count) {
        for (i = 0; i < count && !rank; i++)
            puts(programs[i].name);
        MPI_Finalize();
        return argc > 1;
    }
    result = programs[i].run(argc > 2 ? atoi(argv[2]) : programs[i].n, argc > 3 ? atoi(argv[3]) : programs[i].turns);
    if (!rank)
        printf("%s %.12g\n", programs[i].name, result);
    MPI_Finalize();
    return 0;
}
