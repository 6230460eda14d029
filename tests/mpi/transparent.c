/* SPDX-License-Identifier: MIT */
/*
 * What a program can ask MPI about itself, as text without addresses or times: errors, handlers, attributes, statuses.
 * tests/mpi/transparent.test compares what it says with and without Pythia. Any number of ranks.
 */
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, handled, copied, deleted;

static void handle(MPI_Comm *comm, int *error, ...)
{
    int class;
    (void)comm;
    MPI_Error_class(*error, &class);
    handled++;
    if (rank == 0)
        printf("handler: class %d\n", class);
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void say(const char *what, int result)
{
    int class = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_class(result, &class);
    MPI_Error_string(result, text, &length);
    if (rank == 0)
        printf("%s: %d %s\n", what, class, text);
}

static void errors(MPI_Comm comm)
{
    int value = 0, flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    say("rank out of range", MPI_Send(&value, 1, MPI_INT, ranks + 3, 0, comm));
    say("negative count", MPI_Send(&value, -1, MPI_INT, 0, 0, comm));
    say("no datatype", MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm));
    say("root out of range", MPI_Bcast(&value, 1, MPI_INT, -7, comm));
    say("tag out of range", MPI_Send(&value, 1, MPI_INT, 0, -5, comm));
    say("nobody", MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
    if (rank == 0)
        printf("status of nobody: %d %d\n", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG);
    say("test of nothing", MPI_Test(&request, &flag, &status));
    if (rank == 0)
        printf("flag %d\n", flag);
    say("isend out of range", MPI_Isend(&value, 1, MPI_INT, ranks, 0, comm, &request));
}

static void truncated(MPI_Comm comm)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, count = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(out, 4, MPI_INT, rank, 1, comm, &request);
    say("too long", MPI_Recv(in, 2, MPI_INT, rank, 1, comm, &status));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 3, MPI_INT, rank, 2, comm, &request);
    MPI_Recv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Wait(&request, &status);
    if (rank == 0)
        printf("three numbers: %d %d %d, %d\n", in[0], in[1], in[2], count);
}

static void attributes(void)
{
    int keyval, value = 5, flag = 0, *tag_max = NULL, *got = NULL;
    MPI_Comm duplicate, again;
    MPI_Comm_create_keyval(copy, forget, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_get_attr(duplicate, keyval, &got, &flag);
    MPI_Comm_dup(duplicate, &again);
    MPI_Comm_set_name(again, "again");
    MPI_Comm_free(&again);
    MPI_Comm_free(&duplicate);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    if (rank == 0)
        printf("attributes: %d %d, copied %d, deleted %d\n", flag, got ? *got : -1, copied, deleted);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &flag);
    if (rank == 0)
        printf("largest tag: %d %d\n", flag, flag ? *tag_max : 0);
}

static void some_call(unsigned which)
{
    int flag, value = 1, sum;
    switch (which) {
    case 0: MPI_Barrier(MPI_COMM_SELF); break;
    case 1: MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); break;
    case 2: MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); break;
    default: MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* Calls in an order that no other run has, then a long time of what every run does: whoever predicts them computes a
   lot, and forgets what went wrong until numbers become very small. */
static void computes(void)
{
    enum { WATCHED = FE_UNDERFLOW | FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID };
    unsigned state = (unsigned)getpid();
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_UPWARD);
    for (int i = 0; i < 3000; i++) {
        state = state * 1103515245u + 12345u;
        some_call(state >> 16 & 3);
    }
    for (unsigned i = 0; i < 60000; i++)
        some_call(i % 64 < 60 ? i % 3 : i % 4);
    if (rank == 0)
        printf("floating point: flags %d, rounding %d\n", fetestexcept(WATCHED), fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
}

/* Communicators have the numbers that they would have. Those of a graph whose ranks MPI may number anew hang in Open
   MPI 4.1 where there was one more before. */
static void communicators(void)
{
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (rank == 0)
        printf("number of a duplicate: %d\n", (int)MPI_Comm_c2f(made));
    MPI_Comm_free(&made);
    for (int turn = 0; turn < 40; turn++) {
        int to = (rank + 1) % ranks, one = 1;
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &to, &one, MPI_INFO_NULL, turn % 2, &made);
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
}

/* Of the world itself, there when MPI ends. */
static void last_attribute(void)
{
    int keyval;
    MPI_Comm_create_keyval(copy, forget, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    copied = deleted = 0;
}

int main(int argc, char **argv)
{
    int length = 0, comparison, level;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Errhandler handler, before;
    MPI_Comm copy_of_world;
    double time;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    if (rank == 0)
        printf("%s, level %d, fatal %d\n", name, level, before == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    errors(MPI_COMM_WORLD);
    truncated(MPI_COMM_WORLD);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy_of_world);
    MPI_Comm_set_errhandler(copy_of_world, handler);
    errors(copy_of_world);
    truncated(copy_of_world);
    MPI_Comm_compare(MPI_COMM_WORLD, copy_of_world, &comparison);
    MPI_Comm_free(&copy_of_world);
    if (rank == 0)
        printf("handled %d, congruent %d\n", handled, comparison == MPI_CONGRUENT);
    attributes();
    communicators();
    computes();
    time = MPI_Wtime();
    if (rank == 0)
        printf("time goes on: %d\n", MPI_Wtime() >= time);
    say("free of nothing", MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}));
    last_attribute();
    MPI_Finalize();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (rank == 0)
        printf("finalized %d, copied %d, deleted %d\n", finalized, copied, deleted);
    return rank == 0 ? 3 : 0;
}
