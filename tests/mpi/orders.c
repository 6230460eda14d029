/* SPDX-License-Identifier: MIT */
/*
 * Requests in every state, one process. Exit code 0: every message and every status was right.
 *     orders order SEED TURNS    receives complete in an order that the seed decides, by every call that lets chance
 *                                choose
 *     orders poll COUNT          so many polls that fail, then each succeeds once
 *     orders mixed TURNS         lists of null, inactive, active, generalised, freed and cancelled requests
 * Two processes:
 *     orders looks TURNS         rank 1 sends after 30 ms and after 2 ms; rank 0 looks each ms whether it has come
 *     orders spins TURNS         rank 1 sends after 20 ms; rank 0 only looks whether it has come, by MPI_Test and
 *                                MPI_Iprobe in turn
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 6 };

static int wrong;

static void expect(int right, const char *what)
{
    if (!right)
        fprintf(stderr, "wrong: %s\n", what);
    wrong += !right;
}

static uint64_t state;

static unsigned chance(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % n);
}

static void shuffle(int *order)
{
    for (int i = 0; i < MANY; i++)
        order[i] = i;
    for (int i = MANY - 1; i > 0; i--) {
        int j = (int)chance((unsigned)i + 1), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
}

/* --- Any order --- */

static MPI_Request receive[MANY];
static int in[MANY], order[MANY];

static void post(void)
{
    shuffle(order);
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &receive[i]);
}

/* Sent behind Pythia's back: what is under test are the completions. */
static void send_to_self(int tag)
{
    MPI_Request request;
    int out = 100 + tag;
    PMPI_Isend(&out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void fail_polls(void)
{
    int flag, index, indices[MANY];
    for (unsigned i = chance(4); i > 0; i--) {
        MPI_Testany(MANY, receive, &index, &flag, MPI_STATUS_IGNORE);
        MPI_Testsome(MANY, receive, &index, indices, MPI_STATUSES_IGNORE);
    }
}

static void came(int index, int tag)
{
    expect(index == tag && in[index] == 100 + tag, "the one that was sent completes");
}

static void one_by_one(void)
{
    MPI_Status status;
    int index, flag;
    post();
    for (int i = 0; i < MANY; i += 2) {
        send_to_self(order[i]);
        MPI_Waitany(MANY, receive, &index, &status);
        came(index, order[i]);
        expect(status.MPI_SOURCE == 0 && status.MPI_TAG == order[i], "Waitany's status");
        fail_polls();
        send_to_self(order[i + 1]);
        for (flag = 0; !flag;)
            MPI_Testany(MANY, receive, &index, &flag, MPI_STATUS_IGNORE);
        came(index, order[i + 1]);
    }
}

/* Two at a time: which two, and in which order, is chance. */
static void some(void)
{
    int indices[MANY], count;
    post();
    for (int i = 0; i < MANY; i += 2) {
        fail_polls();
        send_to_self(order[i]);
        send_to_self(order[i + 1]);
        if (i % 4 == 0)
            MPI_Waitsome(MANY, receive, &count, indices, MPI_STATUSES_IGNORE);
        else
            for (count = 0; !count;)
                MPI_Testsome(MANY, receive, &count, indices, MPI_STATUSES_IGNORE);
        expect(count == 2, "two complete");
    }
}

static void each(void)
{
    post();
    for (int i = 0; i < MANY; i++) {
        int flag = 0;
        send_to_self(order[i]);
        while (!flag)
            MPI_Test(&receive[order[i]], &flag, MPI_STATUS_IGNORE);
    }
}

static void orders(int turns)
{
    for (int t = 0; t < turns; t++) {
        one_by_one();
        some();
        each();
    }
}

/* --- Polls that fail --- */

static void polls(long count)
{
    MPI_Request request = MPI_REQUEST_NULL, pending;
    int flag = 0, value;
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &pending);
    for (long i = 0; i < count && !flag; i++)
        if (i % 2)
            MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "nothing to find");
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    expect(flag, "a null request is complete");
    send_to_self(1);
    for (flag = 0; !flag;)
        MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
    expect(value == 101, "the message");
}

/* --- Looking now and then --- */

static void rest(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static void look(void)
{
    MPI_Request pending;
    int value, flag = 0;
    MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &pending);
    for (; !flag; MPI_Test(&pending, &flag, MPI_STATUS_IGNORE))
        rest(1);
}

static void looks(int turns)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 2 * turns; t++)
        if (rank == 0) {
            look();
        } else if (t % 2 == 0) {
            rest(30);
            MPI_Send(&t, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        } else {
            rest(2);
            MPI_Ssend(&t, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
}

/* --- Looking all the time --- */

static void spin(int probes)
{
    MPI_Request pending = MPI_REQUEST_NULL;
    int value, flag = 0;
    if (!probes)
        MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &pending);
    while (!flag)
        if (probes)
            MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        else
            MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
    if (probes)
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void spins(int turns)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < turns; t++)
        if (rank == 0) {
            spin(t % 2);
        } else {
            rest(20);
            MPI_Send(&t, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
}

/* --- Lists of everything --- */

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void mixed(int turns)
{
    int a = 0, b = 7, c = 0, d = 9, never, flag;
    MPI_Request list[7], freed;
    MPI_Status status[7];
    for (int i = 0; i < 7; i++)
        list[i] = MPI_REQUEST_NULL;
    MPI_Recv_init(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[1]);
    MPI_Send_init(&b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[2]);
    for (int t = 0; t < turns; t++) {
        if (t % 2 == 0) /* else they are inactive, and complete */
            MPI_Startall(2, &list[1]);
        MPI_Grequest_start(query, nothing, cancelled, NULL, &list[3]);
        MPI_Irecv(&c, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &list[4]);
        MPI_Isend(&d, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &list[5]);
        MPI_Irecv(&never, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &list[6]);
        MPI_Isend(&d, 0, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_SELF, &freed);
        MPI_Request_free(&freed);
        MPI_Cancel(&list[6]);
        MPI_Grequest_complete(list[3]);
        MPI_Waitall(7, list, status);
        MPI_Test_cancelled(&status[6], &flag);
        expect(flag, "the receive is cancelled");
        expect(c == 9 && status[4].MPI_SOURCE == 0, "the message and its status");
        expect(t % 2 || a == 7, "the persistent message");
        expect(list[0] == MPI_REQUEST_NULL && list[4] == MPI_REQUEST_NULL && list[1] != MPI_REQUEST_NULL,
               "the handles");
        a = c = 0;
    }
    MPI_Request_free(&list[1]);
    MPI_Request_free(&list[2]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    state = argc > 2 ? 0x9e3779b97f4a7c15u + strtoull(argv[2], NULL, 10) * 77777 : 1;
    if (argc > 3 && !strcmp(argv[1], "order"))
        orders(atoi(argv[3]));
    else if (argc > 2 && !strcmp(argv[1], "poll"))
        polls(atol(argv[2]));
    else if (argc > 2 && !strcmp(argv[1], "mixed"))
        mixed(atoi(argv[2]));
    else if (argc > 2 && !strcmp(argv[1], "looks"))
        looks(atoi(argv[2]));
    else if (argc > 2 && !strcmp(argv[1], "spins"))
        spins(atoi(argv[2]));
    else
        wrong = 1;
    MPI_Finalize();
    return wrong != 0;
}
