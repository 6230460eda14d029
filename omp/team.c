/* SPDX-License-Identifier: MIT */
#include "omp/team.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/options.h"
#include "libgomp/real.h"
#include "omp/shares.h"
#include "omp/site.h"
#include "places/cores.h"
#include "session/ask.h"
#include "session/site.h"
#include "tasks/task.h"
#include "teams/choice.h"

/* Only the thread whose omp_hook_thread it points to comes here. */
static _Atomic(struct omp_hook_thread *) owner;

static struct teams_choice choice;
static enum { BEST, ALWAYS, IN_TURNS } wanted; /* PYTHIA_OMP_SIZES */
static uint32_t always; /* threads (PYTHIA_OMP_TEAM) */
static bool asked;    /* what shares call comes to us */
static bool by_level; /* each level of regions has a setting of its own: libgomp has to know of each region */
static bool possible; /* a region was met that may be changed, or may turn out so: until then none is decided on */
static uint64_t considered, changed;

static bool is_owner(void)
{
    struct omp_hook_thread *me = &omp_hook_thread, *nobody = NULL;
    struct omp_hook_thread *now = atomic_load_explicit(&owner, memory_order_relaxed);
    if (now == me)
        return true;
    if (now || !atomic_compare_exchange_strong(&owner, &nobody, me))
        return false;
    return true;
}

void omp_hook_team_leave(void)
{
    struct omp_hook_thread *me = &omp_hook_thread;
    (void)atomic_compare_exchange_strong(&owner, &me, NULL);
}

static bool is_list(const char *variable)
{
    const char *value = getenv(variable);
    return value && strchr(value, ',');
}

static void look_at_options(void)
{
    struct pythia_options options;
    base_options_load(&options);
    by_level = is_list("OMP_NUM_THREADS") || is_list("OMP_PROC_BIND");
    always = options.omp_team ? (uint32_t)options.omp_team : 1;
    wanted = options.omp_team || !strcmp(options.omp_sizes, "one") ? ALWAYS
             : !strcmp(options.omp_sizes, "turns")                 ? IN_TURNS
                                                                   : BEST;
}

/*
 * What a program takes and frees in each turn stays with it, up to 16 MiB: else the C library gives it back, and one
 * thread alone waits for each page to come again (a fifth of LULESH's time with edge 10, a program that takes more
 * memory where it may have more threads). By the library's own rule (mallopt(3), M_MMAP_THRESHOLD) that is so once a
 * block of half of that was freed, in any thread; what the user says of the heap goes before.
 */
static void keep_memory(void)
{
    enum { BLOCK = 8 << 20 };
    void *volatile first = aligned_alloc(64, 64); /* a thread's arena is made so large that its first block fits */
    void *volatile block = aligned_alloc(64, BLOCK); /* the C library's: our malloc is not (base/heap.h) */
    free(block);
    free(first);
}

/* Whether acting is on at all: asked once, when the mode is known. */
static atomic_int acting; /* 0: not asked, 1: no, 2: yes */

static __attribute__((noinline)) bool ask_acts(void)
{
    base_fpu_t kept = base_fpu_hold();
    bool yes = session_acts("team") && !libgomp_real()->omp_get_cancellation();
    look_at_options();
    if (yes) {
        struct places_cores here;
        places_cores(&here);
        teams_choice_start(&choice, (uint32_t)here.cores);
    }
    atomic_store_explicit(&acting, yes ? 2 : 1, memory_order_relaxed);
    base_fpu_give_back(kept);
    return yes;
}

static inline bool acts(void)
{
    int now = atomic_load_explicit(&acting, memory_order_relaxed);
    return now == 2 || (now == 0 && ask_acts());
}

/* --- Before a region --- */

static bool reads_code(void)
{
    return session_acts("team") ? !session_proven(teams_safety_holds) : session_proves(true);
}

/* The loader is asked here, not by the first region: a handler of the program's may jump out of that (siglongjmp), and
   what the loader holds then it holds for good. */
void omp_hook_team_begin(void)
{
    session_sites_leave_out((const void *)(uintptr_t)libgomp_real()->GOMP_parallel);
    asked = session_acts("team") && omp_shares_are_asked();
    if (session_acts("team") || (session_team() > 1 && reads_code()))
        teams_safety_start();
}

/* Before the first region enters libgomp, by that thread, and not later: what reads code is loaded where this run will
   read some. That takes some ms, which are nobody's, as are those of reading. Memory is kept with one thread, too. */
static void prepare_reading(struct session_stream *stream)
{
    static bool done;
    if (done)
        return;
    done = true;
    base_fpu_t kept = base_fpu_hold();
    uint64_t since = base_clock_now();
    bool remembers = acts(), reads = libgomp_real()->omp_get_max_threads() > 1 && reads_code();
    if (remembers || reads)
        teams_safety_prepare(reads, remembers ? keep_memory : NULL);
    (void)session_skip(stream, since);
    base_fpu_give_back(kept);
}

