/* SPDX-License-Identifier: MIT */
/* The view of regions by region: which are changed, and of each other one the reason in a word, and what would lift
   it. */
#include <stdlib.h>

#include "views/table.h"
#include "views/views.h"

struct why { const char *word, *lift; };

/* What reading its code said. */
static const struct why proofs[JOB_PROOFS] = {
    [JOB_PROOF_NONE] = { "unread", "a predicted run, or a longer recording, reads its code" },
    [JOB_PROOF_ASKS] = { "asks", "settings of OpenMP asked for, or set, outside of it" },
    [JOB_PROOF_WAITS] = { "waits", "OpenMP's barriers and critical sections in place of loops and locks" },
    [JOB_PROOF_THREAD_DATA] = { "thread-data", "an array by thread number in place of threadprivate data" },
    [JOB_PROOF_CALLS] = { "unknown", "calls of known functions only, or PYTHIA_OMP_KEEP=-NAME where they do not wait" },
    [JOB_PROOF_POINTER] = { "pointer", "direct calls, or PYTHIA_OMP_KEEP=-NAME where what is called does not wait" },
    [JOB_PROOF_MPI] = { "mpi", "MPI calls outside of it" },
    [JOB_PROOF_NESTS] = { "nested", "no region inside of it" },
    [JOB_PROOF_TASKS] = { "tasks", "a loop in place of tasks" },
    [JOB_PROOF_SYSTEM] = { "system", "system calls outside of it" },
    [JOB_PROOF_LARGE] = { "large", "less code in it" },
    [JOB_PROOF_UNREADABLE] = { "unreadable", "compiling with -fno-jump-tables, where it is a switch" },
    [JOB_PROOF_CATCHES] = { "exception", "no barrier or loop of the team's in what catches exceptions" },
    [JOB_PROOF_NO_READER] = { "no-reader", "Pythia built with capstone, or aarch64" },
};

/* What the program or the user says of it, or it showed; bit by bit. */
static const struct why fixed[JOB_FIXED_REASONS] = {
    { "listed", "PYTHIA_OMP_KEEP without its name" },
    { "calls", "MPI calls and regions outside of it" },
    { "team", "a team as large as it asks for" },
    { "clause", "recording it again" },
    { "clause", "recording it again" },
    { "league", "a region that is in no league or target region, nor (LLVM) after a league" },
    { "levels", "one active level" },
    { "tasks", "a loop in place of tasks" },
    { "sections", "recording it again" },
    { "settings", "no OMP_CANCELLATION, OMP_TOOL=disabled, KMP_SCHEDULE, KMP_…REDUCTION… in the environment" },
};

static const struct why *why_of(const struct job_region *g, bool predicted)
{
    static const struct why one = { "one-thread", "a team of more than one thread" };
    static const struct why dynamic = { "dynamic", "OMP_DYNAMIC=false" };
    static const struct why best = { "best", "nothing: its own team takes least, or it ran too seldom" };
    static const struct why worker = { "worker", NULL };
    uint32_t reason = g ? job_proof_reason(g->proof) : 0;
    if (!g)
        return &worker;
    if (g->changed)
        return NULL;
    if (g->team == 1)
        return &one;
    for (int i = 0; i < JOB_FIXED_REASONS; i++)
        if (g->fixed & 1u << i)
            return &fixed[i];
    if (reason != JOB_PROOF_HARMLESS)
        return reason < JOB_PROOFS && proofs[reason].word ? &proofs[reason] : &proofs[JOB_PROOF_NONE];
    return g->team == 0 ? &dynamic : predicted ? &best : NULL;
}

/* Predicted runs know best. */
static const struct job_region *known_of(const struct report *r, uint32_t callsite, bool *predicted)
{
    const struct job_learned *l = &r->job->learned;
    for (uint32_t i = 0; i < l->region_count; i++)
        if (l->regions[i].callsite == callsite) {
            *predicted = true;
            return &l->regions[i];
        }
    *predicted = false;
    return job_find_region(r->job, callsite);
}

const char *views_why_kept(const struct job_region *g, bool predicted, const char **lift)
{
    const struct why *why = why_of(g, predicted);
    *lift = why ? why->lift : NULL;
    return why ? why->word : NULL;
}

static void print_region(struct report *r, const struct findings_site *g, struct views_table *t)
{
    bool predicted;
    const struct job_region *known = known_of(r, g->callsite, &predicted);
    const char *lift = NULL, *word = views_why_kept(known, predicted, &lift);
    double gain = known && known->changed ? views_gain(r, known) : (double)NAN;

    ROW(t, TEXT("", findings_where(r, g->terminal, 30), "region", -31), COUNT("", g->count, "count", 8),
        TIME("", g->time_ns, "total", 9),
        PERCENT("", known ? findings_percent((double)known->changed, (double)known->executions) : (double)NAN,
                "changed", 8),
        TIME("", gain, "gain", 9),
        TEXT("",
             word             ? word
             : known->changed ? ""
                              : "free",
             "  why", -14),
        TEXT("",
             lift                     ? lift
             : word || known->changed ? ""
                                      : "a predicted run tries it",
             "what would lift it", 0));
}

void views_print_regions(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;
    struct views_table t = { .out = out };

    if (!m->region_count) {
        fprintf(out, "no parallel region was recorded\n");
        return;
    }
    print_region(r, &m->regions[0], &t); /* the headings */
    for (uint32_t i = 0; i < m->region_count; i++)
        print_region(r, &m->regions[i], &t);
    fprintf(out, "\nwhere each reason is in the code: --view omp\n");
}
