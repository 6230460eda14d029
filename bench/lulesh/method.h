/* SPDX-License-Identifier: MIT */
/*
 * The constants of the problem: a Sedov blast in a gamma-law gas (gamma = 5/3), SI-like units without dimension.
 *
 * The method is the one published by Lawrence Livermore National Laboratory (LLNL-TR-490254, LLNL-TR-641973); the
 * values are part of its definition: another value is another problem, whose results compare with nobody's.
 */
#pragma once

/* The cube and the energy put into the element at its origin, for 45 elements to an edge. */
#define MESH_EDGE       1.125
#define BLAST_ENERGY    3.948746e+7
#define BLAST_EDGE      45.0
#define REFERENCE_RHO   1.0

/* Time: where to stop, how fast a step may grow, how much a volume may change in one. */
#define STOP_TIME       1.0e-2
#define DT_MAX          1.0e-2
#define DT_NONE         1.0e+20
#define DT_GROW_FROM    1.1
#define DT_GROW_TO      1.2
#define DVOV_MAX        0.1

/* Below these a quantity is taken for its rest value, so that noise does not spread ahead of the shock. */
#define CUT_ENERGY      1.0e-7
#define CUT_PRESSURE    1.0e-7
#define CUT_VISCOSITY   1.0e-7
#define CUT_SPEED       1.0e-7
#define CUT_VOLUME      1.0e-10

/* Hourglass damping and artificial viscosity. */
#define HOURGLASS       3.0
#define Q_STOP          1.0e+12
#define Q_MAX_SLOPE     1.0
#define Q_LIMITER       2.0
#define Q_LINEAR        0.5
#define Q_QUADRATIC     (2.0 / 3.0)
#define Q_COURANT       2.0

/* Equation of state: what it may be given and what it may answer. */
#define EOS_V_MAX       1.0e+9
#define EOS_V_MIN       1.0e-9
#define PRESSURE_MIN    0.0
#define ENERGY_MIN      (-1.0e+15)

/* Keep a division or a root away from zero. */
#define TINY            1.0e-36
#define SOUND_TINY_SQ   0.1111111e-36
#define SOUND_TINY      0.3333333e-18
