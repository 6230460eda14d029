/* SPDX-License-Identifier: MIT */
#include "omp/in_turn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/frame.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/hooks.h"

enum { MOST = 64 };

enum state { NEW, STARTED, ENDED };
static struct share {
    void *top;     /* of its stack, NULL: none yet */
    void *context; /* stack pointer, while another one runs */
    uint32_t singles;
    enum state state;
} shares[MOST];

/* The region that is run: its team's number of shares is in omp_hook_thread. */
static struct {
    void (*fn)(void *);
    void *data;
    struct base_frame frame; /* that runs it */
    uint32_t main;    /* share on the thread's own stack */
    uint32_t singles; /* constructs that a share has taken */
} now;

/* --- Stacks --- */

#ifdef __x86_64__
/* Registers that belong to the caller go on the stack that is left, and come from the one that is entered. */
void omp_hook_in_turn_switch(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_hook_in_turn_switch\n"
        ".globl omp_hook_in_turn_switch\n"
        ".type omp_hook_in_turn_switch,@function\n"
        "omp_hook_in_turn_switch:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".size omp_hook_in_turn_switch,.-omp_hook_in_turn_switch\n");
/* Words of a context; the one that says where to go on. Behind it on a new stack: no caller. */
enum { CAN_SWITCH = true, WORDS = 8, GO_ON = 6 };
#elif defined __aarch64__
/* Likewise. Where to go on is told apart from who called: nobody called what begins. */
void omp_hook_in_turn_switch(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_hook_in_turn_switch\n"
        ".globl omp_hook_in_turn_switch\n"
        ".type omp_hook_in_turn_switch,%function\n"
        "omp_hook_in_turn_switch:\n"
        "    stp x29, x30, [sp, #-176]!\n"
        "    stp x19, x20, [sp, #16]\n    stp x21, x22, [sp, #32]\n    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n      stp d10, d11, [sp, #112]\n   stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n   str x30, [sp, #160]\n"
        "    mov x9, sp\n    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #16]\n    ldp x21, x22, [sp, #32]\n    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n      ldp d10, d11, [sp, #112]\n   ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n   ldr x9, [sp, #160]\n"
        "    ldp x29, x30, [sp], #176\n"
        "    ret x9\n"
        ".size omp_hook_in_turn_switch,.-omp_hook_in_turn_switch\n");
enum { CAN_SWITCH = true, WORDS = 22, GO_ON = 20 };
#else
static void omp_hook_in_turn_switch(void **from, void *to)
{
    (void)from;
    (void)to;
}
enum { CAN_SWITCH = false, WORDS = 1, GO_ON = 0 };
#endif

/* As OMP_STACKSIZE says: a number, with B, K, M or G, of KB where nothing is said; 0 where it says nothing. */
static size_t wanted_size(void)
{
    static const char *const names[] = { "OMP_STACKSIZE", "GOMP_STACKSIZE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        unsigned long long size = text ? strtoull(text, &end, 10) : 0;
        if (size == 0)
            continue;
        end += strspn(end, " \t");
        unsigned shift = *end == 'B' || *end == 'b'   ? 0
                         : *end == 'M' || *end == 'm' ? 20
                         : *end == 'G' || *end == 'g' ? 30
                                                      : 10;
        return (size_t)size << shift;
    }
    return 0;
}

static size_t stack_size(void)
{
    enum { LEAST = 2 << 20 };
    pthread_attr_t attr;
    size_t size = wanted_size(), usual = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    if (!size && pthread_getattr_default_np(&attr) == 0) {
        (void)pthread_attr_getstacksize(&attr, &usual);
        (void)pthread_attr_destroy(&attr);
    }
    size = size ? size : usual;
    return ((size > LEAST ? size : LEAST) + page - 1) / page * page;
}

/* With a page below that nobody may touch. */
static bool make_stack(struct share *s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = stack_size();
    char *at = mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        return false;
    if (mprotect(at + page, size, PROT_READ | PROT_WRITE)) {
        (void)munmap(at, size + page);
        return false;
    }
    s->top = at + page + size;
    return true;
}

/* --- Going from share to share --- */

/* The next one that has not ended, in the order of their numbers; this one where there is no other; MOST: all ended. */
static uint32_t next_open(uint32_t from, uint32_t team)
{
    for (uint32_t i = 1; i <= team; i++)
        if (shares[(from + i) % team].state != ENDED)
            return (from + i) % team;
    return MOST;
}

static void start_on_own_stack(void);

/* What the first switch takes from a new stack. */
static void *new_context(void *top)
{
    void (*start)(void) = start_on_own_stack;
    void **at = (void **)top - WORDS;
    memset(at, 0, WORDS * sizeof *at);
    memcpy(&at[GO_ON], &start, sizeof start);
    return at;
}

static void go_to(uint32_t next)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    struct share *from = &shares[t->number], *to = &shares[next];
    t->number = next;
    if (to->state == NEW) {
        to->state = STARTED;
        to->context = new_context(to->top);
    }
    omp_hook_in_turn_switch(&from->context, to->context);
}

