/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: a table that is read without a lock. Who removed one leaves its slot to the next one: a slot has a
 * sequence lock, and a number by which callbacks are run in the order in which they were registered.
 */
#include "pmpi/callback.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/lock.h"
#include "pythia.h"

struct callback {
    uint64_t number;      /* rises with each that is registered */
    int phases;           /* 0: none, or removed */
    int call_kind;        /* enum job_call_kind; JOB_NO_CALL_KIND: `function`, or all where it is NULL */
    const char *function; /* of pmpi_hook_functions */
    pythia_callback_t run;
    void *data;
};

/* The same, as others read it. */
struct slot {
    _Atomic uint32_t version; /* odd while it is written */
    _Atomic int phases, call_kind;
    _Atomic uint64_t number;
    const char *_Atomic function;
    _Atomic pythia_callback_t run;
    void *_Atomic data;
};

atomic_bool pmpi_hook_watch;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot callbacks[PMPI_HOOK_CALLBACKS]; /* written under callback_lock */
static _Atomic int callback_count;                 /* slots that were used; release after the slot */
static _Atomic uint64_t callback_number;           /* of the last one */

/* --- A slot --- */

static void slot_write(struct slot *s, const struct callback *c)
{
    uint32_t version = atomic_load_explicit(&s->version, memory_order_relaxed);
    atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&s->phases, c->phases, memory_order_relaxed);
    atomic_store_explicit(&s->call_kind, c->call_kind, memory_order_relaxed);
    atomic_store_explicit(&s->number, c->number, memory_order_relaxed);
    atomic_store_explicit(&s->function, c->function, memory_order_relaxed);
    atomic_store_explicit(&s->run, c->run, memory_order_relaxed);
    atomic_store_explicit(&s->data, c->data, memory_order_relaxed);
    atomic_store_explicit(&s->version, version + 2, memory_order_release);
}

/* False: nothing is in it, or it is being written. */
static bool slot_read(const struct slot *s, struct callback *c)
{
    uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire);
    c->phases = atomic_load_explicit(&s->phases, memory_order_relaxed);
    c->call_kind = atomic_load_explicit(&s->call_kind, memory_order_relaxed);
    c->number = atomic_load_explicit(&s->number, memory_order_relaxed);
    c->function = atomic_load_explicit(&s->function, memory_order_relaxed);
    c->run = atomic_load_explicit(&s->run, memory_order_relaxed);
    c->data = atomic_load_explicit(&s->data, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return c->phases && version % 2 == 0 && atomic_load_explicit(&s->version, memory_order_relaxed) == version;
}

/* --- Registering --- */

/* What a callback is for; false: nothing of that name. */
static bool callback_aim(const char *what, struct callback *c)
{
    if (strcmp(what, "all") == 0)
        return true;
    c->call_kind = (int)job_call_kind_named(what, strlen(what));
    if (c->call_kind != JOB_NO_CALL_KIND)
        return true;
    for (const char *const *f = pmpi_hook_functions; *f; f++) {
        if (strcmp(*f, what) == 0) {
            c->function = *f;
            return true;
        }
    }
    return false;
}

static int callback_add(struct callback *c)
{
    base_lock_take(&callback_lock, BASE_LOCK_CALLBACK);
    int count = atomic_load_explicit(&callback_count, memory_order_relaxed), n = 0;
    while (n < count && atomic_load_explicit(&callbacks[n].phases, memory_order_relaxed))
        n++;
    if (n < PMPI_HOOK_CALLBACKS) {
        c->number = atomic_load_explicit(&callback_number, memory_order_relaxed) + 1;
        slot_write(&callbacks[n], c);
        if (n == count)
            atomic_store_explicit(&callback_count, n + 1, memory_order_release);
        atomic_store_explicit(&callback_number, c->number, memory_order_release);
        atomic_store_explicit(&pmpi_hook_watch, true, memory_order_release);
        pmpi_hook_comm_anew();
    }
    base_lock_release(&callback_lock, BASE_LOCK_CALLBACK);
    return n < PMPI_HOOK_CALLBACKS ? 0 : PYTHIA_ELIMIT;
}

int pythia_callback_register(const char *what, int phases, pythia_callback_t callback, void *data)
{
    struct callback c = {.phases = phases, .call_kind = JOB_NO_CALL_KIND, .run = callback, .data = data};
    if (!what || !callback || phases < PYTHIA_PRE || phases > (PYTHIA_PRE | PYTHIA_POST) || !callback_aim(what, &c))
        return PYTHIA_EINVAL;
    return callback_add(&c);
}

int pythia_callback_remove(pythia_callback_t callback, void *data)
{
    int found = 0, left = 0;
    base_lock_take(&callback_lock, BASE_LOCK_CALLBACK);
    int n = atomic_load_explicit(&callback_count, memory_order_relaxed);
    for (int i = 0; i < n; i++) {
        struct callback c;
        bool there = slot_read(&callbacks[i], &c), it = there && c.run == callback && c.data == data;
        if (it)
            atomic_store_explicit(&callbacks[i].phases, 0, memory_order_release);
        found += it;
        left += there && !it;
    }
    atomic_store_explicit(&pmpi_hook_watch, left > 0, memory_order_release);
    base_lock_release(&callback_lock, BASE_LOCK_CALLBACK);
    return found ? 0 : PYTHIA_EINVAL;
}

