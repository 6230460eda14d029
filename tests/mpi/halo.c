/* SPDX-License-Identifier: MIT */
/* The same calls as halo.F90, in C: tests/mpi/bindings.test compares what is recorded. Even numbers of ranks. */
#include <mpi.h>
#include <stdio.h>

enum { TURNS = 10, CELLS = 8, MANY = 70 };

static int me, ranks, left, right;
static long total;
static MPI_Comm comm;

static void nonblocking(void)
{
    int out[CELLS], in[2][CELLS], value;
    MPI_Request request[4];
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < CELLS; i++)
            out[i] = me * turn + i;
        MPI_Irecv(in[0], CELLS, MPI_INT, left, 1, comm, &request[0]);
        MPI_Irecv(in[1], CELLS, MPI_INT, right, 2, comm, &request[1]);
        MPI_Isend(out, CELLS, MPI_INT, left, 2, comm, &request[2]);
        MPI_Isend(out, CELLS, MPI_INT, right, 1, comm, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        value = in[0][1] + in[1][2];
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm);
        total += value;
    }
}

static void many(void)
{
    int out[MANY / 2], in[MANY / 2];
    MPI_Request request[MANY];
    for (int i = 0; i < MANY / 2; i++) {
        out[i] = me + i;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, comm, &request[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, right, i, comm, &request[2 * i + 1]);
    }
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    total += in[MANY / 2 - 1];
}

static void blocking(void)
{
    int out = me, in;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE);
    total += in;
    if (me % 2 == 0) {
        MPI_Send(&out, 1, MPI_INT, right, 4, comm);
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
    } else {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &status);
        MPI_Send(&out, 1, MPI_INT, left, 5, comm);
    }
    total += status.MPI_SOURCE;
    if (me % 2 == 0)
        MPI_Send(&out, 0, MPI_INT, MPI_PROC_NULL, 4, comm);
    else
        MPI_Recv(&in, 0, MPI_INT, MPI_PROC_NULL, 4, comm, MPI_STATUS_IGNORE);
}

static void exchange(MPI_Request *request, int *in)
{
    static int out;
    out = me + 7;
    MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, request);
    MPI_Send(&out, 1, MPI_INT, right, 6, comm);
}

/* Each kind of completion, with one request, so that its outcome is certain. */
static void completions(void)
{
    int in, index, number, indices[1], flag = 0;
    MPI_Request request[1];
    MPI_Status status[1];
    exchange(request, &in);
    MPI_Wait(request, status);
    total += in + status[0].MPI_SOURCE;
    exchange(request, &in);
    MPI_Waitany(1, request, &index, status);
    total += in + index + status[0].MPI_SOURCE;
    exchange(request, &in);
    MPI_Waitsome(1, request, &number, indices, status);
    total += in + number + indices[0] + status[0].MPI_SOURCE;
    exchange(request, &in);
    for (flag = 0; !flag;)
        MPI_Test(request, &flag, status);
    total += in + status[0].MPI_SOURCE;
    exchange(request, &in);
    for (flag = 0; !flag;)
        MPI_Testall(1, request, &flag, status);
    total += in + status[0].MPI_SOURCE;
    exchange(request, &in);
    for (flag = 0; !flag;)
        MPI_Testany(1, request, &index, &flag, status);
    total += in + index + status[0].MPI_SOURCE;
    exchange(request, &in);
    for (number = 0; number == 0;)
        MPI_Testsome(1, request, &number, indices, status);
    total += in + indices[0] + status[0].MPI_SOURCE;
    MPI_Isend(&me, 1, MPI_INT, right, 8, comm, request);
    MPI_Probe(MPI_ANY_SOURCE, 8, comm, status);
    for (flag = 0; !flag;)
        MPI_Iprobe(left, 8, comm, &flag, status);
    MPI_Recv(&in, 1, MPI_INT, status[0].MPI_SOURCE, 8, comm, MPI_STATUS_IGNORE);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    total += in;
}

