/* SPDX-License-Identifier: MIT */
/*
 * The efficiencies of a hybrid job: one definition, which all views print. doc/ALGORITHMS.md, "Efficiencies", has it
 * with an example and the names that other tools use.
 *
 *     useful              time of any thread of a rank in the program's own code
 *     capacity            ranks x threads x the longest wall time of a rank, all from the end of MPI_Init on
 *     parallel = useful / capacity
 *              = MPI                                 x OpenMP
 *              = load balance x communication          = load balance x waiting x fork and join x serial
 *                               = serialisation x transfer
 *
 * Every factor is what is left of the time over what there was, in this order:
 *
 *     capacity | ended early, MPI: O | idle outside of teams | fork, join | waiting for each other | uneven: useful
 *
 * O: of a rank the time of its threads that is not MPI. While its first thread is in MPI outside of regions all are;
 * inside, and in other threads, MPI is the time of the thread that makes the call. Load balance is mean O / most O,
 * communication most O / (threads x longest wall).
 *
 * threads: the largest team, with teams inside it, that any rank asked for in a region; 1 where none was entered. Those
 * that were not made are idle. What regions are made of is measured in their threads (job/threads.h); where that covers
 * less than a twentieth of the time in teams nothing is known of parallel and OpenMP, and "measured" is false.
 *
 * Of several nodes load balance is that between them, mean O / most mean O of a node, times that within them, most mean
 * O of a node / most O (as TALP has it).
 *
 * Transfer is what the job takes with an ideal network, replayed (replay/analysis.h), over what its replay takes;
 * serialisation is what communication has besides.
 *
 * Threads: any once filled.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/streams.h"

struct report;
struct findings_model;

/* Where the capacity went, ns of all threads; the parts add up to it. */
struct findings_capacity { double all, useful, mpi, ended, serial, fork_join, waiting, uneven; };

/* Shares, 0 to 1. */
struct findings_efficiency {
    bool known;                       /* false: nothing useful was done, or … */
    bool elsewhere;                   /* … threads that no region has call MPI, too: the first ones tell of nothing */
    bool measured;                    /* the time of threads in regions is; else only threads, mpi and what is below it
                                         are known */
    bool split;                       /* serialisation and transfer are known; serialisation = order of dependences with
                                         mean work x imbalance that moves x explained (replay/moving.h) */
    struct job_extent useful;         /* outside MPI, on first threads: which ranks have least and most */
    uint32_t threads;                 /* of a rank; 1: OpenMP does not come in */
    double samples, covered;          /* executions that were timed, and their share of the time in teams */
    double parallel, mpi, openmp;
    uint32_t nodes;                   /* above 1: load balance = between nodes x within nodes */
    double between_nodes, within_nodes;
    double load_balance, communication, serialisation, transfer, order, moving, explained;
    double omp_load_balance, omp_waiting, omp_fork_join, omp_serial;
    struct findings_capacity of;
};

/* From the ranks, regions and classes of the model, into m->efficiency. */
void findings_efficiency_fill(struct findings_model *m);

/* Of the time between the events of the ranks' first threads what is outside of regions and calls that contain events,
   in a job that can be replayed: inside them it is theirs. */
double findings_serial_share(struct report *r);

/* Serialisation and transfer, where the job can be replayed. */
void findings_split_communication(struct report *r);
