/* SPDX-License-Identifier: MIT */
/*
 * A preload that leaves garbage on the stack below the calls that most programs make, as any other tool does: who gives
 * other results with it reads memory that nobody has written.
 */
#include <mpi.h>

static __attribute__((noinline)) int leave_garbage(int result)
{
    volatile unsigned char room[16 << 10];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0xff;
    return result;
}

#define CALL(name, parameters, arguments) \
    int name parameters { return leave_garbage(P##name arguments); }
CALL(MPI_Init, (int *argc, char ***argv), (argc, argv))
CALL(MPI_Send, (const void *buf, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (buf, n, t, to, tag, c))
CALL(MPI_Recv, (void *buf, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (buf, n, t, from, tag, c, s))
CALL(MPI_Isend, (const void *buf, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
     (buf, n, t, to, tag, c, r))
CALL(MPI_Bcast, (void *buf, int n, MPI_Datatype t, int root, MPI_Comm c), (buf, n, t, root, c))
CALL(MPI_Allreduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (in, out, n, t, op, c))
CALL(MPI_Reduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     (in, out, n, t, op, root, c))
CALL(MPI_Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
CALL(MPI_Testall, (int n, MPI_Request *r, int *done, MPI_Status *s), (n, r, done, s))
