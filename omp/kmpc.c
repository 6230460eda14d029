/* SPDX-License-Identifier: MIT */
/*
 * Parallel regions of programs by clang, on LLVM's libomp: the same hooks as for libgomp (hooks.h).
 *
 *   program ── __kmpc_fork_call(loc, n, fn, n words) ──> hook: begin ── the real one: run ── end ──> program
 *
 * The words are kept, so that whoever runs a share can hand them on: libomp, its threads as if they came through
 * GOMP_parallel(), or this thread alone. The real one gets one word, the region. What the program says of the next
 * region (clauses num_threads, proc_bind) waits here until that begins: a region that libomp does not see must not
 * leave it to the next.
 *
 * Of what threads do libomp tells (ompt.c), also of regions that come through here, and of leagues. So where it has no
 * tools' interface (OMP_TOOL=disabled) teams stay as they are, and where another setting changes how it shares work.
 *
 * Threads: any.  Hook-safe: yes.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "include/pythia.h"
#include "libgomp/kmpc.h"
#include "omp/shares.h"

/* An outlined function and what it is called with. */
struct call {
    libgomp_kmpc_function fn;
    const uintptr_t *words; /* as many as go into registers, or more */
    intptr_t count;
};

/* Calls fn(gtid, tid, words...): the first of them in registers, the others on the stack, in order. */
void omp_kmpc_call(libgomp_kmpc_function fn, int32_t *gtid, int32_t *tid, const uintptr_t *words, intptr_t count)
    __attribute__((visibility("hidden")));
enum { IN_REGISTERS = 6 };
#ifdef __x86_64__
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_kmpc_call\n"
        ".globl omp_kmpc_call\n"
        ".type omp_kmpc_call,@function\n"
        "omp_kmpc_call:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n    .cfi_def_cfa_offset 16\n    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n    .cfi_def_cfa_register %rbp\n"
        "    mov %rdi, %r11\n    mov %rcx, %r10\n    mov %r8, %rax\n"
        "    mov %rsi, %rdi\n    mov %rdx, %rsi\n"
        "    cmp $4, %rax\n    jle 2f\n"
        "    test $1, %al\n    jz 1f\n    sub $8, %rsp\n"
        "1:  push -8(%r10,%rax,8)\n    dec %rax\n    cmp $4, %rax\n    jg 1b\n"
        "2:  mov (%r10), %rdx\n    mov 8(%r10), %rcx\n    mov 16(%r10), %r8\n    mov 24(%r10), %r9\n"
        "    xor %eax, %eax\n"
        "    call *%r11\n"
        "    leave\n    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size omp_kmpc_call,.-omp_kmpc_call\n");
#elif defined __aarch64__
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_kmpc_call\n"
        ".globl omp_kmpc_call\n"
        ".type omp_kmpc_call,%function\n"
        "omp_kmpc_call:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-16]!\n    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset x29, -16\n    .cfi_offset x30, -8\n"
        "    mov x29, sp\n    .cfi_def_cfa_register x29\n"
        "    mov x9, x0\n    mov x10, x3\n    mov x0, x1\n    mov x1, x2\n"
        "    subs x12, x4, #6\n    b.le 2f\n"
        "    add x13, x12, #1\n    and x13, x13, #-2\n    sub sp, sp, x13, lsl #3\n"
        "    mov x14, #0\n    add x11, x10, #48\n"
        "1:  ldr x15, [x11, x14, lsl #3]\n    str x15, [sp, x14, lsl #3]\n"
        "    add x14, x14, #1\n    cmp x14, x12\n    b.lt 1b\n"
        "2:  ldp x2, x3, [x10]\n    ldp x4, x5, [x10, #16]\n    ldp x6, x7, [x10, #32]\n"
        "    blr x9\n"
        "    mov sp, x29\n    ldp x29, x30, [sp], #16\n    .cfi_def_cfa sp, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size omp_kmpc_call,.-omp_kmpc_call\n");
#endif

#if defined __x86_64__ || defined __aarch64__
/* One thread's part, or a share of it. */
static void run_call(void *data)
{
    const struct call *c = data;
    const struct libgomp_kmpc *real = libgomp_kmpc();
    int32_t gtid = real->__kmpc_global_thread_num(NULL);
    int32_t tid = omp_hook_thread.team ? (int32_t)omp_hook_thread.number : real->__kmpc_bound_thread_num(NULL);
    omp_kmpc_call(c->fn, &gtid, &tid, c->words, c->count);
}

static void run_region(int32_t *gtid, int32_t *tid, struct omp_hook_region *r)
{
    (void)gtid, (void)tid;
    r->run(r->argument);
}

/* Whether its teams may be other ones: what their shares are told (kmpc_work.c) is what libomp does unless it is told
   otherwise. */