/* What the program itself says of this region. 0, or a bit of enum job_fixed. */
static uint32_t said(const struct omp_hook_region *r)
{
    if (r->traits & OMP_HOOK_SETTINGS || (!acts() && libgomp_real()->omp_get_cancellation()))
        return JOB_FIXED_SETTINGS;
    if (r->traits & (OMP_HOOK_LEAGUE | OMP_HOOK_AFTER_LEAGUE) || omp_hook_thread.kept)
        return JOB_FIXED_TEAMS;
    /* With more than one active level the regions inside would get teams of their own: what is proven has none. */
    return r->site->allowed && libgomp_real()->omp_get_max_active_levels() != 1 ? JOB_FIXED_LEVELS : 0;
}

static bool may_change(struct omp_hook_region *r)
{
    uint32_t reason = r->program == 1 ? 0 : said(r);
    if (reason)
        omp_hook_site_fix(r->site, reason);
    return !reason && r->program && omp_hook_site_may_change(r->site);
}

/* Whether threads with data of their own end with this team: else they live on, and are met by a larger one. */
static bool ends_threads(const struct omp_hook_region *r)
{
    return choice.pinned && r->program > 1 && r->program < omp_hook_thread.pool;
}

/* Whether its shares may be run by other threads than the program's. */
static bool may_be_shared(struct omp_hook_region *r)
{
    return may_change(r) && asked && !ends_threads(r) && !(r->traits & OMP_HOOK_DIRECT) &&
           omp_shares_ready(r->program);
}

/* By so many; one does without libgomp. */
static void share_among(struct omp_hook_region *r, uint32_t threads)
{
    r->nt = threads;
    r->shared = true;
    r->direct = threads == 1 && !by_level;
}

/* Reading code takes some ms, and a region of one thread without libgomp saves some 350 ns: what its program can lose
   by waiting is what reading costs. */
enum { WORTH_READING = 10000 };
static bool should_ask(const struct omp_hook_region *r)
{
    static uint32_t singles;
    if (r->site->asked || !acts())
        return false;
    singles += r->program == 1;
    return r->program != 1 || singles >= WORTH_READING;
}

void omp_hook_team_prepare(struct omp_hook_region *r)
{
    if (!is_owner())
        return;
    r->site = omp_hook_site_find(r);
    if (!r->site)
        return;
    prepare_reading(r->stream);
    bool due = teams_account_due(&r->site->account);
    if (!due && !acts())
        return; /* only counted */
    if (should_ask(r)) {
        uint64_t since = base_clock_now();
        omp_hook_site_ask(r->site);
        (void)session_skip(r->stream, since);
    }
    r->site->stats.team = r->program ? r->program : r->site->stats.team;
    choice.pinned = choice.pinned || r->site->thread_data;
    bool may = may_be_shared(r);
    if (r->program == 1 && may && acts() && !by_level)
        share_among(r, 1);
    possible = possible || may || !teams_safety_answer(r->site->proof);
    r->acts = acts() && r->program > 1 && possible;
    r->may = r->acts && may;
    r->verify = !r->direct && due;
}

bool omp_hook_team_again(struct omp_hook_site *site, uint32_t team)
{
    int now = atomic_load_explicit(&acting, memory_order_relaxed);
    bool left = now == 1 || (now == 2 && site->asked && ((team > 1 && !possible) || omp_hook_site_is_kept(site)));
    if (!left || atomic_load_explicit(&owner, memory_order_relaxed) != &omp_hook_thread ||
        teams_account_is_due(&site->account))
        return false;
    site->account.executions++;
    site->stats.team = team;
    return true;
}

bool omp_hook_team_passes(uint32_t team)
{
    return possible && team > 1 && atomic_load_explicit(&acting, memory_order_relaxed) == 2;
}

void omp_hook_team_pass(struct omp_hook_site *site, uint32_t team, uint64_t now)
{
    considered++;
    if (wanted == BEST)
        (void)teams_choice_begin(&choice, &site->choice, team, false, now);
}

/* Sizes to try a program with: always the same; or one, the middle, the program's. */
static uint32_t forced(const struct omp_hook_region *r)
{
    uint64_t turn = r->site->stats.executions % 3;
    bool between = !choice.pinned; /* whether there is any but one thread and all of them */
    uint32_t middle = between ? (r->program + 1) / 2 : 1;
    uint32_t wish = wanted == ALWAYS ? always : turn == 0 ? 1 : turn == 1 ? middle : r->program;
    return r->may && wish < r->program && (between || wish == 1) ? wish : r->program;
}

void omp_hook_team_choose(struct omp_hook_region *r)
{
    uint64_t now = r->span.begin - session_call_ns(r->stream); /* ranks that are waited for try other settings, too */
    uint32_t size = r->program;
    considered++;
    if (wanted == BEST)
        size = teams_choice_threads(&choice, teams_choice_begin(&choice, &r->site->choice, size, r->may, now), size);
    else
        size = forced(r);
    if (size == r->program)
        return;
    changed++;
    share_among(r, size);
    r->lowered = size == 1;
}

