/* SPDX-License-Identifier: MIT */
#include "halo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLOTS       27
#define SELF        13
#define MAX_FIELDS  6

/* What is shared in a direction, in nodes or in elements: a range per dimension, and the strides of the block. */
struct box {
    int from[3], count[3];  /* x, y, z */
    int edge;
};

struct halo {
    int rank, edge_elems;
    bool present[SLOTS];
    int neighbour[SLOTS];
    struct box nodes[SLOTS], elems[SLOTS];
    double *in[SLOTS], *out[SLOTS];     /* parts of `memory` */
    double *memory;
    MPI_Request receiving[SLOTS];
};

enum unpack { SUM, OVERWRITE, GHOST };

static const struct traits {
    int fields, tag;
    enum unpack unpack;
} traits[] = {
    [HALO_MASS] = { 1, 101, SUM },
    [HALO_FORCE] = { 3, 102, SUM },
    [HALO_MOTION] = { 6, 103, OVERWRITE },
    [HALO_GRADIENT] = { 3, 104, GHOST },
};

static int box_points(const struct box *b)
{
    return b->count[0] * b->count[1] * b->count[2];
}

static struct box box_of(const int direction[3], int edge)
{
    struct box b = { .edge = edge };

    for (int k = 0; k < 3; k++) {
        b.from[k] = direction[k] > 0 ? edge - 1 : 0;
        b.count[k] = direction[k] == 0 ? edge : 1;
    }
    return b;
}

/* Where the ghosts behind a face lie, in the order of enum face; -1 for edges and corners. */
static int face_of_slot(int slot)
{
    switch (slot) {
    case SELF - 1: return 0;
    case SELF + 1: return 1;
    case SELF - 3: return 2;
    case SELF + 3: return 3;
    case SELF - 9: return 4;
    case SELF + 9: return 5;
    default: return -1;
    }
}

static bool takes_part(const struct halo *h, enum halo_exchange x, int slot)
{
    return h->present[slot] && (traits[x].unpack != GHOST || face_of_slot(slot) >= 0);
}

static bool receives(const struct halo *h, enum halo_exchange x, int slot)
{
    return takes_part(h, x, slot) && (traits[x].unpack != OVERWRITE || slot > SELF);
}

static bool sends(const struct halo *h, enum halo_exchange x, int slot)
{
    return takes_part(h, x, slot) && (traits[x].unpack != OVERWRITE || slot < SELF);
}

static const struct box *box_for(const struct halo *h, enum halo_exchange x, int slot)
{
    return traits[x].unpack == GHOST ? &h->elems[slot] : &h->nodes[slot];
}

static void place_neighbours(struct halo *h, int rank, int side, int s)
{
    const int at[3] = { rank % side, rank / side % side, rank / (side * side) };

    for (int slot = 0; slot < SLOTS; slot++) {
        const int direction[3] = { slot % 3 - 1, slot / 3 % 3 - 1, slot / 9 - 1 };

        h->present[slot] = slot != SELF;
        for (int k = 0; k < 3; k++) {
            const int there = at[k] + direction[k];

            if (there < 0 || there >= side)
                h->present[slot] = false;
        }
        h->neighbour[slot] = rank + (direction[2] * side + direction[1]) * side + direction[0];
        h->nodes[slot] = box_of(direction, s + 1);
        h->elems[slot] = box_of(direction, s);
    }
}

/* Room for a message, up to whole cache lines, so that no two messages share one. */
static size_t message_room(const struct halo *h, int slot)
{
    return h->present[slot] ? ((size_t)box_points(&h->nodes[slot]) * MAX_FIELDS + 7) / 8 * 8 : 0;
}

struct halo *halo_create(int rank, int side, int s)
{
    struct halo *h = calloc(1, sizeof *h);
    size_t total = 0;

    if (!h)
        return NULL;
    h->rank = rank;
    h->edge_elems = s;
    place_neighbours(h, rank, side, s);
    for (int slot = 0; slot < SLOTS; slot++)
        total += 2 * message_room(h, slot);
    h->memory = calloc(total + 1, sizeof *h->memory);
    if (!h->memory) {
        free(h);
        return NULL;
    }
    double *next = h->memory;
    for (int slot = 0; slot < SLOTS; slot++) {
        h->in[slot] = next;
        next += message_room(h, slot);
        h->out[slot] = next;
        next += message_room(h, slot);
    }
    return h;
}

