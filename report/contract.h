/* SPDX-License-Identifier: MIT */
/*
 * Contracts: what a new run promises against a baseline of one run or several, as rules, for checks that nobody
 * watches.
 *
 *   structure              as many messages, bytes, collectives, turns, callsites, and the same classes of ranks
 *   wall > 5%              broken when the longest rank takes more than 5 % longer, by the clock
 *   callsite > 10%         ... any call, in it or in the computation before it, by the mean of one execution
 *   region > 10%           ... any parallel region, likewise
 *   loop > 10%             ... any loop, by the mean of one turn
 *   structure[bytes], callsite[MPI_Send] > 5%, region[pressure@eos.c:67] > 3%
 *                          only that: a part of the structure, or what has that word in its name as the report shows it
 *
 * baseline 1 … n  --report_compare()-->  measures: (what, where, value in each run of the baseline, value now)
 *      new run     -------------------->      |
 *                                             +--> each rule against each measure it is about --> breaches
 *
 * A count is kept when the baseline had it, or values on both sides of it. Of a time, what is usual is judged: the mean
 * of the shortest three quarters of its executions (job/extremes.h), of a turn that of its events. A mean of all is the
 * machine's as much as the program's: what waits for a processor now and then moved it by 20 to 35 % between equal runs
 * of LULESH on two busy cores, and what is usual by 1 to 4 %. So what makes fewer than a quarter of the executions
 * longer is found by `wall` alone, which is as the clocks say.
 * A machine is faster or slower for whole runs: its pace is what most times of a run changed by, as a line in the
 * logarithm of their length (Tukey's resistant one), for waking threads and computing do not slow down alike. Times are
 * judged beside it. Where most times are longer by more than a rule's tolerance, and by more than the runs of the
 * baseline differ, that may be the program's, and nobody can say; where they are half as long again, no time is judged.
 * The wall time tells. It is taken as it is: against one run it is broken as soon as it is longer by more than the
 * tolerance; against several, where it is also longer than their scatter lets expect (a t test at 1 %), and cannot be
 * judged where it is not.
 * A time is broken when it is longer than the baseline's mean, also beside the pace by more than the tolerance, and by
 * more than chance lets expect, at 1 % over all measures of a rule together (Bonferroni). Against several runs: a
 * one-sided t test of the logarithm beside the pace and what this time follows of it more or less than most, which is
 * estimated from the baseline's runs and doubted the more, the further the new run's pace is from theirs. The variance
 * between runs is moderated (Smyth, "Linear models and empirical Bayes methods", 2004) by that of the executions and
 * what most measures have more, because five runs alone tell little of one. Not so of a call that may wait, nor of a
 * turn where there are several ranks: their executions wait for the same others, and tell nothing of what runs differ
 * by. Where most times changed by more than this lets expect, errors are as much larger (an empirical null: Efron,
 * "Large-scale simultaneous hypothesis testing", 2004). Against one run: ten errors, those of the executions and what
 * most times changed by, for what one time differs by between runs is not known there.
 *
 * Where a rule names no place, measures below 0.1 % of the job's time (computation before a call: 1 %) are left out,
 * and those of fewer than eight executions a stream: what MPI_Init takes is the machine's.
 *
 * Ownership: a contract owns its rules and breaches; the reports and file names must outlive it. Times in ns.
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_REPORT_CONTRACT_H
#define PYTHIA_REPORT_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"

enum report_about { REPORT_ABOUT_STRUCTURE, REPORT_ABOUT_WALL, REPORT_ABOUT_CALLSITE, REPORT_ABOUT_REGION,
                    REPORT_ABOUT_LOOP };
enum report_verdict { REPORT_KEPT, REPORT_BROKEN, REPORT_CANNOT_SAY };

struct report_rule {
    enum report_about about;
    double tolerance; /* share: 0.05 for 5 %; 0 for structure */
    char *name;       /* in brackets, NULL: all */
    char *text;       /* the rule, as it was written */
    uint8_t verdict;  /* enum report_verdict; set by report_contract_judge() */
    uint32_t judged;  /* measures it was about */
    char why[96];     /* of REPORT_CANNOT_SAY */
};

