/* SPDX-License-Identifier: MIT */
#include "tasks/task.h"

#include <string.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "include/pythia.h"
#include "places/place.h"
#include "libgomp/real.h"
#include "tasks/act.h"
#include "session/ask.h"
#include "session/life.h"

enum { SAMPLE = 16, LOOK = 64 };
static const struct places_wish nowhere;
static const double cost_unknown = 700; /* ns; measured from the first deferred tasks on */

/* The arguments of GOMP_task. */
struct call {
    void (*fn)(void *);
    void *data;
    void (*cpyfn)(void *, void *);
    long size, align;
    unsigned flags;
    void **depend;
    int priority;
    void *detach;
};

static void real_task(const struct call *c, bool deferred)
{
    libgomp_real()->GOMP_task(c->fn, c->data, c->cpyfn, c->size, c->align, deferred, c->flags, c->depend, c->priority,
                               c->detach);
}

/* --- Being in a task --- */

/* What a task changes of its thread, on the hook's stack. */
struct inside {
    uint64_t begin, elsewhere; /* begin 0: not timed */
    uint64_t events;
    uint32_t depth, site, deferred_before, deferred;
    bool subtree;
};

static void enter(struct tasks_thread *t, struct inside *in, uint32_t site, uint32_t depth, bool timed)
{
    in->depth = t->depth;
    in->site = t->site;
    in->deferred_before = t->deferred_before;
    in->deferred = t->deferred;
    in->subtree = t->subtree;
    t->depth = depth + 1;
    t->site = site;
    t->deferred_before = t->deferred;
    in->begin = 0;
    if (timed) {
        in->events = session_events();
        in->elsewhere = t->elsewhere;
        in->begin = base_clock_now();
    }
}

/* Means are all threads': what is written for each of many small tasks, each thread would wait for. */
static void learn_mean(struct tasks_thread *t, struct tasks_mean *mean, uint64_t ns)
{
    if (!tasks_mean_is_settled(mean) || t->turn++ % SAMPLE == 0)
        tasks_mean_add(mean, (double)ns);
}

static void learn(struct tasks_thread *t, const struct inside *in, struct tasks_site *site)
{
    uint32_t depth = t->depth - 1;
    uint64_t took = base_clock_now() - in->begin, elsewhere = t->elsewhere - in->elsewhere;
    took = took > elsewhere ? took - elsewhere : 0;
    tasks_time(tasks_row(t, t->site, depth), took);
    if (t->deferred == in->deferred) /* all below it was run at once: that is what it takes */
        learn_mean(t, &site->takes[depth < TASKS_DEPTHS ? depth : TASKS_DEPTHS - 1], took);
    if (session_events() != in->events)
        tasks_site_mark(site, &site->keep);
    tasks_site_ended(site);
}

static void leave(struct tasks_thread *t, const struct inside *in, struct tasks_site *site)
{
    if (in->begin)
        learn(t, in, site);
    t->depth = in->depth;
    t->site = in->site;
    t->deferred_before = in->deferred_before;
    t->subtree = in->subtree;
}

/* --- Deferred tasks --- */

/* Stands before the program's data in the copy that libgomp keeps. */
struct header {
    void (*fn)(void *);
    struct tasks_site *site;
    uint32_t depth, offset; /* of the data */
    struct places_wish wish;
};

struct packet {
    struct header header;
    const struct call *call;
};

static void packet_copy(void *to, void *from)
{
    const struct packet *p = from;
    char *data = (char *)to + p->header.offset;
    memcpy(to, &p->header, sizeof p->header);
    if (p->call->cpyfn)
        p->call->cpyfn(data, p->call->data);
    else if (p->call->size > 0)
        memcpy(data, p->call->data, (size_t)p->call->size);
}

