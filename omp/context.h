/* SPDX-License-Identifier: MIT */
/*
 * Contexts: a region's place in the reference's grammar, or after two other regions where there is none, with the model of
 * its times there.
 *
 * Memory: a fixed table; when it is full a site has one context for all places that are not in it, and then none.
 * Threads: the one that acts (team.h).  Hook-safe: yes.
 */
#ifndef PYTHIA_OMP_CONTEXT_H
#define PYTHIA_OMP_CONTEXT_H

#include "omp/model.h"
#include "omp/referee.h"
#include "omp/site.h"

struct omp_hook_context {
    struct omp_hook_site *site; /* NULL: free */
    uint32_t reference, node;   /* reference GRAMMAR_NONE: node is a hash of the regions before */
    uint32_t size;              /* the program's */
    uint32_t learned;           /* since best[] was worked out */
    uint32_t settled;           /* executions to come that need no decision; the next three hold for them */
    uint32_t k;                 /* one thread where the model is lowering, else this team */
    double credit;              /* struct omp_hook_choice */
    double loss;                /* ns, had the other size been taken */
    uint64_t stalled;           /* when the last stall was, then */
    double best[OMP_HOOK_TEAMS];
    struct omp_hook_model model;
    struct omp_hook_return returns;
};

/* The context, made when `add`. A place in a reference determines the site, which may be NULL then if not `add`. */
struct omp_hook_context *omp_hook_context_find(struct omp_hook_site *site, uint32_t reference, uint32_t node, uint32_t size,
                                               bool add);
/* The regions before the one that begins now, as a number. */
uint32_t omp_hook_context_history(void);
/* A region ended. */
void omp_hook_context_passed(void (*fn)(void *));

/* Expected time with the better of one thread and each usable size; zeros for NULL and for what is not known. */
void omp_hook_context_best(struct omp_hook_context *c, double best[OMP_HOOK_TEAMS]);
/* omp_hook_model_learn, and best[] is renewed from time to time. */
bool omp_hook_context_learn(struct omp_hook_context *c, struct omp_hook_patience *p, uint32_t k,
                            const struct omp_hook_execution *e, uint64_t now, double took);

/* An execution as chosen for pool size k, workers awake or one thread, took so long; `other` is what was expected of a team
   with its workers awake, or of one thread. Where the choice is clear, and the region short enough for deciding to matter,
   the next ones need no decision. */
void omp_hook_context_settle(struct omp_hook_context *c, uint32_t k, double took, double other, double credit);
/* Whether the one that begins now needs none: the pool has this size, and its workers wait since so many ns. */
bool omp_hook_context_settled(struct omp_hook_context *c, uint32_t pool, uint64_t since);
/* Whether an execution that was settled took as long as ever. */
bool omp_hook_context_usual(const struct omp_hook_context *c, double took);

uint32_t omp_hook_context_count(void);

#endif
