/* SPDX-License-Identifier: MIT */
/*
 * Equation of state: pressure, energy and viscosity of each element at its new volume, by material region.
 *
 * A gamma law with gamma = 5/3. Energy is integrated by a predictor at half the step and two corrections, each followed
 * by the pressure that belongs to it. All of that works on compact copies of one region's elements (struct eos_work),
 * and repeats as often as the region's cost asks for: the copies are made anew each time, so repeating changes nothing.
 */
#include "domain.h"
#include "method.h"

#define GAMMA_MINUS_1 (2.0 / 3.0)

static inline double within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void clamp_volumes(struct domain *d)
{
    const int elems = d->elems;

#pragma omp parallel for
    for (int k = 0; k < elems; k++)
        d->v_clamped[k] = within(d->v_new[k], EOS_V_MIN, EOS_V_MAX);
}

static void load_region(const struct domain *d, const struct eos_work *w, const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        const int k = list[i];
        const double v = d->v_clamped[k], delv = d->delv[k];

        w->e_old[i] = d->e[k];
        w->delv[i] = delv;
        w->p_old[i] = d->p[k];
        w->q_old[i] = d->q[k];
        w->qq_old[i] = d->q_quadratic[k];
        w->ql_old[i] = d->q_linear[k];
        w->compression[i] = 1.0 / v - 1.0;
        w->compression_half[i] = 1.0 / (v - 0.5 * delv) - 1.0;
        if (v <= EOS_V_MIN)
            w->compression_half[i] = w->compression[i];
        if (v >= EOS_V_MAX)
            w->p_old[i] = w->compression[i] = w->compression_half[i] = 0.0;
        w->work[i] = 0.0;
    }
}

/* Sound speed from the derivatives of pressure: by density (bvc) and by energy (pbvc). */
static inline double sound_speed(double pbvc, double e, double v, double bvc, double p)
{
    const double squared = (pbvc * e + v * v * bvc * p) / REFERENCE_RHO;

    return squared <= SOUND_TINY_SQ ? SOUND_TINY : sqrt(squared);
}

static inline double energy_cut(double e)
{
    return larger(fabs(e) < CUT_ENERGY ? 0.0 : e, ENERGY_MIN);
}

static void pressure(const struct domain *d, const struct eos_work *w, double *p, const double *compression,
                     const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        w->bvc[i] = GAMMA_MINUS_1 * (compression[i] + 1.0);
        w->pbvc[i] = GAMMA_MINUS_1;
    }

#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        double now = w->bvc[i] * w->e_new[i];

        if (fabs(now) < CUT_PRESSURE || d->v_clamped[list[i]] >= EOS_V_MAX)
            now = 0.0;
        p[i] = now < PRESSURE_MIN ? PRESSURE_MIN : now;
    }
}

static void predict_energy(const struct eos_work *w, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++)
        w->e_new[i] =
            larger(w->e_old[i] - 0.5 * w->delv[i] * (w->p_old[i] + w->q_old[i]) + 0.5 * w->work[i], ENERGY_MIN);
}

static void viscosity_at_half(const struct eos_work *w, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        const double v_half = 1.0 / (1.0 + w->compression_half[i]);

        w->q_new[i] = w->delv[i] > 0.0 ? 0.0 :
            sound_speed(w->pbvc[i], w->e_new[i], v_half, w->bvc[i], w->p_half[i]) * w->ql_old[i] + w->qq_old[i];
        w->e_new[i] += 0.5 * w->delv[i] *
                       (3.0 * (w->p_old[i] + w->q_old[i]) - 4.0 * (w->p_half[i] + w->q_new[i]));
    }
}

static void add_work(const struct eos_work *w, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++)
        w->e_new[i] = energy_cut(w->e_new[i] + 0.5 * w->work[i]);
}

static void correct_energy(const struct domain *d, const struct eos_work *w, const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        const double v = d->v_clamped[list[i]];
        const double q = w->delv[i] > 0.0 ? 0.0 :
            sound_speed(w->pbvc[i], w->e_new[i], v, w->bvc[i], w->p_new[i]) * w->ql_old[i] + w->qq_old[i];

        w->e_new[i] = energy_cut(w->e_new[i] - (7.0 * (w->p_old[i] + w->q_old[i]) -
                                                8.0 * (w->p_half[i] + w->q_new[i]) +
                                                (w->p_new[i] + q)) * w->delv[i] * (1.0 / 6.0));
    }
}

static void final_viscosity(const struct domain *d, const struct eos_work *w, const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        if (w->delv[i] > 0.0)
            continue;
        const double v = d->v_clamped[list[i]];
        const double q =
            sound_speed(w->pbvc[i], w->e_new[i], v, w->bvc[i], w->p_new[i]) * w->ql_old[i] + w->qq_old[i];

        w->q_new[i] = fabs(q) < CUT_VISCOSITY ? 0.0 : q;
    }
}

static void integrate_energy(const struct domain *d, const struct eos_work *w, const int *list, int count)
{
    predict_energy(w, count);
    pressure(d, w, w->p_half, w->compression_half, list, count);
    viscosity_at_half(w, count);
    add_work(w, count);
    pressure(d, w, w->p_new, w->compression, list, count);
    correct_energy(d, w, list, count);
    pressure(d, w, w->p_new, w->compression, list, count);
    final_viscosity(d, w, list, count);
}

static void store_region(struct domain *d, const struct eos_work *w, const int *list, int count)
{
    int blown = 0;

#pragma omp parallel for reduction(| : blown)
    for (int i = 0; i < count; i++) {
        const int k = list[i];

        d->p[k] = w->p_new[i];
        d->e[k] = w->e_new[i];
        d->q[k] = w->q_new[i];
        blown |= w->q_new[i] > Q_STOP;
    }
    if (blown)
        domain_fail(d, "the artificial viscosity has run away");
}

static void store_sound(struct domain *d, const struct eos_work *w, const int *list, int count)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        const int k = list[i];

        d->sound[k] = sound_speed(w->pbvc[i], w->e_new[i], d->v_clamped[k], w->bvc[i], w->p_new[i]);
    }
}

static void evaluate_region(struct domain *d, int r)
{
    const struct eos_work *const w = &d->eos;
    const int *const list = region_list(d, r);
    const int count = region_size(d, r);

    if (count == 0)
        return;
    for (int repeat = 0; repeat < d->region_repeat[r]; repeat++) {
        load_region(d, w, list, count);
        integrate_energy(d, w, list, count);
    }
    store_region(d, w, list, count);
    store_sound(d, w, list, count);
}

static void accept_volumes(struct domain *d)
{
    const int elems = d->elems;

#pragma omp parallel for
    for (int k = 0; k < elems; k++)
        d->v[k] = fabs(d->v_new[k] - 1.0) < CUT_VOLUME ? 1.0 : d->v_new[k];
}

void material_update(struct domain *d)
{
    clamp_volumes(d);
    for (int r = 0; r < d->regions; r++)
        evaluate_region(d, r);
    accept_volumes(d);
}
