/* SPDX-License-Identifier: MIT */
/*
 * Hourglass damping, after Flanagan and Belytschko (1981).
 *
 * One stress per element leaves four patterns of corner motion without resistance in each direction: the element
 * changes shape and the stress does not notice. Each pattern, made orthogonal to linear motion by the volume gradient,
 * gets a viscous force against the corners' velocity along it.
 */
#include "domain.h"
#include "method.h"

/* The four patterns, over the corners. */
static const double pattern[4][8] = {
    { 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0 },
    { 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0 },
    { 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0 },
    { -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0 },
};

static void prepare(struct domain *d)
{
    const int elems = d->elems;
    int torn = 0;

#pragma omp parallel for reduction(| : torn)
    for (int k = 0; k < elems; k++) {
        hex_load(&d->hourglass_pos[k], d->pos, d->corner[k]);
        hex_volume_gradient(&d->hourglass_grad[k], &d->hourglass_pos[k]);
        d->determinant[k] = d->volume0[k] * d->v[k];
        torn |= d->v[k] <= 0.0;
    }
    if (torn)
        domain_fail(d, "an element has no volume left");
}

static double along(const double a[8], const double b[8])
{
    double sum = a[0] * b[0];

    for (int c = 1; c < 8; c++)
        sum += a[c] * b[c];
    return sum;
}

/* The patterns less their linear part. */
static void orthogonal_modes(double mode[4][8], const struct hex *pos, const struct hex *grad, double volume)
{
    const double inverse = 1.0 / volume;

    for (int m = 0; m < 4; m++) {
        const double x = along(pos->x, pattern[m]), y = along(pos->y, pattern[m]), z = along(pos->z, pattern[m]);

        for (int c = 0; c < 8; c++)
            mode[m][c] = pattern[m][c] - inverse * (grad->x[c] * x + grad->y[c] * y + grad->z[c] * z);
    }
}

static void damp(double force[8], double mode[4][8], const double vel[8], double coefficient)
{
    double speed[4];

    for (int m = 0; m < 4; m++)
        speed[m] = along(mode[m], vel);
    for (int c = 0; c < 8; c++)
        force[c] = coefficient *
                   (mode[0][c] * speed[0] + mode[1][c] * speed[1] + mode[2][c] * speed[2] + mode[3][c] * speed[3]);
}

static void element_hourglass(const struct domain *d, int k, struct hex *force)
{
    const double volume = d->determinant[k];
    const double coefficient = -HOURGLASS * 0.01 * d->sound[k] * d->mass[k] / cbrt(volume);
    double mode[4][8];
    struct hex vel;

    orthogonal_modes(mode, &d->hourglass_pos[k], &d->hourglass_grad[k], volume);
    hex_load(&vel, d->vel, d->corner[k]);
    damp(force->x, mode, vel.x, coefficient);
    damp(force->y, mode, vel.y, coefficient);
    damp(force->z, mode, vel.z, coefficient);
}

/* As for the stress (force.c): one thread adds, several store and gather. */
static void apply(struct domain *d)
{
    const int elems = d->elems;
    const bool split = force_split(d);

#pragma omp parallel for
    for (int k = 0; k < elems; k++) {
        struct hex force;

        element_hourglass(d, k, &force);
        if (split)
            d->corner_force[k] = force;
        else
            hex_add_to(&force, d->force, d->corner[k]);
    }
    if (split)
        force_gather(d);
}

void hourglass_add(struct domain *d)
{
    prepare(d);
    apply(d);
}
