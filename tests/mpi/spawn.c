/* SPDX-License-Identifier: MIT */
/*
 * A world that makes other worlds: spawn WORLDS CHILDREN [COMMAND] starts CHILDREN processes of COMMAND (itself) WORLDS
 * times, sums a number over each of these worlds and its own, and says "sum S". `spawn child` is what it starts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int child(MPI_Comm parent)
{
    int me, one = 1, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int turn = 0; turn < 10; turn++)
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    one += sum;
    MPI_Reduce(&one, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static int spawn(char *command, int children, int me)
{
    char *arguments[] = {"child", NULL};
    int sum = 0;
    MPI_Comm others;
    MPI_Comm_spawn(command, arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, me == 0 ? MPI_ROOT : MPI_PROC_NULL, others);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_disconnect(&others);
    return sum;
}

int main(int argc, char **argv)
{
    int me, sum = 0;
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(parent);
    if (argc < 3) {
        fprintf(stderr, "usage: spawn WORLDS CHILDREN [COMMAND]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int world = 0; world < atoi(argv[1]); world++)
        sum += spawn(argc > 3 ? argv[3] : argv[0], atoi(argv[2]), me);
    if (me == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
