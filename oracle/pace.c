/* SPDX-License-Identifier: MIT */
/* How the times of this run compare with the reference's: one factor for gaps, one for durations. */
#include <math.h>

#include "oracle/internal.h"

static double factor(double seen, double said, double prior)
{
    double f = said + prior > 0 ? (seen + prior) / (said + prior) : 1;
    return f < 1e-3 ? 1e-3 : f > 1e3 ? 1e3 : f;
}

double oracle_gap_factor(const struct oracle *o)
{
    return factor(o->seen.gap, o->said.gap, o->prior_gap);
}

double oracle_duration_factor(const struct oracle *o)
{
    return factor(o->seen.duration, o->said.duration, o->prior_duration);
}

void oracle_drift(struct oracle *o, uint32_t events)
{
    const double keep = 1 - fmin(events / 2048.0, 0.5);

    o->seen.gap *= keep;
    o->seen.duration *= keep;
    o->said.gap *= keep;
    o->said.duration *= keep;
}
