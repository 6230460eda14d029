/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>

void report_start(const struct domain *d, const struct options *o, int threads)
{
    if (d->rank != 0)
        return;
    printf("Running problem size %d^3 per domain until %s\n", d->edge_elems,
           o->iterations == 9999999 ? "completion" : "completion or the last iteration asked for");
    printf("Num processors: %d\n", d->ranks);
    printf("Num threads: %d\n", threads);
    printf("Total number of elements: %lld\n\n", (long long)d->ranks * d->elems);
    fflush(stdout);
}

void report_cycle(const struct domain *d)
{
    if (d->rank == 0)
        printf("cycle = %d, time = %e, dt=%e\n", d->cycle, d->time, d->dt);
}

/* The blast is symmetric in x, y and z, so plane 0 of the energies equals its transpose, but for rounding. */
static void report_symmetry(const struct domain *d)
{
    const int s = d->edge_elems;
    double largest = 0.0, total = 0.0, relative = 0.0;

    for (int j = 0; j < s; j++)
        for (int k = j + 1; k < s; k++) {
            const double other = d->e[k * s + j], difference = fabs(d->e[j * s + k] - other);

            total += difference;
            largest = fmax(largest, difference);
            if (difference > 0.0)
                relative = fmax(relative, difference / fabs(other));
        }
    printf("   Testing Plane 0 of Energy Array on rank 0:\n");
    printf("        MaxAbsDiff   = %12.6e\n", largest);
    printf("        TotalAbsDiff = %12.6e\n", total);
    printf("        MaxRelDiff   = %12.6e\n\n", relative);
}

void report_end(const struct domain *d, double seconds)
{
    if (d->rank != 0)
        return;

    const double per_domain = seconds * 1e6 / d->cycle / d->elems, overall = per_domain / d->ranks;

    printf("Run completed:\n");
    printf("   Problem size        =  %d\n", d->edge_elems);
    printf("   MPI tasks           =  %d\n", d->ranks);
    printf("   Iteration count     =  %d\n", d->cycle);
    printf("   Final Origin Energy =  %12.6e\n", d->e[0]);
    report_symmetry(d);
    printf("Elapsed time         = %10.2f (s)\n", seconds);
    printf("Grind time (us/z/c)  = %10.8g (per dom)  (%10.8g overall)\n", per_domain, overall);
    /* Elements and iterations per millisecond; the unit printed is the customary one, for scripts that look for it. */
    printf("FOM                  = %10.8g (z/s)\n", 1000.0 / overall);
}

void report_state(const struct domain *d)
{
    double e = 0.0, p = 0.0, q = 0.0, volume = 0.0;
    double fastest = 0.0, smallest = d->v[0], largest = d->v[0];

    for (int k = 0; k < d->elems; k++) {
        e += d->e[k];
        p += d->p[k];
        q += d->q[k];
        volume += d->v[k] * d->volume0[k];
        smallest = fmin(smallest, d->v[k]);
        largest = fmax(largest, d->v[k]);
    }
    for (int i = 0; i < d->nodes; i++) {
        const struct point v = { d->vel.x[i], d->vel.y[i], d->vel.z[i] };

        fastest = fmax(fastest, sqrt(dot(v, v)));
    }
    e = run_sum_to_first(e);
    p = run_sum_to_first(p);
    q = run_sum_to_first(q);
    volume = run_sum_to_first(volume);
    fastest = run_max_to_first(fastest);
    smallest = run_min_to_first(smallest);
    largest = run_max_to_first(largest);
    if (d->rank == 0)
        printf("ranks=%d s=%d iterations=%d origin_energy=%.17e time=%.17e dt=%.17e sum_e=%.17e sum_p=%.17e "
               "sum_q=%.17e sum_v_volo=%.17e max_speed=%.17e min_v=%.17e max_v=%.17e\n",
               d->ranks, d->edge_elems, d->cycle, d->e[0], d->time, d->dt, e, p, q, volume, fastest, smallest, largest);
}
