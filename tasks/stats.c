/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fpu.h"
#include "base/hash.h"
#include "base/lock.h"
#include "job/proofs.h"
#include "libgomp/safe.h"
#include "tasks/task.h"
#include "session/ask.h"

_Thread_local struct tasks_thread tasks_thread __attribute__((tls_model("initial-exec")));
_Alignas(64) atomic_int tasks_ready;
atomic_bool tasks_some, tasks_any;

struct tasks_site tasks_sites[TASKS_SITES];
atomic_int tasks_doubts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tasks_block *blocks, *free_blocks; /* guarded by lock */
static pthread_key_t key;

/* --- Task constructs --- */

static bool doubtful(struct tasks_site *site)
{
    return atomic_load(&site->depends) && (!atomic_load(&site->seen) || atomic_load(&site->keep));
}

/* Again where another thread marked meanwhile: the last to look sees all flags. */
void tasks_site_mark(struct tasks_site *site, atomic_bool *flag)
{
    bool now;
    if (atomic_load_explicit(flag, memory_order_relaxed) || atomic_exchange(flag, true))
        return;
    do {
        now = doubtful(site);
        if (atomic_exchange(&site->doubted, now) != now)
            atomic_fetch_add(&tasks_doubts, now ? 1 : -1);
    } while (doubtful(site) != now);
}

void tasks_site_ended(struct tasks_site *site)
{
    if (atomic_load_explicit(&site->seen, memory_order_relaxed) ||
        !atomic_load_explicit(&site->known, memory_order_acquire))
        return;
    if (site->allowed || teams_safety_answer(site->proof) == JOB_PROOF_HARMLESS) {
        tasks_site_mark(site, &site->seen);
        atomic_store_explicit(&tasks_some, true, memory_order_relaxed);
    }
}

void tasks_doubt(void)
{
    static atomic_bool said;
    if (!atomic_exchange(&said, true))
        atomic_fetch_add(&tasks_doubts, 1);
}

