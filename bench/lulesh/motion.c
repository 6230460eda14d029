/* SPDX-License-Identifier: MIT */
/*
 * From forces to new positions. Velocities and positions live half a step apart (leapfrog).
 */
#include "domain.h"
#include "method.h"

static void accelerate(struct domain *d)
{
    const int nodes = d->nodes;
    const struct vec3 acc = d->acc, force = d->force;

#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        acc.x[i] = force.x[i] / d->node_mass[i];
        acc.y[i] = force.y[i] / d->node_mass[i];
        acc.z[i] = force.z[i] / d->node_mass[i];
    }
}

/* A plane of symmetry holds its nodes: no acceleration across it. */
static void hold_symmetry(struct domain *d)
{
    const int count = d->edge_nodes * d->edge_nodes;
    double *const acc[3] = { d->acc.x, d->acc.y, d->acc.z };

#pragma omp parallel
    for (int k = 0; k < 3; k++) {
        const int *const held = d->symmetry[k];

        if (held) {
#pragma omp for nowait
            for (int i = 0; i < count; i++)
                acc[k][held[i]] = 0.0;
        }
    }
}

static double rest_if_slow(double speed)
{
    return fabs(speed) < CUT_SPEED ? 0.0 : speed;
}

static void update_velocity(struct domain *d)
{
    const int nodes = d->nodes;
    const double dt = d->dt;
    const struct vec3 vel = d->vel, acc = d->acc;

#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        vel.x[i] = rest_if_slow(vel.x[i] + acc.x[i] * dt);
        vel.y[i] = rest_if_slow(vel.y[i] + acc.y[i] * dt);
        vel.z[i] = rest_if_slow(vel.z[i] + acc.z[i] * dt);
    }
}

static void update_position(struct domain *d)
{
    const int nodes = d->nodes;
    const double dt = d->dt;
    const struct vec3 pos = d->pos, vel = d->vel;

#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        pos.x[i] += vel.x[i] * dt;
        pos.y[i] += vel.y[i] * dt;
        pos.z[i] += vel.z[i] * dt;
    }
}

void motion_advance(struct domain *d)
{
    double *const fields[] = { d->pos.x, d->pos.y, d->pos.z, d->vel.x, d->vel.y, d->vel.z };

    halo_receive(d->halo, HALO_MOTION);
    accelerate(d);
    hold_symmetry(d);
    update_velocity(d);
    update_position(d);
    halo_send(d->halo, HALO_MOTION, fields);
    halo_finish(d->halo, HALO_MOTION, fields);
}
