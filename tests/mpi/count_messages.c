/* SPDX-License-Identifier: MIT */
/*
 * Preloaded before Pythia's wrappers: what a matrix must equal. Counts what each rank sends to each rank of the world,
 * call by call and without any of Pythia's code, and writes it to $COUNTED.RANK as lines of "from to messages bytes".
 *
 * Point-to-point calls of C and, with Open MPI, of Fortran (whose bindings call PMPI); a persistent send counts where
 * it is started. MPI-IO, one-sided calls and partitioned sends are not counted. Threads: one at a time is in MPI.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1024, PERSISTENT = 4096 };
static long long messages[MOST], bytes[MOST];
static struct persistent {
    MPI_Request request;
    int to;
    long long bytes;
} persistent[PERSISTENT];
static int persistent_count;

/* The rank of the world; negative: to nobody. */
static int world_rank(int to, MPI_Comm comm)
{
    int inter, world;
    MPI_Group theirs, all;

    if (to < 0)
        return to;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &theirs);
    else
        PMPI_Comm_group(comm, &theirs);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(theirs, 1, &to, all, &world);
    PMPI_Group_free(&theirs);
    PMPI_Group_free(&all);
    return world;
}

static long long size_of(int n, MPI_Datatype type)
{
    int size;

    PMPI_Type_size(type, &size);
    return (long long)n * size;
}

static void count(int n, MPI_Datatype type, int to, MPI_Comm comm)
{
    if (to < 0)
        return;
    int world = world_rank(to, comm);
    messages[world]++;
    bytes[world] += size_of(n, type);
}

static void keep(MPI_Request r, int n, MPI_Datatype type, int to, MPI_Comm comm)
{
    if (persistent_count == PERSISTENT)
        abort();
    persistent[persistent_count++] = (struct persistent){ r, world_rank(to, comm), to < 0 ? 0 : size_of(n, type) };
}

static struct persistent *kept(MPI_Request r)
{
    for (int i = 0; i < persistent_count; i++)
        if (persistent[i].request == r)
            return &persistent[i];
    return NULL;
}

static void started(MPI_Request r)
{
    const struct persistent *p = kept(r);

    if (p && p->to >= 0) {
        messages[p->to]++;
        bytes[p->to] += p->bytes;
    }
}

static void drop(MPI_Request r)
{
    struct persistent *p = kept(r);

    if (p)
        *p = persistent[--persistent_count];
}

/* --- C --- */

#define NEXT(name) \
    __typeof__(&name) next; \
    *(void **)&next = dlsym(RTLD_NEXT, #name)
#define SENDS(name) \
    int name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) \
    { \
        NEXT(name); \
        count(n, t, to, c); \
        return next(b, n, t, to, tag, c); \
    }
#define STARTS(name) \
    int name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) \
    { \
        NEXT(name); \
        count(n, t, to, c); \
        return next(b, n, t, to, tag, c, r); \
    }
#define PREPARES(name) \
    int name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) \
    { \
        NEXT(name); \
        int rc = next(b, n, t, to, tag, c, r); \
        keep(*r, n, t, to, c); \
        return rc; \
    }
SENDS(MPI_Send)
SENDS(MPI_Ssend)
SENDS(MPI_Rsend)
SENDS(MPI_Bsend)
STARTS(MPI_Isend)
STARTS(MPI_Issend)
STARTS(MPI_Irsend)
STARTS(MPI_Ibsend)
PREPARES(MPI_Send_init)
PREPARES(MPI_Ssend_init)
PREPARES(MPI_Rsend_init)
PREPARES(MPI_Bsend_init)

int MPI_Start(MPI_Request *r)
{
    NEXT(MPI_Start);
    started(*r);
    return next(r);
}

int MPI_Startall(int n, MPI_Request r[])
{
    NEXT(MPI_Startall);
    for (int i = 0; i < n; i++)
        started(r[i]);
    return next(n, r);
}

int MPI_Request_free(MPI_Request *r)
{
    NEXT(MPI_Request_free);
    drop(*r);
    return next(r);
}

int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt, int from,
                 int rtag, MPI_Comm c, MPI_Status *s)
{
    NEXT(MPI_Sendrecv);
    count(n, t, to, c);
    return next(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s);
}

