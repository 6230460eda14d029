/* SPDX-License-Identifier: MIT */
/*
 * Contracts: what a new run promises against a baseline of one run or several, as rules, for checks that nobody
 * watches.
 *
 *   structure              as many messages, bytes, collectives, turns, callsites, and the same classes of ranks
 *   wall > 5%              broken when the longest rank takes more than 5 % longer, by the clock
 *   parallel > 5%          ... when the parallel efficiency is less by more than 5 % of itself; so load_balance,
 *                          serialisation, openmp (findings/efficiency.h)
 *   callsite > 10%         ... any call, in it or in the computation before it, by the mean of one execution
 *   region > 10%           ... any parallel region, likewise
 *   loop > 10%             ... any loop, by the mean of one turn
 *   region[solve] > 5%     ... the region that the program calls so (findings/named.h), by the mean time of an entry;
 *                          one number a run, as the wall time is
 *   structure[bytes], callsite[MPI_Send] > 5%, region[pressure@eos.c:67] > 3%
 *                          only that: a part of the structure, or what has that word in its name as the report shows it
 *
 * baseline 1 … n  --contracts_compare()-->  measures: (what, where, value in each run of the baseline, value now)
 *      new run     -------------------->      |
 *                                             +--> each rule against each measure it is about --> breaches
 *
 * A count is kept when the baseline had it, or values on both sides of it. Where the baseline's runs differ in it,
 * timing has a part in it: it is kept unless a t test says otherwise, with a chance of 2 % for all such counts.
 *
 * A time is the mean of the shortest three quarters of its executions (job/extremes.h), for what a busy machine makes
 * longer now and then is not the program's. It is taken as a ratio to its run's pace: the median over the times of the
 * run of what they are to their means over the baseline; calls that wait for others have a pace of their own, and are
 * no part of a turn. So what makes a whole run slower breaks no promise; where that is more than the tolerance and than
 * the baseline's runs differ by, it cannot be said whether the program is the reason. A time is broken when it is
 * longer than the baseline's
 *
 *   1. by the clock, and beside the pace by more than the tolerance;
 *   2. than in each of its runs, beside their pace: an exact rank test, which n runs alone take to 2 in n + 1;
 *   3. by more than chance: the rest of the proof is in the executions. Between runs a time varies by so many times the
 *      standard error that it has inside a run. Five runs tell little of that factor for one time, those of all times
 *      together tell much: a moderated t test (Smyth, "Linear models and empirical Bayes methods", 2004) on
 *
 *          t = (log new - log baseline) / sqrt(factor^2 (error_new^2 + sum error_i^2 / n^2))
 *
 *      two-sided, with a chance of 2 % for all times of all rules together (Bonferroni). doc/ALGORITHMS.md has it all.
 *
 * Against one run nothing is known of what runs differ by: only what is more than the scatter inside the runs, the
 * deviation of one execution, is said to be longer, and the answer says from where on. The wall time and efficiencies
 * are one number a run: against one run they are taken as they are, against several a t test is needed as well, and
 * what is within their scatter cannot be judged.
 *
 * Where a rule names no place, measures below 0.1 % of the job's time are left out, and those of fewer than eight
 * executions a stream: what MPI_Init takes is the machine's. Where the arguments of the runs differ, only their
 * structure is judged.
 *
 * Ownership: a contract owns its rules and breaches; the reports and file names must outlive it. Times in ns.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "contracts/grown.h"
#include "findings/report.h"

enum contracts_about {
    CONTRACTS_ABOUT_STRUCTURE,
    CONTRACTS_ABOUT_CALLSITE,
    CONTRACTS_ABOUT_REGION,
    CONTRACTS_ABOUT_LOOP,
    CONTRACTS_ABOUT_WALL,
    CONTRACTS_ABOUT_PARALLEL,
    CONTRACTS_ABOUT_LOAD_BALANCE,
    CONTRACTS_ABOUT_SERIALISATION,
    CONTRACTS_ABOUT_OPENMP,
    CONTRACTS_ABOUTS, /* from WALL on of the whole run; no rule's own word: */
    CONTRACTS_ABOUT_NAMED = CONTRACTS_ABOUTS
};
enum contracts_verdict { CONTRACTS_KEPT, CONTRACTS_BROKEN, CONTRACTS_CANNOT_SAY };

