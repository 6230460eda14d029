/* SPDX-License-Identifier: MIT */
/*
 * Artificial viscosity with a monotonic limiter (Christensen 1990): it spreads a shock over a few elements, and
 * vanishes where velocity varies linearly.
 */
#include "domain.h"
#include "method.h"

/* The faces of an element, as corners: opposite faces in pairs, corners that face each other in the same place. */
static const int low_xi[4] = { 0, 3, 7, 4 }, high_xi[4] = { 1, 2, 6, 5 };
static const int low_eta[4] = { 0, 1, 5, 4 }, high_eta[4] = { 3, 2, 6, 7 };
static const int low_zeta[4] = { 0, 1, 2, 3 }, high_zeta[4] = { 4, 5, 6, 7 };

static inline struct point step_between(const struct hex *h, const int low[4], const int high[4])
{
    return (struct point){ hex_face_step(h->x, high, low), hex_face_step(h->y, high, low),
                           hex_face_step(h->z, high, low) };
}

/*
 * Along one direction: the distance between the element's two faces (volume over the area `normal` between them) and
 * the velocity difference across it.
 */
static inline void gradient_along(struct domain *d, int axis, int k, struct point normal, struct point velocity,
                                  double volume, double inverse)
{
    d->position_step[axis][k] = volume / sqrt(dot(normal, normal) + TINY);
    d->velocity_step[axis][k] = dot(scaled(inverse, normal), velocity);
}

static inline void element_gradient(struct domain *d, int k)
{
    struct hex pos, vel;

    hex_load(&pos, d->pos, d->corner[k]);
    hex_load(&vel, d->vel, d->corner[k]);

    const double volume = d->volume0[k] * d->v_new[k], inverse = 1.0 / (volume + TINY);
    const struct point xi = step_between(&pos, low_xi, high_xi);
    const struct point eta = step_between(&pos, low_eta, high_eta);
    const struct point zeta = step_between(&pos, low_zeta, high_zeta);

    gradient_along(d, 0, k, cross(eta, zeta), step_between(&vel, low_xi, high_xi), volume, inverse);
    gradient_along(d, 1, k, cross(zeta, xi), step_between(&vel, low_eta, high_eta), volume, inverse);
    gradient_along(d, 2, k, cross(xi, eta), step_between(&vel, low_zeta, high_zeta), volume, inverse);
}

static void compute_gradients(struct domain *d)
{
    const int elems = d->elems;

#pragma omp parallel for
    for (int k = 0; k < elems; k++)
        element_gradient(d, k);
}

static inline double gradient_behind(const struct domain *d, int axis, int k, enum face f)
{
    switch (d->behind[k] >> (2 * (unsigned)f) & 3u) {
    case BEHIND_ELEMENT: return d->velocity_step[axis][d->beside[f][k]];
    case BEHIND_SYMMETRY: return d->velocity_step[axis][k];
    default: return 0.0;
    }
}

/* How linear the velocity is along an axis: 1 where the neighbours' gradients agree, 0 at an extremum. */
static inline double limiter(const struct domain *d, int axis, int k)
{
    const double norm = 1.0 / (d->velocity_step[axis][k] + TINY);
    const double low = norm * gradient_behind(d, axis, k, (enum face)(2 * axis));
    const double high = norm * gradient_behind(d, axis, k, (enum face)(2 * axis + 1));
    double phi = 0.5 * (low + high);

    phi = low * Q_LIMITER < phi ? low * Q_LIMITER : phi;
    phi = high * Q_LIMITER < phi ? high * Q_LIMITER : phi;
    phi = phi < 0.0 ? 0.0 : phi;
    return phi > Q_MAX_SLOPE ? Q_MAX_SLOPE : phi;
}

static inline void element_viscosity(struct domain *d, int k)
{
    double linear = 0.0, quadratic = 0.0;

    for (int axis = 0; axis < 3; axis++) {
        const double phi = limiter(d, axis, k);
        const double across = d->velocity_step[axis][k] * d->position_step[axis][k];
        const double closing = across > 0.0 ? 0.0 : across;

        linear += closing * (1.0 - phi);
        quadratic += closing * closing * (1.0 - phi * phi);
    }
    /* Only what is being compressed resists. */
    const double rho = d->vdov[k] > 0.0 ? 0.0 : d->mass[k] / (d->volume0[k] * d->v_new[k]);
    d->q_linear[k] = -Q_LINEAR * rho * linear;
    d->q_quadratic[k] = Q_QUADRATIC * rho * quadratic;
}

static void limit_region(struct domain *d, const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++)
        element_viscosity(d, list[i]);
}

void viscosity_update(struct domain *d)
{
    halo_receive(d->halo, HALO_GRADIENT);
    compute_gradients(d);
    halo_send(d->halo, HALO_GRADIENT, d->velocity_step);
    halo_finish(d->halo, HALO_GRADIENT, d->velocity_step);
    for (int r = 0; r < d->regions; r++)
        if (region_size(d, r) > 0)
            limit_region(d, region_list(d, r), region_size(d, r));
}
