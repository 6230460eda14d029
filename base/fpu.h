/* SPDX-License-Identifier: MIT */
/*
 * The program's floating-point state while Pythia computes in one of its threads: what we raise (an underflow of a small
 * probability, say) is no flag of the program's, and what it traps or how it rounds does not concern us.
 *
 *   base_fpu_t kept = base_fpu_hold();
 *   ... compute ...
 *   base_fpu_give_back(kept);
 *
 * On x86-64 that is the register of SSE, written only where it differs: some 2 ns. Elsewhere <fenv.h>.
 * Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_BASE_FPU_H
#define PYTHIA_BASE_FPU_H

#ifdef __x86_64__
#include <stdint.h>
#include <xmmintrin.h>

typedef uint32_t base_fpu_t;

enum { BASE_FPU_FLAGS = 0x3f, BASE_FPU_DEFAULT = 0x1f80 };

static inline base_fpu_t base_fpu_hold(void)
{
    uint32_t kept = _mm_getcsr();
    if (__builtin_expect((kept & ~(uint32_t)BASE_FPU_FLAGS) != BASE_FPU_DEFAULT, 0))
        _mm_setcsr(BASE_FPU_DEFAULT);
    __asm__ volatile("" ::: "memory");
    return kept;
}

static inline void base_fpu_give_back(base_fpu_t kept)
{
    __asm__ volatile("" ::: "memory");
    if (_mm_getcsr() != kept)
        _mm_setcsr(kept);
}

#else
#include <fenv.h>

typedef fenv_t base_fpu_t;

static inline base_fpu_t base_fpu_hold(void)
{
    fenv_t kept;
    feholdexcept(&kept);
    fesetround(FE_TONEAREST);
    return kept;
}

static inline void base_fpu_give_back(base_fpu_t kept)
{
    fesetenv(&kept);
}
#endif

#endif