struct contracts_rule {
    enum contracts_about about;
    double tolerance; /* share: 0.05 for 5 %; 0 for structure */
    char *name;       /* in brackets, NULL: all */
    char *text;       /* the rule, as it was written */
    uint8_t verdict;  /* enum contracts_verdict; set by contract_judge() */
    uint32_t judged;  /* measures it was about */
    double least;     /* change that could have been told of half of them, beside the tolerance; < 0: of a count, … */
    char why[160];    /* of CONTRACTS_CANNOT_SAY */
};

/* A broken promise. */
struct contracts_breach {
    uint32_t rule;         /* index of the rule */
    const char *what;      /* "messages", "bytes", "time in", "time before", "turns", … : static */
    char *where;           /* the call, region or loop as the report names it; "" for the whole job */
    const char *unit;      /* "seconds": values are ns of one execution (turn, run); "bytes", "count", "share" */
    double base, value;    /* mean of the baseline; the new run's */
    double scatter;        /* relative standard deviation between the baseline's runs, < 0: one run only */
    double pace;           /* share of the change that is laid to the machine */
    struct contracts_grown *grown; /* of a time, the functions that made it longer (grown.h) */
    uint32_t grown_count;
    uint32_t varies_since; /* first run of the baseline, from 1 on, that differs from those before: a count from the
                              first, a time by more than the tolerance; 0: none */
};

struct contract {
    uint32_t rule_count, breach_count, runs; /* runs: of the baseline */
    struct contracts_rule *rules;
    struct contracts_breach *breaches;       /* by rule; the greatest change first */
};

/* Adds the rules in `text`, several with commas, blank lines and what follows '#' aside. False with one line in `why`:
   one is none. */
bool contract_parse(struct contract *c, const char *text, char *why, size_t size);

/* Judges a run against `runs` >= 1 others. Once a contract. */
void contract_judge(struct contract *c, struct report *const *baseline, const char *const *files,
                    uint32_t runs, struct report *run, const char *file);

/* The worst of the rules: broken before cannot say before kept. */
enum contracts_verdict contract_verdict(const struct contract *c);

void contract_clear(struct contract *c); /* frees what it owns */

/* --- Between the parts --- */

/* Something that can be counted or timed in each run: those of the baseline, then the new one. */
struct contracts_measure {
    uint8_t about;         /* enum contracts_about: the rules that it belongs to */
    bool minor;            /* too little of the job, or of too few executions, to be judged unasked */
    bool follows;          /* as long as others make it */
    const char *part;      /* of the structure: "messages", …; of times "in", "before", "turn", "run" */
    char *where;
    uint32_t order;        /* tells measures of one name apart */
    double *value;         /* of each run; < 0: it is not there */
    double *error;         /* of a time by its executions, the relative standard error of each run */
    struct contracts_made *made; /* of a time: the computation of each run that is in it (grown.h); of a count empty */
    double inside;         /* the greatest relative deviation of one execution in a run */
    /* By contracts_measures_settle(): */
    uint32_t known;        /* runs of the baseline that have it */
    double mean;           /* over them, < 0: none */
    double change;         /* logarithm, to the new run, beside the pace */
    double chance;         /* what is no more than that may be chance; both of a count: no logarithms */
    double scatter;        /* relative deviation between the runs, < 0: not known */
};
struct contracts_measures {
    uint32_t count, runs;
    struct contracts_measure **at;
    void *tree;            /* of tsearch(3), by what they are */
    struct contracts_measure pace[2]; /* of the runs, of what follows others [1], as a measure of the whole run */
    const char *other;     /* why times are not compared, NULL: they are */
    bool comparable;       /* else `why` says why not */
    char why[160];
};

/* Fills the measures of a run against a baseline. */
void contracts_measure_all(struct contracts_measures *m, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file);
void contracts_measures_clear(struct contracts_measures *m);

/* Orders doubles. */
int contracts_by_value(const void *a, const void *b);

/* Finds pace, changes and what may be chance; `judged`: times of calls, regions and loops that are looked at. */
void contracts_measures_settle(struct contracts_measures *m, uint32_t judged);
