/* SPDX-License-Identifier: MIT */
/*
 * With how many threads a region runs: one decision, with a bound.
 *
 * After PYTHIA's adaptive teams (Colin, Trahay, Conan, COMPAS 2022), with measured times in place of thresholds. Sizes
 * are the program's own, one, and the processors that there are where the program asks for more. Whole turns of the
 * program's main loop are run in one of these settings:
 *
 *   OWN    every region as the program says: what everything else has to beat
 *   ONE    every region with one thread                            } that may change its team
 *   CORES  every region with as many threads as processors         }
 *   MIXED  every region with the size that took least at its place in the turn; what is not known is tried, and once
 *          more what is known from one time alone, which may have stalled
 *
 *   turns   found .. | OWN  ONE  MIXED | OWN  ONE  MIXED | OWN  ONE  MIXED | best ........ | OWN  ONE  MIXED | ...
 *                     <------------------- a comparison ------------------> <- distance -> <- the next one ...
 *
 * Ways are compared by the median of three windows of turns, of which each first turn is not timed (it wakes workers
 * and fills caches); a setting that was the best is judged by its average since, where that is more. The distance
 * between comparisons doubles while the best setting takes what it was judged by. All of that is counted in turns, so
 * the ranks of a job try the same setting in the same turn, without a message. Regions that affect each other, workers
 * that have fallen asleep, and stalls are in the times of turns, so nothing models them. A stream without a main loop
 * is compared in windows of equal numbers of regions; there a setting has to win each time.
 *
 * What it may cost. There are two accounts of 5 ms and 3 % of the time that has passed:
 *   behind   what the run takes more than with the program's settings: of whole turns once one was run like that,
 *            before that of each region (of which the account bears the worst case, all of the work on one thread,
 *            before it is tried: short regions come first). A region that this run has not seen with the program's team
 *            is charged what all threads in step would have saved: the recording may come from another machine. What
 *            is gained is added to it
 *   tried    what windows of other settings take more than the best one. They are broken off before the next region
 *            when they have taken 1.25 times as long and 1 ms more
 * So a run is never more than 3 % + 5 ms slower than the program's own settings, as far as what regions do to one
 * another shows only in the first comparison (from the third turn on), and after 40 turns a thread, turns take at most
 * 5 % more than in the best of the three fixed settings. tests/unit/test_teams_choice.c holds it to that on simulated
 * programs, also on costs that are made to mislead.
 *
 * A place does not see the rare long times of teams whose threads do not get their processors, all places together do:
 * what these add to a team's region on average counts for each place of the mixed setting.
 *
 * Constants: doc/TEAMS.md says why each is what it is.
 *
 * Invariants: (1) a time of 0 is not known; (2) what may not change is never told anything but OWN; (3) setting == best
 * outside comparisons.
 *
 * Pure arithmetic: time is a parameter. Memory: a fixed structure. Threads: owner.  Hook-safe: yes.  All times in ns.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "oracle/gap_median.h"
#include "teams/turns.h"

enum teams_size { TEAMS_OWN, TEAMS_ONE, TEAMS_CORES, TEAMS_SIZES };
enum teams_setting { TEAMS_ALL_OWN, TEAMS_ALL_ONE, TEAMS_ALL_CORES, TEAMS_MIXED, TEAMS_SETTINGS };
enum { TEAMS_ROUNDS = 3, TEAMS_PLACES = 2048 };

/* Fewer threads take no longer than all of the work, which is what the program's threads do at most: what took twice as
   long, and a stall, so often one after another, has shares that wait for one another. It keeps its team from then
   on. */
enum { TEAMS_WAITED = 2 };

/* What a region takes with each size: a mean that forgets, 0: not known. Without a count it was taken over. What is
   gained is measured against the median of the program's size: one stall there is no gain of all that comes. */
struct teams_times {
    float time[TEAMS_SIZES];
    uint8_t count[TEAMS_SIZES];
    struct oracle_gap_median own;
};

/* An outlined function. Zero, and times that a recording or an earlier run knows. */
struct teams_site {
    struct teams_times times;
    struct teams_return returns;
    uint32_t own; /* threads that the program gave it last */
    uint8_t waited[TEAMS_SIZES]; /* executions one after another that took longer than all of their work */
};

struct teams_choice {
    uint32_t cores;     /* processors for this process */
    uint64_t start;     /* 0: nothing ran yet */
    double behind;      /* ns that the run takes more than with the program's settings (< 0: less) … */
    double doubt;       /* … with what regions of this turn may add … */
    double tried;       /* … and that windows of other settings took more than the best one's */
    bool proven;        /* a comparison of settings has ended */
    bool pinned;        /* CORES is not allowed: threads with data of their own would end */
    struct teams_turns turns;
    uint64_t since;     /* number of the region after which no turn is known; begin of that time */
    uint64_t since_time;
    uint64_t length;    /* regions of a turn, or of a window's share where there is no main loop; 0: no windows */
    uint64_t first;     /* number of the region that began the turn */
    uint32_t window;    /* turns of a window that are timed */
    uint32_t turn;      /* of the window; the first one is 0 */
    uint64_t begin;     /* of the window … */
    uint64_t timed;     /* … of its timed part … */
    uint64_t turned;    /* … and of the turn */
    enum teams_setting setting, best;
    bool broken;        /* this window's setting was given up */
    double usual, own;  /* time of a turn the best setting, and with the program's settings; 0: not known */
    uint32_t slot;      /* of the comparison; beyond the last: none goes on */
    uint32_t rest;      /* windows to the next one, … */
    uint32_t distance;  /* … and to the one after that */
    double took[TEAMS_SETTINGS][TEAMS_ROUNDS]; /* a turn */
    uint32_t taken[TEAMS_SETTINGS], given_up[TEAMS_SETTINGS];
    double rested_ns, rested; /* windows since the last comparison, and their turns' times together */
    double judged;            /* a turn of the best setting, by the last comparison */
    double mean[TEAMS_SETTINGS];  /* a turn, on average while the setting was the best; 0: not known */
    enum teams_size team; /* of the mixed setting: what is not one */
    float late;         /* ns that outliers add to a team's region, of late and on average over all places */
    uint64_t comparisons, trials;
    struct { struct teams_site *site; uint32_t own; struct teams_times times; } place[TEAMS_PLACES]; /* in the turn */
    /* The region that runs */
    struct teams_times *here; /* at its place; NULL: nowhere */
    enum teams_size size;
    bool trial;
};

/* Zeroed memory is a start; cores: at least 1. */
void teams_choice_start(struct teams_choice *c, uint32_t cores);

/* An outermost region begins, for which the program wants `own` threads; its team may be changed or not. `now` leaves
   out what passed in calls that wait for others. */
enum teams_size teams_choice_begin(struct teams_choice *c, struct teams_site *site, uint32_t own, bool may,
                                   uint64_t now);

/* It took that long. Returns what the program's own size would have taken more, as far as that is known (< 0: less). */
double teams_choice_end(struct teams_choice *c, struct teams_site *site, double took);

/* The region that runs has the program's size only because that is being compared: what it would take as chosen;
   else, or where that is not known, 0. */
double teams_choice_expected(const struct teams_choice *c);

/* Threads that a size means. */
static inline uint32_t teams_choice_threads(const struct teams_choice *c, enum teams_size size, uint32_t own)
{
    return size == TEAMS_ONE ? 1 : size == TEAMS_CORES && c->cores < own ? c->cores : own;
}
