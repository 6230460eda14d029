/* SPDX-License-Identifier: MIT */
#include "domain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method.h"

void *domain_alloc(struct domain *d, size_t count, size_t size)
{
    if (d->owned_count == d->owned_room) {
        const int room = d->owned_room ? 2 * d->owned_room : 64;
        void **grown = realloc(d->owned, (size_t)room * sizeof *grown);

        if (!grown)
            return NULL;
        d->owned = grown;
        d->owned_room = room;
    }
    void *p = calloc(count ? count : 1, size);
    if (p)
        d->owned[d->owned_count++] = p;
    return p;
}

static int alloc_all(struct domain *d, double **const arrays[], size_t how_many, size_t count)
{
    for (size_t i = 0; i < how_many; i++) {
        *arrays[i] = domain_alloc(d, count, sizeof **arrays[i]);
        if (!*arrays[i])
            return -1;
    }
    return 0;
}

#define ALLOC_ALL(d, count, ...)                                                                       \
    alloc_all((d), (double **const[]){ __VA_ARGS__ },                                                  \
              sizeof((double **[]){ __VA_ARGS__ }) / sizeof(double **), (size_t)(count))

#define OF_VEC3(v) &(v).x, &(v).y, &(v).z

static int alloc_nodes(struct domain *d)
{
    return ALLOC_ALL(d, d->nodes, OF_VEC3(d->pos), OF_VEC3(d->vel), OF_VEC3(d->acc), OF_VEC3(d->force), &d->node_mass);
}

static int alloc_elems(struct domain *d)
{
    const int ghosts = FACES * d->edge_elems * d->edge_elems;

    if (ALLOC_ALL(d, d->elems, &d->e, &d->p, &d->q, &d->q_linear, &d->q_quadratic, &d->v, &d->v_new, &d->v_clamped,
                  &d->delv, &d->vdov, &d->volume0, &d->mass, &d->length, &d->sound, OF_VEC3(d->strain), &d->stress,
                  &d->determinant) != 0)
        return -1;
    for (int k = 0; k < 3; k++)
        if (ALLOC_ALL(d, d->elems + ghosts, &d->velocity_step[k]) != 0 ||
            ALLOC_ALL(d, d->elems, &d->position_step[k]) != 0)
            return -1;
    return 0;
}

static int alloc_work(struct domain *d)
{
    struct eos_work *w = &d->eos;
    struct hex **const hexes[] = { &d->corner_force, &d->hourglass_pos, &d->hourglass_grad };

    for (size_t i = 0; i < sizeof hexes / sizeof hexes[0]; i++) {
        *hexes[i] = domain_alloc(d, (size_t)d->elems, sizeof **hexes[i]);
        if (!*hexes[i])
            return -1;
    }
    return ALLOC_ALL(d, d->elems, &w->e_old, &w->p_old, &w->q_old, &w->qq_old, &w->ql_old, &w->delv, &w->compression,
                     &w->compression_half, &w->work, &w->e_new, &w->p_new, &w->q_new, &w->p_half, &w->bvc, &w->pbvc);
}

static void place(struct domain *d, int rank, int ranks, int side, int s)
{
    d->rank = rank;
    d->ranks = ranks;
    d->side = side;
    d->col = rank % side;
    d->row = rank / side % side;
    d->plane = rank / (side * side);
    d->edge_elems = s;
    d->edge_nodes = s + 1;
    d->elems = s * s * s;
    d->nodes = (s + 1) * (s + 1) * (s + 1);
}

/*
 * The blast: all energy in the element at the origin, scaled so that every resolution sees the same explosion. The
 * first step comes from the edge of an element and not from the measured volume of this block's first one, which
 * differs in the last bit from rank to rank (invariant 3).
 */
static void light(struct domain *d)
{
    const double edge_elems = (double)d->edge_elems * d->side;
    const double scale = edge_elems / BLAST_EDGE;
    const double energy = BLAST_ENERGY * scale * scale * scale;

    if (d->rank == 0)
        d->e[0] = energy;
    d->dt = 0.5 * (MESH_EDGE / edge_elems) / sqrt(2.0 * energy);
    d->dt_courant = DT_NONE;
    d->dt_hydro = DT_NONE;
}

struct domain *domain_create(const struct options *o, int rank, int ranks, int side, int threads)
{
    struct domain *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    place(d, rank, ranks, side, o->edge_elems);
    d->split_forces = threads > 1;
    d->halo = halo_create(rank, side, o->edge_elems);
    if (!d->halo || alloc_nodes(d) != 0 || alloc_elems(d) != 0 || alloc_work(d) != 0 || mesh_build(d) != 0 ||
        regions_build(d, o) != 0) {
        domain_destroy(d);
        return NULL;
    }
    light(d);
    return d;
}

void domain_destroy(struct domain *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->owned_count; i++)
        free(d->owned[i]);
    free(d->owned);
    halo_destroy(d->halo);
    free(d);
}

void domain_fail(const struct domain *d, const char *what)
{
    fprintf(stderr, "lulesh: rank %d, iteration %d: %s\n", d->rank, d->cycle, what);
    run_abort(1);
}
