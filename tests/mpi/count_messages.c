/* SPDX-License-Identifier: MIT */
/*
 * Preloaded before Pythia's wrappers: what a matrix must equal. Counts what each rank sends to each rank of the world,
 * call by call and without any of Pythia's code, and writes it to $COUNTED.RANK as lines of "from to messages bytes
 * how".
 *
 * Point-to-point calls of C and, with Open MPI, of Fortran (whose bindings call PMPI); a persistent send counts where
 * it is started. One-sided calls of C: what is read comes from the target. Partitioned sends are not counted.
 * Threads: one at a time is in MPI.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1024, PERSISTENT = 4096 };
static struct tally {
    long long messages, bytes;
} sent[MOST], put[MOST], got[MOST];
static struct persistent {
    MPI_Request request;
    int to;
    long long bytes;
} persistent[PERSISTENT];
static int persistent_count;

static int rank_of(MPI_Group group, int to)
{
    int world;
    MPI_Group all;

    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(group, 1, &to, all, &world);
    PMPI_Group_free(&all);
    PMPI_Group_free(&group);
    return world;
}

/* The rank of the world; negative: to nobody. */
static int world_rank(int to, MPI_Comm comm)
{
    int inter;
    MPI_Group group;

    if (to < 0)
        return to;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    return rank_of(group, to);
}

static long long size_of(int n, MPI_Datatype type)
{
    int size;

    PMPI_Type_size(type, &size);
    return (long long)n * size;
}

static void add(struct tally *t, long long size)
{
    t->messages++;
    t->bytes += size;
}

static void count(int n, MPI_Datatype type, int to, MPI_Comm comm)
{
    if (to < 0)
        return;
    add(&sent[world_rank(to, comm)], size_of(n, type));
}

static void access_window(struct tally *tally, int n, MPI_Datatype type, int to, MPI_Win win)
{
    MPI_Group group;

    if (to < 0)
        return;
    PMPI_Win_get_group(win, &group);
    add(&tally[rank_of(group, to)], size_of(n, type));
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

    if (p && p->to >= 0)
        add(&sent[p->to], p->bytes);
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

#define ORIGIN int n, MPI_Datatype t, int to, MPI_Aint at, int tn, MPI_Datatype tt
int MPI_Put(const void *b, ORIGIN, MPI_Win w)
{
    NEXT(MPI_Put);
    access_window(put, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, w);
}

int MPI_Rput(const void *b, ORIGIN, MPI_Win w, MPI_Request *r)
{
    NEXT(MPI_Rput);
    access_window(put, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, w, r);
}

int MPI_Get(void *b, ORIGIN, MPI_Win w)
{
    NEXT(MPI_Get);
    access_window(got, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, w);
}

int MPI_Rget(void *b, ORIGIN, MPI_Win w, MPI_Request *r)
{
    NEXT(MPI_Rget);
    access_window(got, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, w, r);
}

int MPI_Accumulate(const void *b, ORIGIN, MPI_Op op, MPI_Win w)
{
    NEXT(MPI_Accumulate);
    access_window(put, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, op, w);
}

int MPI_Raccumulate(const void *b, ORIGIN, MPI_Op op, MPI_Win w, MPI_Request *r)
{
    NEXT(MPI_Raccumulate);
    access_window(put, n, t, to, w);
    return next(b, n, t, to, at, tn, tt, op, w, r);
}

/* As many bytes as come back. */
int MPI_Get_accumulate(const void *b, int bn, MPI_Datatype bt, void *back, ORIGIN, MPI_Op op, MPI_Win w)
{
    NEXT(MPI_Get_accumulate);
    access_window(put, n, t, to, w);
    return next(b, bn, bt, back, n, t, to, at, tn, tt, op, w);
}

int MPI_Fetch_and_op(const void *b, void *back, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w)
{
    NEXT(MPI_Fetch_and_op);
    access_window(got, 1, t, to, w);
    return next(b, back, t, to, at, op, w);
}

int MPI_Compare_and_swap(const void *b, const void *old, void *back, MPI_Datatype t, int to, MPI_Aint at, MPI_Win w)
{
    NEXT(MPI_Compare_and_swap);
    access_window(got, 1, t, to, w);
    return next(b, old, back, t, to, at, w);
}

static void write_tally(FILE *f, const char *how, int from, int to, const struct tally *t)
{
    if (t->messages)
        fprintf(f, "%d %d %lld %lld %s\n", from, to, t->messages, t->bytes, how);
}

static void write_counts(void)
{
    int rank;
    char path[300];

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", getenv("COUNTED"), rank);
    FILE *f = fopen(path, "w");
    for (int other = 0; f && other < MOST; other++) {
        write_tally(f, "sent", rank, other, &sent[other]);
        write_tally(f, "put", rank, other, &put[other]);
        write_tally(f, "got", other, rank, &got[other]);
    }
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