/* A broken promise. */
struct report_breach {
    uint32_t rule;         /* index of the rule */
    const char *what;      /* "messages", "bytes", "time in", "time before", "turns", … : static */
    char *where;           /* the call, region or loop as the report names it; "" for the whole job */
    bool time;             /* values are ns of one execution (turn, run); else counts */
    double base, value;    /* mean of the baseline; the new run's */
    double scatter;        /* relative standard deviation between the baseline's runs, < 0: one run only */
    double pace;           /* share of the change that is laid to the machine */
    uint32_t varies_since; /* first run of the baseline, from 1 on, that differs from those before: a count from the
                              first, a time by more than the tolerance; 0: none */
};

struct report_contract {
    uint32_t rule_count, breach_count, runs; /* runs: of the baseline */
    struct report_rule *rules;
    struct report_breach *breaches;          /* by rule; the greatest change first */
};

/* Adds the rules in `text`, several with commas, blank lines and what follows '#' aside. False with one line in `why`:
   one is none. */
bool report_contract_parse(struct report_contract *c, const char *text, char *why, size_t size);

/* Judges a run against `runs` >= 1 others. Once a contract. */
void report_contract_judge(struct report_contract *c, struct report *const *baseline, const char *const *files,
                           uint32_t runs, struct report *run, const char *file);

/* The worst of the rules: broken before cannot say before kept. */
enum report_verdict report_contract_verdict(const struct report_contract *c);

void report_contract_clear(struct report_contract *c); /* frees what it owns */

/* A line a broken promise, and one with the count. Text, one JSON object (doc/EVENTS.md lists the keys), JUnit's XML
   with a test case a rule. */
void report_contract_print(const struct report_contract *c, FILE *out);
void report_contract_print_json(const struct report_contract *c, FILE *out);
void report_contract_print_junit(const struct report_contract *c, FILE *out);

/* --- Between the parts --- */

/* Something that can be counted or timed in each run. */
struct report_measure {
    uint8_t about;         /* enum report_about: the rules that it belongs to */
    bool time;
    bool small;            /* too little of the job to be judged unasked */
    const char *part;      /* of the structure: "messages", …; of times "in", "before", "turn", "run" */
    char *where;
    uint32_t order;        /* tells measures of one name apart */
    double *base;          /* of each run of the baseline; < 0: it was not there */
    double value;          /* < 0: it is not there now */
    double error[2];       /* relative standard error by its executions, of a run of the baseline and of the new one */
    bool rare;             /* too few executions to be judged unasked */
    bool alone;            /* its executions tell nothing of its scatter: they wait for others */
    /* By contract_scatter.c, from `own` on of its logarithm: */
    double mean;           /* over the baseline, as it was; < 0: none has it */
    uint32_t known;        /* runs of the baseline that have it */
    double own, level;     /* mean beside the pace of the runs, and of their levels */
    double follow, doubt;  /* how much more than most it follows a level; variance of that */
    double variance, freedom; /* between the runs, with so many degrees of freedom */
};
struct report_pace { double level, slope; }; /* log of a time's change; of a time of the middle size, and by the log of
                                                its size */
struct report_measures {
    uint32_t count, runs;
    struct report_measure **at;
    void *tree;            /* of tsearch(3), by what they are */
    struct report_pace *pace; /* of each run of the baseline, then what of the new one's is laid to the machine */
    double least, middle, most; /* logs of times: what a sixth are below, the median, what a sixth are above */
    bool few;              /* of the times that are judged too few tell of the machine: small ones have to */
    double slower;         /* share by which most times are longer than in the only run of the baseline */
    double unrest;         /* of what most times changed by, beside the pace: against one run the relative deviation,
                              against several how many times what their scatter lets expect */
    bool comparable;       /* else `why` says why not */
    char why[96];
};

/* Fills the measures of a run against a baseline. */
void report_measure_all(struct report_measures *m, struct report *const *baseline, const char *const *files,
                        uint32_t runs, struct report *run, const char *file);
void report_measures_clear(struct report_measures *m);

/* Finds pace and scatter. */
void report_measures_settle(struct report_measures *m);
/* Of a time: logarithm of the change to the new run, beside its pace; what chance p lets expect of that. */
double report_measure_change(const struct report_measures *m, const struct report_measure *x);
double report_measure_chance(const struct report_measures *m, const struct report_measure *x, double p);

/* Quantiles for an upper tail of p < 0.5: of the normal distribution, of Student's t. */
double report_normal_quantile(double p);
double report_t_quantile(double p, double freedom);

#endif
