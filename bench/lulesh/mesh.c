/* SPDX-License-Identifier: MIT */
/*
 * The mesh at time 0: where the nodes are, which nodes make an element, what lies behind each of its faces.
 */
#include "domain.h"
#include "method.h"

static int index_of(int edge, int x, int y, int z)
{
    return (z * edge + y) * edge + x;
}

/* Equal fractions of the cube's edge, from numbers that all ranks share: a node has the same bits on both sides. */
static double coordinate(const struct domain *d, int block, int i)
{
    return MESH_EDGE * (double)(block * d->edge_elems + i) / (double)(d->side * d->edge_elems);
}

static void place_nodes(struct domain *d)
{
    const int n = d->edge_nodes;

    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int i = index_of(n, x, y, z);

                d->pos.x[i] = coordinate(d, d->col, x);
                d->pos.y[i] = coordinate(d, d->row, y);
                d->pos.z[i] = coordinate(d, d->plane, z);
            }
}

static void join_corners(struct domain *d)
{
    const int s = d->edge_elems, n = d->edge_nodes;

    for (int z = 0; z < s; z++)
        for (int y = 0; y < s; y++)
            for (int x = 0; x < s; x++) {
                int *c = d->corner[index_of(s, x, y, z)];
                const int low = index_of(n, x, y, z), high = index_of(n, x, y, z + 1);

                c[0] = low, c[1] = low + 1, c[2] = low + n + 1, c[3] = low + n;
                c[4] = high, c[5] = high + 1, c[6] = high + n + 1, c[7] = high + n;
            }
}

/* For each node the element corners that meet there, in element order (invariant 2). A counting sort. */
static void list_meetings(struct domain *d)
{
    const int stride = (int)(sizeof *d->corner_force / sizeof(double));
    int *start = d->meeting_start;

    for (int k = 0; k < d->elems; k++)
        for (int c = 0; c < 8; c++)
            start[d->corner[k][c] + 1]++;
    for (int i = 0; i < d->nodes; i++)
        start[i + 1] += start[i];
    for (int k = 0; k < d->elems; k++)
        for (int c = 0; c < 8; c++)
            d->meeting[start[d->corner[k][c]]++] = k * stride + c;
    /* Filling moved each start to the next one's place. */
    for (int i = d->nodes; i > 0; i--)
        start[i] = start[i - 1];
    start[0] = 0;
}

/*
 * The neighbour of element `self` behind a face. `at` is its coordinate across the face, `block` the block's, `spot`
 * its place within the face, in the order in which ghosts arrive (halo.h).
 */
static void look_behind(struct domain *d, int self, enum face f, int at, int block, int stride, int spot)
{
    const int s = d->edge_elems;
    const bool high = f % 2 != 0;
    unsigned behind = BEHIND_ELEMENT;
    int beside;

    if (at != (high ? s - 1 : 0)) {
        beside = self + (high ? stride : -stride);
    } else if (block != (high ? d->side - 1 : 0)) {
        beside = d->elems + (int)f * s * s + spot;
    } else {
        beside = self;
        behind = high ? BEHIND_NOTHING : BEHIND_SYMMETRY;
    }
    d->beside[f][self] = beside;
    d->behind[self] |= behind << (2 * (unsigned)f);
}

static void join_elements(struct domain *d)
{
    const int s = d->edge_elems;

    for (int z = 0; z < s; z++)
        for (int y = 0; y < s; y++)
            for (int x = 0; x < s; x++) {
                const int k = index_of(s, x, y, z);

                look_behind(d, k, XI_LOW, x, d->col, 1, z * s + y);
                look_behind(d, k, XI_HIGH, x, d->col, 1, z * s + y);
                look_behind(d, k, ETA_LOW, y, d->row, s, z * s + x);
                look_behind(d, k, ETA_HIGH, y, d->row, s, z * s + x);
                look_behind(d, k, ZETA_LOW, z, d->plane, s * s, y * s + x);
                look_behind(d, k, ZETA_HIGH, z, d->plane, s * s, y * s + x);
            }
}

static void list_symmetry(struct domain *d)
{
    const int n = d->edge_nodes;

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            if (d->symmetry[0])
                d->symmetry[0][a * n + b] = index_of(n, 0, b, a);
            if (d->symmetry[1])
                d->symmetry[1][a * n + b] = index_of(n, b, 0, a);
            if (d->symmetry[2])
                d->symmetry[2][a * n + b] = index_of(n, b, a, 0);
        }
}

/* Density is 1 everywhere, so mass is volume; a node carries an eighth of each element it belongs to. */
static void weigh(struct domain *d)
{
    for (int k = 0; k < d->elems; k++) {
        struct hex h;

        hex_load(&h, d->pos, d->corner[k]);
        d->volume0[k] = d->mass[k] = hex_volume(&h);
        d->v[k] = 1.0;
        for (int c = 0; c < 8; c++)
            d->node_mass[d->corner[k][c]] += d->mass[k] / 8.0;
    }
}

static int alloc_mesh(struct domain *d)
{
    const int at[3] = { d->col, d->row, d->plane };
    const size_t elems = (size_t)d->elems, nodes = (size_t)d->nodes, face = (size_t)(d->edge_nodes * d->edge_nodes);

    d->corner = domain_alloc(d, elems, sizeof *d->corner);
    d->behind = domain_alloc(d, elems, sizeof *d->behind);
    d->meeting_start = domain_alloc(d, nodes + 1, sizeof *d->meeting_start);
    d->meeting = domain_alloc(d, 8 * elems, sizeof *d->meeting);
    if (!d->corner || !d->behind || !d->meeting_start || !d->meeting)
        return -1;
    for (int f = 0; f < FACES; f++)
        if (!(d->beside[f] = domain_alloc(d, elems, sizeof *d->beside[f])))
            return -1;
    for (int k = 0; k < 3; k++)
        if (at[k] == 0 && !(d->symmetry[k] = domain_alloc(d, face, sizeof *d->symmetry[k])))
            return -1;
    return 0;
}

int mesh_build(struct domain *d)
{
    if (alloc_mesh(d) != 0)
        return -1;
    place_nodes(d);
    join_corners(d);
    list_meetings(d);
    join_elements(d);
    list_symmetry(d);
    weigh(d);
    return 0;
}
