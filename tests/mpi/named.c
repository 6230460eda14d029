/* SPDX-License-Identifier: MIT */
/*
 * Regions by name, as programs have them.
 *
 *   named nest      TURNS times solve{ halo{ Allreduce }halo }solve output{ Barrier }output; one that is left without
 *                   an end in each turn, an end without a begin, and a name whose text is made anew in a buffer
 *   named threads   three threads, each with its own regions, the first with calls inside
 *   named reset     a recording that begins anew inside a region, and a pause
 *   named hold      the third time rank 1 stays in "slow" of "solve" until there is a file called "go"
 *   named phases    two phases of different balance, the uneven one SLOWER_MS longer: what their efficiencies have to
 *                   be is printed, and how well it was foretold when each ends
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PYTHIA_OPTIONAL
#include "pythia.h"
#include "pythia_region.h"

enum { TURNS = 20 };

static int rank, ranks;

static int sum(int v)
{
    int all;
    MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void may_return_early(int turn)
{
    pythia_region_begin("early");
    if (turn >= 0)
        return;
    pythia_region_end("early");
}

static int nest(void)
{
    char name[16];
    int all = 0;
    for (int i = 0; i < TURNS; i++) {
        pythia_region_begin("solve");
        strcpy(name, "halo");
        pythia_region_begin(name);
        all += sum(i + rank);
        strcpy(name, "rest");
        pythia_region_end("halo");
        may_return_early(i);
        pythia_region_end("solve");
        pythia_region_end("nobody's");
        strcpy(name, "output");
        pythia_region_begin(name);
        MPI_Barrier(MPI_COMM_WORLD);
        pythia_region_end(NULL);
    }
    return all;
}

static pthread_barrier_t there; /* all at once: else one would take the place of another */

static void *thread(void *number)
{
    const char *const names[] = { "first", "second", "third" };
    const char *name = names[*(int *)number];
    pythia_region_begin("begin");
    pthread_barrier_wait(&there);
    pythia_region_end("begin");
    for (int i = 0; i < TURNS; i++) {
        pythia_region_begin(name);
        pythia_region_begin("all");
        if (*(int *)number == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        pythia_region_end("all");
        pythia_region_end(name);
    }
    pythia_region_begin("open at the end");
    return NULL;
}

static int threads(void)
{
    pthread_t id[3];
    int number[] = { 0, 1, 2 };
    pthread_barrier_init(&there, NULL, 3);
    for (int i = 1; i < 3; i++)
        pthread_create(&id[i], NULL, thread, &number[i]);
    thread(&number[0]);
    for (int i = 1; i < 3; i++)
        pthread_join(id[i], NULL);
    return 0;
}

static int reset(void)
{
    pythia_region_begin("before");
    pythia_region_begin("around");
    sum(1);
    MPI_Pcontrol(2);
    sum(1);
    MPI_Pcontrol(0);
    pythia_region_begin("unseen");
    sum(1);
    pythia_region_end("unseen");
    MPI_Pcontrol(1);
    pythia_region_end("around");
    pythia_region_end("before");
    return sum(1);
}

static int hold(void)
{
    struct timespec t = { 0, 20000000 };
    for (int i = 0; i < 3; i++) {
        pythia_region_begin("solve");
        pythia_region_begin("slow");
        for (int k = 0; k < 2000 && i == 2 && rank == 1 && access("go", F_OK); k++)
            nanosleep(&t, NULL);
        pythia_region_end("slow");
        MPI_Barrier(MPI_COMM_WORLD);
        pythia_region_end("solve");
    }
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* By the clock, so that a busy machine changes nothing; asleep, so that ranks that share a core do not disturb. */
static void spend(double ms)
{
    double end = now() + 1e-3 * ms;
    struct timespec t = { 0, 0 };
    for (double left; (left = end - now()) > 0;) {
        t.tv_nsec = left > 0.9 ? 900000000 : (long)(1e9 * left);
        nanosleep(&t, NULL);
    }
}

/* A phase of which rank r does first + r * more ms, until all are there; what it took by this program's own clock. */
struct spent { double useful, all; };
static int asked, known, inside, near;
static void phase(const char *name, double first, double more, struct spent *s)
{
    pythia_region_begin(name);
    double begin = now(), ns = 0, low = -1, high = -1;
    int foretold = pythia_region_remaining && pythia_region_remaining(name, &ns, &low, &high) == 0;
    spend(first + more * rank);
    s->useful += now() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    double took = now() - begin;
    s->all += took;
    pythia_region_end(name);
    asked++;
    known += foretold;
    near += foretold && ns > 0.5e9 * took && ns < 2e9 * took;
    inside += foretold && low <= 1e9 * took && 1e9 * took <= high;
}

/* What the efficiencies were: parallel, load balance. */
static void tell(const char *name, const struct spent *s)
{
    double sum, most, longest;
    MPI_Reduce(&s->useful, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&s->useful, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&s->all, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%s %.4f %.4f\n", name, sum / ranks / longest, sum / ranks / most);
}

static int phases(double more)
{
    struct spent even = { 0, 0 }, uneven = { 0, 0 };
    for (int i = 0; i < TURNS; i++) {
        phase("even", 8, 0, &even);
        phase("uneven", 4 + more, 6, &uneven);
        spend(1);
    }
    tell("even", &even);
    tell("uneven", &uneven);
    if (!rank)
        printf("asked %d known %d near %d inside %d\n", asked, known, near, inside);
    return 0;
}

/* One rank after the other; messages that are long. */
static int split(void)
{
    enum { LONG = 8 << 20 };
    char *from = calloc(1, LONG), *to = calloc(1, LONG), word = 0;
    for (int i = 0; i < TURNS; i++) {
        pythia_region_begin("chain");
        if (rank > 0)
            MPI_Recv(&word, 1, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        spend(5);
        if (rank + 1 < ranks)
            MPI_Send(&word, 1, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        pythia_region_end("chain");
        pythia_region_begin("bulk");
        spend(1);
        MPI_Sendrecv(from, LONG, MPI_CHAR, (rank + 1) % ranks, 2, to, LONG, MPI_CHAR, (rank + ranks - 1) % ranks, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pythia_region_end("bulk");
    }
    free(from);
    free(to);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int given, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    all = !strcmp(what, "nest") ? nest() : !strcmp(what, "threads") ? threads() : !strcmp(what, "reset") ? reset()
          : !strcmp(what, "hold") ? hold() : !strcmp(what, "split") ? split()
          : phases(getenv("SLOWER_MS") ? atof(getenv("SLOWER_MS")) : 0);
    if (!rank)
        printf("%s %d\n", what, all);
    pythia_region_begin("the end");
    MPI_Finalize();
    pythia_region_end("the end");
    return 0;
}
