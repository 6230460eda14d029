/* SPDX-License-Identifier: MIT */
/*
 * Calls like the last one from their place, and calls that are so but for one thing: a table of what that may be. Each
 * row makes its calls in one place, TURNS times; recorded with PYTHIA_QUICK=no all must be the same.
 *
 *   quick calls           rows of one thread            quick threads     the same calls on four threads at a time
 *   quick completions     rows of completions, whose polls that find nothing are chance
 *   quick reset           the recording begins anew     quick library A B     calls in A, and in B where A was
 *
 * Prints "callbacks N" where callbacks were registered. Exit code 1: the program saw something wrong.
 */
#define PYTHIA_OPTIONAL
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <pythia.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 24, ROOM = 64 };

static int rank, failures, which; /* which: of a row's calls */

/* What a call is made with. */
struct call {
    int count, dest, source, tag, root, in_place;
    MPI_Datatype type;
    MPI_Comm comm;
};

/* --- One place for each call --- */

static void there_and_back(const struct call *c)
{
    char out[ROOM * 16] = {0}, in[ROOM * 16];
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}; /* of calls that fail */
    MPI_Irecv(in, c->count, c->type, c->source, c->tag, c->comm, &r[0]);
    MPI_Isend(out, c->count, c->type, c->dest, c->tag < 0 ? 3 : c->tag, c->comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, c->count, c->type, c->source, c->tag, c->comm, &r[0]);
    MPI_Send(out, c->count, c->type, c->dest, c->tag < 0 ? 3 : c->tag, c->comm);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(out, c->count, c->type, c->dest, c->tag < 0 ? 3 : c->tag, c->comm, &r[1]);
    MPI_Recv(in, c->count, c->type, c->source, c->tag, c->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, c->count, c->type, c->dest, c->tag < 0 ? 3 : c->tag, in, ROOM, c->type, c->source, c->tag,
                 c->comm, MPI_STATUS_IGNORE);
    MPI_Irecv(in, c->count, c->type, c->source, c->tag, c->comm, &r[0]);
    MPI_Isend(out, c->count, c->type, c->dest, c->tag < 0 ? 3 : c->tag, c->comm, &r[1]);
    for (int i = 0; i < 3; i++) /* one place for all kinds */
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
}

