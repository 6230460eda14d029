/* SPDX-License-Identifier: MIT */
/*
 * What LLVM's OpenMP library tells, by OMPT (OpenMP 5.0, chapter 4): what threads do in regions, and regions that no
 * hook sees (kmpc.c): those of a library that binds its own calls, and with a false if clause.
 *
 * libomp looks for ompt_start_tool when it starts and finds it here, preloaded or linked. A region that it alone tells
 * of is known by the place that enters it, not by its outlined function, and is a span of the thread that entered it as
 * in hooks.h, with the size of its team; those that workers enter pass unrecorded. A predicted run follows them.
 *
 * What threads do in a region is measured as in programs of gcc (teams/share.h), by these callbacks:
 *
 *     implicit task                  a thread's part begins, and ends
 *     wait of a sync region          taskwait, taskgroup: waits; every barrier, the region's end among them: rests
 *     mutex acquire, acquired        waits: locks, critical, ordered. Whether anyone has it is not told
 *     task schedule                  an explicit task begins or ends: of short ones a sample is timed
 *
 * OMPT only watches: team sizes and tasks cannot be changed through it. What a hook sees, also of programs of gcc that
 * run on libomp, is not recorded twice.
 *
 * The few types of omp-tools.h that are used are declared here: the interface is an ABI, and the header is part of a
 * compiler that nobody needs otherwise.
 *
 * Threads: any.  Hook-safe: yes, but for the first region.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "include/pythia.h"
#include "omp/hooks.h"
#include "omp/team.h"
#include "session/ask.h"
#include "session/life.h"
#include "session/site.h"

typedef union { uint64_t value; void *ptr; } tool_data;
typedef void (*tool_function)(void);
typedef tool_function (*tool_lookup)(const char *name);
struct ompt_start_tool_result {
    int (*initialize)(tool_lookup lookup, int device, tool_data *data);
    void (*finalize)(tool_data *data);
    tool_data data;
};
enum { /* ompt_callbacks_t */
    PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_SCHEDULE = 6, IMPLICIT_TASK = 7, SYNC_REGION_WAIT = 16,
    MUTEX_ACQUIRE = 26, MUTEX_ACQUIRED = 27
};
enum { LEAGUE = 0x40000000 };                  /* ompt_parallel_flag_t */
enum { SCOPE_BEGIN = 1 };                      /* ompt_scope_endpoint_t */
enum { TASK_INITIAL = 1 };                     /* ompt_task_flag_t */
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3 };   /* ompt_task_status_t */
enum { SYNC_TASKWAIT = 5, SYNC_TASKGROUP = 6 };/* ompt_sync_region_t: others are barriers */

static const char region_name[] = "omp parallel";

/* A region on the thread that entered it. */
struct region {
    struct session_stream *stream;  /* NULL: it passes unrecorded */
    struct session_span span;
    struct teams_team *timed;       /* NULL: its threads are not */
    uint32_t team;
    bool nested;                    /* timed inside one that is */
};

/* The open regions and tasks of a thread; what is nested deeper passes through. Libraries that are loaded late have 1.6
   KiB of such memory together. */
enum { OPEN = 4, NESTED = 2, TASKS = 24 };
static _Thread_local struct {
    struct region region[OPEN];
    struct teams_share share[NESTED]; /* of the thread where it entered one that is timed inside another */
    struct teams_account *account;    /* of the outermost one, NULL: it is nobody's; … */
    uint64_t begin, calls;            /* … ns, at its begin */
    uint32_t depth;   /* regions entered and not left, those that did not fit included */
    uint32_t nested;  /* shares given up */
    uint32_t worker;  /* teams of others that this thread works in */
    uint32_t tasks;   /* explicit ones that run */
    struct { uint8_t timed, state, met; } task[TASKS];
    bool mutex;       /* it waits for one, or only tried to get it */
    uint32_t pass;    /* tasks until the next one that is timed */
    uint32_t usual;   /* ns of a task that was */
    uint32_t timing;  /* the innermost one, counted from 1 … */
    uint64_t since;   /* … and its begin, ns */
} own;

/* --- Regions --- */

/* By the place that enters them; of the process's first thread. */
enum { SITES = 256 };
static struct site { atomic_uintptr_t caller; struct teams_account account; } sites[SITES];

static struct teams_account *account_of(const void *caller)
{
    bool claimed;
    struct site *site = base_fixed_find(sites, sizeof *sites, SITES, SITES / 2, (uintptr_t)caller, &claimed);
    return site ? &site->account : &omp_hook_others;
}

void omp_hook_ompt_store(struct job *job)
{
    for (uint32_t i = 0; i < SITES; i++)
        if (atomic_load(&sites[i].caller))
            omp_hook_team_threads(job, &sites[i].account, atomic_load(&sites[i].caller) - 1);
}

