/* SPDX-License-Identifier: MIT */
/*
 * The program's floating-point state while Pythia computes in one of its threads: what we raise (an underflow of a
 * small probability, say) is no flag of the program's, and what it traps or how it rounds does not concern us.
 *
 *   base_fpu_t kept = base_fpu_hold();
 *   ... compute ...
 *   base_fpu_give_back(kept);
 *
 * That is the unit that compilers use: SSE on x86-64 (some 2 ns: written only where it differs), FPCR and FPSR on
 * aarch64, elsewhere <fenv.h>. Of the x87 unit of x86 nothing is used here.
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
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

#elif defined(__aarch64__)

typedef struct { uint64_t control, status; } base_fpu_t; /* FPCR: traps, rounding, flushing; FPSR: flags */

static inline base_fpu_t base_fpu_hold(void)
{
    base_fpu_t kept;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(kept.control), "=r"(kept.status));
    if (__builtin_expect(kept.control != 0, 0))
        __asm__ volatile("msr fpcr, %0" ::"r"(UINT64_C(0)));
    __asm__ volatile("" ::: "memory");
    return kept;
}

static inline void base_fpu_give_back(base_fpu_t kept)
{
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status)::"memory");
    if (status != kept.status)
        __asm__ volatile("msr fpsr, %0" ::"r"(kept.status));
    if (__builtin_expect(kept.control != 0, 0))
        __asm__ volatile("msr fpcr, %0" ::"r"(kept.control));
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
