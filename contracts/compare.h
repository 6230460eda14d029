/* SPDX-License-Identifier: MIT */
/*
 * Two jobs side by side: what of the structure changed, and which times moved beyond their spread.
 *
 *   terminals of A  <-- same content, place, or function and order (job/match.c) -->  terminals of B
 *        |                                                                                  |
 *        +--> rows: calls and regions, by callsite        counts, team sizes, gap and own time a call
 *        +--> loops: by place, as findings/loops.h has them, and the calls in them       turns, entries
 *        +--> classes: by structure, with the terminals of A and B that belong together taken as one
 *
 * A time moved when the means differ by more than the deviation of one execution in its place (few executions: by more
 * than three standard errors), by more than 1 % and 10 ns, and all executions together by more than 0.01 % of the job.
 * What each stream executed once, as MPI_Init, has no spread that one run shows: it is not judged. A total's spread:
 * executions of a call vary together, calls do not.
 *
 * What timing decides is no structure: how often MPI_Testsome or MPI_Iprobe succeed and, in a job with calls that take
 * what comes first (those, MPI_Waitany, MPI_Test, receives from anyone, MPI_Fetch_and_op), loops and classes.
 *
 * Where the arguments differ times are not compared, for they are of other work.
 *
 * With other ranks each count (per stream that makes the call) and each loop bound follows a law of the ranks P:
 * constant, P, P^(1/3), 1/P, within 2 %, or another.
 *
 * Side 0 is A, side 1 is B. Times in ns. Cost: O(grammars + terminals log terminals), and for a rebuilt program the
 * matching of its terminals, which is given up where it would take minutes (gave_up).
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "contracts/grown.h"
#include "findings/report.h"

enum contracts_law {
    CONTRACTS_CONSTANT,
    CONTRACTS_WITH_P,
    CONTRACTS_WITH_CUBE_ROOT,
    CONTRACTS_INVERSE,
    CONTRACTS_OTHER,
    CONTRACTS_LAWS
};
enum contracts_match {
    CONTRACTS_ONLY,
    CONTRACTS_SAME,
    CONTRACTS_PLACE,
    CONTRACTS_ORDER
}; /* how A and B were put together */

struct contracts_shift {
    double mean[2], deviation[2]; /* of one execution */
    double usual[2], error[2];    /* of one execution as it usually is (job/extremes.h), and its relative error */
    bool known;                   /* both have a spread */
    bool moved;
};

/* A call or a region, at one callsite or what it was mapped to. */
struct contracts_row {
    uint32_t terminal[2];         /* that stands for it, GRAMMAR_NONE: not in this job */
    bool region, teams_differ;
    uint8_t match;                /* enum contracts_match, the least certain of its terminals */
    uint64_t count[2], streams[2], bytes[2];
    struct contracts_shift gap, own; /* before the call; in it, without what is inside */
    uint32_t team_count[2];
    struct findings_team *teams[2]; /* by size; only their counts */
};

struct contracts_turns {
    const struct findings_loop *loop[2]; /* NULL: not there */
    uint32_t number;              /* of B's, among its loops */
    uint32_t terminal[2];         /* its first call; GRAMMAR_NONE: not there */
    double events[2];             /* of a turn */
    double usual[2], error[2];    /* of a turn: see contracts_shift */
};

/* A class that only one of the jobs has. */
struct contracts_shape {
    struct grammar_hash hash;
    uint32_t class_index, terminal; /* terminal: its first call, GRAMMAR_NONE: lost events */
    uint64_t length, members;       /* events; streams */
};

struct contracts_shapes {
    uint32_t common, moved;       /* moved: classes in both whose ranks are others */
    uint32_t count[2];            /* only in A, only in B */
    struct contracts_shape *only[2];
};

struct contracts_total {
    const char *name;
    double ns[2], spread;
    bool moved;
}; /* mean of the ranks; wall: the longest */

enum { CONTRACTS_TOTALS = 4 };

struct contracts_comparison {
    struct report *report[2];
    const char *file[2];
    bool scaled;                  /* the numbers of ranks differ */
    bool structure_differs, times_differ;
    bool other_arguments;         /* times are not compared */
    bool gave_up;                 /* too many terminals to be mapped */
    uint32_t timing[2];           /* a terminal of A, of B, by which timing decides the order; GRAMMAR_NONE: none */
    uint32_t matched[4];          /* terminals of A by enum contracts_match */
    uint32_t only_b;              /* terminals of B that A has not */
    uint32_t row_count, loop_count;
    struct contracts_row *rows;   /* calls, then regions; greatest change of time first */
    struct contracts_turns *loops; /* most time first */
    struct contracts_shapes classes;
    struct findings_loops *own[2]; /* by events, where the report's are of the code and the other job's are not */
    struct contracts_total totals[CONTRACTS_TOTALS];
};

/* Compares two reports, which must outlive the result, as must the names of their files. */
struct contracts_comparison *contracts_compare(struct report *a, const char *a_file, struct report *b,
                                               const char *b_file);
void contracts_comparison_destroy(struct contracts_comparison *c);

/* Whether a terminal is a call that is as long as other ranks make it. */
bool contracts_waits(const struct job *j, uint32_t terminal);
/* Whether timing decides the order of calls in one of the jobs; how often those of a row are made. */
bool contracts_by_timing(const struct contracts_comparison *c);
bool contracts_row_by_timing(const struct contracts_comparison *c, const struct contracts_row *r);
/* Mean turns of an entry, 0: it is not there. */
static inline double contracts_loop_bound(const struct contracts_turns *l, int side)
{
    return l->loop[side] ? findings_mean(l->loop[side]->turns.sum, l->loop[side]->entries.sum) : 0;
}
/* Whether a loop, a row is not what it was; what timing decides is what it was. */
bool contracts_loop_changed(const struct contracts_comparison *c, const struct contracts_turns *l);
bool contracts_row_changed(const struct contracts_comparison *c, const struct contracts_row *r);
/* A call of both, with its callsite, by name as side `first` has it where it has it; `width`: of function and callsite.
   A text for a line (findings/units.h). */
char *contracts_pair_text(const struct contracts_comparison *c, const uint32_t terminal[2], int first,
                          const int width[2]);
/* Of a time that moved, before a row or in it, the functions that did it (grown.h); the caller's array. Of calls that
   wait for others only before. */
struct contracts_grown *contracts_row_grown(const struct contracts_comparison *c, const struct contracts_row *r,
                                            bool before, uint32_t *count);
/* "added", "removed", "changed", "none". */
const char *contracts_change_text(bool a, bool b, bool changed);
/* How a value goes from the ranks of A to those of B; *exponent of P, meaningless when a value is 0. */
enum contracts_law contracts_law(const struct contracts_comparison *c, const double value[2], double *exponent);
const char *contracts_law_name(enum contracts_law law);