/* The families that have two buffers. */
static void each_his_own(const struct call *c)
{
    char out[ROOM * 16] = {0}, in[ROOM * 16];
    int me, counts[2] = {c->count, c->count}, at[2] = {0, c->count};
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Comm_rank(c->comm, &me);
    void *any = c->in_place ? MPI_IN_PLACE : out, *root = c->in_place && me == c->root ? MPI_IN_PLACE : out;
    int all = c->in_place ? 7 : c->count, mine = root == out ? c->count : 7; /* who is in place says nothing here */
    MPI_Gather(root, mine, c->type, in, c->count, c->type, c->root, c->comm);
    MPI_Gatherv(root, mine, c->type, in, counts, at, c->type, c->root, c->comm);
    MPI_Scatter(in, c->count, c->type, root, mine, c->type, c->root, c->comm);
    MPI_Allgather(any, all, c->type, in, c->count, c->type, c->comm);
    MPI_Allgatherv(any, all, c->type, in, counts, at, c->type, c->comm);
    MPI_Alltoall(any, all, c->type, in, c->count, c->type, c->comm);
    MPI_Reduce_scatter_block(out, in, c->count, MPI_INT, MPI_SUM, c->comm);
    MPI_Igather(root, mine, c->type, in, c->count, c->type, c->root, c->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void together(const struct call *c)
{
    char out[ROOM * 16] = {0}, in[ROOM * 16];
    MPI_Request request = MPI_REQUEST_NULL;
    each_his_own(c);
    MPI_Barrier(c->comm);
    MPI_Bcast(out, c->count, c->type, c->root, c->comm);
    MPI_Reduce(out, in, c->count, MPI_INT, MPI_SUM, c->root, c->comm);
    MPI_Iallreduce(out, in, c->count, MPI_INT, MPI_SUM, c->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(out, in, c->count, MPI_INT, MPI_SUM, c->comm);
}

/* Completions of all kinds, with nothing to complete now and then. */
static void completed(const struct call *c)
{
    char out[ROOM * 16] = {0}, in[4][ROOM * 16];
    MPI_Request r[5];
    MPI_Status status[5];
    int done = 0, number, index[5];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(in[i], c->count, c->type, c->source, i, c->comm, &r[i]);
    r[4] = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++)
        MPI_Send(out, c->count, c->type, c->dest, i, c->comm);
    MPI_Waitany(1, r, index, status);
    MPI_Waitsome(1, &r[1], &number, index, status);
    while (!done)
        MPI_Testall(1, &r[2], &done, status);
    for (done = 0; !done;)
        MPI_Test(&r[0], &done, status);
    MPI_Irecv(in[0], c->count, c->type, c->source, 9, c->comm, &r[0]);
    MPI_Send(out, c->count, c->type, c->dest, 9, c->comm);
    for (done = 0; !done;)
        MPI_Test(&r[0], &done, status);
    for (done = 0; !done;)
        MPI_Testany(1, &r[3], index, &done, status);
    MPI_Waitall(5, r, c->tag == 2 ? status : MPI_STATUSES_IGNORE);
}

/* --- What is not as it was: each changes the call of a turn --- */

static MPI_Comm duplicate, half, ring, both;
static MPI_Datatype made = MPI_DATATYPE_NULL;
static MPI_Comm split = MPI_COMM_NULL;

static void nothing(struct call *c, int turn) { (void)c; (void)turn; }
static void other_count(struct call *c, int turn) { c->count = turn % 5; }
static void other_tag(struct call *c, int turn) { c->tag = turn; }
static void any_tag(struct call *c, int turn) { c->tag = turn % 3 ? 3 : MPI_ANY_TAG; }
static void other_peer(struct call *c, int turn) { c->dest = c->source = turn % 3 ? 1 - rank : rank; }
static void null_peer(struct call *c, int turn) { if (turn % 4 == 1) c->dest = c->source = MPI_PROC_NULL; }
static void any_source(struct call *c, int turn) { if (turn % 4 == 1) c->source = MPI_ANY_SOURCE; }
static void other_type(struct call *c, int turn) { c->type = turn % 2 ? MPI_INT : MPI_DOUBLE; }
static void other_comm(struct call *c, int turn) { c->comm = turn % 3 ? MPI_COMM_WORLD : duplicate; }
static void other_root(struct call *c, int turn) { c->root = turn % 2; }
static void in_place(struct call *c, int turn) { c->in_place = turn % 3 == 1; c->root = turn / 3 % 2; }
static void on_the_ring(struct call *c, int turn) { (void)turn; c->comm = ring; }
static void paused(struct call *c, int turn) { (void)c; if (turn % 7 == 3) MPI_Pcontrol(turn % 2); }
static void resumed(struct call *c, int turn) { (void)c; if (turn == 0) MPI_Pcontrol(1); }

static void alone(struct call *c, int turn)
{
    (void)turn;
    c->comm = half;
    c->dest = c->source = c->root = 0;
}

/* A new type, and probably the old one's handle. */
static void made_type(struct call *c, int turn)
{
    if (made != MPI_DATATYPE_NULL)
        MPI_Type_free(&made);
    MPI_Type_contiguous(1 + turn % 3, MPI_INT, &made);
    MPI_Type_commit(&made);
    c->type = turn % 4 ? made : MPI_INT;
    c->count = 2;
}

/* The same of communicators, of both ranks and of one. */
static void made_comm(struct call *c, int turn)
{
    if (split != MPI_COMM_NULL)
        MPI_Comm_free(&split);
    MPI_Comm_split(MPI_COMM_WORLD, turn % 2 ? rank : 0, 0, &split);
    c->comm = split;
    if (turn % 2)
        c->dest = c->source = c->root = 0;
}

static void refused(struct call *c, int turn)
{
    if (turn % 5 == 2)
        c->dest = c->source = c->root = 1000;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, turn + 1 < TURNS ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
}

static void forked(struct call *c, int turn)
{
    int state;
    pid_t child = turn % 8 == 3 ? fork() : -1;
    if (child == 0) { /* what it does is nobody's event */
        int flag;
        MPI_Initialized(&flag);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, &state, 0);
    (void)c;
}

static int called;
static void note(const struct pythia_record *r, void *data)
{
    (void)r;
    (void)data;
    called++;
}
static void watched(struct call *c, int turn)
{
    (void)c;
    if (turn == 4)
        pythia_callback_register("all", PYTHIA_PRE | PYTHIA_POST, note, NULL);
    if (turn == 12)
        pythia_callback_remove(note, NULL);
}

/* The error handler jumps out of the call. */
static jmp_buf out;
static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(out, 1);
}
static MPI_Errhandler jumper;
static void jumped(struct call *c, int turn)
{
    if (turn == 0) {
        MPI_Comm_create_errhandler(jump, &jumper);
        MPI_Comm_set_errhandler(duplicate, jumper);
    }
    c->comm = duplicate;
    if (turn % 5 == 2)
        c->dest = c->source = c->root = 1000;
}

static const struct row {
    const char *name;
    void (*change)(struct call *c, int turn);
    int which; /* 1: messages, 2: collectives, 4: all kinds of completions */
} rows[] = {
    {"nothing", nothing, 7}, {"counts", other_count, 7}, {"tags", other_tag, 5}, {"any tag", any_tag, 1},
    {"a rank, this rank", other_peer, 1}, {"null peers", null_peer, 5}, {"any source, then replies", any_source, 5},
    {"datatypes", other_type, 1}, {"communicators", other_comm, 3}, {"roots", other_root, 2}, {"in place", in_place, 2},
    {"a Cartesian communicator", on_the_ring, 3}, {"a part", alone, 3}, {"a datatype made and freed", made_type, 1},
    {"a communicator made and freed", made_comm, 3}, {"errors", refused, 3}, {"pauses", paused, 7},
    {"no pause", resumed, 3}, {"forks", forked, 3}, {"callbacks", watched, 3}, {"jumps", jumped, 3}};

/* --- Rows --- */

static void one_turn(const struct row *row, int turn)
{
    struct call c = {.count = 3, .dest = 1 - rank, .source = 1 - rank, .tag = 3, .type = MPI_INT,
                     .comm = MPI_COMM_WORLD};
    row->change(&c, turn);
    if (row->which & which & 1 && !setjmp(out))
        there_and_back(&c);
    if (row->which & which & 2 && !setjmp(out))
        together(&c);
    if (row->which & which & 4)
        completed(&c);
}

/* Two ways to one place, at one depth of the stack. */
static __attribute__((noinline)) void first_way(int turn) { one_turn(&rows[0], turn); __asm__ volatile(""); }
static __attribute__((noinline)) void second_way(int turn) { one_turn(&rows[0], turn); __asm__ volatile(""); }

static void ways(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        first_way(turn);
        second_way(turn);
    }
}

