/* SPDX-License-Identifier: MIT */
/* What is known of the runs in a job as a whole: program, machine, how well the last one was predicted. */
#pragma once

#include <stdint.h>

#include "oracle/oracle.h"

/* Where the job ran, and the energy of the nodes that could be read. */
struct job_machine {
    uint32_t present;
    uint32_t tree;   /* string: the first rank's node, a line an object, indented; GRAMMAR_NONE without */
    uint32_t energy; /* string: where the energy was read, or why not; GRAMMAR_NONE without */
    uint32_t nodes;  /* whose energy is in `joules` */
    double joules;   /* from the session's begin to its end */
};

/* How well the times of different nodes go together: begins of streams are on the clock of the first rank's node. */
struct job_clock {
    uint32_t nodes;    /* 0: they do not, each rank's time begins with its own recording */
    uint64_t error_ns; /* at most so wrong at the begin and at the end of the run; of the worst node */
};

/* How long ranks were ready to run and had no processor, as the kernel counts it: of their first threads. */
struct job_delay {
    uint32_t ranks;    /* that were counted; 0: nobody was */
    uint64_t ready_ns; /* without a processor, all of them together */
    uint64_t wall_ns;  /* from the begin of their sessions to the end */
    uint64_t most_ns;  /* of one rank, without a processor */
};

/* What Pythia itself took, of each rank: in start and end by the clock, with the waiting for other ranks; of hooks and
   Pythia's own threads the processor time. Loading is all that a process took before our code began. */
enum job_took_parts { JOB_TOOK_START, JOB_TOOK_HOOKS, JOB_TOOK_THREADS, JOB_TOOK_END, JOB_TOOK_LOADING,
                      JOB_TOOK_PARTS };
struct job_took {
    uint32_t ranks;                /* that said it; 0: nothing is known */
    uint64_t sum[JOB_TOOK_PARTS];  /* ns, over these ranks */
    uint64_t most[JOB_TOOK_PARTS]; /* of one rank */
};

/* One rank took `now` in a part of which it had said `before`. */
static inline void job_took_longer(struct job_took *t, enum job_took_parts part, uint64_t before, uint64_t now)
{
    t->sum[part] += now > before ? now - before : 0;
    t->most[part] = now > t->most[part] ? now : t->most[part];
}

struct job_info {
    uint32_t program;     /* string: path of the executable */
    uint32_t program_id;  /* string: its build-id */
    uint32_t arguments;   /* string */
    uint32_t mpi;         /* string: library version line, or "" */
    uint32_t ranks, threads; /* threads: OpenMP maximum per rank at start */
    uint32_t missing;     /* ranks whose part is missing (a run that died) */
    uint32_t runs;        /* recorded runs in here, at least 1 */
    uint32_t block;       /* ranks that share a record of streams[]: a power of two */
    uint64_t wall_ns;     /* of the job: longest rank */
    uint64_t start_time;  /* seconds since 1970 */
};

/* A table that could not be joined when ranks were: neither it nor what would belong to it is in the job. */
struct job_left { uint32_t table; /* string: the name of one of its rows (job/schema.h) */ };
struct job_left_list {
    struct job_left *of;
    uint32_t count, room;
};

/* Of the last predicted run with this file. */
struct job_oracle {
    uint32_t present, ranks;
    struct oracle_score score;
    uint64_t actions;       /* team sizes changed, … */
    double gain_seconds;    /* estimated gain of acting, summed over ranks */
    double cost_seconds;
    uint64_t wall_ns;
    uint64_t start_time;     /* seconds since 1970; 0: not known, nor what follows */
    uint32_t threads;        /* as in struct job_info */
    uint32_t recorded_ranks; /* of what it was predicted from, … */
    uint64_t recorded_ns, recorded_time; /* … its wall time, 0 where it had other arguments: that is of other work; and
                                            its start */
};