/* Messages that a probe took out of the queue. */
static void matched(void)
{
    int in, flag;
    MPI_Message message;
    MPI_Request request, second;
    MPI_Isend(&me, 1, MPI_INT, right, 10, comm, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 10, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    total += in;
    MPI_Isend(&me, 1, MPI_INT, right, 11, comm, &request);
    for (flag = 0; !flag;)
        MPI_Improbe(left, 11, comm, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &second);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    total += in;
    MPI_Mprobe(MPI_PROC_NULL, 10, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* From anyone, and the program does not ask from whom. */
static void ignored(void)
{
    int in, index, flag;
    MPI_Request request[1];
    exchange(request, &in);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    exchange(request, &in);
    MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    exchange(request, &in);
    for (flag = 0; !flag;)
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    exchange(request, &in);
    for (flag = 0; !flag;)
        MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Isend(&me, 1, MPI_INT, right, 12, comm, request);
    MPI_Probe(MPI_ANY_SOURCE, 12, comm, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Iprobe(MPI_ANY_SOURCE, 12, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 12, comm, MPI_STATUS_IGNORE);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    total += in;
}

static void persistent(void)
{
    int out = 0, in = 0;
    MPI_Request request[2];
    MPI_Recv_init(&in, 1, MPI_INT, left, 9, comm, &request[0]);
    MPI_Send_init(&out, 1, MPI_INT, right, 9, comm, &request[1]);
    for (int turn = 1; turn <= TURNS; turn++) {
        out = me + turn;
        MPI_Start(&request[0]);
        MPI_Start(&request[1]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        total += in;
    }
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void collectives(void)
{
    int counts[64], displs[64], bytes[64], all[64], one = me + 1;
    MPI_Datatype types[64];
    MPI_Request request;
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
        all[i] = me;
    }
    MPI_Bcast(&one, 1, MPI_INT, 1, comm);
    MPI_Reduce(&one, all, 1, MPI_INT, MPI_MAX, 0, comm);
    if (me == 0)
        MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    else
        MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    MPI_Gatherv(&one, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
    all[me] = me;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
    MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INT, all, counts, displs, MPI_INT, comm);
    MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, types, all, counts, bytes, types, comm);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    total += one + all[ranks - 1];
}

static void onesided(void)
{
    static int window[2];
    int *base;
    MPI_Win win;
    window[1] = -1;
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    total += window[1];
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, win);
    MPI_Put(&me, 1, MPI_INT, left, 0, 1, MPI_INT, win);
    MPI_Win_unlock(left, win);
    MPI_Win_free(&win);
}

static void communicators(void)
{
    int dims[2] = {2, ranks / 2}, periods[2] = {1, 1}, remain[2] = {1, 0}, out[4] = {me, me, me, me}, in[4];
    MPI_Comm half, cart, line;
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Comm_split(comm, me % 2, me, &half);
    MPI_Barrier(half);
    MPI_Cart_create(comm, 2, dims, periods, 0, &cart);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart);
    total += in[0] + in[3];
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    MPI_Cart_sub(cart, remain, &line);
    MPI_Barrier(line);
    MPI_Comm_free(&line);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&half);
}

static void files(const char *path)
{
    int got = -1;
    MPI_File file;
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, me, &me, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(comm);
    MPI_File_read_at(file, right, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (me == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    total += got;
}

int main(int argc, char **argv)
{
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    left = (me + ranks - 1) % ranks;
    right = (me + 1) % ranks;
    nonblocking();
    many();
    blocking();
    completions();
    matched();
    ignored();
    persistent();
    collectives();
    onesided();
    communicators();
    files(argv[1]);
    MPI_Pcontrol(0);
    MPI_Barrier(comm);
    MPI_Pcontrol(1);
    MPI_Reduce(&total, &sum, 1, MPI_LONG, MPI_SUM, 0, comm);
    if (me == 0)
        printf("total %ld\n", sum);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