/* What the reference knows of a construct: where to start from. */
static void site_start(struct tasks_site *site, uintptr_t fn)
{
    struct job_task rows[TASKS_DEPTHS];
    enum libgomp_listed listed = libgomp_safe_named(session_kept(), fn, 0);
    if (listed == LIBGOMP_DENIED)
        tasks_site_mark(site, &site->keep);
    site->allowed = listed == LIBGOMP_ALLOWED;
    site->proof = teams_safety_of(fn, TEAMS_TASK);
    uint32_t n = session_task_reference(fn, rows, TASKS_DEPTHS);
    if (n)
        teams_safety_know(site->proof, (uint32_t)rows[0].proof, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        if (rows[i].depth < TASKS_DEPTHS && rows[i].subtree_ns)
            tasks_mean_add(&site->takes[rows[i].depth], (double)rows[i].subtree_ns);
    if (session_acts("task"))
        teams_safety_ask(site->proof);
    atomic_store_explicit(&site->known, true, memory_order_release); /* other threads have met it meanwhile */
}

struct tasks_site *tasks_site(uintptr_t fn)
{
    bool claimed = false;
    struct tasks_site *site = base_fixed_find(tasks_sites, sizeof *tasks_sites, TASKS_SITES, TASKS_SITES, fn, &claimed);
    if (claimed) {
        int kept = errno;
        base_fpu_t state = base_fpu_hold();
        site_start(site, fn);
        base_fpu_give_back(state);
        errno = kept;
    }
    return site;
}

/* --- Counters --- */

static uint64_t get(const struct tasks_row *row, enum tasks_counter c)
{
    return atomic_load_explicit(&row->counter[c], memory_order_relaxed);
}

static void set(struct tasks_row *row, enum tasks_counter c, uint64_t n)
{
    atomic_store_explicit(&row->counter[c], n, memory_order_relaxed);
}

void tasks_time(struct tasks_thread *t, struct tasks_row *row, uint64_t ns)
{
    if (get(row, TASKS_TIMED) == 0 || ns < get(row, TASKS_MIN))
        set(row, TASKS_MIN, ns);
    if (ns > get(row, TASKS_MAX))
        set(row, TASKS_MAX, ns);
    tasks_count(row, TASKS_TIMED, 1);
    tasks_count(row, TASKS_TIME, ns);
    row->usual = get(row, TASKS_TIME) / get(row, TASKS_TIMED);
    row->pass = tasks_pass(get(row, TASKS_TIMED), get(row, TASKS_TIME), &t->chance);
}

/* --- Threads --- */

static void thread_end(void *block)
{
    struct tasks_block *b = block;
    tasks_thread.block = NULL;
    base_lock_take(&lock, BASE_LOCK_TASKS);
    b->next_free = free_blocks;
    free_blocks = b;
    base_lock_release(&lock, BASE_LOCK_TASKS);
}

static struct tasks_block *block_take(void)
{
    base_lock_take(&lock, BASE_LOCK_TASKS);
    struct tasks_block *b = free_blocks;
    if (b) {
        free_blocks = b->next_free;
    } else if ((b = calloc(1, sizeof *b))) {
        b->next = blocks;
        blocks = b;
    }
    base_lock_release(&lock, BASE_LOCK_TASKS);
    return b;
}

/* A quarter of the stack below the highest address, of 8 MiB at most; nothing where that cannot be told. */
static uintptr_t stack_low(void)
{
    enum { MOST = 8 << 20 };
    pthread_attr_t attr;
    void *base;
    size_t size;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (pthread_getattr_np(pthread_self(), &attr))
        return UINTPTR_MAX;
    int error = pthread_attr_getstack(&attr, &base, &size);
    pthread_attr_destroy(&attr);
    if (error || here < (uintptr_t)base || here > (uintptr_t)base + size)
        return UINTPTR_MAX;
    return (uintptr_t)base + size - (size < MOST ? size : MOST) / 4;
}

static void stats_fill(struct job_task *task, const struct tasks_row *row)
{
    uint64_t subtree = get(row, TASKS_SUBTREE_COUNT);
    task->created += get(row, TASKS_CREATED) + subtree;
    task->at_once += get(row, TASKS_AT_ONCE_COUNT) + subtree;
    task->loops += get(row, TASKS_LOOPS);
    task->undeferred += get(row, TASKS_UNDEFERRED);
    uint64_t timed = get(row, TASKS_TIMED), least = get(row, TASKS_MIN), most = get(row, TASKS_MAX);
    if (timed && (task->timed == 0 || least < task->min_ns))
        task->min_ns = least;
    if (timed && most > task->max_ns)
        task->max_ns = most;
    task->timed += timed;
    task->time_ns += get(row, TASKS_TIME);
    task->wait_ns += get(row, TASKS_WAIT);
}

/* Only tasks that are timed know how long they wait: of all, in proportion. */
static uint64_t wait_of_all(const struct job_task *task)
{
    bool some = task->timed && task->timed < task->created;
    return some ? (uint64_t)((double)task->wait_ns * (double)task->created / (double)task->timed) : task->wait_ns;
}

/* At the end of the session: all threads' rows of one construct and depth, as one. */
static void collect_row(uint32_t site, uint32_t depth)
{
    struct job_task task = { .depth = depth };
    const struct teams_proof *proof = tasks_sites[site].proof;
    double takes = tasks_mean_get(&tasks_sites[site].takes[depth]), cost = tasks_mean_get(&tasks_sites[site].cost);
    for (struct tasks_block *b = blocks; b; b = b->next)
        stats_fill(&task, &b->row[site][depth]);
    if (task.created == 0)
        return;
    task.wait_ns = wait_of_all(&task);
    task.subtree_ns = takes > 0 ? (uint64_t)takes : 0;
    task.cost_ns = cost > 0 ? (uint64_t)cost : 0;
    task.proof = proof ? teams_safety_word(proof) : 0;
    session_task_add(atomic_load(&tasks_sites[site].fn), &task);
}

void tasks_collect(void)
{
    teams_safety_finish(session_proves(false));
    base_lock_take(&lock, BASE_LOCK_TASKS);
    for (uint32_t site = 0; site < TASKS_SITES; site++)
        for (uint32_t depth = 0; depth < TASKS_DEPTHS; depth++)
            collect_row(site, depth);
    base_lock_release(&lock, BASE_LOCK_TASKS);
}

static void stats_make_key(void)
{
    (void)pthread_key_create(&key, thread_end);
}

bool tasks_thread_start(struct tasks_thread *t)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept = errno; /* the program's: this is in its task, or before its next line */
    pthread_once(&once, stats_make_key);
    t->block = block_take();
    if (t->block) {
        (void)pthread_setspecific(key, t->block);
        t->stack_low = stack_low();
    }
    errno = kept;
    return t->block != NULL;
}