static bool is_usual(void)
{
    static const char *const names[] = { "KMP_SCHEDULE", "KMP_FORCE_REDUCTION", "KMP_DETERMINISTIC_REDUCTION",
                                         "KMP_REDUCTION_BARRIER", "KMP_REDUCTION_BARRIER_PATTERN" };
    static atomic_int usual; /* 0: not known, 1: no, 2: yes */
    int now = atomic_load_explicit(&usual, memory_order_relaxed);
    if (now)
        return now == 2;
    now = 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        now = getenv(names[i]) ? 1 : now;
    atomic_store_explicit(&usual, now, memory_order_relaxed);
    return now == 2;
}

static void push_clauses(struct libgomp_kmpc_place *loc, uint32_t threads, uint32_t bind)
{
    const struct libgomp_kmpc *real = libgomp_kmpc();
    int32_t gtid = threads || bind ? real->__kmpc_global_thread_num(loc) : 0;
    if (threads)
        real->__kmpc_push_num_threads(loc, gtid, (int32_t)threads);
    if (bind)
        real->__kmpc_push_proc_bind(loc, gtid, (int32_t)bind);
}

static void take_clauses(uint32_t *threads, uint32_t *bind)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    *threads = t->threads;
    *bind = t->bind;
    t->threads = t->bind = 0;
}

/* `flags`: proc_bind. */
static void run(struct omp_hook_region *r, struct libgomp_kmpc_place *loc, uint32_t flags, const uintptr_t *entered)
{
    const struct libgomp_kmpc *real = libgomp_kmpc();
    if (r->shared) {
        r->loop = (struct omp_hook_loop){ .schedule = OMP_HOOK_NO_LOOP };
        omp_shares_run(r);
        return;
    }
    push_clauses(loc, r->nt, flags);
    omp_hook_thread.entered = entered;
    real->__kmpc_fork_call(loc, 1, (libgomp_kmpc_function)(void (*)(void))run_region, r);
}

PYTHIA_API void __kmpc_fork_call(struct libgomp_kmpc_place *loc, int32_t count, libgomp_kmpc_function fn, ...);
void __kmpc_fork_call(struct libgomp_kmpc_place *loc, int32_t count, libgomp_kmpc_function fn, ...)
{
    uintptr_t words[count > IN_REGISTERS ? count : IN_REGISTERS];
    struct call call = { fn, words, count };
    struct omp_hook_region r = { .body = run_call, .run = run_call, .argument = &call };
    struct base_frame frame = base_frame_here();
    uint32_t threads, bind;
    va_list list;
    va_start(list, fn);
    for (int32_t i = 0; i < count; i++)
        words[i] = va_arg(list, uintptr_t);
    va_end(list);
    take_clauses(&threads, &bind);
    bool seen = libgomp_kmpc()->whole && !omp_hook_thread.unsure;
    uint32_t kept = is_usual() ? omp_hook_ompt_traits() : OMP_HOOK_SETTINGS;
    omp_hook_thread.unsure = false;
    r.nt = threads;
    if (seen)
        omp_hook_region_begin(&r, (void (*)(void *))(void (*)(void))fn, &call, threads, bind,
                              kept ? kept | OMP_HOOK_DIRECT : 0, frame);
    run(&r, loc, bind, frame.at);
    if (seen)
        omp_hook_region_end(&r);
}

PYTHIA_API void __kmpc_push_num_threads(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t threads);
void __kmpc_push_num_threads(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t threads)
{
    (void)loc, (void)gtid;
    if (threads > 0) /* as libomp does */
        omp_hook_thread.threads = (uint32_t)threads;
}

PYTHIA_API void __kmpc_push_proc_bind(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t bind);
void __kmpc_push_proc_bind(struct libgomp_kmpc_place *loc, int32_t gtid, int32_t bind)
{
    (void)loc, (void)gtid;
    omp_hook_thread.bind = (uint32_t)bind;
}

/* With a false if clause. How many threads such a region wants libomp takes for what the next one wants (LLVM 14), or
   not (later): that one is libomp's. Also called by libomp, which begins no region then. */
PYTHIA_API void __kmpc_serialized_parallel(struct libgomp_kmpc_place *loc, int32_t gtid);
void __kmpc_serialized_parallel(struct libgomp_kmpc_place *loc, int32_t gtid)
{
    uint32_t threads, bind;
    take_clauses(&threads, &bind);
    push_clauses(loc, threads, bind);
    omp_hook_thread.unsure = threads != 0;
    omp_hook_thread.entered = base_frame_here().at;
    libgomp_kmpc()->__kmpc_serialized_parallel(loc, gtid);
    omp_hook_thread.entered = NULL;
}
#endif
