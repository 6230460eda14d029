/* SPDX-License-Identifier: MIT */
#include "omp/shares.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/modules.h"
#include "base/symbols.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/team.h"

enum { MOST = 256, NONE = MOST };

enum state { ABLE, WAITS, ENDED }; /* of one that has begun */
static struct omp_share shares[MOST];

/* What one thread runs. */
struct omp_hook_part {
    uint32_t first, fresh, end; /* its shares; from `fresh` on they have not begun */
    uint32_t open;              /* of them, not ended */
    uint32_t threads;           /* that run the region */
    int error;                  /* errno that each begins with */
    uint64_t construct;         /* likewise */
    bool enters;                /* it is the one that entered it */
};

/* The region that is run. */
static struct {
    void (*fn)(void *);
    void *data;
    uint32_t level;
    struct base_frame frame; /* that runs it, on the thread that entered it */
} now;

/* --- Stacks --- */

#ifdef __x86_64__
/* Registers that belong to the caller go on the stack that is left, and come from the one that is entered. */
void omp_shares_switch(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_shares_switch\n"
        ".globl omp_shares_switch\n"
        ".type omp_shares_switch,@function\n"
        "omp_shares_switch:\n"
        "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    ret\n"
        ".size omp_shares_switch,.-omp_shares_switch\n");
/* Words of a context; the one that says where to go on. Behind it on a new stack: no caller. */
enum { CAN_SWITCH = true, WORDS = 8, GO_ON = 6 };

/* rdsspq, which leaves 0 alone where there is none: its return addresses are those of one stack. */
static bool has_shadow_stack(void)
{
    unsigned long top = 0;
    __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(top));
    return top != 0;
}
#elif defined __aarch64__
/* Likewise. Where to go on is told apart from who called: nobody called what begins. */
void omp_shares_switch(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden omp_shares_switch\n"
        ".globl omp_shares_switch\n"
        ".type omp_shares_switch,%function\n"
        "omp_shares_switch:\n"
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
        ".size omp_shares_switch,.-omp_shares_switch\n");
enum { CAN_SWITCH = true, WORDS = 22, GO_ON = 20 };

/* chkfeat, which clears the bit of x16 where guarded control stacks are on. */
static bool has_shadow_stack(void)
{
    register unsigned long x16 __asm__("x16") = 1;
    __asm__ volatile("hint #40" : "+r"(x16));
    return !(x16 & 1);
}
#else
static void omp_shares_switch(void **from, void *to)
{
    (void)from;
    (void)to;
}
enum { CAN_SWITCH = false, WORDS = 1, GO_ON = 0 };
static bool has_shadow_stack(void)
{
    return false;
}
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
static bool make_stack(struct omp_share *s)
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

/* All shares of this thread have come to a barrier, or ended: so have those of the others, soon. libomp's comes to our
   own __kmpc_barrier(), where the thread is no share then. */
static void meet(const struct omp_hook_part *part)
{
    uint32_t team = omp_hook_thread.team;
    if (part->threads == 1)
        return;
    if (teams_share_timed())
        teams_share_rest();
    omp_hook_thread.team = 0;
    libgomp_real()->GOMP_barrier();
    omp_hook_thread.team = team;
    if (teams_share_timed())
        teams_share_resume();
}

/* The next one: that has not begun, or can go on, in the order of their numbers; this one where there is no other;
   NONE: all ended. */
static uint32_t pick(const struct omp_hook_part *part, uint32_t from)
{
    uint32_t next = NONE;
    if (part->fresh < part->end)
        return part->fresh;
    if (part->open == 0)
        return NONE;
    for (uint32_t i = part->first, s = from; i < part->end; i++) {
        s = s + 1 < part->end ? s + 1 : part->first;
        if (shares[s].state == ABLE)
            return s;
    }
    meet(part);
    for (uint32_t s = part->end; s-- > part->first;)
        if (shares[s].state == WAITS) {
            shares[s].state = ABLE;
            next = s;
        }
    return next;
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
    struct omp_share *from = &shares[t->number], *to = &shares[next];
    from->error = errno;
    if (next == t->part->fresh) {
        to->context = new_context(to->top);
    } else {
        t->number = next;
        errno = to->error;
    }
    omp_shares_switch(&from->context, to->context);
}

/* One that has not begun yet, to its end. */
static inline __attribute__((always_inline)) void run_fresh(struct omp_hook_thread *t)
{
    struct omp_share *s = &shares[t->part->fresh];
    t->number = t->part->fresh++;
    errno = t->part->error;
    s->construct = t->part->construct;
    s->trip = 0;
    s->state = ABLE;
    now.fn(now.data);
    s->state = ENDED;
    t->part->open--;
}

/* What has not begun yet may have the stack of one that ended. The last to end goes back to the thread's own stack. */
static void start_on_own_stack(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    do
        run_fresh(t);
    while (t->part->fresh < t->part->end);
    uint32_t next = pick(t->part, t->number);
    go_to(next == NONE ? t->part->first : next);
    __builtin_unreachable();
}

bool omp_shares_ready(uint32_t team)
{
    static uint32_t most = CAN_SWITCH ? MOST : 0, have;
    if (team <= have)
        return true;
    for (; have < team && team <= most; have++)
        if (!make_stack(&shares[have]))
            most = have;
    return team <= most;
}