void halo_destroy(struct halo *h)
{
    if (h)
        free(h->memory);
    free(h);
}

static double *pack(const struct box *b, const double *field, double *to)
{
    for (int z = b->from[2]; z < b->from[2] + b->count[2]; z++)
        for (int y = b->from[1]; y < b->from[1] + b->count[1]; y++) {
            const double *row = field + ((size_t)z * (size_t)b->edge + (size_t)y) * (size_t)b->edge + b->from[0];

            for (int x = 0; x < b->count[0]; x++)
                *to++ = row[x];
        }
    return to;
}

static const double *unpack(const struct box *b, double *field, const double *from, bool sum)
{
    for (int z = b->from[2]; z < b->from[2] + b->count[2]; z++)
        for (int y = b->from[1]; y < b->from[1] + b->count[1]; y++) {
            double *row = field + ((size_t)z * (size_t)b->edge + (size_t)y) * (size_t)b->edge + b->from[0];

            for (int x = 0; x < b->count[0]; x++)
                row[x] = sum ? row[x] + *from++ : *from++;
        }
    return from;
}

static void unpack_ghosts(const struct halo *h, int slot, double *const fields[])
{
    const size_t face = (size_t)h->edge_elems * (size_t)h->edge_elems;
    const size_t first = face * (size_t)h->edge_elems + face * (size_t)face_of_slot(slot);
    const double *from = h->in[slot];

    for (int f = 0; f < traits[HALO_GRADIENT].fields; f++)
        for (size_t i = 0; i < face; i++)
            fields[f][first + i] = *from++;
}

void halo_receive(struct halo *h, enum halo_exchange x)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        h->receiving[slot] = MPI_REQUEST_NULL;
        if (receives(h, x, slot))
            MPI_Irecv(h->in[slot], traits[x].fields * box_points(box_for(h, x, slot)), MPI_DOUBLE, h->neighbour[slot],
                      traits[x].tag, MPI_COMM_WORLD, &h->receiving[slot]);
    }
}

void halo_send(struct halo *h, enum halo_exchange x, double *const fields[])
{
    MPI_Request request[SLOTS - 1];     /* every slot but the block itself */
    MPI_Status status[SLOTS - 1];       /* unread: gcc takes MPICH's MPI_STATUSES_IGNORE for an array too small */

    for (int slot = 0, i = 0; slot < SLOTS; slot++) {
        if (slot == SELF)
            continue;
        request[i] = MPI_REQUEST_NULL;
        if (sends(h, x, slot)) {
            const struct box *b = box_for(h, x, slot);
            double *to = h->out[slot];

            for (int f = 0; f < traits[x].fields; f++)
                to = pack(b, fields[f], to);
            MPI_Isend(h->out[slot], (int)(to - h->out[slot]), MPI_DOUBLE, h->neighbour[slot], traits[x].tag,
                      MPI_COMM_WORLD, &request[i]);
        }
        i++;
    }
    MPI_Waitall(SLOTS - 1, request, status);
}

/*
 * In ascending slots, that is ascending ranks: sums have a fixed order, and where several neighbours overwrite the same
 * node (on an edge or a corner of the block) the highest rank, which got it from nobody, has the last word.
 */
void halo_finish(struct halo *h, enum halo_exchange x, double *const fields[])
{
    for (int slot = 0; slot < SLOTS; slot++) {
        if (!receives(h, x, slot))
            continue;
        MPI_Wait(&h->receiving[slot], MPI_STATUS_IGNORE);
        if (traits[x].unpack == GHOST) {
            unpack_ghosts(h, slot, fields);
            continue;
        }
        const double *from = h->in[slot];
        for (int f = 0; f < traits[x].fields; f++)
            from = unpack(&h->nodes[slot], fields[f], from, traits[x].unpack == SUM);
    }
}

void run_start(int *argc, char ***argv)
{
    int provided;

    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
}

void run_stop(void)
{
    MPI_Finalize();
}

void run_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
    abort();
}

int run_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int run_ranks(void)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

void run_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

double run_seconds(void)
{
    return MPI_Wtime();
}

double run_min(double mine)
{
    double all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static double to_first(double mine, MPI_Op op)
{
    double all = mine;

    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    return all;
}

double run_max_to_first(double mine)
{
    return to_first(mine, MPI_MAX);
}

double run_min_to_first(double mine)
{
    return to_first(mine, MPI_MIN);
}

double run_sum_to_first(double mine)
{
    return to_first(mine, MPI_SUM);
}