/* --- After it --- */

/* Where the region's time went, and how often it ran how. */
static void count(struct omp_hook_region *r, double took, double gain)
{
    struct job_region *stats = &r->site->stats;
    bool own = !r->acts || r->team == r->program;
    stats->executions++;
    stats->changed += !own;
    stats->gain_ns += (int64_t)gain;
    job_region_add_size(stats, r->team, 1, (uint64_t)took);
    if (!r->acts || wanted != BEST)
        return;
    stats->trials += choice.trial;
    double expected = r->may ? teams_choice_expected(&choice) : 0;
    if (own && expected > 0) {
        stats->controls++;
        stats->control_ns += (uint64_t)took;
        stats->chosen_ns += (uint64_t)expected;
    }
}

/* How a region that ran shows that it depends on its team: 0, or a bit of enum job_fixed. */
static uint32_t shown(bool contains)
{
    return contains ? JOB_FIXED_CALLS : tasks_created() ? JOB_FIXED_TASKS : 0;
}

void omp_hook_team_ran(struct omp_hook_site *site, bool contains)
{
    uint32_t reason = shown(contains);
    site->stats.executions++;
    site->stats.verified += reason == 0;
    if (__builtin_expect(reason != 0, 0))
        omp_hook_site_fix(site, reason);
}

double omp_hook_team_learn(struct omp_hook_region *r)
{
    bool contains = session_contains(r->stream, &r->span);
    double gain = 0;
    if (!r->acts && !r->verify) { /* the stream has its times */
        omp_hook_team_ran(r->site, contains);
        return 0;
    }
    uint32_t reason = shown(contains);
    if (!reason && r->verify && r->program && r->nt == r->asked && r->team && r->team != r->program)
        reason = JOB_FIXED_TEAM;
    if (reason)
        omp_hook_site_fix(r->site, reason);
    base_fpu_t kept = base_fpu_hold();
    double took = (double)(r->end - r->span.begin);
    if (r->acts && wanted == BEST)
        gain = teams_choice_end(&choice, &r->site->choice, took);
    count(r, took, gain);
    r->site->stats.verified += r->nt == r->asked && !reason;
    base_fpu_give_back(kept);
    return gain;
}

/* --- For the job file --- */

void omp_hook_team_count(struct omp_hook_team_counts *counts)
{
    static const char *const names[] = { "the program's", "one thread", "one a processor", "mixed" };
    *counts = (struct omp_hook_team_counts){ .considered = considered, .changed = changed, .trials = choice.trials,
                                             .comparisons = choice.comparisons, .best = names[choice.best],
                                             .turn = choice.turns.mark ? choice.turns.period : 0 };
    omp_hook_site_count(&counts->sites, &counts->kept);
}

/* A predicted run's record takes the place of the old one: what it only took over from there goes back. */
static struct job_region with_old_times(const struct omp_hook_site *site)
{
    const struct teams_times *t = &site->choice.times;
    struct job_region stats = site->stats;
    for (enum teams_size size = TEAMS_OWN; size <= TEAMS_ONE; size++)
        if (stats.team > 1 && t->time[size] > 0 && t->count[size] == 0)
            job_region_add_size(&stats, size == TEAMS_ONE ? 1 : stats.team, 1, (uint64_t)t->time[size]);
    return stats;
}

/* So many that a run which acts would read their code, in each of its ranks, and that reading it at the end of this one
   takes no more than a hundredth of it. */
static bool has_many(const struct job *job)
{
    enum { READING = 1000000 }; /* ns a function, at most */
    struct omp_hook_site *site;
    uint64_t regions = 0, functions = 0;
    for (uint32_t place = 0; (site = omp_hook_site_next(&place)); functions++)
        regions += site->stats.executions;
    return regions >= WORTH_READING && job->info.wall_ns / 100 >= functions * READING;
}

void omp_hook_team_threads(struct job *job, struct teams_account *a, uintptr_t fn)
{
    struct job_threads rest = teams_account_rest(a);
    if (session_was_reset()) /* what is from before it is in there */
        return;
    if (rest.region_ns)
        session_add_threads(job, 0, &rest);
    if (fn && a->sum.region_ns)
        session_add_threads(job, fn, &a->sum);
}

void omp_hook_team_store(struct job *job)
{
    struct omp_hook_site *site;
    teams_safety_finish(session_proves(has_many(job)));
    for (uint32_t place = 0; (site = omp_hook_site_next(&place));) {
        struct job_region stats = with_old_times(site);
        stats.proof = teams_safety_word(site->proof);
        stats.proof_ns = site->proof->ns;
        session_add_region(job, site->fn, site->proof->where, &stats);
        omp_hook_team_threads(job, &site->account, site->fn);
    }
    omp_hook_ompt_store(job);
    omp_hook_team_threads(job, &omp_hook_others, 0);
}
