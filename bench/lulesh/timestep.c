/* SPDX-License-Identifier: MIT */
/*
 * How far to go in one step: no further than sound crosses an element (Courant), nor than volumes may change (hydro).
 */
#include "domain.h"
#include "method.h"

/* The limits of all ranks, kept from growing in jerks: little growth is no growth, much is cut. */
static double next_dt(const struct domain *d)
{
    double mine = DT_NONE;

    if (d->dt_courant < mine)
        mine = d->dt_courant / 2.0;
    if (d->dt_hydro < mine)
        mine = d->dt_hydro * 2.0 / 3.0;

    double dt = run_min(mine);
    const double growth = dt / d->dt;
    if (growth >= 1.0) {
        if (growth < DT_GROW_FROM)
            dt = d->dt;
        else if (growth > DT_GROW_TO)
            dt = d->dt * DT_GROW_TO;
    }
    return dt > DT_MAX ? DT_MAX : dt;
}

void timestep_choose(struct domain *d)
{
    double left = STOP_TIME - d->time;

    /* Nothing has been measured before the first step, so there is nothing to reduce: it is given. */
    if (d->cycle > 0)
        d->dt = next_dt(d);
    /* Rather two steps of similar length at the end than a long one and a sliver. */
    if (left > d->dt && left < 4.0 * d->dt / 3.0)
        left = 2.0 * d->dt / 3.0;
    if (left < d->dt)
        d->dt = left;
    d->time += d->dt;
    d->cycle++;
}

static double courant_limit(const struct domain *d, const int *list, int count)
{
    const double viscous = 64.0 * Q_COURANT * Q_COURANT;
    double limit = DT_NONE;

#pragma omp parallel for reduction(min : limit)
    for (int i = 0; i < count; i++) {
        const int k = list[i];
        const double rate = d->vdov[k], length = d->length[k];
        double speed = d->sound[k] * d->sound[k];

        if (rate == 0.0)
            continue;
        if (rate < 0.0)
            speed += viscous * length * length * rate * rate;
        const double crossing = length / sqrt(speed);
        limit = crossing < limit ? crossing : limit;
    }
    return limit;
}

static double hydro_limit(const struct domain *d, const int *list, int count)
{
    double limit = DT_NONE;

#pragma omp parallel for reduction(min : limit)
    for (int i = 0; i < count; i++) {
        const double rate = d->vdov[list[i]];
        const double change = DVOV_MAX / (fabs(rate) + 1.0e-20);

        limit = rate != 0.0 && change < limit ? change : limit;
    }
    return limit;
}

void timestep_limit(struct domain *d)
{
    d->dt_courant = DT_NONE;
    d->dt_hydro = DT_NONE;
    for (int r = 0; r < d->regions; r++) {
        const int count = region_size(d, r);

        if (count == 0)
            continue;
        d->dt_courant = fmin(d->dt_courant, courant_limit(d, region_list(d, r), count));
        d->dt_hydro = fmin(d->dt_hydro, hydro_limit(d, region_list(d, r), count));
    }
}
