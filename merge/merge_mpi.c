/* SPDX-License-Identifier: MIT */
#include "file/file.h"
#include "merge/merge_mpi.h"

#include <stdlib.h>

#include "merge/merge.h"
#include "pythia.h"

enum { TAG = 7411 };
#define CHUNK ((size_t)1 << 30)

struct node {
    struct job *job; /* of this rank and what it took; NULL: out of memory, so all of it is missing to its parent */
    MPI_Comm comm;
    size_t chunk;
    int rank, ranks;
};

/* What a child offers: first message of an edge. */
struct offer {
    uint64_t classes; /* bodies that follow */
    uint64_t present; /* 0: out of memory, nothing follows */
};

/* --- Messages of any size --- */

static int send_bytes(const struct node *n, int to, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        size_t part = size < n->chunk ? size : n->chunk;
        if (PMPI_Send(at, (int)part, MPI_BYTE, to, TAG, n->comm) != MPI_SUCCESS)
            return PYTHIA_EIO;
        at += part;
        size -= part;
    }
    return 0;
}

static int receive_bytes(const struct node *n, int from, void *data, size_t size)
{
    for (char *at = data; size;) {
        size_t part = size < n->chunk ? size : n->chunk;
        if (PMPI_Recv(at, (int)part, MPI_BYTE, from, TAG, n->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return PYTHIA_EIO;
        at += part;
        size -= part;
    }
    return 0;
}

/* --- The child's side --- */

static struct merge_body *own_bodies(const struct job *j)
{
    struct merge_body *body = malloc(((size_t)j->class_count + 1) * sizeof *body);
    for (uint32_t i = 0; body && i < j->class_count; i++)
        body[i] = merge_body_of(j, i);
    return body;
}

/* Says how long the packed job is (0: there is none after all), and sends it if the parent has room. */
static int send_packed(const struct node *n, int parent, const uint8_t *known)
{
    BASE_OWN void *data = NULL;
    size_t size = 0;
    uint64_t length = file_pack(n->job, known, &data, &size) ? 0 : size, room = 0;
    int error = send_bytes(n, parent, &length, sizeof length);
    if (!error && length)
        error = receive_bytes(n, parent, &room, sizeof room);
    if (!error && room)
        error = send_bytes(n, parent, data, size);
    return error;
}

static int send_up(const struct node *n, int parent)
{
    BASE_OWN struct merge_body *body = n->job ? own_bodies(n->job) : NULL;
    uint32_t classes = body ? n->job->class_count : 0;
    BASE_OWN uint8_t *known = malloc((size_t)classes + 1);
    int present = body && known;
    struct offer offer = { present ? classes : 0, (uint64_t)present };
    uint64_t wanted = 0;
    int error = send_bytes(n, parent, &offer, sizeof offer);
    if (!error && present)
        error = send_bytes(n, parent, body, classes * sizeof *body);
    if (!error && present)
        error = receive_bytes(n, parent, &wanted, sizeof wanted);
    if (!error && wanted)
        error = receive_bytes(n, parent, known, classes);
    if (!error && wanted)
        error = send_packed(n, parent, known);
    return error;
}

/* --- The parent's side --- */

static void count_missing(struct node *n, uint64_t ranks)
{
    if (n->job)
        n->job->info.missing += (uint32_t)ranks;
}

/* Joins a message. */
static int merge_mpi_take(struct node *n, const void *data, size_t size)
{
    struct job *theirs = NULL;
    char why[160];
    int error = file_unpack(data, size, &theirs, why, sizeof why);
    error = error ?: merge_job(n->job, theirs);
    job_destroy(theirs);
    return error;
}

/* `covered` ranks are in what comes, and lost if it can't be had. */
static int receive_packed(struct node *n, int child, uint64_t covered)
{
    uint64_t length, room;
    int error = receive_bytes(n, child, &length, sizeof length);
    if (error)
        return error;
    BASE_OWN void *data = length ? malloc(length) : NULL;
    room = data != NULL;
    if (length)
        error = send_bytes(n, child, &room, sizeof room);
    if (!error && data)
        error = receive_bytes(n, child, data, length);
    if (!error && (!data || merge_mpi_take(n, data, length)))
        count_missing(n, covered);
    return error;
}

/* Which of the child's classes are here already: their rules need not travel. */
static void mark_known(const struct job *j, const struct merge_body *body, uint8_t *known, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        known[i] = merge_knows(j, &body[i]);
}

/* They must be received whether there is room for them or not: a few at a time. */
static int receive_bodies(const struct node *n, int child, uint64_t count, uint8_t *known)
{
    struct merge_body some[256];
    for (uint64_t at = 0; at < count; at += 256) {
        uint64_t part = count - at < 256 ? count - at : 256;
        int error = receive_bytes(n, child, some, part * sizeof *some);
        if (error)
            return error;
        if (known)
            mark_known(n->job, some, known + at, part);
    }
    return 0;
}

static int receive_from(struct node *n, int child, uint64_t covered)
{
    struct offer offer;
    int error = receive_bytes(n, child, &offer, sizeof offer);
    if (error)
        return error;
    if (!offer.present) {
        count_missing(n, covered); /* nothing of what was below it came through */
        return 0;
    }
    BASE_OWN uint8_t *known = n->job ? malloc(offer.classes + 1) : NULL;
    uint64_t wanted = known != NULL;
    error = receive_bodies(n, child, offer.classes, known);
    error = error ?: send_bytes(n, child, &wanted, sizeof wanted);
    if (!error && known)
        error = send_bytes(n, child, known, offer.classes);
    if (!error && known)
        error = receive_packed(n, child, covered);
    else if (!error)
        count_missing(n, covered);
    return error;
}

/* --- The tree --- */

static int climb(struct node *n)
{
    int error = 0;
    for (int bit = 1; bit < n->ranks && !error; bit *= 2) {
        if (n->rank & bit)
            return send_up(n, n->rank - bit);
        int child = n->rank + bit;
        if (child < n->ranks)
            error = receive_from(n, child, (uint64_t)(n->ranks - child < bit ? n->ranks - child : bit));
        if (bit > n->ranks / 2)
            break;
    }
    return error;
}

int merge_mpi_reduce_chunked(struct job *mine, MPI_Comm private_comm, size_t chunk, struct job **root_job)
{
    struct node n = { .job = mine, .comm = private_comm, .chunk = chunk };
    *root_job = NULL;
    if (PMPI_Comm_rank(private_comm, &n.rank) != MPI_SUCCESS || PMPI_Comm_size(private_comm, &n.ranks) != MPI_SUCCESS) {
        job_destroy(mine);
        return PYTHIA_EIO;
    }
    if (!n.job) {
        n.job = job_create();
        count_missing(&n, 1);
    }
    int error = climb(&n);
    if (!error && n.rank == 0) {
        *root_job = n.job;
        return n.job ? 0 : PYTHIA_ENOMEM;
    }
    job_destroy(n.job);
    return error;
}

int merge_mpi_reduce(struct job *mine, MPI_Comm private_comm, struct job **root_job)
{
    return merge_mpi_reduce_chunked(mine, private_comm, CHUNK, root_job);
}
