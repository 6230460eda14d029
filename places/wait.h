/* SPDX-License-Identifier: MIT */
/*
 * How the threads of a team wait for the next region: spinning, or asleep.
 *
 * libgomp decides that once, when it is loaded, from OMP_WAIT_POLICY and GOMP_SPINCOUNT: by default its threads spin
 * for 11 ms after each region. Where ranks share cores that is ruinous (two ranks of two threads on two cores: 150
 * times), and libgomp, which knows one process, cannot see it. The preloaded library can: it stands before libc, and
 * answers libgomp's own getenv("OMP_WAIT_POLICY") with "passive" where
 *
 *   the user set neither variable, acting on it is allowed (--act wait; not when a recording was asked for), and
 *   the threads of this rank that libgomp would let spin > processors that it has for itself (cores.h: affinity mask,
 *   ranks on the node, cgroup quota). Of more threads than the mask has processors libgomp knows itself, and hardly
 *   spins with all of them; the smaller teams that are chosen instead gain from spinning (LULESH, edge 30, 4 threads on
 *   2 cores: 0.8 times)
 *
 * The program, its children and everybody else get what the environment says.
 *
 * What is not possible from outside: to change the policy later, by the distance of regions say (libgomp reads it once;
 * a region that would wake its threads for too little work is lowered instead, team.h); in a program that was linked
 * with the static libgomp, or that loads libgomp before Pythia.
 *
 * Threads: any.  Hook-safe: no (reads files, once).
 */
#ifndef PYTHIA_PLACES_WAIT_H
#define PYTHIA_PLACES_WAIT_H

#include <stdbool.h>

/* What libgomp was, or would be, told for OMP_WAIT_POLICY: the user's value, ours, or NULL. */
const char *places_wait_policy(void);

#endif
