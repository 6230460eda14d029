/* SPDX-License-Identifier: MIT */
/*
 * What a wrapper adds to an MPI call: each call through its MPI_ name and, in turn, through its PMPI_ name, in one
 * process on MPI_COMM_SELF; the differences of the percentiles.
 *
 *   pmpi_cost LABEL [TURNS [THREADS]]       run by bench/pmpi_cost.sh without wrappers, recording and predicting
 *
 * One line a call: label, call, the bare call's median, then what the wrapper adds at the median, 99 % and 99.9 % of
 * the calls, all in ns. Calls are made below a dozen frames, so that callsites of any depth are to be had.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 50, FRAMES = 12, MOST_THREADS = 64, WARM = 4 };

/* --- The two ways to MPI --- */

struct way {
    int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*waitall)(int, MPI_Request *, MPI_Status *);
    int (*wait)(MPI_Request *, MPI_Status *);
    int (*test)(MPI_Request *, int *, MPI_Status *);
    int (*iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*startall)(int, MPI_Request *);
    int (*barrier)(MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
    int (*flush)(int, MPI_Win);
    int (*comm_rank)(MPI_Comm, int *);
};

static const struct way wrapped = {MPI_Irecv, MPI_Isend, MPI_Waitall, MPI_Wait, MPI_Test, MPI_Iprobe, MPI_Recv,
                                   MPI_Startall, MPI_Barrier, MPI_Allreduce, MPI_Put, MPI_Win_flush, MPI_Comm_rank};
static const struct way bare = {PMPI_Irecv, PMPI_Isend, PMPI_Waitall, PMPI_Wait, PMPI_Test, PMPI_Iprobe, PMPI_Recv,
                                PMPI_Startall, PMPI_Barrier, PMPI_Allreduce, PMPI_Put, PMPI_Win_flush, PMPI_Comm_rank};

/* --- Samples --- */

/* In the order of a turn. The first two also pay for what the grammar does where one turn of a loop ends and the next
   begins. */
enum call { BARRIER, ALLREDUCE, IPROBE_MISS, IRECV, TEST_MISS, ISEND, WAITALL, ISEND_NULL, WAIT_NULL, IPROBE_HIT, RECV,
            STARTALL, PUT, FLUSH, COMM_RANK, CALLS };
static const char *const call_name[CALLS] = { "Barrier", "Allreduce", "Iprobe-miss", "Irecv",      "Test-miss",
                                              "Isend",   "Waitall",   "Isend(NULL)", "Wait(NULL)", "Iprobe",
                                              "Recv",    "Startall",  "Put",         "Win_flush",  "Comm_rank" };

struct samples { uint32_t *ns; size_t count; };

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    MPI_Win win;       /* MPI_WIN_NULL: threads other than the first do without */
    size_t turns;
    struct samples of[2][CALLS]; /* wrapped, bare */
    int64_t *target, source;
    MPI_Request persistent[2];
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_sample(struct samples *s, uint64_t begin)
{
    s[0].ns[s[0].count++] = (uint32_t)(now() - begin);
}

#define TIMED(which, ...) \
    do { \
        uint64_t begin_ = now(); \
        __VA_ARGS__; \
        put_sample(&s[which], begin_); \
    } while (0)

/* --- One turn: every kind of call --- */

