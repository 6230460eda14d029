/* SPDX-License-Identifier: MIT */
#include "teams/safety.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/helper.h"
#include "base/lock.h"
#include "code/insn.h"
#include "teams/proof.h"

enum { PROOFS = 1024 /* a power of two */, LOADING = 100000000 /* ns */ };
#define TASK (~(UINTPTR_MAX >> 1)) /* no program's addresses have that bit */
static const uint64_t ending = 10000000000; /* ns */

static struct teams_proof proofs[PROOFS];
static struct teams_proof overflow = { .answer = JOB_PROOF_LARGE };
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* The thread that loads what reads code, and reads while the program runs: a handler of the program's may jump out of
   whatever its own threads do (siglongjmp), and a library that is loaded by half stays so. It ends with the first
   finish; a forked child has none. */
static struct {
    pthread_mutex_t lock;
    struct base_helper helper; /* guarded by lock */
    bool left;                 /* the same: it did not end */
    sem_t loaded;
    atomic_bool reads, asked, rest, over;
    void (*_Atomic first)(void); /* to be called once */
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct teams_proof *teams_safety_of(uintptr_t function, enum teams_kind kind)
{
    bool claimed;
    struct teams_proof *p = base_fixed_find(proofs, sizeof *proofs, PROOFS, PROOFS / 2,
                                            function | (kind == TEAMS_TASK ? TASK : 0), &claimed);
    return p ? p : &overflow;
}

/* The first one, for good. */
static void safety_answer(struct teams_proof *p, uint32_t word, uintptr_t where, uint64_t ns)
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
        safety_answer(p, word, where, ns);
}

/* --- Reading --- */

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
    safety_answer(p, v.proof, v.where, base_clock_now() - begin);
}

/* Reads the code of all functions that have no answer yet. */
static void safety_read_all(void)
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

static void read_when_asked(void)
{
    while (base_helper_sleep(&reader.helper, BASE_HELPER_EVER)) {
        void (*first)(void) = atomic_exchange(&reader.first, NULL);
        if (first)
            first();
        if (atomic_load(&reader.reads))
            (void)code_prepare();
        sem_post(&reader.loaded);
        if (atomic_load(&reader.asked))
            safety_read_all();
    }
    if (atomic_load(&reader.rest))
        safety_read_all();
}

/* Whether this process has a reader now. */
static bool have_reader(void)
{
    base_lock_take(&reader.lock, BASE_LOCK_READER);
    if (!reader.helper.process && !atomic_load(&reader.over) && sem_init(&reader.loaded, 0, 0) == 0)
        (void)base_helper_start(&reader.helper, read_when_asked, 0);
    bool ours = base_helper_runs(&reader.helper);
    base_lock_release(&reader.lock, BASE_LOCK_READER);
    return ours;
}

void teams_safety_start(void)
{
    (void)have_reader();
}

/* Not longer than LOADING: this may be a library's constructor, for which the loader holds what the reader needs. */
void teams_safety_prepare(bool reads, void (*first)(void))
{
    struct timespec end;
    atomic_store(&reader.reads, reads);
    atomic_store(&reader.first, first);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += LOADING;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (have_reader())
        base_helper_wake(&reader.helper);
    while (have_reader() && sem_timedwait(&reader.loaded, &end) && errno == EINTR)
        continue;
}

void teams_safety_ask(struct teams_proof *p)
{
    if (atomic_load(&p->answer) || !have_reader())
        return;
    atomic_store(&reader.asked, true);
    base_helper_wake(&reader.helper);
}

/* The rest is read by the reader, too: what the loader allocates for it would fall into the program's heap here, where
   libgomp may still use what it has freed (doc/TEAMS.md). Left is one that does not end: where the program has jumped
   out of the loader, that is held for good. */
void teams_safety_finish(bool rest)
{
    atomic_store(&reader.over, true);
    base_lock_take(&reader.lock, BASE_LOCK_READER);
    bool ours = base_helper_runs(&reader.helper) || reader.left;
    atomic_store(&reader.rest, rest);
    if (!base_helper_stop(&reader.helper, ending)) {
        base_helper_leave(&reader.helper);
        reader.left = true;
    }
    base_lock_release(&reader.lock, BASE_LOCK_READER);
    if (rest && !ours)
        safety_read_all();
}
