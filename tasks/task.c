/* SPDX-License-Identifier: MIT */
#include "tasks/task.h"

#include "base/clock.h"
#include "base/fpu.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "places/place.h"
#include "session/ask.h"
#include "tasks/act.h"
#include "tasks/entry.h"
#include "teams/share.h"

enum { LOOK = 64 };
static const double cost_unknown = 700; /* ns; measured from the first deferred tasks on */

#define SELDOM __attribute__((noinline))

/* --- Being in a task --- */

/* What a task changes of its thread, on the hook's stack. */
struct inside {
    uint32_t depth, site, deferred_before;
    enum tasks_watch watch;
};

static inline struct inside task_enter(struct tasks_thread *t, uint32_t site, uint32_t depth)
{
    struct inside before = { t->depth, t->site, t->deferred_before, t->watch };
    t->depth = depth + 1;
    t->site = site;
    t->deferred_before = t->deferred;
    return before;
}

static inline void task_leave(struct tasks_thread *t, struct inside before)
{
    t->depth = before.depth;
    t->site = before.site;
    t->deferred_before = before.deferred_before;
    t->watch = before.watch;
}

/* What timing one takes note of. */
struct timing { uint64_t begin, elsewhere, events; };

static struct timing timing_begin(const struct tasks_thread *t)
{
    return (struct timing){ .elsewhere = t->elsewhere, .events = session_events(), .begin = base_clock_now() };
}

/* The current task has ended, at `end`. */
static void task_learn(struct tasks_thread *t, const struct timing *timing, struct tasks_site *site, uint64_t end)
{
    uint32_t depth = t->depth - 1;
    uint64_t took = end - timing->begin, elsewhere = t->elsewhere - timing->elsewhere;
    took = took > elsewhere ? took - elsewhere : 0;
    tasks_time(t, tasks_row(t, t->site, depth), took);
    if (t->deferred == t->deferred_before) /* all below it was run at once: that is what it takes */
        tasks_mean_add(&site->takes[depth < TASKS_DEPTHS ? depth : TASKS_DEPTHS - 1], (double)took);
    if (session_events() != timing->events)
        tasks_site_mark(site, &site->keep);
    tasks_site_ended(site);
}

/* --- Deferred tasks --- */

/* Where the thread is in a team that is timed, what it runs while it waits is work. */
SELDOM static void run_timed(struct tasks_thread *t, const struct tasks_entry *e, void *data)
{
    struct teams_met met = { 0 };
    if (teams_share_timed())
        met = teams_share_task();
    struct timing timing = timing_begin(t);
    t->watch = TASKS_WATCHED;
    e->fn(data);
    uint64_t end = base_clock_now();
    task_learn(t, &timing, e->site, end);
    t->elsewhere = timing.elsewhere + (end - timing.begin);
    teams_share_task_end(met);
}

/* Of one that is not, what those of its row take on average is not the time of the one that is timed and waits for it,
   or is creating another, and work of the thread in its team. */
static inline void run_untimed(struct tasks_thread *t, const struct tasks_entry *e, void *data,
                               const struct tasks_row *row)
{
    bool around = t->watch;
    t->watch = around ? TASKS_AROUND : TASKS_UNWATCHED;
    e->fn(data);
    if (around)
        t->elsewhere += row->usual;
    if (teams_share_timed())
        teams_share_met(row->usual);
}

/* One of a taskloop, which is timed as a whole. */
SELDOM static void run_of_loop(const struct tasks_entry *e, void *data)
{
    struct teams_met met = { 0 };
    if (teams_share_timed())
        met = teams_share_task();
    e->fn(data);
    if (met.met)
        teams_share_task_end(met);
}

/* A thread that had none of its own tasks yet has no block: it gets one now. */
SELDOM static void run_first(const struct tasks_entry *e, void *data, uint32_t function)
{
    if (tasks_thread_start(&tasks_thread))
        tasks_run(data, function);
    else
        e->fn(data);
}

void tasks_run(void *data, uint32_t function)
{
    const struct tasks_entry *e = &tasks_entries[function / 2];
    struct tasks_thread *t = &tasks_thread;
    if (__builtin_expect(!t->block, 0)) {
        run_first(e, data, function);
        return;
    }
    if (__builtin_expect(atomic_load_explicit(&e->site->whole, memory_order_relaxed), 0)) {
        run_of_loop(e, data);
        return;
    }
    if (function & 1)
        atomic_fetch_sub_explicit(&tasks_ready, 1, memory_order_relaxed);
    t->begun++;
    struct tasks_row *row = tasks_row(t, e->number, e->depth);
    bool subtree = t->subtree;
    struct inside before = task_enter(t, e->number, e->depth);
    t->subtree = false;
    if (tasks_due(row))
        run_timed(t, e, data);
    else
        run_untimed(t, e, data, row);
    t->subtree = subtree;
    task_leave(t, before);
}

