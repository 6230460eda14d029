/* SPDX-License-Identifier: MIT */
/*
 * A program with callbacks of its own, on two ranks; built against pythia.h alone, it also runs without Pythia.
 * Exit code 1, with a line, where a callback sees something else than what the program does.
 */
#define PYTHIA_OPTIONAL
#include <mpi.h>
#include <pythia.h>
#include <stdio.h>
#include <string.h>

enum { TURNS = 50, NUMBERS = 7 };

static int rank, failures, sum;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    failures++;
}

/* What was seen of one registration. */
struct seen {
    int pre, post, nothing;
    uint64_t last_id, last_time;
    struct pythia_record last;
    char communicator[64];
};

static void note(const struct pythia_record *r, void *data)
{
    struct seen *s = data;
    if (r->phase == PYTHIA_POST && !r->happened)
        s->nothing++;
    else if (r->phase == PYTHIA_PRE)
        s->pre++;
    else
        s->post++;
    expect(r->size == sizeof *r && r->rank == (uint32_t)rank && r->thread == 0, "rank, thread, size");
    expect(r->time_ns >= s->last_time, "time goes forward");
    expect(r->id >= s->last_id, "numbers rise");
    s->last_id = r->id;
    s->last_time = r->time_ns;
    s->last = *r;
    snprintf(s->communicator, sizeof s->communicator, "%s", r->communicator);
}

/* What a callback calls is seen by nobody. */
static void meddle(const struct pythia_record *r, void *data)
{
    int *calls = data;
    (*calls)++;
    MPI_Barrier(MPI_COMM_SELF);
    pythia_sum_add(r, sum, 3);
}

static struct seen sends, p2p, collectives, everything, tests;
static int meddled;

static void register_all(void)
{
    sum = pythia_sum_define("meddled");
    expect(sum >= 0 && pythia_sum_define("meddled") == sum && pythia_sum_define("") == PYTHIA_EINVAL, "a sum");
    expect(pythia_callback_register("MPI_Send", PYTHIA_POST, note, &sends) == 0, "MPI_Send");
    expect(pythia_callback_register("MPI_Test", PYTHIA_PRE | PYTHIA_POST, note, &tests) == 0, "MPI_Test");
    expect(pythia_callback_register("p2p", PYTHIA_PRE | PYTHIA_POST, note, &p2p) == 0, "p2p");
    expect(pythia_callback_register("collective", PYTHIA_PRE, note, &collectives) == 0, "collective");
    expect(pythia_callback_register("all", PYTHIA_PRE | PYTHIA_POST, note, &everything) == 0, "all");
    expect(pythia_callback_register("MPI_Allreduce", PYTHIA_PRE, meddle, &meddled) == 0, "MPI_Allreduce");
    expect(pythia_callback_register("MPI_Sned", PYTHIA_PRE, note, NULL) == PYTHIA_EINVAL, "no such call");
    expect(pythia_callback_register("MPI_Comm_rank", PYTHIA_PRE, note, NULL) == PYTHIA_EINVAL,
           "a call that is not wrapped");
    expect(pythia_callback_register("all", 4, note, NULL) == PYTHIA_EINVAL, "no such phase");
    expect(pythia_callback_register("all", PYTHIA_PRE, NULL, NULL) == PYTHIA_EINVAL, "no callback");
    expect(pythia_callback_remove(note, NULL) == PYTHIA_EINVAL, "nothing to remove");
}

