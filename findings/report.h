/* SPDX-License-Identifier: MIT */
/*
 * What is known of a job, for whoever prints it: the tables (model.h), names and places in the source; the replay,
 * findings, losses and loops once they are asked for. Here are also the texts that every form has in common.
 *
 * Nothing here fails: where there is no memory the command ends (tools/memory.c).  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "findings/loops.h"
#include "findings/model.h"
#include "findings/names.h"
#include "findings/resolve.h"
#include "job/job.h"

struct replay_analysis;
struct findings_list;
struct findings_inside;
struct findings_named_list;

struct report {
    const struct job *job;
    struct findings_model *model;
    struct findings_names *names;
    struct findings_resolver *resolver;
    struct findings_list *findings; /* once asked for: findings/findings.h */
    struct findings_inside *inside;   /* the same: findings/inside.h */
    struct findings_loops *loops;     /* the same */
    struct findings_named_list *named; /* the same: findings/named.h */
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
void findings_reason(const struct report *r, const struct job_region *g, char *text, size_t size);

/* Its loops, read once. */
const struct findings_loops *findings_loops_of(struct report *r);
/* The main loop; NULL: there is none. */
const struct findings_loop *findings_main_loop(struct report *r);
/* --- Texts for a line: findings/units.h --- */
/* The file name of the program, in one line, at most `most` bytes of it. */
char *findings_program_text(const struct job *j, int most);
/* "8 ranks x 2 threads"; threads that are not known (0) are left out. */
char *findings_size_text(uint32_t ranks, uint32_t threads);
/* "2026-07-01 12:30", of seconds since 1970; "" for 0. */
char *findings_date_text(uint64_t seconds);
/* "3", or "4-7" of a block of ranks. */
char *findings_rank_text(uint32_t first, uint32_t count);
/* Caller of a terminal (findings_callsite_text), cut to `width` columns; "" for GRAMMAR_NONE. */
char *findings_where(struct report *r, uint32_t terminal, int width);
/* "rank + 1", "rank 0", "any", … */
const char *findings_peer_text(const struct findings_peer *p);
const char *findings_comm_text(const struct report *r, uint32_t comm);
/* Mean time of one, ns; 0 for none. */
double findings_mean(uint64_t sum, uint64_t count);
/* The team size that would have saved most, by places that had several; NULL: none had. */
const struct findings_team *findings_best_team(const struct findings_site *g);
/* Speed-up over one thread by thread, at places that ran with both; < 0: there are none. */
double findings_team_efficiency(const struct findings_team *t);
/* The most that fork and join can be of a mean execution: the shortest region of that size had them too; < 0: not
   known. */
double findings_fork_share(const struct findings_model *m, const struct findings_team *t);
/* What class `index` does otherwise than class 0, in one line of at most `size` bytes; "" for class 0. */
void findings_class_difference(const struct report *r, uint32_t index, char *text, size_t size);
const struct findings_place *findings_place_of(struct report *r, uint32_t terminal);
/* 100 * part / whole, 0 for whole 0. */
double findings_percent(double part, double whole);