/* Whether the construct's tasks, or any others that wait beside them, may be run at once: before its code has been read
   they may. Who decides nothing does not ask how many are ready. */
static inline bool counts(const struct tasks_site *site)
{
    if (!tasks_acts())
        return false;
    if (atomic_load_explicit(&tasks_some, memory_order_relaxed) ||
        !atomic_load_explicit(&site->known, memory_order_acquire))
        return true;
    uint32_t answer = teams_safety_answer(site->proof);
    return !atomic_load_explicit(&site->keep, memory_order_relaxed) &&
           (site->allowed || answer == JOB_PROOF_NONE || answer == JOB_PROOF_HARMLESS);
}

/* One more of a construct is deferred: what libgomp is to run. */
static inline tasks_function prepare(struct tasks_thread *t, struct tasks_site *site, tasks_function fn)
{
    bool counted = counts(site);
    tasks_function run = tasks_entry(site, t->depth, counted);
    if (!run)
        return fn;
    if (counted)
        atomic_fetch_add_explicit(&tasks_ready, 1, memory_order_relaxed);
    return run;
}

/* What deferring costs is measured of one in 4, once it is settled of one in 64. */
static inline bool cost_due(struct tasks_thread *t, const struct tasks_site *site)
{
    uint32_t n = t->deferred++;
    return n % 4 == 0 && (n % 64 == 0 || !tasks_mean_is_settled(&site->cost));
}

SELDOM static void defer_timed(struct tasks_thread *t, struct tasks_site *site, struct tasks_call c)
{
    uint32_t begun = t->begun;
    uint64_t begin = base_clock_now();
    tasks_create(&c, true);
    /* Taking it from the queue and ending it costs about as much again. */
    if (t->begun == begun)
        tasks_mean_add(&site->cost, 2 * (double)(base_clock_now() - begin));
}

/* --- Tasks run at once --- */

SELDOM static void at_once_timed(struct tasks_thread *t, struct tasks_site *site, struct tasks_call c)
{
    struct timing timing = timing_begin(t);
    t->watch = TASKS_WATCHED;
    tasks_create(&c, false);
    task_learn(t, &timing, site, base_clock_now());
}

/* Asked once, when the mode is known. */
bool tasks_acts(void)
{
    static atomic_int known; /* 0: not asked, 1: no, 2: yes */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (__builtin_expect(now == 0, 0)) {
        now = session_acts("task") ? 2 : 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == 2;
}

/* Cancellation, and order by priority: 0 not asked, else 1 + bits. */
enum { CANCELS = 1, ORDERS = 2 };
static unsigned library_traits(void)
{
    static atomic_uint known;
    unsigned now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
        const struct libgomp_real *real = libgomp_real();
        now = 4 | (real->omp_get_cancellation() ? CANCELS : 0) | (real->omp_get_max_task_priority() > 0 ? ORDERS : 0);
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now;
}

bool tasks_allowed(const struct tasks_thread *t, const struct tasks_site *site, unsigned flags)
{
    return t->holding == 0 && atomic_load_explicit(&site->seen, memory_order_relaxed) &&
           atomic_load_explicit(&site->known, memory_order_acquire) &&
           !atomic_load_explicit(&site->keep, memory_order_relaxed) &&
           (uintptr_t)__builtin_frame_address(0) > t->stack_low &&
           !((flags & TASKS_DEPEND) && atomic_load_explicit(&tasks_doubts, memory_order_relaxed)) &&
           !((flags & TASKS_PRIORITY) && (library_traits() & ORDERS));
}

/* A subtree is being run at once for long: if others may be idle by now, what follows is decided anew. */
SELDOM static void subtree_look(struct tasks_thread *t)
{
    uint64_t now = base_clock_now();
    t->look = LOOK;
    if (t->subtree_begin == 0)
        t->subtree_begin = now;
    if (now - t->subtree_begin < t->subtree_time)
        return;
    if (atomic_load_explicit(&tasks_ready, memory_order_relaxed) < libgomp_real()->omp_get_num_threads())
        t->subtree = false;
}

static inline bool in_subtree(struct tasks_thread *t)
{
    if (t->subtree && --t->look == 0)
        subtree_look(t);
    return t->subtree;
}

static void subtree_begin(struct tasks_thread *t, double takes, double cost)
{
    t->look = LOOK;
    t->subtree_begin = 0; /* most are over before the first look */
    base_fpu_t kept = base_fpu_hold();
    t->subtree_time = (uint64_t)tasks_subtree_time(takes, cost);
    base_fpu_give_back(kept);
    t->subtree = true;
}

/* Whether to run one at once, with what it creates where `t->subtree` is then set. */
SELDOM static bool decide(struct tasks_thread *t, struct tasks_site *site, struct tasks_row *row)
{
    uint32_t depth = t->depth < TASKS_DEPTHS ? t->depth : TASKS_DEPTHS - 1;
    double takes = tasks_mean_get(&site->takes[depth]), cost = tasks_mean_get(&site->cost);
    int ready = atomic_load_explicit(&tasks_ready, memory_order_relaxed);
    if (cost < 0)
        cost = cost_unknown;
    enum tasks_choice choice = tasks_choose(takes, cost, ready, libgomp_real()->omp_get_num_threads());
    tasks_count(row, TASKS_CREATED, 1);
    if (choice == TASKS_DEFER)
        return false;
    tasks_count(row, TASKS_AT_ONCE_COUNT, 1);
    if (takes < 0)
        row->pass = 0; /* that is what is to be learned */
    if (choice == TASKS_SUBTREE)
        subtree_begin(t, takes, cost);
    return true;
}

/* Whether a task is run at once, and counts it. */
static inline bool at_once(struct tasks_thread *t, struct tasks_site *site, struct tasks_row *row, bool if_clause,
                           unsigned flags)
{
    if (if_clause && tasks_acts() && tasks_allowed(t, site, flags)) {
        if (!in_subtree(t))
            return decide(t, site, row);
        tasks_count(row, TASKS_SUBTREE_COUNT, 1);
        return true;
    }
    tasks_count(row, TASKS_CREATED, 1);
    if (!if_clause)
        tasks_count(row, TASKS_UNDEFERRED, 1);
    return !if_clause;
}

SELDOM struct tasks_site *tasks_site_meet(struct tasks_thread *t, uintptr_t fn)
{
    if ((library_traits() & CANCELS) || (!t->block && !tasks_thread_start(t)))
        return NULL;
    return t->recent[tasks_recent(fn)] = tasks_site(fn);
}

/* Before it can be waited for. */
SELDOM static void note_depends(struct tasks_site *site)
{
    if (!site)
        tasks_doubt();
    else
        tasks_site_mark(site, &site->depends);
}

PYTHIA_API void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align,
                          bool if_clause, unsigned flags, void **depend, int priority, void *detach);

