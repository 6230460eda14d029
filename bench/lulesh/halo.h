/* SPDX-License-Identifier: MIT */
/*
 * Everything that crosses between ranks. Two bodies: halo_mpi.c, and halo_none.c for one process without MPI.
 *
 * A block has up to 26 neighbours, one per direction (dx, dy, dz) other than (0, 0, 0), each of them -1, 0 or 1. The
 * slot of a direction is
 *
 *     slot = (dz + 1) * 9 + (dy + 1) * 3 + (dx + 1)         its opposite is 26 - slot, the block itself would be 13
 *
 * so slots in ascending order are neighbours in ascending rank: below 13 lower ranks, above 13 higher ones. What is
 * shared in a direction is a box: a face, an edge or a corner, by how many of the three are not 0. One loop over a box
 * packs all.
 *
 * Four exchanges:
 *
 *     HALO_MASS       1 field    all 26, both ways     sums
 *     HALO_FORCE      3 fields   all 26, both ways     sums
 *     HALO_MOTION     6 fields   higher to lower rank  overwrites: the copies of a node had their forces summed in other
 *                                                      orders; they all take the bits of the highest rank that holds it
 *     HALO_GRADIENT   3 fields   6 faces, both ways    into the ghost elements behind each face
 *
 * each in three calls: halo_receive() (all Irecv; early, so that computing hides it), halo_send() (pack, all Isend, one
 * Waitall over 26 slots), halo_finish() (one Wait per receive, unpack). `fields` are arrays over the block's nodes, for
 * HALO_GRADIENT over its elements followed by six ghost faces of s * s.
 *
 * MPI is called by the thread that started it only. Buffers are allocated once.
 */
#pragma once

enum halo_exchange { HALO_MASS, HALO_FORCE, HALO_MOTION, HALO_GRADIENT };

struct halo;

/* Block `rank` of side^3, with s elements to an edge. NULL when memory runs out. */
struct halo *halo_create(int rank, int side, int s);
void halo_destroy(struct halo *h);

void halo_receive(struct halo *h, enum halo_exchange x);
void halo_send(struct halo *h, enum halo_exchange x, double *const fields[]);
void halo_finish(struct halo *h, enum halo_exchange x, double *const fields[]);

/* The run as a whole. */
void run_start(int *argc, char ***argv);
void run_stop(void);
_Noreturn void run_abort(int status);
int run_rank(void);
int run_ranks(void);
void run_barrier(void);
double run_seconds(void);               /* wall clock from some fixed moment */

/* Over all ranks; the first to every rank, the others to rank 0 only (elsewhere the value is unspecified). */
double run_min(double mine);
double run_max_to_first(double mine);
double run_min_to_first(double mine);
double run_sum_to_first(double mine);