/* What libgomp runs. A thread that had none of its own tasks yet has no block: it gets one now. */
static void task_run(void *argument)
{
    struct header h;
    struct inside in;
    struct tasks_thread *t = &tasks_thread;
    memcpy(&h, argument, sizeof h);
    if (tasks_acts())
        atomic_fetch_sub_explicit(&tasks_ready, 1, memory_order_relaxed);
    t->begun++;
    if (!t->block && !tasks_thread_start(t)) {
        h.fn((char *)argument + h.offset);
        return;
    }
    struct places_return back;
    places_enter(&h.wish, &back);
    enter(t, &in, tasks_site_number(h.site), h.depth, true);
    t->subtree = false;
    h.fn((char *)argument + h.offset);
    places_leave(&back);
    leave(t, &in, h.site);
    /* Met while another task of this thread waits, or was being created. */
    t->elsewhere = in.elsewhere + (base_clock_now() - in.begin);
}

static void defer(struct tasks_thread *t, struct tasks_site *site, const struct call *c,
                  const struct places_wish *wish)
{
    long align = c->align > (long)_Alignof(struct header) ? c->align : (long)_Alignof(struct header);
    uint32_t offset = (uint32_t)((sizeof(struct header) + (size_t)align - 1) & ~((size_t)align - 1));
    struct packet packet = { { c->fn, site, t->depth, offset, *wish }, c };
    struct call wrapped = *c;
    wrapped.fn = task_run;
    wrapped.data = &packet;
    wrapped.cpyfn = packet_copy;
    wrapped.size = (long)offset + c->size;
    wrapped.align = align;
    uint32_t begun = t->begun;
    bool timed = t->deferred++ % 4 == 0;
    uint64_t begin = timed ? base_clock_now() : 0;
    if (tasks_acts()) /* who decides nothing does not ask how many there are */
        atomic_fetch_add_explicit(&tasks_ready, 1, memory_order_relaxed);
    real_task(&wrapped, true);
    /* Taking it from the queue and ending it costs about as much again. */
    if (timed && t->begun == begun)
        learn_mean(t, &site->cost, 2 * (base_clock_now() - begin));
}

/* --- Tasks run at once --- */

static void run_at_once(struct tasks_thread *t, struct tasks_site *site, const struct call *c, bool timed)
{
    struct inside in;
    enter(t, &in, tasks_site_number(site), t->depth, timed);
    real_task(c, false);
    leave(t, &in, site);
}