/* Whether a hook has begun it, and waits to be told. */
static bool is_hooked(void)
{
    struct omp_hook_region *r = omp_hook_thread.region;
    bool waits = r && r->stream && !r->told;
    if (waits)
        r->told = true;
    return waits;
}

/* The runtime's functions between the program and this callback go; the frame from which the region was entered
   stays. Without a caller it is libomp's own. */
static struct session_stream *ompt_enter(const void *frame, const void *caller)
{
    if (is_hooked() || own.worker || !caller || (session_mode() == SESSION_OFF && !session_start_alone()))
        return NULL;
    return session_enter_from(base_frame_at(frame ? frame : (const void *)UINTPTR_MAX));
}

/* Whether its threads are timed: what libomp hands to them is their team. */
static struct teams_team *time_threads(struct region *r, bool outermost, unsigned asked)
{
    uint64_t now = base_clock_now();
    if (outermost)
        own.begin = now;
    if (teams_share_timed() && teams_share_runs() && !omp_hook_thread.region) {
        r->timed = own.nested < NESTED ? teams_share_leave(now, asked, &own.share[own.nested]) : NULL;
        r->nested = r->timed != NULL;
        own.nested += r->nested;
    } else if (outermost && own.account && teams_account_due(own.account)) {
        r->timed = teams_team_begin(now, asked);
    }
    return r->timed;
}

/* Why teams stay: it does not tell, or has told of a league: how many threads that gets depends on the teams before
   (LLVM 14). */
static atomic_int traits = OMP_HOOK_SETTINGS;

/* `frames`: an ompt_frame_t, exit_frame and enter_frame. */
static void parallel_begin(tool_data *task, const void *const *frames, tool_data *parallel, unsigned asked, int flags,
                           const void *caller)
{
    const uintptr_t *entered = omp_hook_thread.entered;
    const void *frame = entered ? entered : frames ? frames[1] : NULL;
    (void)task;
    caller = entered ? (const void *)*entered : caller;
    omp_hook_thread.entered = NULL;
    if (flags & LEAGUE) {
        omp_hook_thread.kept++;
        atomic_store_explicit(&traits, OMP_HOOK_AFTER_LEAGUE, memory_order_relaxed);
    }
    parallel->ptr = NULL;
    uint32_t depth = own.depth++;
    if (depth >= OPEN)
        return;
    int kept = errno;
    uint32_t unknown = GRAMMAR_NONE;
    struct region *r = &own.region[depth];
    *r = (struct region){ .stream = ompt_enter(frame, caller) };
    if (depth == 0)
        own.account = r->stream && session_thread(r->stream) == 0 ? account_of(caller) : NULL;
    if (r->stream) {
        session_begin_region(r->stream, &r->span, region_name, (uintptr_t)caller - 1 /* the call */,
                             session_path_of(r->stream, (void *)(uintptr_t)caller), &unknown,
                             omp_hook_thread.region);
        own.calls = depth == 0 ? session_call_ns(r->stream) : own.calls;
    }
    parallel->ptr = time_threads(r, depth == 0, asked);
    errno = kept;
}

static void parallel_end(tool_data *parallel, tool_data *task, int flags, const void *caller)
{
    struct grammar_event event;
    (void)parallel, (void)task, (void)caller;
    omp_hook_thread.kept -= (flags & LEAGUE) != 0;
    uint32_t depth = own.depth > 0 ? --own.depth : OPEN;
    if (depth >= OPEN)
        return;
    int kept = errno;
    struct region *r = &own.region[depth];
    uint64_t end = base_clock_now();
    if (r->nested && r->team <= 1) /* none of those that were asked for */
        atomic_store_explicit(&r->timed->largest, 0, memory_order_relaxed);
    if (r->nested)
        teams_share_return(&own.share[--own.nested], r->timed, end, r->team);
    else if (depth == 0 && own.account)
        omp_hook_account(own.account, r->stream, r->timed, &(struct omp_hook_times){ own.begin, end, own.calls },
                         r->team);
    event.channels = r->team ? 1u << GRAMMAR_TEAM : 0;
    event.value[GRAMMAR_TEAM] = r->team;
    if (r->stream)
        session_end_at(r->stream, &r->span, &event, end, 0);
    errno = kept;
}

/* --- What a thread does in them --- */

/* Who only tries to get a lock is said to wait for it, and fails without a word: what comes next shows that. */
static void forget_mutex(void)
{
    if (own.mutex)
        teams_share_never_waited();
    own.mutex = false;
}

static void end_share(void)
{
    forget_mutex();
    teams_share_end();
}