int MPI_Sendrecv_replace(void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c, MPI_Status *s)
{
    NEXT(MPI_Sendrecv_replace);
    count(n, t, to, c);
    return next(b, n, t, to, tag, from, rtag, c, s);
}

static void write_counts(void)
{
    int rank;
    char path[300];

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", getenv("COUNTED"), rank);
    FILE *f = fopen(path, "w");
    for (int to = 0; f && to < MOST; to++)
        if (messages[to])
            fprintf(f, "%d %d %lld %lld\n", rank, to, messages[to], bytes[to]);
    if (f)
        fclose(f);
}

int MPI_Finalize(void)
{
    NEXT(MPI_Finalize);
    write_counts();
    return next();
}

/* --- Fortran --- */

#ifdef OPEN_MPI
typedef MPI_Fint F;

#define FORTRAN_COUNT(n, t, to, c) count(*(n), MPI_Type_f2c(*(t)), *(to), MPI_Comm_f2c(*(c)))
#define FORTRAN_SENDS(name) \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *error); \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *error) \
    { \
        NEXT(name); \
        FORTRAN_COUNT(n, t, to, c); \
        next(b, n, t, to, tag, c, error); \
    }
#define FORTRAN_STARTS(name) \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *error); \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *error) \
    { \
        NEXT(name); \
        FORTRAN_COUNT(n, t, to, c); \
        next(b, n, t, to, tag, c, r, error); \
    }
#define FORTRAN_PREPARES(name) \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *error); \
    void name(char *b, F *n, F *t, F *to, F *tag, F *c, F *r, F *error) \
    { \
        NEXT(name); \
        next(b, n, t, to, tag, c, r, error); \
        keep(MPI_Request_f2c(*r), *n, MPI_Type_f2c(*t), *to, MPI_Comm_f2c(*c)); \
    }
FORTRAN_SENDS(mpi_send_)
FORTRAN_SENDS(mpi_ssend_)
FORTRAN_SENDS(mpi_rsend_)
FORTRAN_SENDS(mpi_bsend_)
FORTRAN_STARTS(mpi_isend_)
FORTRAN_STARTS(mpi_issend_)
FORTRAN_STARTS(mpi_irsend_)
FORTRAN_STARTS(mpi_ibsend_)
FORTRAN_PREPARES(mpi_send_init_)
FORTRAN_PREPARES(mpi_ssend_init_)
FORTRAN_PREPARES(mpi_rsend_init_)
FORTRAN_PREPARES(mpi_bsend_init_)

void mpi_start_(F *r, F *error);
void mpi_start_(F *r, F *error)
{
    NEXT(mpi_start_);
    started(MPI_Request_f2c(*r));
    next(r, error);
}

void mpi_startall_(F *n, F r[], F *error);
void mpi_startall_(F *n, F r[], F *error)
{
    NEXT(mpi_startall_);
    for (int i = 0; i < *n; i++)
        started(MPI_Request_f2c(r[i]));
    next(n, r, error);
}

void mpi_request_free_(F *r, F *error);
void mpi_request_free_(F *r, F *error)
{
    NEXT(mpi_request_free_);
    drop(MPI_Request_f2c(*r));
    next(r, error);
}

void mpi_sendrecv_(char *b, F *n, F *t, F *to, F *tag, char *rb, F *rn, F *rt, F *from, F *rtag, F *c, F *s, F *error);
void mpi_sendrecv_(char *b, F *n, F *t, F *to, F *tag, char *rb, F *rn, F *rt, F *from, F *rtag, F *c, F *s, F *error)
{
    NEXT(mpi_sendrecv_);
    FORTRAN_COUNT(n, t, to, c);
    next(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s, error);
}

void mpi_sendrecv_replace_(char *b, F *n, F *t, F *to, F *tag, F *from, F *rtag, F *c, F *s, F *error);
void mpi_sendrecv_replace_(char *b, F *n, F *t, F *to, F *tag, F *from, F *rtag, F *c, F *s, F *error)
{
    NEXT(mpi_sendrecv_replace_);
    FORTRAN_COUNT(n, t, to, c);
    next(b, n, t, to, tag, from, rtag, c, s, error);
}

void mpi_finalize_(F *error);
void mpi_finalize_(F *error)
{
    NEXT(mpi_finalize_);
    write_counts();
    next(error);
}
#endif
