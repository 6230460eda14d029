/* SPDX-License-Identifier: MIT */
#include "teams/safety.h"

#include "base/clock.h"

enum { PROOFS = 1024 }; /* a power of two */

static struct teams_proof proofs[PROOFS];
static struct teams_proof overflow = { .answer = UINT32_MAX };
static atomic_uint_least64_t spent; /* ns */

struct teams_proof *teams_safety_of(uintptr_t function, enum teams_kind kind)
{
    uint32_t slot = (uint32_t)((function >> 2) * 0x9e3779b97f4a7c15u >> 32) % PROOFS;
    for (uint32_t i = 0; i < PROOFS / 2; i++, slot = (slot + 1) % PROOFS) {
        struct teams_proof *p = &proofs[slot];
        uintptr_t there = atomic_load_explicit(&p->function, memory_order_acquire);
        if (there == 0 && atomic_compare_exchange_strong(&p->function, &there, function)) {
            p->kind = kind;
            return p;
        }
        if (there == function)
            return p;
    }
    return &overflow;
}

void teams_safety_know(struct teams_proof *p, uint32_t answer, uintptr_t where)
{
    if (atomic_load(&p->answer) || !answer)
        return;
    p->where = where;
    atomic_store_explicit(&p->answer, answer, memory_order_release);
}

uint32_t teams_safety_work(void)
{
    uint64_t begin = base_clock_now();
    uint32_t done = 0;
    for (uint32_t i = 0; i < PROOFS; i++)
        done += atomic_load(&proofs[i].function) && !atomic_load(&proofs[i].answer);
    atomic_fetch_add(&spent, base_clock_now() - begin);
    return done;
}

uint64_t teams_safety_time(void)
{
    return atomic_load(&spent);
}
