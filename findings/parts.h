/* SPDX-License-Identifier: MIT */
/* Between the parts of findings: see findings.h. */
#pragma once

#include "base/hash.h"
#include "findings/findings.h"
#include "job/threads.h"
#include "pythia.h"

#define LEAST_SHARE 0.01 /* of the ranks' wall time */
#define LEAST_ADVICE 1e-3 /* s */
#define LEAST_PART (LEAST_SHARE / 16) /* the same of a part: a finding's line may be called from several places */

/* What regions lose, as bits of enum job_threads_part. */
#define FINDINGS_FORKS (1u << JOB_THREADS_FORK | 1u << JOB_THREADS_JOIN)
#define FINDINGS_LOST (1u << JOB_THREADS_UNEVEN | 1u << JOB_THREADS_WAIT | FINDINGS_FORKS)

struct findings {
    struct report *report;
    struct findings_list *all;
    struct replay_analysis *analysis;
    struct replay_bind *bind;
    uint32_t ranks;
    double in_mpi, in_regions; /* how much of a first thread's time in calls, of what threads lose in regions, its rank
                                  loses */
    double *time; /* of each site of the model: ns that ranks lose in its calls, as first threads make them, … */
    double *attributed; /* … and what of it findings have */
    bool *in;     /* of each finding, of each rank: whose work it is */
    struct base_hash index; /* of the findings */
};

/* Each adds what it finds. */
void findings_of_waits(struct findings *f);    /* waits.c */
void findings_of_moving(struct findings *f);   /* moving.c: after those of waits */
void findings_of_regions(struct findings *f);  /* regions.c */
void findings_of_messages(struct findings *f);
void findings_of_remainder(struct findings *f);    /* remainder.c: after all others */

/* Adds `one` of a call or region, `one.call`, and of the terminal that is the cause, in which the ranks r with in[r]
   take part; fills `where` and `cause` in. `in` NULL: the ranks that come to `of`. */
void findings_add_at(struct findings *f, struct finding one, uint32_t cause, uint32_t of, const bool *in);
/* What is lost of a region in some of its threads' times (enum job_threads_part, as bits), ns of its ranks. */
double findings_in_region(const struct findings *f, const struct findings_site *region, unsigned parts);
/* Whether a place of the replay is work, not what calls take themselves: that is transfer, or chance, and nobody's
   work to be given to others. */
bool findings_is_work(const struct findings *f, uint32_t place);
