/* SPDX-License-Identifier: MIT */
#include "pmpi/near.h"

#include <stdlib.h>

#include "pmpi/members.h"

static struct pmpi_hook_near *near_new(int out, int in)
{
    struct pmpi_hook_near *near = out >= 0 && in >= 0 ? malloc(sizeof(*near) + ((size_t)out + (size_t)in) *
                                                                                   sizeof(*near->of)) : NULL;
    if (near) {
        near->out = out;
        near->in = in;
        near->grid = 0;
    }
    return near;
}

/* `rank` of so many, from `first` on, as ranks of the world. */
static void near_fill(struct pmpi_hook_near *near, int first, const int *rank, int count,
                      const struct pmpi_hook_members *members)
{
    for (int i = 0; i < count; i++) {
        near->of[first + i].rank = rank[i];
        near->of[first + i].world = rank[i] == MPI_PROC_NULL ? PMPI_HOOK_NEAR_NULL
                                                             : (int64_t)pmpi_hook_members_world(members, rank[i]);
    }
}

static struct pmpi_hook_near *near_cart(MPI_Comm comm, const struct pmpi_hook_members *members)
{
    int dimensions;
    if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS)
        return NULL;
    struct pmpi_hook_near *near = near_new(2 * dimensions, 2 * dimensions);
    for (int d = 0; near && d < dimensions; d++) {
        int side[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
        PMPI_Cart_shift(comm, d, 1, &side[0], &side[1]);
        near_fill(near, 2 * d, side, 2, members);
        near_fill(near, 2 * dimensions + 2 * d, side, 2, members);
        near->grid = 2 * d + 2;
    }
    return near;
}

static struct pmpi_hook_near *near_graph(MPI_Comm comm, const struct pmpi_hook_members *members)
{
    int own, count;
    if (PMPI_Comm_rank(comm, &own) != MPI_SUCCESS || PMPI_Graph_neighbors_count(comm, own, &count) != MPI_SUCCESS)
        return NULL;
    struct pmpi_hook_near *near = near_new(count, count);
    if (!near)
        return NULL;
    int *rank = calloc((size_t)near->out + 1, sizeof(*rank));
    if (!rank || PMPI_Graph_neighbors(comm, own, count, rank) != MPI_SUCCESS)
        near->out = near->in = 0;
    if (near->out) {
        near_fill(near, 0, rank, count, members);
        near_fill(near, count, rank, count, members);
    }
    free(rank);
    return near;
}

static struct pmpi_hook_near *near_dist_graph(MPI_Comm comm, const struct pmpi_hook_members *members)
{
    int in, out, weighted;
    if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS)
        return NULL;
    struct pmpi_hook_near *near = near_new(out, in);
    if (!near)
        return NULL;
    size_t most = (size_t)near->in + (size_t)near->out;
    int *rank = calloc(2 * most + 1, sizeof(*rank)), *weight = rank + most;
    if (!rank || PMPI_Dist_graph_neighbors(comm, in, rank, weight, out, rank + in, weight + in) !=
                              MPI_SUCCESS)
        near->out = near->in = 0;
    if (near->out + near->in) {
        near_fill(near, 0, rank + in, out, members);
        near_fill(near, out, rank, in, members);
    }
    free(rank);
    return near;
}

struct pmpi_hook_near *pmpi_hook_near_of(int topology, MPI_Comm comm, const struct pmpi_hook_members *members)
{
    return topology == MPI_CART         ? near_cart(comm, members)
           : topology == MPI_GRAPH      ? near_graph(comm, members)
           : topology == MPI_DIST_GRAPH ? near_dist_graph(comm, members)
                                        : NULL;
}

/* --- A call's messages --- */

int pmpi_hook_near_count(const struct pmpi_hook_call *call, bool receives)
{
    const struct pmpi_hook_near *near = call->comm ? call->comm->near : NULL;
    return near ? receives ? near->in : near->out : 0;
}

int64_t pmpi_hook_near_bytes(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type)
{
    int element = call->element; /* is the event's */
    int64_t bytes = pmpi_hook_bytes_of(call, count, type);
    call->element = element;
    return bytes;
}

void pmpi_hook_near_message(struct pmpi_hook_call *call, bool receives, int i, int64_t bytes)
{
    const struct pmpi_hook_near *near = call->comm->near;
    int64_t world = near->of[receives ? near->out + i : i].world;
    if (world != PMPI_HOOK_NEAR_NULL)
        pmpi_hook_message(call, receives, (uint32_t)world, bytes);
}

void pmpi_hook_near(struct pmpi_hook_call *call, bool receives, int64_t count, MPI_Datatype type)
{
    int neighbours = pmpi_hook_near_moved(call, receives);
    int64_t bytes = neighbours ? pmpi_hook_near_bytes(call, count, type) : 0;
    for (int i = neighbours; i-- > 0;)
        pmpi_hook_near_message(call, receives, i, bytes);
}

void pmpi_hook_near_sum(struct pmpi_hook_call *call, bool receives, struct pmpi_hook_counts counts, MPI_Datatype type)
{
    int neighbours = counts.at ? pmpi_hook_near_moved(call, receives) : 0;
    int64_t one = neighbours ? pmpi_hook_near_bytes(call, 1, type) : 0;
    for (int i = neighbours; i-- > 0;)
        pmpi_hook_near_message(call, receives, i, pmpi_hook_count(counts, i) * one);
}

void pmpi_hook_near_each(struct pmpi_hook_call *call, bool receives, struct pmpi_hook_counts counts,
                         struct pmpi_hook_handles types)
{
    for (int i = pmpi_hook_near_moved(call, receives); counts.at && types.at && i-- > 0;)
        pmpi_hook_near_message(call, receives, i, pmpi_hook_near_bytes(call, pmpi_hook_count(counts, i), pmpi_hook_type_at(types, i)));
}
