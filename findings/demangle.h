/* SPDX-License-Identifier: MIT */
/*
 * Names of functions as their programmers wrote them, from the linker's.
 *
 *   _ZN9LAMMPS_NS6Verlet3runEi    short: LAMMPS_NS::Verlet::run      full: LAMMPS_NS::Verlet::run(int)
 *   _ZNSt6vectorIiSaIiEE4sizeEv   short: std::vector::size           full: std::vector<int, …>::size()
 *   __solver_MOD_step             short: solver::step                full: the same
 *   work._omp_fn.0                short: work                        full: the same
 *
 * C++, Rust and D are libiberty's, of a gfortran module the parts are taken.
 *
 * Threads: any.  Hook-safe: no.
 */
#pragma once

/* Both return a string that the caller frees. */
char *findings_demangle_short(const char *symbol);
char *findings_demangle_full(const char *symbol);
