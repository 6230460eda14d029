/* SPDX-License-Identifier: MIT */
/*
 * What each thread of a team does while a region is timed: works, waits for others, is in MPI.
 *
 *     entering thread    team_begin ─────────────────────────────────────────────────────────── team_end -> job_threads
 *     thread i                     share_begin  work  rest  …  resume  work  wait_begin … wait_end  work  share_end
 *                        |  fork  |             |     barrier  |       |                  |              |   join   |
 *
 * A thread's time is work from share_begin or share_resume until share_rest or share_end, but for waits in it, its MPI
 * calls (by the time of its stream's calls) and regions inside, whose threads are timed on their own and added. What is
 * neither work, MPI, waiting, fork nor join is uneven: at barriers, where one works and others do not. So a barrier
 * needs no time of its own, and a runtime that says only when a thread comes to rest tells enough.
 *
 * A task that is met while a thread rests or waits is work: teams_share_task(), teams_share_task_end(); short ones are
 * not timed one by one, but added as what they take on average. So may a share be over and its thread still run tasks,
 * in the barrier that ends the region.
 *
 * Teams are in a fixed table and never go away: a thread that was in one knows by a serial number whether it still
 * runs. Whoever is not timed pays a load and a branch. Threads add to their team at rest: relaxed additions.
 *
 * Threads: any, each its own share.  Hook-safe: yes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/threads.h"

/* A team that is timed. */
struct teams_team {
    _Alignas(64) atomic_uint serial; /* odd: in use */
    uint32_t asked;                  /* threads, with those of the teams around */
    uint64_t begin;                  /* ns */
    uint32_t stream;                 /* of the thread that began the outermost of these teams; UINT32_MAX: none */
    atomic_uint_least64_t largest;   /* asked for, with teams inside */
    _Alignas(64) atomic_uint_least64_t part[JOB_THREADS_PARTS]; /* ns, of the threads so far … */
    atomic_uint_least64_t inside;    /* … of threads of teams inside, beyond those that entered them */
    atomic_uint_least64_t last;      /* when the last thread came to rest */
};

enum teams_state { TEAMS_AT_REST, TEAMS_AT_WORK, TEAMS_WAITS };

/* What a thread is in. Zero: not timed. */
struct teams_share {
    struct teams_team *team;
    uint32_t serial;  /* of the team when it was joined */
    uint8_t state;    /* enum teams_state */
    bool over;        /* its function has returned */
    uint64_t since;   /* ns: at work since; of a wait, too */
    uint64_t calls;   /* ns in calls until then */
    uint64_t waited;  /* ns since then … */
    uint64_t inside;  /* … and in regions inside */
    uint64_t wait;    /* since when, while it waits */
    uint64_t met;     /* ns in tasks that were not timed, while it rests or waits */
    uint64_t left;    /* ns in calls when it was given up */
};
extern _Thread_local struct teams_share teams_share __attribute__((tls_model("initial-exec")));

/* The region begins, at `begin` ns; threads were asked for, those of teams around included. NULL: no room. */
struct teams_team *teams_team_begin(uint64_t begin, uint32_t asked);
/* It has ended, with a team of so many: its times are added to *to, and it is nobody's. */
void teams_team_end(struct teams_team *t, uint64_t end, uint32_t threads, struct job_threads *to);

/* This thread begins its part of a team's work, and ends it. */
void teams_share_begin(struct teams_team *t);
void teams_share_end(void);
/* For who is timed and enters a region inside: that is timed, too, as in teams_team_begin(), and the thread's share is
   given up. It is taken back when that team, of so many threads, has ended: its times are those of the team around. */
struct teams_team *teams_share_leave(uint64_t now, uint32_t asked, struct teams_share *outer);
void teams_share_return(const struct teams_share *outer, struct teams_team *inner, uint64_t end, uint32_t threads);

/* For who is timed (teams_share_timed()): comes to a barrier, goes on; waits, and has waited. Nothing where it is not
   at work. */
void teams_share_rest(void);
void teams_share_resume(void);
bool teams_share_wait(void); /* false: nothing */
void teams_share_waited(void);
void teams_share_never_waited(void); /* since the last teams_share_wait() it was at work after all */
/* A task begins on this thread, and ends: returns what is to be handed to the end. */
struct teams_met { uint8_t state; bool met; };
struct teams_met teams_share_task(void);
void teams_share_task_end(struct teams_met met);
/* The same of one that was not timed and took so many ns. */
void teams_share_met(uint64_t ns);

static inline bool teams_share_timed(void)
{
    return __builtin_expect(teams_share.team != NULL, 0);
}
/* For who is timed: whether its team still runs. Else it is not timed any more. */
bool teams_share_runs(void);