/* What is inside a region, and what is outside. */
static void regions(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
#pragma omp parallel num_threads(turn % 2 + 1)
        if (turn % 3)
#pragma omp master
            one_turn(&rows[0], turn);
        one_turn(&rows[0], turn);
    }
}

/* The root's group says MPI_ROOT and MPI_PROC_NULL, the other one a rank. */
static void between(void)
{
    int value = 0;
    for (int turn = 0; turn < TURNS; turn++)
        MPI_Bcast(&value, 1, MPI_INT, rank ? 0 : MPI_ROOT, both);
    for (int turn = 0; turn < TURNS; turn++)
        MPI_Barrier(both);
}

static int calls(void)
{
    int size[1] = {2}, periodic[1] = {1};
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &ring);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank, 9, &both);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (volatile int turn = 0; turn < TURNS; turn++)
            one_turn(&rows[i], turn);
    ways();
    regions();
    between();
    printf("callbacks %d\n", called);
    return failures;
}

/* --- Others --- */

static void *beside(void *number)
{
    MPI_Comm comm = ((MPI_Comm *)number)[0];
    int value = 1, sum;
    for (int turn = 0; turn < 10 * TURNS; turn++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (turn % 50 == 20)
            MPI_Comm_rank(comm, &sum);
    }
    return NULL;
}

static int threads(void)
{
    pthread_t thread[4];
    MPI_Comm comm[4];
    for (int i = 0; i < 4; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, beside, &comm[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static int reset(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn == TURNS / 2)
            MPI_Pcontrol(2);
        one_turn(&rows[0], turn);
        one_turn(&rows[5], turn);
    }
    return 0;
}

static void use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void (*call)(void) = NULL;
    void *at = library ? dlsym(library, "call_there") : NULL;
    memcpy(&call, &at, sizeof call);
    failures += !call;
    for (int turn = 0; call && turn < TURNS; turn++)
        call();
    if (library)
        dlclose(library);
}

int main(int argc, char **argv)
{
    int provided;
    const char *what = argc > 1 ? argv[1] : "calls";
    MPI_Init_thread(&argc, &argv, strcmp(what, "threads") ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    which = strcmp(what, "completions") ? 3 : 4;
    if (!strcmp(what, "calls") || which == 4)
        failures += calls();
    else if (!strcmp(what, "threads"))
        failures += threads();
    else if (!strcmp(what, "reset"))
        failures += reset();
    else
        for (int i = 0; i < 6 && argc > 3; i++)
            use(argv[2 + i % 2]);
    MPI_Finalize();
    return failures != 0;
}
