/* SPDX-License-Identifier: MIT */
/*
 * Forces on the nodes: pressure and viscosity acting on the faces of elements, and the damping of hourglass modes.
 *
 * Elements that share a node add to the same force. A team of one adds as it goes; a larger one would race, so each
 * element stores what its corners bear (split) and a second region gathers, node by node. Which of the two it is
 * depends on the run (split_forces), so that the sequence of regions stays the same; a run whose teams
 * may turn out larger than it was meant to have splits nonetheless. Both ways give the same bits (invariant 2).
 */
#include "domain.h"
#include "method.h"
#include "team.h"

static void clear_forces(struct domain *d)
{
    const int nodes = d->nodes;
    const struct vec3 force = d->force;

#pragma omp parallel for
    for (int i = 0; i < nodes; i++)
        force.x[i] = force.y[i] = force.z[i] = 0.0;
}

static void compute_stress(struct domain *d)
{
    const int elems = d->elems;
    double *const stress = d->stress;

#pragma omp parallel for
    for (int k = 0; k < elems; k++)
        stress[k] = -d->p[k] - d->q[k];
}

static void element_stress(const struct domain *d, int k, struct hex *force)
{
    struct hex pos;
    struct point shape[4];

    hex_load(&pos, d->pos, d->corner[k]);
    d->determinant[k] = hex_shape(&pos, shape);
    hex_normals(force, &pos);
    for (int c = 0; c < 8; c++) {
        force->x[c] *= -d->stress[k];
        force->y[c] *= -d->stress[k];
        force->z[c] *= -d->stress[k];
    }
}

bool force_split(const struct domain *d)
{
    return d->split_forces || team_max() > 1;
}

static void integrate_stress(struct domain *d)
{
    const int elems = d->elems;
    const bool split = force_split(d);

#pragma omp parallel for
    for (int k = 0; k < elems; k++) {
        struct hex force;

        element_stress(d, k, &force);
        if (split)
            d->corner_force[k] = force;
        else
            hex_add_to(&force, d->force, d->corner[k]);
    }
    if (split)
        force_gather(d);
}

void force_gather(struct domain *d)
{
    const int nodes = d->nodes;
    const int *const start = d->meeting_start, *const meeting = d->meeting;
    const struct hex *const corner_force = d->corner_force;
    const struct vec3 force = d->force;
    /* meeting[] counts in doubles from the first corner's x; y and z follow 8 and 16 doubles later. */
    const double *const share = corner_force->x;

#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        double x = force.x[i], y = force.y[i], z = force.z[i];

        for (int m = start[i]; m < start[i + 1]; m++) {
            x += share[meeting[m]];
            y += share[meeting[m] + 8];
            z += share[meeting[m] + 16];
        }
        force.x[i] = x;
        force.y[i] = y;
        force.z[i] = z;
    }
}

static void check_orientation(const struct domain *d)
{
    const int elems = d->elems;
    int torn = 0;

#pragma omp parallel for reduction(| : torn)
    for (int k = 0; k < elems; k++)
        torn |= d->determinant[k] <= 0.0;
    if (torn)
        domain_fail(d, "an element has turned inside out");
}

void force_compute(struct domain *d)
{
    double *const fields[] = { d->force.x, d->force.y, d->force.z };

    halo_receive(d->halo, HALO_FORCE);
    clear_forces(d);
    compute_stress(d);
    integrate_stress(d);
    check_orientation(d);
    hourglass_add(d);
    halo_send(d->halo, HALO_FORCE, fields);
    halo_finish(d->halo, HALO_FORCE, fields);
}
