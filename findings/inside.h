/* SPDX-License-Identifier: MIT */
/*
 * What stands between two calls, by samples (job/inside.h): functions of the source, most first, of
 *
 *     computation before a call or region     MPI_Allreduce: 61 % triangle@app.c:12, 22 % flux@hydro.f90:140
 *     a call, a region with nothing inside    MPI_Allreduce: 80 % ucp_worker_progress
 *     what was there when the recording ended
 *     threads that make no calls, in no region
 *
 * A share has the bounds between which it is with 95 % confidence (Wilson's), as if samples were drawn by chance; of
 * fewer than FINDINGS_INSIDE_FEW samples none is said. The line is the one of the function that most samples are at;
 * what was inlined into it, from its own source file, is a function beside it ("most (work@app.c:15)").
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/loops.h"
#include "findings/report.h"

enum { FINDINGS_INSIDE_FEW = 30 };

struct findings_inside_function {
    const struct findings_place *place; /* its line with most samples; NULL: code that was made at run time */
    uint64_t samples;
    uint64_t ranks;                   /* bit rank modulo 64 */
    double share, low, high;          /* of its part; NAN: too few samples */
};

struct findings_inside_part {
    uint32_t terminal; /* one that stands for its site or region; GRAMMAR_NONE: none came any more, or it is several */
    bool before;       /* else inside it; of no terminal: threads that make no calls */
    uint64_t samples;
    struct findings_inside_function *function; /* most samples first */
    uint32_t count;
};

struct findings_inside {
    struct findings_inside_part *part; /* most samples first */
    uint32_t parts;
    uint64_t known, unknown;         /* samples */
};

/* The report's. */
const struct findings_inside *findings_inside_of(struct report *r);
void findings_inside_destroy(struct findings_inside *inside); /* NULL is legal */
/* The part before a site (or in it); NULL: no sample. */
const struct findings_inside_part *findings_inside_find(struct report *r, uint32_t terminal, bool before);
/* Several, of one job or of more, as one; NULLs are of no samples. The caller frees its functions. */
struct findings_inside_part findings_inside_together(const struct findings_inside_part *const *part, uint32_t count);
/* The computation of a loop's calls, and its regions, that come in no other loop; with loops within, or right in it.
   *ns: its time in all. The caller frees its functions. */
struct findings_inside_part findings_inside_loop(struct report *r, const struct findings_loops *l, int loop,
                                                 bool within, double *ns);
/* The share that `count` of `all` are, and its bounds. */
double findings_inside_share(uint64_t count, uint64_t all, double *low, double *high);
/* Orders places by function: of functions without a name only the module is known, they are one. */
int findings_inside_order(const struct findings_place *a, const struct findings_place *b);
/* The ranks that bits stand for: "rank 3", "ranks 0-2", "17 ranks or more". */
char *findings_inside_ranks(const struct report *r, uint64_t ranks);
uint32_t findings_inside_count(uint64_t ranks); /* how many at least */
/* "61 % triangle@app.c:12, 22 % flux@hydro.f90:140 (412 samples)": those of a twentieth or more, in `width` columns;
   "" where there are too few samples. */
char *findings_inside_text(const struct findings_inside_part *part, int width);
/* "triangle@app.c:12"; NULL: code that was made at run time. */
char *findings_inside_place(const struct findings_place *p);