static void work(void)
{
    double numbers[NUMBERS] = {0};
    int flag = 0, one = 1, all;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < TURNS; i++) {
        if (rank == 0)
            MPI_Send(numbers, NUMBERS, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(numbers, NUMBERS + 5, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(all == 2, "Allreduce");
    }
    MPI_Irecv(numbers, 1, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "nothing was sent yet");
    MPI_Send(numbers, 1, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void check(void)
{
    expect(sends.pre == 0 && sends.post == (rank == 0 ? TURNS + 1 : 1), "sends");
    expect(sends.last.tag == 9 && sends.last.peer == rank && sends.last.bytes == 8 && sends.last.element_size == 8,
           "a send");
    expect(strcmp(sends.last.call, "MPI_Send") == 0 && strcmp(sends.last.call_kind, "p2p") == 0, "its names");
    expect(strcmp(sends.communicator, "world") == 0 && sends.last.elapsed_ns > 0, "its communicator and time");
    expect(p2p.pre == TURNS + 2 && p2p.post == p2p.pre, "point to point");
    expect(collectives.pre == TURNS && collectives.post == 0 && collectives.last.count == 1 &&
               collectives.last.element_size == 4, "collectives");
    expect(tests.pre == tests.post + tests.nothing && tests.post == 1 && tests.nothing >= 1, "polls");
    expect(meddled == TURNS, "callbacks that call MPI");
    expect(everything.pre == p2p.pre + collectives.pre + tests.pre && everything.last_id > 0, "all calls");
}

/* The place of a receive from anybody is known afterwards only. */
static void source(const struct pythia_record *r, void *data)
{
    int *right = data;
    if (r->phase == PYTHIA_PRE)
        *right += r->peer == PYTHIA_PEER_ANY && r->count == NUMBERS + 5;
    else
        *right += r->peer == 0 && r->count == NUMBERS && r->bytes == 8 * NUMBERS;
}

static void limits(void)
{
    static int other[70];
    int registered = 0, error = 0;
    while (registered < 70 && !(error = pythia_callback_register("io", PYTHIA_PRE, note, &other[registered])))
        registered++;
    expect(error == PYTHIA_ELIMIT && registered < 64, "too many");
    while (registered > 0)
        expect(pythia_callback_remove(note, &other[--registered]) == 0, "removed");
}

static int order[3];

static void ordered(const struct pythia_record *r, void *data)
{
    (void)r;
    for (int i = 0; i < 3; i++)
        if (!order[i]) {
            order[i] = *(int *)data;
            return;
        }
}

/* Slots of those that were removed are used again; callbacks are run as they were registered all the same. */
static void again(void)
{
    static int one = 1, two = 2, three = 3;
    int error = 0;
    for (int i = 0; i < 1000 && !error; i++)
        error = pythia_callback_register("io", PYTHIA_PRE, note, &one) || pythia_callback_remove(note, &one);
    expect(!error, "registered and removed 1000 times");
    error = pythia_callback_register("io", PYTHIA_PRE, note, &one);
    error |= pythia_callback_register("MPI_Barrier", PYTHIA_PRE, ordered, &one);
    error |= pythia_callback_remove(note, &one);
    error |= pythia_callback_register("MPI_Barrier", PYTHIA_PRE, ordered, &two);
    error |= pythia_callback_register("MPI_Barrier", PYTHIA_PRE, ordered, &three);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(!error && order[0] == 1 && order[1] == 2 && order[2] == 3, "in the order of registration");
}

int main(int argc, char **argv)
{
    int with = pythia_callback_register != NULL && argc > 1, right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (with) {
        register_all();
        expect(pythia_callback_register("MPI_Recv", PYTHIA_PRE | PYTHIA_POST, source, &right) == 0, "MPI_Recv");
    }
    work();
    if (with && strcmp(argv[1], "watched") == 0) {
        check();
        expect(right == (rank == 1 ? 2 * TURNS : 0), "receives");
        expect(pythia_callback_remove(note, &everything) == 0, "removed");
        int before = everything.pre;
        MPI_Barrier(MPI_COMM_WORLD);
        expect(everything.pre == before && collectives.pre == TURNS + 1, "a removed callback is not called");
        limits();
        again();
    } else if (with) {
        expect(everything.pre == 0 && meddled == 0, "nothing while Pythia is off");
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return failures > 0;
}
