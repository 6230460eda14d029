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
#include "omp/site.h"

struct omp_hook_context {
    struct omp_hook_site *site; /* NULL: free */
    uint32_t reference, node;   /* reference GRAMMAR_NONE: node is a hash of the regions before */
    uint32_t size;              /* the program's */
    uint32_t learned;           /* since best[] was worked out */
    double best[OMP_HOOK_TEAMS];
    struct omp_hook_model model;
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

uint32_t omp_hook_context_count(void);

#endif
