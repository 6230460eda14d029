/* SPDX-License-Identifier: MIT */
/*
 * What is known of a job, for whoever prints it: the tables (model.h), names and places in the source; the replay,
 * findings, losses and loops once they are asked for. Here are also the texts that every form has in common.
 *
 * Nothing here fails: where there is no memory the command ends (tools/memory.c).  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_FINDINGS_REPORT_H
#define PYTHIA_FINDINGS_REPORT_H

#include "findings/loops.h"
#include "findings/model.h"
#include "findings/names.h"
#include "findings/resolve.h"
#include "job/job.h"

struct replay_analysis;
struct report_findings;
struct report_inside;
struct report_named_list;

struct report {
    const struct job *job;
    struct report_model *model;
    struct report_names *names;
    struct report_resolver *resolver;
    struct report_findings *findings; /* once asked for: findings/findings.h */
    struct report_inside *inside;     /* the same: findings/inside.h */
    struct report_loops *loops;       /* the same */
    struct report_named_list *named;  /* the same: findings/named.h */
    struct replay_analysis *analysis;
    double processors; /* of a node, once `asked`; 0: not known */
    bool asked;
    uint64_t steps; /* that the replay may take: replay/analysis.h */
    bool replayed;
    int not_replayed; /* then: why there is no analysis, a negative PYTHIA_E…; 0 */
};

/* `j` must outlive the report. */
struct report *report_create(const struct job *j);
void report_destroy(struct report *r); /* NULL is legal */

/* Why a region that was read keeps its team, with the place in the source where that is known. */
void report_reason(const struct report *r, const struct job_region *g, char *text, size_t size);

/* Its loops, read once. */
const struct report_loops *report_loops_of(struct report *r);
/* The main loop; NULL: there is none. */
const struct report_loop *report_main_loop(struct report *r);
/* --- Texts for a line: findings/units.h --- */
/* The file name of the program, in one line, at most `most` bytes of it. */
char *report_program_text(const struct job *j, int most);
/* "8 ranks x 2 threads"; threads that are not known (0) are left out. */
char *report_size_text(uint32_t ranks, uint32_t threads);
/* "2026-07-01 12:30", of seconds since 1970; "" for 0. */
char *report_date_text(uint64_t seconds);
/* "3", or "4-7" of a block of ranks. */
char *report_rank_text(uint32_t first, uint32_t count);
/* Caller of a terminal (report_callsite_text), cut to `width` columns; "" for GRAMMAR_NONE. */
char *report_where(struct report *r, uint32_t terminal, int width);
/* "rank + 1", "rank 0", "any", … */
const char *report_peer_text(const struct report_peer *p);
const char *report_comm_text(const struct report *r, uint32_t comm);
/* Mean time of one, ns; 0 for none. */
double report_mean(uint64_t sum, uint64_t count);
/* The team size that would have saved most, by places that had several; NULL: none had. */
const struct report_team *report_best_team(const struct report_site *g);
/* Speed-up over one thread by thread, at places that ran with both; < 0: there are none. */
double report_team_efficiency(const struct report_team *t);
/* The most that fork and join can be of a mean execution: the shortest region of that size had them too; < 0: not
   known. */
double report_fork_share(const struct report_model *m, const struct report_team *t);
/* What class `index` does otherwise than class 0, in one line of at most `size` bytes; "" for class 0. */
void report_class_difference(const struct report *r, uint32_t index, char *text, size_t size);
const struct report_place *report_place_of(struct report *r, uint32_t terminal);
/* 100 * part / whole, 0 for whole 0. */
double report_percent(double part, double whole);

#endif
