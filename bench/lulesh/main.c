/* SPDX-License-Identifier: MIT */
/*
 * LULESH 2.0 in C: an explicit shock hydrodynamics proxy, here as a realistic MPI + OpenMP program to be observed.
 *
 * One source, four programs: lulesh (MPI and OpenMP), lulesh-mpi, lulesh-omp, lulesh-serial. README.md says more.
 */
#include <stdio.h>

#include "domain.h"
#include "method.h"
#include "options.h"
#include "report.h"
#include "team.h"

/* The integer whose cube is `ranks`, or 0. */
static int cube_side(int ranks)
{
    int side = 1;

    while (side * side * side < ranks)
        side++;
    return side * side * side == ranks ? side : 0;
}

/* 0 to run, 1 when there is nothing to do, -1 when the command line makes no sense. Only rank 0 speaks. */
static int prepare(struct options *o, int argc, char **argv, int rank, int ranks)
{
    char error[256];

    if (options_parse(o, argc, argv, error, sizeof error) == 0) {
        if (o->help) {
            if (rank == 0)
                options_help(argv[0]);
            return 1;
        }
        if (cube_side(ranks) > 0)
            return 0;
        snprintf(error, sizeof error, "the number of ranks must be a cube (1, 8, 27, ...), not %d", ranks);
    }
    if (rank == 0)
        fprintf(stderr, "lulesh: %s\n", error);
    return -1;
}

/* Nodes between blocks weigh what all blocks put on them. */
static void share_masses(struct domain *d)
{
    double *const fields[] = { d->node_mass };

    halo_receive(d->halo, HALO_MASS);
    halo_send(d->halo, HALO_MASS, fields);
    halo_finish(d->halo, HALO_MASS, fields);
    run_barrier();
}

static void iterate(struct domain *d)
{
    timestep_choose(d);
    force_compute(d);
    motion_advance(d);
    kinematics_update(d);
    viscosity_update(d);
    material_update(d);
    timestep_limit(d);
}

static double simulate(struct domain *d, const struct options *o)
{
    const double start = run_seconds();

    while (d->time < STOP_TIME && d->cycle < o->iterations) {
        iterate(d);
        if (o->progress && !o->quiet)
            report_cycle(d);
    }
    return run_max_to_first(run_seconds() - start);
}

static void run(const struct options *o, int rank, int ranks)
{
    const int threads = team_max();
    struct domain *d = domain_create(o, rank, ranks, cube_side(ranks), threads);

    if (!d) {
        fprintf(stderr, "lulesh: rank %d: not enough memory for %d^3 elements\n", rank, o->edge_elems);
        run_abort(1);
    }
    if (!o->quiet && !o->state)
        report_start(d, o, threads);
    share_masses(d);
    const double seconds = simulate(d, o);
    if (o->state)
        report_state(d);
    else
        report_end(d, seconds);
    domain_destroy(d);
}

int main(int argc, char **argv)
{
    struct options o;

    run_start(&argc, &argv);

    const int rank = run_rank(), ranks = run_ranks();
    const int answer = prepare(&o, argc, argv, rank, ranks);

    if (answer == 0)
        run(&o, rank, ranks);
    run_stop();
    return answer < 0 ? 2 : 0;
}
