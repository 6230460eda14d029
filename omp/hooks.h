/* SPDX-License-Identifier: MIT */
/*
 * Parallel regions of GNU OpenMP, seen from the thread that enters them.
 *
 *   program ── GOMP_parallel(fn, data, nt, flags) ──> hook: begin ── the real one ── end ──> program
 *
 * A region is a span of the stream of the thread that entered it (session/stream.h); its value is the team size that
 * was really used: foreseen as libgomp would work it out, or noted from inside where that depends on other teams. It
 * may be asked to run with another number of threads than the program's (team.h).
 *
 * What is recorded: regions entered by a thread whose enclosing regions were all seen on that same thread: the
 * outermost ones, and those nested in the master's share. Regions that a *worker* enters pass through unrecorded: the
 * workers of nested teams come and go by the hundred, and a stream for each of them would cost memory that grows with
 * the run.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "places/place.h"
#include "session/stream.h"
#include "teams/account.h"
#include "teams/share.h"

enum omp_hook_traits {
    OMP_HOOK_LEAGUE = 1, /* GOMP_teams_reg: no team is started, omp_get_level() stays */
    OMP_HOOK_DIRECT = 2, /* fn and data go to libgomp as they are */
    OMP_HOOK_AFTER_LEAGUE = 4, /* libomp: how many threads that gets depends on the teams before */
    OMP_HOOK_SETTINGS = 8, /* likewise: the environment changes how it shares work, or keeps from us what it does */
};

/* Iterations that a team shares: number n is start + n step, of `count`; the last ones go up to `end`. */
enum omp_hook_schedule { OMP_HOOK_NO_LOOP, OMP_HOOK_STATIC, OMP_HOOK_DYNAMIC, OMP_HOOK_GUIDED, OMP_HOOK_AS_SET };
struct omp_hook_loop {
    enum omp_hook_schedule schedule;
    uint64_t start, end, step, count, chunk; /* chunk 0 of a static one: all of a thread's at once */
    bool halves;                             /* guided: half of a thread's part of what is left, as libomp has it */
};
/* As compilers describe it: up or down (`step` as two's complement), `any`: it turns at all. The schedule AS_SET is
   that of omp_set_schedule() here and now. */
struct omp_hook_loop omp_constructs_loop(enum omp_hook_schedule schedule, bool up, uint64_t start, uint64_t end,
                                         uint64_t step, uint64_t chunk, bool any);

/* What a region may set for itself, and must not leave behind. */
struct omp_hook_icv { int threads, dynamic, levels, schedule, chunk; };

struct omp_hook_site;

/* One region that is being run, on the stack of its hook. */
struct omp_hook_region {
    void (*fn)(void *);   /* the outlined function, by which it is known */
    void (*body)(void *); /* what each thread runs, for the program's thread */
    void *data;
    void (*run)(void *); /* what libgomp gets */
    void *argument;
    struct base_frame frame;          /* of the hook: its word is the return address into the program */
    struct omp_hook_region *outer;    /* on this thread */
    struct session_stream *stream;    /* NULL: not recorded */
    struct session_span span;
    struct omp_hook_site *site;       /* NULL: not watched */
    uint64_t end;                     /* ns, before anything was learned from it */
    unsigned asked;                   /* threads that the program asked for, 0: unsaid */
    unsigned nt;                      /* to ask libgomp for */
    unsigned flags;                   /* its proc_bind clause */
    uint32_t team;                    /* threads that ran it */
    uint32_t program;                 /* threads that the program would have got; 0: not foreseen */
    uint32_t traits;
    bool acts;                        /* its size is decided on, … */
    bool may;                         /* … and may be another than the program's */
    bool lowered;                     /* one thread where the program would have got more */
    bool shared;                      /* fewer threads than the program's run the shares of all (shares.h) */
    bool direct;                      /* called without libgomp */
    bool verify;                      /* look at the team from inside, although its size is foreseen */
    bool nested;                      /* inside one whose threads are timed */
    bool again;                       /* nothing is decided on, it is not looked at from inside */
    bool told;                        /* libomp has said that it began (ompt.c) */
    bool set;                         /* icv holds what the region changed while it was called directly */
    struct omp_hook_loop loop;        /* that the region begins with: set by the hook */
    uint64_t construct;               /* that its shares begin with */
    uint64_t energy;                  /* uJ of the node at begin, + 1; 0: not measured */
    struct places_run placed;         /* where the program wished for a place */
    struct teams_team *timed;         /* its threads are (teams/share.h); NULL: they are not */
    struct teams_share share;         /* of the thread that entered it, there */
    struct omp_hook_icv icv;
};

/* What a thread knows of itself. Zero for a new thread. */
struct omp_hook_thread {
    uint32_t depth;                 /* regions that this thread entered and is in, as omp_get_level() counts */
    uint32_t lowered;               /* of them, lowered to one thread */
    uint32_t direct;                /* of them, called without libgomp */
    uint32_t alone;                 /* of them, of one thread by the program's wish */
    uint32_t pool;                  /* threads that libgomp has for it, of its last team; UINT32_MAX: not known */
    uint32_t kept;                  /* leagues and target regions: nothing inside is lowered */
    struct omp_hook_region *region; /* innermost, NULL outside */
    uint32_t team, number, levels;  /* of the share that it runs, of its region; team 0: none */
    struct omp_hook_part *part;     /* the shares that it runs */
    const uintptr_t *entered;       /* libomp: where the return address of the region is that begins; NULL: none does */
    uint32_t threads, bind;         /* libomp: said of the next region by its clauses, 0: nothing */
    bool unsure;                    /* libomp: it may have been told before, by one with a false if clause */
};
extern _Thread_local struct omp_hook_thread omp_hook_thread __attribute__((tls_model("initial-exec")));

/* Of regions that have no site. */
extern struct teams_account omp_hook_others;
/* A region that is not inside another has ended: its time goes to *a (NULL: nobody's), with what its threads did, where
   they were timed. Times in ns; calls: the stream's MPI calls at its begin. */
struct omp_hook_times { uint64_t begin, end, calls; };
void omp_hook_account(struct teams_account *a, struct session_stream *s, struct teams_team *timed,
                      const struct omp_hook_times *t, uint32_t team);

/* A region begins, whose r->body is set and called with `data`, and ends. For entry points of their own. */
void omp_hook_region_begin(struct omp_hook_region *r, void (*fn)(void *), void *data, unsigned nt, unsigned flags,
                           uint32_t traits, struct base_frame frame);
void omp_hook_region_end(struct omp_hook_region *r);

/* Before t->region is looked at, in a hook whose frame is `here`. */
void omp_hook_look_back(struct omp_hook_thread *t, struct base_frame here);

/* The stream to record on, its guard taken; NULL to pass through. */
struct session_stream *omp_hook_enter(const struct omp_hook_thread *t, struct base_frame frame);

/* The program is about to set something of its own (omp_set_num_threads, …): in a region that libgomp does not know of
   this must end with the region. Likewise before the thread asks for it. */
void omp_hook_save_icv(struct base_frame here);

/* Why libomp's teams stay what they are: it does not tell what threads do (ompt.c), or has told of a league. 0: not for
   that. */
enum omp_hook_traits omp_hook_ompt_traits(void);

/* Address of our GOMP_parallel, whatever the program's calls are bound to. */
void *omp_hook_own_parallel(void);
