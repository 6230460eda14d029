/* SPDX-License-Identifier: MIT */
#include "teams/safety.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "teams/code.h"
#include "teams/proof.h"

enum { PROOFS = 1024 }; /* a power of two */
#define TASK (~(UINTPTR_MAX >> 1)) /* no program's addresses have that bit */

static struct teams_proof proofs[PROOFS];
static struct teams_proof overflow = { .answer = JOB_PROOF_LARGE };
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* The thread that reads while the program runs. It ends with the first finish; a forked child has none. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    sem_t wake;
    pid_t process; /* that has it; 0: none. Guarded by lock */
    atomic_bool stop, over;
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct teams_proof *teams_safety_of(uintptr_t function, enum teams_kind kind)
{
    uintptr_t key = function | (kind == TEAMS_TASK ? TASK : 0);
    uint32_t slot = (uint32_t)((function >> 2) * 0x9e3779b97f4a7c15u >> 32) % PROOFS;
    for (uint32_t i = 0; i < PROOFS / 2; i++, slot = (slot + 1) % PROOFS) {
        struct teams_proof *p = &proofs[slot];
        uintptr_t there = atomic_load_explicit(&p->key, memory_order_relaxed);
        if (there == key || (there == 0 && atomic_compare_exchange_strong(&p->key, &there, key)) || there == key)
            return p;
    }
    return &overflow;
}

/* The first one, for good. */
static void answer(struct teams_proof *p, uint32_t word, uintptr_t where, uint64_t ns)
{
    if (!word || atomic_exchange(&p->taken, true))
        return;
    p->where = where;
    p->ns = ns;
    atomic_store_explicit(&p->answer, word, memory_order_release);
}

bool teams_safety_holds(uint32_t word)
{
    return job_proof_reason(word) && (word & JOB_PROOF_RESTS) == TEAMS_VERSION * JOB_PROOF_VERSION;
}

void teams_safety_know(struct teams_proof *p, uint32_t word, uintptr_t where, uint64_t ns)
{
    if (teams_safety_holds(word))
        answer(p, word, where, ns);
}

/* --- Reading --- */

void teams_safety_prepare(void)
{
    (void)teams_code_prepare();
}

/* The function's module is held meanwhile: the program may be about to unload it. */
static void read_one(struct teams_prover *prover, struct teams_proof *p)
{
    uintptr_t key = atomic_load(&p->key), function = key & ~TASK;
    Dl_info info;
    void *held = NULL;
    uint64_t begin = base_clock_now();
    if (dladdr((const void *)function, &info) && info.dli_fname)
        held = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    struct teams_verdict v = teams_prove(prover, function, key & TASK ? TEAMS_TASK : TEAMS_REGION);
    if (held)
        dlclose(held);
    answer(p, v.proof, v.where, base_clock_now() - begin);
}

/* Reads the code of all functions that have no answer yet. */
static void read_all(void)
{
    struct teams_prover *prover = NULL;
    bool made = false;
    pthread_mutex_lock(&reading);
    for (uint32_t i = 0; i < PROOFS; i++) {
        struct teams_proof *p = &proofs[i];
        if (!atomic_load(&p->key) || atomic_load(&p->answer))
            continue;
        if (!made)
            prover = teams_prover_create();
        made = true;
        read_one(prover, p);
    }
    pthread_mutex_unlock(&reading);
    teams_prover_destroy(prover);
}

/* --- While the program runs --- */

static void *reader_main(void *unused)
{
    (void)unused;
    base_guard_stay();
    while (sem_wait(&reader.wake) || !atomic_load(&reader.stop))
        read_all();
    return NULL;
}

/* Called with the lock. A program's signals are for its own threads. */
static void start_reader(void)
{
    sigset_t all, before;
    if (sem_init(&reader.wake, 0, 0))
        return;
    atomic_store(&reader.stop, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&reader.thread, NULL, reader_main, NULL) == 0)
        reader.process = getpid();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void teams_safety_ask(struct teams_proof *p)
{
    if (atomic_load(&p->answer) || atomic_load(&reader.over))
        return;
    pthread_mutex_lock(&reader.lock);
    if (!reader.process)
        start_reader();
    if (reader.process == getpid())
        sem_post(&reader.wake);
    pthread_mutex_unlock(&reader.lock);
}

void teams_safety_finish(bool rest)
{
    atomic_store(&reader.over, true);
    pthread_mutex_lock(&reader.lock);
    if (reader.process == getpid()) {
        atomic_store(&reader.stop, true);
        sem_post(&reader.wake);
        pthread_join(reader.thread, NULL);
        sem_destroy(&reader.wake);
    }
    reader.process = 0;
    pthread_mutex_unlock(&reader.lock);
    if (rest)
        read_all();
}