/* Thread 0 of a team is the one that entered the region. An implicit task is told from an explicit one by its data. */
static void implicit_task(int scope, tool_data *parallel, tool_data *task, unsigned threads, unsigned number, int flags)
{
    if (scope == SCOPE_BEGIN && task)
        task->value = 1;
    if (flags & TASK_INITIAL)
        return;
    if (number > 0 && scope == SCOPE_BEGIN)
        own.worker++;
    else if (number > 0)
        own.worker -= own.worker > 0;
    else if (scope == SCOPE_BEGIN && own.depth > 0 && own.depth <= OPEN)
        own.region[own.depth - 1].team = threads;
    if (scope == SCOPE_BEGIN && parallel && parallel->ptr)
        teams_share_begin(parallel->ptr);
    else if (scope != SCOPE_BEGIN && teams_share_timed())
        end_share();
}

static void sync_region_wait(int kind, int scope, tool_data *parallel, tool_data *task, const void *caller)
{
    (void)parallel, (void)task, (void)caller;
    bool of_tasks = kind == SYNC_TASKWAIT || kind == SYNC_TASKGROUP;
    if (!teams_share_timed())
        return;
    forget_mutex();
    if (scope == SCOPE_BEGIN && of_tasks)
        teams_share_wait();
    else if (scope == SCOPE_BEGIN)
        teams_share_rest();
    else if (of_tasks)
        teams_share_waited();
    else
        teams_share_resume();
}

static void mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t id, const void *caller)
{
    (void)kind, (void)hint, (void)implementation, (void)id, (void)caller;
    if (!teams_share_timed())
        return;
    forget_mutex();
    own.mutex = teams_share_wait();
}

static void mutex_acquired(int kind, uint64_t id, const void *caller)
{
    (void)kind, (void)id, (void)caller;
    if (own.mutex && teams_share_timed())
        teams_share_waited();
    own.mutex = false;
}

static void task_begin(void)
{
    uint32_t n = own.tasks++;
    if (n >= TASKS)
        return;
    own.task[n].timed = own.pass == 0;
    if (!own.task[n].timed) {
        own.pass--;
        return;
    }
    struct teams_met met = teams_share_task();
    own.task[n].state = met.state;
    own.task[n].met = met.met;
    own.timing = n + 1;
    own.since = base_clock_now();
}

/* Of a task that met no other one that was timed. */
static void learn_usual(void)
{
    enum { SAMPLED = 16000, MOST = 63, LONGEST = 1000000000 }; /* ns of tasks between two that are timed */
    uint64_t took = base_clock_now() - own.since, known = own.usual ? own.usual : took;
    known = (3 * known + took) / 4;
    own.usual = known < LONGEST ? (uint32_t)known : LONGEST;
    own.pass = own.usual >= SAMPLED ? 0 : own.usual * MOST < SAMPLED ? MOST : SAMPLED / own.usual;
}

static void task_end(void)
{
    uint32_t n = own.tasks > 0 ? --own.tasks : TASKS;
    if (n >= TASKS)
        return;
    if (!own.task[n].timed) {
        teams_share_met(own.usual);
        return;
    }
    teams_share_task_end((struct teams_met){ own.task[n].state, own.task[n].met });
    if (own.timing == n + 1)
        learn_usual();
    own.timing = 0;
}

static void task_schedule(tool_data *before, int status, tool_data *next)
{
    if (!teams_share_timed()) {
        own.tasks = 0;
        return;
    }
    forget_mutex();
    if ((status == TASK_COMPLETE || status == TASK_CANCEL) && before && !before->value)
        task_end();
    else if (next && !next->value)
        task_begin();
}

enum omp_hook_traits omp_hook_ompt_traits(void)
{
    return (enum omp_hook_traits)atomic_load_explicit(&traits, memory_order_relaxed);
}

static int initialize(tool_lookup lookup, int device, tool_data *data)
{
    session_sites_leave_out((const void *)(uintptr_t)lookup);
    tool_function found = lookup("ompt_set_callback");
    int (*set)(int event, tool_function callback);
    (void)device, (void)data;
    if (!found)
        return 0;
    memcpy(&set, &found, sizeof set);
    set(PARALLEL_BEGIN, (tool_function)parallel_begin);
    set(PARALLEL_END, (tool_function)parallel_end);
    set(IMPLICIT_TASK, (tool_function)implicit_task);
    set(SYNC_REGION_WAIT, (tool_function)sync_region_wait);
    set(MUTEX_ACQUIRE, (tool_function)mutex_acquire);
    set(MUTEX_ACQUIRED, (tool_function)mutex_acquired);
    set(TASK_SCHEDULE, (tool_function)task_schedule);
    atomic_store(&traits, 0);
    return 1;
}

static void finalize(tool_data *data)
{
    (void)data;
}

PYTHIA_API struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start_tool_result tool = { initialize, finalize, { 0 } };
    (void)version, (void)runtime;
    return &tool;
}
