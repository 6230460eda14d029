/* SPDX-License-Identifier: MIT */
/*
 * A job as tables: what the text and the JSON report print. There is one aggregation, so that they cannot disagree.
 *
 *   classes x nodes  --terminal-->  sites (function at a callsite), regions      counts, times, bytes
 *   classes x variants ---------->  peers (who sends how much to whom)
 *   streams          ---------->  ranks, totals, efficiencies
 *
 * Times are in ns. Sums over all ranks and threads unless the name says otherwise. Exclusive: the time of a call that
 * contains others is without them, so that sites + regions + computation add up.
 *
 * Threads: owner; any once built.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/efficiency.h"
#include "job/job.h"

/* How a call or a region differs from one execution to the next, and from one rank to the next. */
struct findings_spread {
    uint64_t min_ns, max_ns; /* of one execution with nothing inside; min_ns UINT64_MAX where there was none */
    uint64_t streams;        /* that have it */
    double cov;              /* coefficient of variation of their total times, < 0: not known */
    uint32_t worst_rank;     /* which spent most in it, GRAMMAR_NONE: not known */
    uint64_t worst_ns;
};

struct findings_team {
    int64_t size;    /* -1: several sizes, told apart no longer */
    uint64_t count, time_ns;
    uint64_t nested; /* of `count`, regions with other spans inside */
    uint64_t least_ns; /* shortest execution of this size, UINT64_MAX: not known */
    bool compared;     /* some place had it and other sizes: the same work there, as far as can be told */
    double like_ns;    /* what it took at places that ran with one thread, too, … */
    double alone_ns;   /* … and would have taken with that */
    double gain_ns;    /* by how much all executions in these places would take less, if all were of this size */
};

/* A function or a parallel region at a callsite. */
struct findings_site {
    uint32_t function;   /* string of the job */
    uint32_t callsite;   /* GRAMMAR_NONE for words */
    uint32_t terminal;   /* one that stands for it */
    uint8_t call_kind;
    bool launch;         /* MPI_Init: no part of the run */
    bool seen;            /* it has a node */
    uint64_t count;      /* calls, executions */
    uint64_t time_ns;    /* in them */
    uint64_t gap_ns;     /* before them, since the event before (or the begin of the span around) */
    uint64_t bytes;
    struct job_extremes extremes; /* of all of its events; count 0: not known */
    struct findings_spread spread;
    /* Of regions: */
    uint64_t nested_ns;  /* of time_ns, with other spans inside */
    uint32_t team_count;
    struct findings_team *teams; /* by size */
};

struct findings_rank {
    uint32_t rank, ranks, streams;                 /* in a large job a record is of so many ranks, from `rank` on */
    uint64_t events;
    uint64_t launch_ns, wall_ns, mpi_ns, omp_ns, compute_ns; /* of its first thread; of several ranks, the mean */
    struct job_extent wall, useful;                /* of one rank; useful: outside MPI */
    uint64_t cost_ns;                              /* of Pythia, all threads */
};

enum findings_relation { FINDINGS_RANK, FINDINGS_OFFSET, FINDINGS_XOR, FINDINGS_ANY, FINDINGS_VARIES };

struct findings_peer {
    uint32_t comm;     /* of the job, GRAMMAR_NONE without */
    bool receives;
    bool onesided;     /* written to (receives false) or read from the peer */
    uint8_t relation;  /* enum findings_relation */
    int64_t value;     /* rank, rank + value, rank xor value */
    uint64_t messages, bytes;
};

/* Messages from one rank of the job to another. */
struct findings_edge { uint32_t from, to; uint64_t messages, bytes; };

/* What the messages of one call have in common. */
struct findings_pattern {
    uint32_t site; /* index in sites[], GRAMMAR_NONE: of all calls together */
    uint64_t messages, bytes;
    char name[64]; /* "ring", "3-D halo (4 x 4 x 4)", "irregular" */
};

struct findings_model {
    const struct job *job;
    uint64_t events, lost, values_not_kept; /* events with values that a bound gave up */
    uint64_t launch_ns;  /* in MPI_Init, the longest rank's … */
    uint64_t wall_ns;    /* … and from its end on: what is called the run; sums below are of all that was recorded */
    struct job_base base; /* what shares are shares of (findings_share) */
    uint64_t sum_wall_ns, sum_launch_ns, sum_mpi_ns, sum_omp_ns, sum_compute_ns; /* over the ranks' first threads */
    uint64_t cost_ns;
    /* Of all streams: wall time = calls + regions + gaps outside of both + what lost its order. */
    uint64_t stream_wall_ns, call_ns, region_ns, gap_ns, lost_ns;
    uint64_t unfinished_ns; /* of a run that died besides: in calls that did not end, which are no events */
    struct findings_efficiency efficiency;
    uint32_t site_count, region_count, rank_count, peer_count;
    uint32_t all_sites; /* in sites[]: calls, then those without an event, which do not count, then the regions */
    struct findings_site *sites, *regions; /* most time first */
    struct findings_rank *ranks;   /* by rank */
    struct findings_peer *peers;   /* most bytes first */
    /* Point-to-point and one-sided data, by rank of the job; traffic.c */
    uint32_t edge_count, pattern_count;
    struct findings_edge *edges;   /* by from, then to */
    struct findings_pattern *patterns; /* all calls together, then by bytes */
    uint64_t by_mean_bytes;        /* of all edges: a share of what many ranks sent together */
    uint64_t unplaced_messages, unplaced_bytes; /* peers that are not in the job, or too many */
    uint32_t *place; /* of each terminal: its index in sites[] */
};

/* `j` must outlive the model. */
struct findings_model *findings_model_create(const struct job *j);
void findings_model_destroy(struct findings_model *m); /* NULL is legal */

/* ns of the run's time as a percentage. */
static inline double findings_share(const struct findings_model *m, double ns)
{
    return m->base.ns > 0 ? 100 * ns / m->base.ns : 0;
}

/* The site or region of a terminal. */
static inline struct findings_site *findings_site_of(const struct findings_model *m, uint32_t terminal)
{
    return &m->sites[m->place[terminal]];
}

/* Of teams by size the one of that size, which is new where there is none. */
struct findings_team *findings_team_of(struct findings_team **teams, uint32_t *count, int64_t size);

/* Time of all calls of one kind (enum job_call_kind), ns. */
uint64_t findings_class_time(const struct findings_model *m, unsigned call_kind);

/* --- Between the parts of the model --- */
/* Fills m->peers. */
void findings_model_add_peers(struct findings_model *m);
/* Whether a terminal is a call that moves data to (receives false) or from a peer. */
bool findings_model_moves_data(const struct job *j, uint32_t terminal, bool *receives);
/* Fills the spreads of sites and regions; edges and patterns. */
void findings_model_add_spreads(struct findings_model *m);
void findings_model_add_traffic(struct findings_model *m);
/* Names the pattern of edges (sorted, each once, none to oneself) among `ranks`: see pattern.c. */
void findings_pattern_name(const struct findings_edge *edges, uint32_t count, uint32_t ranks, char name[64]);