static void start_on_own_stack(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    now.fn(now.data);
    shares[t->number].state = ENDED;
    uint32_t next = next_open(t->number, t->team);
    go_to(next == MOST ? now.main : next);
    __builtin_unreachable();
}

bool omp_hook_in_turn_ready(uint32_t team)
{
    static uint32_t most = CAN_SWITCH ? MOST : 0, have;
    for (; have < team && team <= most; have++)
        if (!make_stack(&shares[have]))
            most = have;
    return team <= most;
}

__attribute__((noinline)) void omp_hook_in_turn_run(void (*fn)(void *), void *data, uint32_t team)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    base_frame_prepare();
    now.fn = fn;
    now.data = data;
    now.frame = base_frame_here();
    now.singles = 0;
    for (uint32_t i = 0; i < team; i++) {
        shares[i].state = NEW;
        shares[i].singles = 0;
    }
    t->team = team;
    for (uint32_t next = 0; next != MOST; next = next_open(t->number, team)) {
        if (shares[next].state != NEW) {
            go_to(next);
            continue;
        }
        t->number = now.main = next;
        shares[next].state = STARTED;
        fn(data);
        shares[next].state = ENDED;
    }
    t->team = t->number = 0;
}

/* --- What shares call --- */

/* Whether the region is over: a signal's handler may have jumped out of it. */
static bool was_left(struct omp_hook_thread *t, struct base_frame here)
{
    if (base_frame_runs(now.frame, here))
        return false;
    t->team = t->number = 0;
    return true;
}

#define NO_SHARE(t) (__builtin_expect((t)->team == 0, 1) || was_left(t, base_frame_here()))

PYTHIA_API void GOMP_barrier(void);
void GOMP_barrier(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    if (NO_SHARE(t) && !teams_share_timed()) {
        libgomp_real()->GOMP_barrier();
    } else if (t->team == 0) {
        teams_share_rest();
        libgomp_real()->GOMP_barrier();
        teams_share_resume();
    } else if (next_open(t->number, t->team) != t->number)
        go_to(next_open(t->number, t->team));
}

PYTHIA_API bool GOMP_single_start(void);
bool GOMP_single_start(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    if (NO_SHARE(t))
        return libgomp_real()->GOMP_single_start();
    return shares[t->number].singles++ == now.singles && ++now.singles;
}

#define OMP_HOOK_SHARE(name, field)                         \
    PYTHIA_API int name(void);                              \
    int name(void)                                          \
    {                                                       \
        if (NO_SHARE(&omp_hook_thread))                     \
            return libgomp_real()->name();                  \
        return (int)omp_hook_thread.field;                  \
    }
#include "libgomp/omp_calls.def"

static int own_number(void) __attribute__((alias("omp_get_thread_num")));
static int own_size(void) __attribute__((alias("omp_get_num_threads")));
static void own_barrier(void) __attribute__((alias("GOMP_barrier")));
static bool own_single(void) __attribute__((alias("GOMP_single_start")));

bool omp_hook_in_turn_is_asked(void)
{
    void *const own[] = { (void *)(uintptr_t)own_number, (void *)(uintptr_t)own_size, (void *)(uintptr_t)own_barrier,
                          (void *)(uintptr_t)own_single };
    static const char *const names[] = { "omp_get_thread_num", "omp_get_num_threads", "GOMP_barrier",
                                         "GOMP_single_start" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dlsym(RTLD_DEFAULT, names[i]) != own[i])
            return false;
    return true;
}