/* A task that is to run at a place is never run at once but by the program. */
SELDOM static void create_there(struct tasks_thread *t, struct tasks_site *site, struct tasks_row *row,
                                struct tasks_call c, bool if_clause)
{
    struct places_wish wish;
    struct places_return back;
    (void)places_take(&places_task, &wish);
    if (if_clause) {
        tasks_count(row, TASKS_CREATED, 1);
        c.fn = prepare(t, site, c.fn);
        t->deferred++;
        tasks_create_there(&c, &wish);
        return;
    }
    places_enter(&wish, &back);
    GOMP_task(c.fn, c.data, c.cpyfn, c.size, c.align, false, c.flags, c.depend, c.priority, c.detach);
    places_leave(&back);
}

/* Most tasks are only passed on: their arguments stay in registers. */
#define ALL { fn, data, cpyfn, size, align, flags, depend, priority, detach }
#define PASS(fn, deferred) \
    libgomp_real_table.GOMP_task(fn, data, cpyfn, size, align, deferred, flags, depend, priority, detach)

void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align, bool if_clause,
               unsigned flags, void **depend, int priority, void *detach)
{
    struct tasks_thread *t = &tasks_thread;
    struct tasks_site *site = tasks_site_of(t, (uintptr_t)fn);
    if (flags & TASKS_DEPEND)
        note_depends(site);
    if (__builtin_expect(!site || (flags & TASKS_DETACH), 0)) {
        t->deferred++;
        libgomp_real()->GOMP_task(fn, data, cpyfn, size, align, if_clause, flags, depend, priority, detach);
        return;
    }
    struct tasks_row *row = tasks_row(t, tasks_site_number(site), t->depth);
    if (__builtin_expect(places_task.kind, 0)) {
        create_there(t, site, row, (struct tasks_call)ALL, if_clause);
        return;
    }
    bool subtree = t->subtree;
    if (!at_once(t, site, row, if_clause, flags)) {
        fn = prepare(t, site, fn);
        if (cost_due(t, site))
            defer_timed(t, site, (struct tasks_call)ALL);
        else
            PASS(fn, true);
        return;
    }
    /* In a subtree the time of a task is also that of all tasks around it: only one in LOOK is timed. */
    bool due = subtree ? t->look == LOOK : tasks_due(row);
    struct inside before = task_enter(t, tasks_site_number(site), t->depth);
    t->watch = t->watch ? TASKS_AROUND : TASKS_UNWATCHED;
    if (due)
        at_once_timed(t, site, (struct tasks_call)ALL);
    else
        PASS(fn, false);
    task_leave(t, before);
    t->subtree &= subtree; /* a look inside may have ended it */
}