/* Asked once, when the mode is known. */
bool tasks_acts(void)
{
    static atomic_int known; /* 0: not asked, 1: no, 2: yes */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
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
static void subtree_look(struct tasks_thread *t)
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

static void subtree_run(struct tasks_thread *t, struct tasks_site *site, const struct call *c, double takes,
                        double cost, bool timed)
{
    t->look = LOOK;
    t->subtree_begin = 0; /* most are over before the first look */
    base_fpu_t kept = base_fpu_hold();
    t->subtree_time = (uint64_t)tasks_subtree_time(takes, cost);
    base_fpu_give_back(kept);
    t->subtree = true;
    run_at_once(t, site, c, timed);
    t->subtree = false;
}

static void decide(struct tasks_thread *t, struct tasks_site *site, struct tasks_row *row, const struct call *c)
{
    uint32_t depth = t->depth < TASKS_DEPTHS ? t->depth : TASKS_DEPTHS - 1;
    double takes = tasks_mean_get(&site->takes[depth]), cost = tasks_mean_get(&site->cost);
    int ready = atomic_load_explicit(&tasks_ready, memory_order_relaxed);
    enum tasks_choice choice = TASKS_DEFER;
    if (cost < 0)
        cost = cost_unknown;
    if (tasks_allowed(t, site, c->flags))
        choice = tasks_choose(takes, cost, ready, libgomp_real()->omp_get_num_threads());
    if (choice == TASKS_DEFER) {
        defer(t, site, c, &nowhere);
        return;
    }
    tasks_count(row, TASKS_AT_ONCE_COUNT, 1);
    bool timed = takes < 0 || takes > 8 * cost || t->turn++ % SAMPLE == 0;
    if (choice == TASKS_SUBTREE)
        subtree_run(t, site, c, takes, cost, timed);
    else
        run_at_once(t, site, c, timed);
}

struct tasks_site *tasks_site_of(struct tasks_thread *t, void (*fn)(void *))
{
    tasks_creates();
    if (session_mode() == SESSION_OFF || (library_traits() & CANCELS) || (!t->block && !tasks_thread_start(t)))
        return NULL;
    struct tasks_site **recent = &t->recent[tasks_recent((uintptr_t)fn)];
    if (!*recent || atomic_load_explicit(&(*recent)->fn, memory_order_relaxed) != (uintptr_t)fn)
        *recent = tasks_site((uintptr_t)fn);
    return *recent;
}

/* Before it can be waited for. */
static void note_depends(struct tasks_site *site)
{
    if (!site)
        tasks_doubt();
    else
        tasks_site_mark(site, &site->depends);
}

static void task_decide(struct tasks_thread *t, struct tasks_site *site, const struct call *c, bool if_clause)
{
    struct tasks_row *row = tasks_row(t, tasks_site_number(site), t->depth);
    struct places_wish wish = nowhere;
    tasks_count(row, TASKS_CREATED, 1);
    if (!if_clause) {
        struct places_return back;
        (void)places_take(&places_task, &wish);
        tasks_count(row, TASKS_UNDEFERRED, 1);
        places_enter(&wish, &back);
        run_at_once(t, site, c, t->turn++ % SAMPLE == 0);
        places_leave(&back);
        return;
    }
    if (places_take(&places_task, &wish)) {
        defer(t, site, c, &wish);
        return;
    }
    if (t->subtree && --t->look == 0)
        subtree_look(t);
    if (t->subtree && tasks_allowed(t, site, c->flags)) {
        tasks_count(row, TASKS_AT_ONCE_COUNT, 1);
        run_at_once(t, site, c, t->look == LOOK);
    } else if (tasks_acts()) {
        decide(t, site, row, c);
    } else {
        defer(t, site, c, &nowhere);
    }
}

/* Within a subtree that is run at once there is nothing to decide, for constructs that the thread met before; NULL
   where there is. */
static inline struct tasks_site *quick(struct tasks_thread *t, uintptr_t fn, bool if_clause, unsigned flags)
{
    struct tasks_site *site = t->recent[tasks_recent(fn)];
    bool plain = if_clause && !(flags & (TASKS_DETACH | TASKS_PRIORITY));
    if (!t->subtree || !site || atomic_load_explicit(&site->fn, memory_order_relaxed) != fn || !plain || t->look <= 1 ||
        places_task.kind || !tasks_allowed(t, site, flags))
        return NULL;
    t->look--;
    return site;
}

PYTHIA_API void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align,
                          bool if_clause, unsigned flags, void **depend, int priority, void *detach);
void GOMP_task(void (*fn)(void *), void *data, void (*cpyfn)(void *, void *), long size, long align, bool if_clause,
               unsigned flags, void **depend, int priority, void *detach)
{
    struct tasks_thread *t = &tasks_thread;
    struct tasks_site *known = quick(t, (uintptr_t)fn, if_clause, flags);
    if (known) {
        uint32_t depth = t->depth, number = t->site, deferred_before = t->deferred_before;
        t->site = tasks_site_number(known);
        t->deferred_before = t->deferred;
        t->depth = depth + 1;
        tasks_count(tasks_row(t, t->site, depth), TASKS_SUBTREE_COUNT, 1);
        libgomp_real_table.GOMP_task(fn, data, cpyfn, size, align, false, flags, depend, priority, detach);
        t->depth = depth;
        t->site = number;
        t->deferred_before = deferred_before;
        return;
    }
    struct call c = { fn, data, cpyfn, size, align, flags, depend, priority, detach };
    struct tasks_site *site = tasks_site_of(t, fn);
    if (flags & TASKS_DEPEND)
        note_depends(site);
    if (!site || (flags & TASKS_DETACH)) {
        real_task(&c, if_clause);
        return;
    }
    task_decide(t, site, &c, if_clause);
}