/* --- Calling --- */

static bool callback_wants(const struct callback *c, const struct watch_call *info)
{
    if (c->call_kind != JOB_NO_CALL_KIND)
        return c->call_kind == info->what.call_kind;
    return !c->function || strcmp(c->function, info->function) == 0;
}

/* The first one that is registered for it after `number`, up to `last`. */
static bool callback_next(const struct pmpi_hook_call *call, uint32_t phase, uint64_t number, uint64_t last,
                          struct callback *next)
{
    int n = atomic_load_explicit(&callback_count, memory_order_acquire);
    struct callback c;
    next->number = last + 1;
    for (int i = 0; i < n; i++)
        if (slot_read(&callbacks[i], &c) && c.number > number && c.number < next->number &&
            (uint32_t)c.phases & phase && callback_wants(&c, call->info))
            *next = c;
    return next->number <= last;
}

static void callbacks_run(const struct pmpi_hook_call *call, const struct pythia_record *record)
{
    uint64_t last = atomic_load_explicit(&callback_number, memory_order_acquire);
    struct callback c = {.number = 0};
    base_fpu_t kept = base_fpu_hold();
    while (callback_next(call, record->phase, c.number, last, &c))
        c.run(record, c.data);
    base_fpu_give_back(kept);
}

/* By its number: what call->comm points to may be gone after the call. */
static const char *callback_comm(const struct pmpi_hook_call *call)
{
    return session_comm_name(call->key.comm);
}

/* What the oracle takes is left out of the time before the next call, which may so begin a little before the last one
   ended. */
static uint64_t never_back(uint64_t ns)
{
    static _Thread_local uint64_t told;

    told = ns > told ? ns : told;
    return told;
}

static struct pythia_record callback_record(const struct pmpi_hook_call *call, enum pythia_phase phase,
                                            const struct session_sight *sight, uint64_t now)
{
    int64_t bytes = pmpi_hook_value_of(call, GRAMMAR_BYTES, 0);
    return (struct pythia_record){
        .size = sizeof(struct pythia_record),
        .phase = phase,
        .id = sight->id,
        .call = call->info->function,
        .call_kind = job_call_kind_text(call->info->what.call_kind),
        .communicator = callback_comm(call),
        .from = call->from,
        .callsite = call->key.callsite,
        .rank = sight->rank,
        .thread = sight->thread,
        .happened = 1,
        .peer = pmpi_hook_value_of(call, GRAMMAR_PEER, PYTHIA_PEER_NONE),
        .tag = pmpi_hook_value_of(call, GRAMMAR_INDEX, -1),
        .count = call->element > 0 ? bytes / call->element : 0,
        .element_size = call->element,
        .bytes = bytes,
        .time_ns = never_back(now),
        .context = call,
    };
}

void pmpi_hook_callbacks_before(struct pmpi_hook_call *call)
{
    struct session_sight sight = session_see(call->stream);
    struct pythia_record record = callback_record(call, PYTHIA_PRE, &sight, sight.now);
    call->entry = GRAMMAR_NONE;
    memset(call->counted, 0, sizeof call->counted);
    record.elapsed_ns = sight.gap_ns;
    callbacks_run(call, &record);
    call->begin = session_skip(call->stream, sight.now);
}

/* The call has its identity: what was counted before it goes there. */
static void callbacks_identify(struct pmpi_hook_call *call)
{
    call->entry = session_identify(call->stream, &call->key);
    for (int i = 0; i < SESSION_SUMS; i++)
        if (call->counted[i].samples)
            session_sum_add(call->stream, call->entry, i, call->counted[i].total, call->counted[i].samples);
}

/* Returns what the callbacks took, ns. */
static uint64_t callbacks_post(struct pmpi_hook_call *call, bool happened)
{
    struct session_sight sight = session_see(call->stream);
    struct pythia_record record = callback_record(call, PYTHIA_POST, &sight, call->end);
    callbacks_identify(call);
    record.happened = happened;
    record.elapsed_ns = call->end - call->begin;
    callbacks_run(call, &record);
    uint64_t after = base_clock_now();
    return after > call->end ? after - call->end : 0;
}

void pmpi_hook_callbacks_after(struct pmpi_hook_call *call)
{
    uint64_t took = callbacks_post(call, true);
    session_whole(call->stream, &call->key, call->path, &call->event, pmpi_hook_since(call), call->end, took);
}

void pmpi_hook_callbacks_nothing(struct pmpi_hook_call *call)
{
    callbacks_post(call, false);
    session_skip(call->stream, call->end);
    session_leave();
}

/* --- Sums --- */

int pythia_sum_define(const char *name)
{
    return session_sum_define(name);
}

void pythia_sum_add(const struct pythia_record *record, int sum, uint64_t value)
{
    /* not const where it was made */
    struct pmpi_hook_call *call = record ? (struct pmpi_hook_call *)record->context : NULL;
    if (!call || sum < 0 || sum >= SESSION_SUMS)
        return;
    if (call->entry != GRAMMAR_NONE) {
        session_sum_add(call->stream, call->entry, sum, value, 1);
    } else {
        call->counted[sum].samples++;
        call->counted[sum].total += value;
    }
}