static void turn_messages(struct worker *w, const struct way *mpi, struct samples *s)
{
    int in = 0, out = 1, flag = 0;
    MPI_Request r[2];
    TIMED(IPROBE_MISS, mpi->iprobe(0, 7, w->comm, &flag, MPI_STATUS_IGNORE));
    TIMED(IRECV, mpi->irecv(&in, 1, MPI_INT, 0, 1, w->comm, &r[0]));
    TIMED(TEST_MISS, mpi->test(&r[0], &flag, MPI_STATUS_IGNORE));
    TIMED(ISEND, mpi->isend(&out, 1, MPI_INT, 0, 1, w->comm, &r[1]));
    TIMED(WAITALL, mpi->waitall(2, r, MPI_STATUSES_IGNORE));
    TIMED(ISEND_NULL, mpi->isend(&out, 1, MPI_INT, MPI_PROC_NULL, 1, w->comm, &r[0]));
    TIMED(WAIT_NULL, mpi->wait(&r[0], MPI_STATUS_IGNORE));
    PMPI_Isend(&out, 1, MPI_INT, 0, 7, w->comm, &r[0]);
    for (flag = 0; !flag;) /* what is timed last is the one that succeeds */
        PMPI_Iprobe(0, 7, w->comm, &flag, MPI_STATUS_IGNORE);
    TIMED(IPROBE_HIT, mpi->iprobe(0, 7, w->comm, &flag, MPI_STATUS_IGNORE));
    TIMED(RECV, mpi->recv(&in, 1, MPI_INT, 0, 7, w->comm, MPI_STATUS_IGNORE));
    PMPI_Wait(&r[0], MPI_STATUS_IGNORE);
    TIMED(STARTALL, mpi->startall(2, w->persistent));
    mpi->waitall(2, w->persistent, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void turn(struct worker *w, const struct way *mpi, struct samples *s)
{
    int rank, sum, one = 1;
    TIMED(BARRIER, mpi->barrier(w->comm));
    TIMED(ALLREDUCE, mpi->allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, w->comm));
    turn_messages(w, mpi, s);
    if (w->win != MPI_WIN_NULL) {
        TIMED(PUT, mpi->put(&w->source, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w->win));
        TIMED(FLUSH, mpi->flush(0, w->win));
    }
    TIMED(COMM_RANK, mpi->comm_rank(w->comm, &rank));
}

__attribute__((noinline)) static void deep(int frames, struct worker *w, const struct way *mpi, struct samples *s)
{
    if (frames == 0)
        turn(w, mpi, s);
    else
        deep(frames - 1, w, mpi, s);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* Blocks by turns, so that both ways see the machine as it is. */
static void *work(void *argument)
{
    struct worker *w = argument;
    for (size_t t = 0; t < w->turns + WARM * BLOCK; t += BLOCK) {
        if (t == WARM * BLOCK)
            for (int c = 0; c < 2 * CALLS; c++)
                w->of[c / CALLS][c % CALLS].count = 0;
        for (int i = 0; i < BLOCK; i++)
            deep(FRAMES, w, &wrapped, w->of[0]);
        for (int i = 0; i < BLOCK; i++)
            deep(FRAMES, w, &bare, w->of[1]);
    }
    return NULL;
}

/* --- Set-up and result --- */

static void *need(void *p)
{
    if (!p) {
        fputs("pmpi_cost: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void worker_open(struct worker *w, size_t turns, bool window)
{
    static int in, out;
    PMPI_Comm_dup(MPI_COMM_SELF, &w->comm);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 3, w->comm, &w->persistent[0]);
    MPI_Send_init(&out, 1, MPI_INT, MPI_PROC_NULL, 3, w->comm, &w->persistent[1]);
    w->win = MPI_WIN_NULL;
    if (window) {
        MPI_Win_allocate(sizeof *w->target, 1, MPI_INFO_NULL, w->comm, &w->target, &w->win);
        MPI_Win_lock_all(0, w->win);
    }
    w->turns = turns;
    for (int c = 0; c < 2 * CALLS; c++)
        w->of[c / CALLS][c % CALLS].ns = need(calloc(turns + (WARM + 1) * BLOCK, sizeof(uint32_t)));
}

static void worker_close(struct worker *w)
{
    MPI_Request_free(&w->persistent[0]);
    MPI_Request_free(&w->persistent[1]);
    if (w->win != MPI_WIN_NULL) {
        MPI_Win_unlock_all(w->win);
        MPI_Win_free(&w->win);
    }
    MPI_Comm_free(&w->comm);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All threads' samples of a call, sorted. */
static struct samples together(struct worker *w, int threads, int way, int call)
{
    struct samples all = {NULL, 0};
    for (int t = 0; t < threads; t++)
        all.count += w[t].of[way][call].count;
    all.ns = need(calloc(all.count + 1, sizeof *all.ns));
    all.count = 0;
    for (int t = 0; t < threads; t++) {
        const struct samples *s = &w[t].of[way][call];
        memcpy(all.ns + all.count, s->ns, s->count * sizeof *s->ns);
        all.count += s->count;
    }
    qsort(all.ns, all.count, sizeof *all.ns, ascending);
    return all;
}

static long quantile(const struct samples *s, size_t out_of_thousand)
{
    return s->count ? (long)s->ns[(s->count - 1) * out_of_thousand / 1000] : 0;
}

static void report(const char *label, struct worker *w, int threads)
{
    for (int call = 0; call < CALLS; call++) {
        struct samples with = together(w, threads, 0, call), without = together(w, threads, 1, call);
        if (with.count)
            printf("%-18s %-12s %7ld %7ld %7ld %7ld\n", label, call_name[call], quantile(&without, 500),
                   quantile(&with, 500) - quantile(&without, 500), quantile(&with, 990) - quantile(&without, 990),
                   quantile(&with, 999) - quantile(&without, 999));
        free(with.ns);
        free(without.ns);
    }
}

int main(int argc, char **argv)
{
    size_t turns = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000;
    int threads = argc > 3 ? atoi(argv[3]) : 1, provided;
    if (argc < 2 || turns < 1000 || threads < 1 || threads > MOST_THREADS) {
        fputs("usage: pmpi_cost LABEL [TURNS [THREADS]]\n", stderr);
        return 2;
    }
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (threads > 1 && provided < MPI_THREAD_MULTIPLE) {
        fputs("pmpi_cost: this MPI does not do MPI_THREAD_MULTIPLE\n", stderr);
        MPI_Finalize();
        return 77;
    }
    struct worker *w = need(calloc((size_t)threads, sizeof *w));
    for (int t = 0; t < threads; t++)
        worker_open(&w[t], turns, t == 0);
    for (int t = 1; t < threads; t++)
        pthread_create(&w[t].thread, NULL, work, &w[t]);
    work(&w[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(w[t].thread, NULL);
    report(argv[1], w, threads);
    for (int t = 0; t < threads; t++)
        worker_close(&w[t]);
    MPI_Finalize();
    return 0;
}
