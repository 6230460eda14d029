/* SPDX-License-Identifier: MIT */
/*
 * `pythia watch`: running jobs seen from outside, by the boards of their ranks (watch/board.h).
 *
 *     watch.c        the command line, looking again and again, --on-hang
 *     watch_jobs.c   boards to jobs: whose they are, what they say together, the verdict
 *     watch_text.c   a screen        watch_json.c   the same as JSON
 *     watch_stacks.c where threads are now (stacks.h)
 *
 * Nothing is asked of the job itself: no MPI, no signal, and no ptrace but for --stacks=now.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdio.h>

#include "tools/stacks.h"
#include "watch/numbers.h"
#include "watch/verdict.h"

/* What to look at, and how long it may take. */
struct watch_wanted {
    const char *file;     /* that it writes, or is predicted from, or the directory of its parts; absolute. NULL: any */
    uint32_t pid;         /* of one of its ranks; 0: any */
    double limit_seconds; /* of the whole run; 0: what the batch system says, if it does */
};

struct watch_job {
    uint64_t id;
    uint32_t ranks, count, nodes; /* with boards: count */
    struct watch_sight **sight;   /* by rank, of all that were seen */
    struct watch_row *rows;       /* of all ranks */
    struct watch_verdict verdict;
    struct watch_numbers numbers;
    bool limited, fits;           /* there is a limit; and an end that is known is before it */
    double limit_seconds;         /* from now on */
    uint64_t told;                /* the news of which --on-hang was told last; 0: of none */
    struct stacks *stacks;        /* as they are now, where that is wanted; else NULL */
    uint32_t dead;                /* looks at which nobody of it lived any more */
};

struct watch_jobs {
    struct watch_sights now, before; /* of all jobs, by job, then rank; at the look before */
    struct watch_sights gone;        /* of these jobs, whose boards are there no more, as they were seen last */
    struct watch_job *job;           /* those that are wanted */
    uint32_t count;
};

/* Looks. `earlier` (may be empty) is what was seen before; it is taken over and freed. The first
   look says on stderr which boards are none. */
void watch_look(struct watch_jobs *jobs, struct watch_jobs *earlier, const struct watch_wanted *wanted);
void watch_jobs_free(struct watch_jobs *jobs);

/* A number for the verdict and its first rank; 0: none. */
uint64_t watch_news(const struct watch_job *j);
enum watch_job_state { WATCH_RUNNING, WATCH_HUNG, WATCH_ENDING, WATCH_DEAD };
enum watch_job_state watch_job_state(const struct watch_job *j);
extern const char *const watch_job_state_text[];

/* "MPI_Allreduce", "a parallel region"; NULL: in none. And the one that it is in, or was in last. */
const char *watch_call(const struct watch_row *r);
const char *watch_last_call(const struct watch_row *r);
/* The region that the program names in which it is, "solve > halo", and how often it was there; NULL: none. */
const char *watch_region(const struct watch_row *r, uint64_t *entries);
/* Where that is, "solve@a.c:41", or "module+0x12"; NULL: not known, or nowhere yet. Stays. */
const char *watch_place(const struct watch_row *r);
/* Where another thread waits in a call; NULL: it does not, or not known where. */
const char *watch_thread_place(const struct watch_row *r, uint32_t thread);
/* How it came there, "solve@a.c:41<main@a.c:9"; of a region, where that is; NULL: as of a place. */
const char *watch_way(const struct watch_row *r);
/* Of a verdict that is where its first rank is; or before which calls it is slow. */
const char *watch_verdict_place(const struct watch_job *j);
/* What the verdict is, in a sentence; of none, why. The caller frees it. */
char *watch_sentence(const struct watch_job *j);

/* Looks where its threads are now, on this node: j->stacks, or once more. `only`: of that rank; NULL: of all. */
void watch_stacks(struct watch_job *j, const uint64_t *only);
/* Of a process, or of those at the ends of the tree below it: ranks, where some are. False: there is no such
   process. */
bool watch_stacks_below(struct stacks *s, uint32_t pid, const uint64_t *only);
/* Of a process the value of a variable, as it began; NULL: not set, or not to be read. Until the next call. */
const char *watch_environment(uint32_t pid, const char *name);

void watch_print_text(FILE *out, const struct watch_jobs *jobs, bool stacks);
/* In one line where that is asked for. */
void watch_print_json(FILE *out, const struct watch_jobs *jobs, bool one_line);
/* One job of these, as --on-hang gets it. */
char *watch_json(const struct watch_job *j);