/* The shares of one of `threads` threads. */
static __attribute__((noinline)) void run_part(const struct omp_hook_region *r, uint32_t number, uint32_t threads)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    uint32_t team = r->program;
    struct omp_hook_part part = { .first = (number * team + threads - 1) / threads,
                                  .end = ((number + 1) * team + threads - 1) / threads,
                                  .threads = threads,
                                  .error = errno,
                                  .construct = r->construct,
                                  .enters = number == 0 };
    part.fresh = part.first;
    part.open = part.end - part.first;
    if (part.enters)
        now.frame = base_frame_here();
    t->part = &part;
    t->team = team;
    t->levels = now.level;
    run_fresh(t);
    for (uint32_t next = pick(&part, part.first); next != NONE; next = pick(&part, part.first))
        go_to(next);
    t->team = t->number = 0;
}

/* How large the team is libgomp alone can tell, where that is not foreseen. */
void omp_hook_team_run(void *region)
{
    struct omp_hook_region *r = region;
    uint32_t number = r->direct ? 0 : (uint32_t)libgomp_real_table.omp_get_thread_num();
    uint32_t threads = r->direct ? 1 : (uint32_t)libgomp_real_table.omp_get_num_threads();
    if (number == 0)
        r->team = threads;
    if (r->timed)
        teams_share_begin(r->timed);
    if (r->shared)
        run_part(r, number, threads < r->program ? threads : r->program);
    else
        r->body(r->data);
    if (r->timed)
        teams_share_end();
}

void omp_shares_run(struct omp_hook_region *r)
{
    base_frame_prepare();
    now.fn = r->body;
    now.data = r->data;
    now.level = omp_hook_thread.depth;
    r->construct = omp_constructs_begin(&r->loop);
    if (r->direct)
        omp_hook_team_run(r);
    else
        libgomp_real()->GOMP_parallel(r->run, r->argument, r->nt, r->flags);
    omp_constructs_end(shares[0].construct);
}

/* --- What shares call --- */

struct omp_share *omp_shares_number(uint32_t number)
{
    return &shares[number];
}

struct omp_share *omp_shares_own(void)
{
    return omp_shares_number(omp_hook_thread.number);
}

/* Whether the region is over: a signal's handler may have jumped out of it. */
bool omp_shares_was_left(struct omp_hook_thread *t, struct base_frame here)
{
    if (!t->part->enters)
        return false;
#ifdef __x86_64__ /* what base_frame_runs() would say, mostly */
    if (here.at < now.frame.at && *now.frame.at == now.frame.word)
        return false;
#endif
    if (base_frame_runs(now.frame, here))
        return false;
    t->team = t->number = 0;
    return true;
}

void omp_shares_barrier(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    shares[t->number].state = WAITS;
    uint32_t next = pick(t->part, t->number);
    if (next != t->number)
        go_to(next);
}

bool omp_shares_yield(void)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    uint32_t next = pick(t->part, t->number);
    if (next == t->number) {
        sched_yield();
        return false;
    }
    go_to(next);
    return true;
}

#define OMP_HOOK_SHARE(name, field)                                                                    \
    PYTHIA_API int name(void);                                                                         \
    int name(void)                                                                                     \
    {                                                                                                  \
        int is = atomic_load_explicit(&libgomp_real_is, memory_order_acquire);                         \
        if (__builtin_expect(!omp_hook_thread.team && is == LIBGOMP_REAL_ALONE, 1)) /* most, by far */ \
            return libgomp_real_table.name();                                                          \
        LIBGOMP_REAL_OTHER(name, ());                                                                  \
        if (!omp_shares_inside(base_frame_here()))                                                     \
            return libgomp_real()->name();                                                             \
        return (int)omp_hook_thread.field;                                                             \
    }
#include "libgomp/omp_calls.def"

bool omp_shares_are_asked(void)
{
    static const char *const names[] = {
#define OMP_HOOK_SHARE(name, field) #name,
#define OMP_HOOK_MEET(type, name, parameters, arguments, share) #name,
#define OMP_HOOK_WORK(type, name, parameters, arguments, share) #name,
#define OMP_HOOK_LOOP(name, schedule, CHUNK) \
    "GOMP_loop_" #name "_start", "GOMP_loop_" #name "_next", "GOMP_loop_ull_" #name "_start",      \
        "GOMP_loop_ull_" #name "_next",
#include "libgomp/omp_calls.def"
#define KMPC_WORK(type, name, parameters, arguments, share) #name,
#define KMPC_LOOP(suffix, type, with_sign) \
    "__kmpc_for_static_init_" #suffix, "__kmpc_dispatch_init_" #suffix, "__kmpc_dispatch_next_" #suffix,
#include "libgomp/kmpc_calls.def"
        "omp_set_lock", "omp_set_lock_"
    };
    enum { NAMES = sizeof names / sizeof *names };
    void *found[NAMES + 1] = {(void *)(uintptr_t)omp_shares_are_asked};
    struct base_place place[NAMES + 1];
    for (size_t i = 0; i < NAMES; i++)
        found[i + 1] = base_symbols_first(_r_debug.r_map, names[i]);
    base_modules_places(found, NAMES + 1, place);
    bool ours = place[0].module != BASE_MODULE_NONE && !has_shadow_stack();
    for (size_t i = 0; i < NAMES; i++)
        ours = ours && place[i + 1].module == place[0].module;
    return ours;
}
