/* SPDX-License-Identifier: MIT */
/*
 * The efficiencies of a hybrid job, as POP's multiplicative hybrid model has them (POP Centre of Excellence, "Hybrid
 * metrics"):
 *
 *   parallel = MPI                              x OpenMP
 *              = load balance x communication     = load balance in regions x fork and join x serial part
 *                              = serialisation x transfer
 *
 * With, summed over the ranks, W wall time of the longest rank for each, O time outside MPI, S of it outside of
 * parallel regions, and of the time in regions with teams of t out of T threads: P all of it times t, L without fork
 * and join, U what the threads really worked:
 *
 *   MPI           O / W                 load balance = mean O / most O,  communication = most O / longest wall
 *   OpenMP        (S + U) / (T x O)     serial = (S + P) / (T x O),  fork and join = (S + L) / (S + P),
 *                                       load balance in regions = (S + U) / (S + L)
 *
 * T is the largest team of the job: a thread that nobody made is not idle. U and L are measured in a sample of the
 * executions of each region (job/regions.h); regions without samples are taken to be as those with. Transfer
 * is what the job takes with an ideal network, replayed (replay/analysis.h), over what its replay takes; serialisation
 * is what communication has besides.
 *
 * Threads: any once filled.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_EFFICIENCY_H
#define PYTHIA_REPORT_EFFICIENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "job/streams.h"

struct report;
struct report_model;

/* Shares, 0 to 1. */
struct report_efficiency {
    bool known;                       /* false: nothing useful was done */
    bool sampled;                     /* U and L are measured; else load balance in regions and fork and join are taken
                                         as 1 */
    bool split;                       /* serialisation and transfer are known */
    struct job_extent useful;         /* O: which ranks have least and most */
    uint32_t threads;                 /* T; 1: OpenMP does not come in */
    double parallel, mpi, openmp;
    double load_balance, communication, serialisation, transfer;
    double omp_load_balance, omp_fork_join, omp_serial;
};

/* From the ranks, regions and classes of the model, into m->efficiency. */
void report_efficiency_fill(struct report_model *m);

/* Of the time between the events of the ranks' first threads what is outside of regions and calls that contain events,
   in a job that can be replayed: inside them it is theirs. */
double report_serial_share(struct report *r);

/* Serialisation and transfer, where the job can be replayed. */
void report_split_communication(struct report *r);

/* "parallel efficiency 75.0 % = load balance 83.3 % x communication 90.0 %", of a job with teams two lines more. */
void report_print_efficiency(const struct report_efficiency *e, FILE *out);

#endif
