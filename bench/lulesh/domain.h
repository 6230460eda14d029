/* SPDX-License-Identifier: MIT */
/*
 * The block of the mesh that one rank holds, and the steps that move it through time.
 *
 * The cube has side * s elements to an edge; it is cut into side^3 blocks of s^3 elements, one to a rank, placed by
 *
 *     rank = (plane * side + row) * side + col          x runs with col, y with row, z with plane
 *
 * and a block numbers its elements and nodes in the same manner. Nodes on a face between blocks exist on both sides.
 * Three faces of the cube (x = 0, y = 0, z = 0) are planes of symmetry, the other three are free.
 *
 *     forces   ->  motion  ->  kinematics  ->  viscosity  ->  material  ->  timestep
 *     (force.c,   (motion.c)  (kinematics.c) (viscosity.c)   (eos.c)      (timestep.c)
 *      hourglass.c)
 *
 * Invariants:
 *  1. every array is allocated by domain_create(); a step allocates nothing;
 *  2. the corners of an element that meet in a node are listed in element order, so a sum over them gives the same bits
 *     whether elements add to nodes (one thread) or nodes gather from elements (several);
 *  3. all ranks hold the same time, dt and cycle, to the bit: they leave the loop together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "halo.h"
#include "hex.h"
#include "options.h"

/* Faces of an element: towards its lower and upper neighbour along xi (x), eta (y) and zeta (z). */
enum face { XI_LOW, XI_HIGH, ETA_LOW, ETA_HIGH, ZETA_LOW, ZETA_HIGH, FACES };

/* Two bits for each face of an element: what lies behind it. */
enum behind { BEHIND_ELEMENT = 0, BEHIND_SYMMETRY = 1, BEHIND_NOTHING = 2 };

/* Work space of the equation of state, indexed by position in a region. */
struct eos_work {
    double *e_old, *p_old, *q_old, *qq_old, *ql_old, *delv;
    double *compression, *compression_half, *work;
    double *e_new, *p_new, *q_new, *p_half, *bvc, *pbvc;
};

struct domain {
    /* place */
    int rank, ranks, side;
    int col, row, plane;
    int edge_elems, edge_nodes;
    int elems, nodes;

    /* time */
    double time, dt;
    double dt_courant, dt_hydro;
    int cycle;

    /* nodes */
    struct vec3 pos, vel, acc, force;
    double *node_mass;
    int *symmetry[3];       /* nodes on x = 0, y = 0, z = 0; NULL when the block does not touch that plane */
    int *meeting_start;     /* node -> where its list in meeting[] begins; nodes + 1 entries */
    int *meeting;           /* the element corners in a node, as offsets into corner_force seen as doubles */

    /* elements */
    int (*corner)[8];       /* element -> its nodes */
    int *beside[FACES];     /* element -> neighbour behind that face; from elems on: ghosts */
    unsigned *behind;       /* element -> enum behind of all faces */
    double *e, *p, *q, *q_linear, *q_quadratic;
    double *v, *v_new, *v_clamped, *delv, *vdov;    /* relative volume: now, next; its change and rate */
    double *volume0, *mass;
    double *length, *sound;
    struct vec3 strain;     /* principal strain rates */
    double *velocity_step[3];   /* along xi, eta, zeta; with room for ghosts of six faces */
    double *position_step[3];

    /* material regions: the elements of region r are region_elem[region_start[r] .. region_start[r + 1]) */
    int regions;
    int *region_start, *region_elem, *region_repeat;

    /* work space */
    bool split_forces;      /* store forces by element corner even when one thread computes them: see force.c */
    struct hex *corner_force, *hourglass_pos, *hourglass_grad;
    double *stress, *determinant;
    struct eos_work eos;

    struct halo *halo;
    void **owned;           /* every allocation, for domain_destroy() */
    int owned_count, owned_room;
};

/* One block for this rank, at time 0. Returns NULL when memory runs out; the caller destroys it. Threads: one. */
struct domain *domain_create(const struct options *o, int rank, int ranks, int side, int threads);
void domain_destroy(struct domain *d);

/* Zeroed memory that domain_destroy() frees; NULL when there is none. For domain_create() and its helpers only. */
void *domain_alloc(struct domain *d, size_t count, size_t size);

/* mesh.c and regions.c: fill a domain whose place is set. 0 or -1 (no memory). */
int mesh_build(struct domain *d);
int regions_build(struct domain *d, const struct options *o);

/* The steps of an iteration, in order. Those that find the mesh torn say so and end the run on all ranks. */
void timestep_choose(struct domain *d);
void force_compute(struct domain *d);
void hourglass_add(struct domain *d);
void motion_advance(struct domain *d);
void kinematics_update(struct domain *d);
void viscosity_update(struct domain *d);
void material_update(struct domain *d);
void timestep_limit(struct domain *d);

/* force.c: whether forces are stored by corner (a team may have more than one thread), and corner forces into nodal
   ones, adding. */
bool force_split(const struct domain *d);
void force_gather(struct domain *d);

/* Ends the run on all ranks: what went wrong, in one line. */
_Noreturn void domain_fail(const struct domain *d, const char *what);

static inline int region_size(const struct domain *d, int r)
{
    return d->region_start[r + 1] - d->region_start[r];
}

static inline const int *region_list(const struct domain *d, int r)
{
    return d->region_elem + d->region_start[r];
}
