/* SPDX-License-Identifier: MIT */
/*
 * What the new positions mean for each element: volume, its change, characteristic length, strain rates.
 */
#include "domain.h"
#include "method.h"

/* Rates of strain along the axes, in the middle of the step: hence positions half a step back. */
static struct point strain_rates(struct hex *pos, const struct hex *vel, double half_dt)
{
    struct point b[4], rate = { 0.0, 0.0, 0.0 };
    /* Corners 0..3 and those whose derivatives are their negatives. */
    static const int opposite[4] = { 6, 7, 4, 5 };

    for (int c = 0; c < 8; c++) {
        pos->x[c] -= half_dt * vel->x[c];
        pos->y[c] -= half_dt * vel->y[c];
        pos->z[c] -= half_dt * vel->z[c];
    }
    const double inverse = 1.0 / hex_shape(pos, b);
    for (int c = 0; c < 4; c++) {
        const struct point v = hex_span(vel, opposite[c], c);

        rate.x += b[c].x * v.x;
        rate.y += b[c].y * v.y;
        rate.z += b[c].z * v.z;
    }
    return scaled(inverse, rate);
}

static void element_kinematics(const struct domain *d, int k)
{
    struct hex pos, vel;

    hex_load(&pos, d->pos, d->corner[k]);
    hex_load(&vel, d->vel, d->corner[k]);

    const double volume = hex_volume(&pos);
    const double relative = volume / d->volume0[k];

    d->v_new[k] = relative;
    d->delv[k] = relative - d->v[k];
    d->length[k] = hex_length(&pos, volume);

    const struct point rate = strain_rates(&pos, &vel, 0.5 * d->dt);
    d->strain.x[k] = rate.x;
    d->strain.y[k] = rate.y;
    d->strain.z[k] = rate.z;
}

static void measure(struct domain *d)
{
    const int elems = d->elems;

#pragma omp parallel for
    for (int k = 0; k < elems; k++)
        element_kinematics(d, k);
}

/* Volume rate, and what is left of the strain rates without it. */
static void separate_volume_rate(struct domain *d)
{
    const int elems = d->elems;
    const struct vec3 strain = d->strain;
    int torn = 0;

#pragma omp parallel for reduction(| : torn)
    for (int k = 0; k < elems; k++) {
        const double rate = strain.x[k] + strain.y[k] + strain.z[k];

        d->vdov[k] = rate;
        strain.x[k] -= rate / 3.0;
        strain.y[k] -= rate / 3.0;
        strain.z[k] -= rate / 3.0;
        torn |= d->v_new[k] <= 0.0;
    }
    if (torn)
        domain_fail(d, "an element would lose its volume");
}

void kinematics_update(struct domain *d)
{
    measure(d);
    separate_volume_rate(d);
}
