/* SPDX-License-Identifier: MIT */
/*
 * How to step from a function to who called it: one row of the unwind tables (.eh_frame), as DWARF 5, 6.4, and the
 * LSB's "Exception Frames" define them.
 *
 *   pc  -->  the caller's stack pointer = frame pointer + 16;  its frame pointer is kept 16 below that, and where it
 *            goes on, 8 below
 *
 * A row holds for a program counter as long as its library is loaded, so that who walks often keeps rows by it. Only
 * the registers that lead on are followed: stack pointer, frame pointer, return address. Where a table says more than a
 * row can hold, there is no row (code written by hand; frames of signals have one).
 *
 * Why not libunwind: it keeps its rows behind a lock, with all signals blocked meanwhile. A handler that leaves by
 * longjmp then runs in another thread, which goes on on a stack that is not its own. libgcc keeps none: 1 us a frame.
 * Nor is it asked where we have no row: of 501 451 return addresses in 154 libraries of Debian 12 it has one for 37
 * that we have none for (cryptography and vector mathematics written by hand, the loader's), none of which calls MPI or
 * a region. Where there is no table it takes the frame pointer's register for one, which is a guess.
 *
 * Cost: some 300 ns a row. Threads: any.  Hook-safe: yes; no lock of ours, no allocation, no system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum base_cfi_from { BASE_CFI_NONE, BASE_CFI_SAME, BASE_CFI_FRAME, BASE_CFI_STACK, BASE_CFI_BASE };

/* Where a register of the caller's is: as here, or in memory at `offset` from the caller's frame (its stack pointer),
   from this function's stack pointer or from its frame pointer. */
struct base_cfi_rule {
    int32_t offset;
    uint8_t from;
};

struct base_cfi_row {
    struct base_cfi_rule frame; /* the caller's stack pointer: BASE_CFI_STACK or _BASE, plus the offset ... */
    bool indirect;              /* ... or what stands there */
    bool interrupted;           /* a signal's frame: the caller's program counter is no return address */
    struct base_cfi_rule base, back; /* frame pointer; return address: BASE_CFI_NONE, nobody called */
};

/* What a step needs of a thread. */
struct base_cfi_place {
    uintptr_t pc, sp, base; /* base: what the frame pointer's register holds */
    bool exact;             /* the instruction itself; else a return address, one behind the call */
};

/* The words that a step read: the caller's stack pointer, frame pointer and return address; NULL: none was needed. */
struct base_cfi_read { const uintptr_t *frame, *base, *back; };

/* The function that an address is in: where it begins, and its language's own table; NULL: none. False: not known. */
bool base_cfi_function(uintptr_t pc, uintptr_t *begin, const uint8_t **table);
/* The row of an instruction; false: none. */
bool base_cfi_find(uintptr_t pc, struct base_cfi_row *row);
/* One step up by `row`, that of `at`. False at the end. */
bool base_cfi_step(struct base_cfi_place *at, const struct base_cfi_row *row, struct base_cfi_read *read);
/* The instruction to find the row of. */
static inline uintptr_t base_cfi_at(const struct base_cfi_place *p)
{
    return p->pc - !p->exact;
}

/* Where the code that has this stands. */
#if defined(__x86_64__)
#define BASE_CFI_HERE(p) \
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" \
                     : "=&r"((p)->pc), "=&r"((p)->sp), "=&r"((p)->base)); \
    (p)->exact = true
#elif defined(__aarch64__)
#define BASE_CFI_HERE(p) \
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=&r"((p)->pc), "=&r"((p)->sp), "=&r"((p)->base)); \
    (p)->exact = true
#else /* no row is found either */
#define BASE_CFI_HERE(p) *(p) = (struct base_cfi_place){0, 0, 0, true}
#endif
