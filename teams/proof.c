/* SPDX-License-Identifier: MIT */
#include "teams/proof.h"

#include <stdlib.h>
#include <string.h>

#include "teams/frame.h"
#include "teams/jumps.h"
#include "teams/wait.h"

/* What a function does to whoever calls it. */
struct summary {
    uintptr_t entry;
    enum job_proof reason; /* JOB_PROOF_HARMLESS: none */
    uintptr_t where;
    uint64_t clobbers; /* registers that it changes: compilers know that of their own functions */
    uint64_t asks;     /* registers that it reads */
    bool looks;        /* at memory that others may write … */
    bool writes;       /* … and writes some, or may */
    bool meets;        /* others, in constructs */
    bool open;         /* being read */
    bool library;      /* the system's: not read */
    bool elsewhere;    /* code was followed that may be another module's in another run */
};

struct teams_prover {
    struct teams_reader *reader;
    struct base_arena room; /* of the functions that are read */
    struct summary function[TEAMS_FUNCTIONS];
    uint32_t functions;
    uint32_t read;    /* instructions, of this proof */
    uintptr_t module; /* base of the one with the outlined function: … */
    enum teams_kind kind; /* … summaries hold for both */
};

/* One function that is judged. */
struct judging {
    struct teams_prover *p;
    struct summary *s;
    struct teams_flow *f;
    uint32_t depth;
};

/* A task may run wherever OpenMP likes: what it finds in its thread is any one's. */
static bool concerns_tasks(enum job_proof reason)
{
    return reason == JOB_PROOF_WAITS || reason == JOB_PROOF_CALLS || reason == JOB_PROOF_POINTER ||
           reason == JOB_PROOF_MPI || reason == JOB_PROOF_NESTS || reason >= JOB_PROOF_SYSTEM;
}

/* Takes a reason down, as far as it counts for this kind and is the first one. */
static void object(struct judging *j, enum job_proof reason, uintptr_t where)
{
    if (j->s->reason != JOB_PROOF_HARMLESS || (j->p->kind == TEAMS_TASK && !concerns_tasks(reason)))
        return;
    j->s->reason = reason;
    j->s->where = where;
}

static struct summary *judge_function(struct teams_prover *p, uintptr_t entry, uint32_t depth);

/* --- Instructions --- */

static bool is_guard(const struct code_insn *i)
{
    enum { GUARD = 0x28 }; /* of the stack's protector, x86-64 */
    return i->loads && !i->stores && i->place.offset == GUARD && i->place.base == CODE_NO_REGISTER &&
           i->place.index == CODE_NO_REGISTER;
}

static void check_insn(struct judging *j, const struct code_insn *i)
{
    if (i->op == CODE_SYSTEM)
        object(j, JOB_PROOF_SYSTEM, i->address);
    else if (i->op == CODE_PAUSE)
        object(j, JOB_PROOF_WAITS, i->address);
    if (i->place.thread && !is_guard(i))
        object(j, JOB_PROOF_THREAD_DATA, i->address);
}

/* --- Calls --- */

/* The address that the first argument has been given in a call's block, 0: not known. */
static uintptr_t first_argument(const struct judging *j, uint32_t insn)
{
    uint8_t reg = code_convention()->argument;
    uint32_t b = 0;
    while (b < j->f->blocks && insn - j->f->block[b].first >= j->f->block[b].count)
        b++;
    for (uint32_t k = insn; b < j->f->blocks && k-- > j->f->block[b].first;) {
        const struct code_insn *i = &j->f->insn[k];
        if (i->dst.kind != CODE_REGISTER || i->dst.number != reg)
            continue;
        if (i->op == CODE_ADDRESS && i->place.fixed)
            return (uintptr_t)i->place.offset;
        return i->op == CODE_MOVE && i->a.kind == CODE_IMMEDIATE ? (uintptr_t)i->a.value : 0;
    }
    return 0;
}

/* A task that makes tasks may have to wait for them: they must not wait either. */
static void check_made(struct judging *j, uint32_t insn)
{
    const char *name = j->f->call[insn].name;
    uintptr_t where = j->f->insn[insn].address;
    if (strcmp(name, "GOMP_taskgroup_start") == 0)
        return;
    if (strcmp(name, "GOMP_task") != 0 && strcmp(name, "GOMP_taskloop") != 0 &&
        strcmp(name, "GOMP_taskloop_ull") != 0) {
        object(j, JOB_PROOF_CALLS, where);
        return;
    }
    uintptr_t made = first_argument(j, insn);
    const struct summary *s = made ? judge_function(j->p, made, j->depth + 1) : NULL;
    if (!s)
        object(j, JOB_PROOF_POINTER, where);
    else if (s->reason != JOB_PROOF_HARMLESS)
        object(j, s->reason, s->where);
}

/* What is a reason by its name. Shares are told of by the calls of the module whose region it is: those of others may
   not come to us. */
static void check_known(struct judging *j, uint32_t insn)
{
    static const enum job_proof reasons[] = {
        [TEAMS_ASKS] = JOB_PROOF_ASKS,   [TEAMS_WAITS] = JOB_PROOF_WAITS,       [TEAMS_JOINS] = JOB_PROOF_TASKS,
        [TEAMS_NESTS] = JOB_PROOF_NESTS, [TEAMS_MAKES_TASKS] = JOB_PROOF_TASKS, [TEAMS_MPI] = JOB_PROOF_MPI,
        [TEAMS_THREAD_DATA] = JOB_PROOF_THREAD_DATA,
    };
    struct teams_call *call = &j->f->call[insn];
    enum teams_known known = call->known;
    uintptr_t where = j->f->insn[insn].address;
    call->looks = known == TEAMS_LOOKS;
    call->asks = 3ull << (code_convention()->argument - 1); /* the first two, on x86-64 */
    j->s->looks |= call->looks;
    j->s->writes |= known != TEAMS_LOOKS && known != TEAMS_UNKNOWN_CALL;
    j->s->elsewhere |= known == TEAMS_COMPUTES; /* another library may be there in another run */
    bool shares = known == TEAMS_BOUNDS || known == TEAMS_MEETS, lock = known == TEAMS_TAKES;
    j->s->meets |= shares || lock;
    if ((shares || lock || known == TEAMS_ASKS_ITSELF) && j->f->module.base != j->p->module)
        object(j, lock ? JOB_PROOF_WAITS : JOB_PROOF_ASKS, where);
    else if ((shares || lock) && j->p->kind == TEAMS_TASK)
        object(j, lock ? JOB_PROOF_WAITS : JOB_PROOF_CALLS, where);
    else if (reasons[known])
        object(j, reasons[known], where);
}

/* One of those that it may lead to; adds registers that it changes. */
static void proof_follow(struct judging *j, uint32_t insn, uintptr_t target, uint64_t *clobbers)
{
    struct teams_call *call = &j->f->call[insn];
    uintptr_t where = j->f->insn[insn].address;
    const struct summary *s = target ? judge_function(j->p, target, j->depth + 1) : NULL;
    bool other = call->name || target < j->f->module.begin || target >= j->f->module.end;
    j->s->elsewhere |= (other && target && !(s && s->library)) || (s && s->elsewhere);
    *clobbers |= s && s->reason == JOB_PROOF_HARMLESS && !s->open ? s->clobbers : code_convention()->clobbered;
    if (s && s->open && j->p->kind == TEAMS_TASK)
        return; /* a recursion that ends, or the task never would have */
    if (!s || s->open)
        object(j, j->f->insn[insn].op == CODE_CALL_ANY ? JOB_PROOF_POINTER : JOB_PROOF_CALLS, where);
    else if (s->reason != JOB_PROOF_HARMLESS) /* code that is not even looked at says no more than the call */
        object(j, s->reason, s->where == s->entry ? where : s->where);
    call->looks |= s && s->looks && !s->writes;
    call->asks |= s ? s->asks : 0;
    j->s->looks |= s && s->looks;
    j->s->writes |= !s || s->writes || s->open;
    call->meets |= s && s->meets;
    j->s->meets |= call->meets;
}

static void check_followed(struct judging *j, uint32_t insn)
{
    struct teams_call *call = &j->f->call[insn];
    uint64_t clobbers = 0;
    if (call->count == 0)
        proof_follow(j, insn, call->target, &clobbers);
    for (uint32_t k = 0; k < call->count; k++)
        proof_follow(j, insn, call->targets[k], &clobbers);
    if (!call->pad)
        call->clobbers = clobbers;
}

static bool calls(const struct code_insn *i)
{
    return code_is_call(i) || i->op == CODE_JUMP_SLOT;
}

/* What is a reason by itself first: nothing has to be followed then. */
static void check_code(struct judging *j)
{
    for (uint32_t k = 0; k < j->f->insns; k++) {
        check_insn(j, &j->f->insn[k]);
        if (!calls(&j->f->insn[k]))
            continue;
        j->f->call[k].clobbers = code_convention()->clobbered;
        check_known(j, k);
        if (j->f->call[k].known == TEAMS_UNKNOWN_CALL && !j->f->call[k].target && !j->f->call[k].count)
            check_followed(j, k);
    }
    for (uint32_t k = 0; k < j->f->insns && j->s->reason == JOB_PROOF_HARMLESS; k++)
        if (calls(&j->f->insn[k]) && j->f->call[k].known == TEAMS_UNKNOWN_CALL)
            check_followed(j, k);
        else if (calls(&j->f->insn[k]) && j->f->call[k].known == TEAMS_MAKES_TASKS)
            check_made(j, k);
}

/* --- Which processor runs it --- */

static uint64_t bit_of(const struct code_operand *o)
{
    return o->kind == CODE_REGISTER ? code_bit(o->number) : 0;
}

/* Registers that an instruction reads, and those that it sets. */
static uint64_t reads_of(const struct code_insn *i)
{
    return i->reads | bit_of(&i->a) | bit_of(&i->b) | code_bit(i->place.base) | code_bit(i->place.index);
}

static uint64_t sets_of(const struct code_insn *i)
{
    return i->partial ? 0 : bit_of(&i->dst) | i->writes;
}

/* From an instruction on to its block's end: whether a register is read (-1), set anew (1), or neither (0). */
static int use_in(const struct teams_flow *f, uint32_t from, uint32_t end, uint64_t reg)
{
    for (uint32_t k = from; k < end; k++) {
        bool call = calls(&f->insn[k]);
        if ((reads_of(&f->insn[k]) | (call ? f->call[k].asks : 0)) & reg)
            return -1;
        if ((sets_of(&f->insn[k]) | (call ? code_convention()->clobbered : 0)) & reg)
            return 1;
    }
    return 0;
}

/* Clocks tell the processor, too: that must be of no use. */
static bool is_used(struct judging *j, uint32_t block, uint32_t insn)
{
    enum { ECX = 1 << 1 };
    const struct teams_flow *f = j->f;
    uint8_t *reached = teams_flow_take_zeroed(&j->p->room, f->blocks);
    int use = use_in(f, insn + 1, f->block[block].first + f->block[block].count, ECX);
    if (use || !reached)
        return use != 1;
    reached[block] = 1; /* its end */
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < f->blocks; b++)
            for (uint32_t k = 0; reached[b] == 1 && k < teams_flow_ways(f, b); k++) {
                int to = teams_flow_way(f, b, k);
                if (to < 0 || reached[to])
                    continue;
                use = use_in(f, f->block[to].first, f->block[to].first + f->block[to].count, ECX);
                if (use < 0)
                    return true;
                reached[to] = use ? 2 : 1;
                more = true;
            }
    }
    return false;
}

static void check_clocks(struct judging *j)
{
    for (uint32_t b = 0; b < j->f->blocks; b++)
        for (uint32_t k = j->f->block[b].first; k < j->f->block[b].first + j->f->block[b].count; k++)
            if (j->f->insn[k].tells && is_used(j, b, k))
                object(j, JOB_PROOF_SYSTEM, j->f->insn[k].address);
}

/* --- errno --- */

/* Each share has its own, but not what its thread left there before: it may set it, or tell what it was when the
   process ends. */
static bool only_sets(const struct teams_flow *f, uint32_t from, uint32_t end)
{
    uint8_t reg = code_convention()->result;
    for (uint32_t k = from; k < end; k++) {
        const struct code_insn *i = &f->insn[k];
        bool sets = i->stores && !i->loads && i->place.base == reg && i->place.index != reg;
        if ((reads_of(i) & code_bit(reg) && !sets) || bit_of(&i->a) == code_bit(reg) || bit_of(&i->b) == code_bit(reg))
            return false;
        if ((sets_of(i) | (calls(i) ? code_convention()->clobbered : 0)) & code_bit(reg))
            return true;
    }
    return false;
}

static void check_errno(struct judging *j)
{
    for (uint32_t b = 0; b < j->f->blocks; b++)
        for (uint32_t k = j->f->block[b].first, end = k + j->f->block[b].count; k < end; k++)
            if (calls(&j->f->insn[k]) && j->f->call[k].known == TEAMS_ERRNO && j->f->block[b].goes_on &&
                !only_sets(j->f, k + 1, end))
                object(j, JOB_PROOF_THREAD_DATA, j->f->insn[k].address);
}

/* --- Exceptions --- */

/* What the C++ runtime keeps of an exception that is on its way, or caught, is the thread's, a unit that is written to
   is locked for it (OPEN), and nobody else may be in its critical section (HELD; TWICE: one within another): no other
   share of it may go on until that is over. */
enum { ON_ITS_WAY = 1, CAUGHT = 2, OPEN = 4, HELD = 8, TWICE = 16 };

/* What is behind a call in a state of what others may want. */
static uint8_t hold(struct judging *j, uint32_t insn, uint8_t state)
{
    enum teams_known known = j->f->call[insn].known;
    if (state == OPEN)
        return known == TEAMS_CLOSES ? 0 : OPEN;
    if (known == TEAMS_LOCKS && state == TWICE)
        object(j, JOB_PROOF_WAITS, j->f->insn[insn].address);
    return known == TEAMS_LOCKS ? TWICE : known != TEAMS_UNLOCKS ? state : state == TWICE ? HELD : 0;
}

/* Follows a block, from an instruction on, in that state; the state behind it, 0: it is over there. */
static uint8_t follow_caught(struct judging *j, uint32_t block, uint32_t from, uint8_t state)
{
    const struct teams_block *b = &j->f->block[block];
    for (uint32_t k = from; state && k < b->first + b->count; k++) {
        const struct teams_call *c = &j->f->call[k];
        if (c->meets || c->known == TEAMS_BOUNDS || c->known == TEAMS_MEETS || c->known == TEAMS_TAKES)
            object(j, state >= OPEN ? JOB_PROOF_WAITS : JOB_PROOF_CATCHES, j->f->insn[k].address);
        if (state >= OPEN) {
            state = hold(j, k, state);
            continue;
        }
        if (c->known != TEAMS_CATCHES || strcmp(c->name, "__cxa_get_exception_ptr") == 0)
            continue;
        bool begins = strcmp(c->name, "__cxa_begin_catch") == 0;
        if (begins && state == CAUGHT) /* one within another */
            object(j, JOB_PROOF_CATCHES, j->f->insn[k].address);
        state = begins ? CAUGHT : 0;
    }
    return state;
}

/* What a block begins, and its successors are in then. */
static void begin_caught(struct judging *j, uint32_t block, uint8_t *todo)
{
    const struct teams_block *b = &j->f->block[block];
    if (j->f->call[b->first + b->count - 1].pad && b->next[1] >= 0)
        todo[b->next[1]] |= ON_ITS_WAY;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        enum teams_known known = j->f->call[i].known;
        uint8_t begins = known == TEAMS_OPENS ? OPEN : known == TEAMS_LOCKS ? HELD : 0;
        uint8_t state = begins ? follow_caught(j, block, i + 1, begins) : 0;
        for (uint32_t k = 0; state && k < teams_flow_ways(j->f, block); k++)
            if (teams_flow_way(j->f, block, k) >= 0)
                todo[teams_flow_way(j->f, block, k)] |= state;
    }
}

static void check_caught(struct judging *j)
{
    uint8_t *todo = teams_flow_take_zeroed(&j->p->room, 2 * (size_t)j->f->blocks), *done = todo + j->f->blocks;
    if (!todo) {
        object(j, JOB_PROOF_LARGE, j->s->entry);
        return;
    }
    for (uint32_t b = 0; b < j->f->blocks; b++)
        begin_caught(j, b, todo);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < j->f->blocks; b++) {
            uint8_t left = todo[b] & (uint8_t)~done[b];
            done[b] |= todo[b];
            for (uint8_t state = ON_ITS_WAY; state <= TWICE; state <<= 1) {
                uint8_t behind = left & state ? follow_caught(j, b, j->f->block[b].first, state) : 0;
                for (uint32_t k = 0; behind && k < teams_flow_ways(j->f, b); k++)
                    if (teams_flow_way(j->f, b, k) >= 0)
                        todo[teams_flow_way(j->f, b, k)] |= behind;
                more |= behind != 0;
            }
        }
    }
}

/* --- Functions --- */

/* Registers that it reads as they were at its entry, or more: what the first block sets, or its own, is not. */
static uint64_t asks_of(const struct teams_flow *f)
{
    uint64_t asks = 0, first = 0, set = 0;
    for (uint32_t b = 0; b < f->blocks; first = b == 0 ? set : first, set = first, b++)
        for (uint32_t k = 0; k < f->block[b].count; k++) {
            const struct code_insn *i = &f->insn[f->block[b].first + k];
            asks |= reads_of(i) & ~set;
            set |= sets_of(i);
        }
    return asks;
}

/* What its own instructions do to memory that is not its own. */
static void note_effects(struct judging *j, const struct teams_frame *frame)
{
    struct summary *s = j->s;
    s->asks = asks_of(j->f);
    for (uint32_t k = 0; k < j->f->insns; k++) {
        const struct code_insn *i = &j->f->insn[k];
        uint8_t slot = frame->slot_of[k];
        bool own = slot != TEAMS_NO_SLOT && frame->offset[slot] < 0;
        bool constant = i->place.fixed && code_image_is_constant(&j->f->module, (uintptr_t)i->place.offset);
        s->writes |= i->stores && !own;
        s->looks |= i->loads && !own && !constant;
    }
}

static void judge(struct judging *j)
{
    struct teams_prover *p = j->p;
    if (!j->f || (p->read += j->f->insns) > TEAMS_READ || j->depth > TEAMS_DEPTH) {
        object(j, JOB_PROOF_LARGE, j->s->entry);
        return;
    }
    j->s->library = teams_known_library(j->f->module.path);
    if (j->s->library)
        object(j, JOB_PROOF_CALLS, j->s->entry);
    else if (j->f->unreadable)
        object(j, JOB_PROOF_UNREADABLE, j->f->where);
    else if (!teams_call_targets(j->f, &p->room))
        object(j, JOB_PROOF_LARGE, j->s->entry);
    else
        check_code(j);
    if (!j->f->unreadable && !j->s->library) {
        check_clocks(j);
        check_errno(j);
        check_caught(j);
    }
    if (j->s->reason != JOB_PROOF_HARMLESS)
        return;
    struct teams_frame *frame = teams_frame_find(j->f, &p->room);
    uintptr_t waits = frame ? teams_wait_find(frame) : 0;
    if (!frame)
        object(j, JOB_PROOF_LARGE, j->s->entry);
    else if (waits)
        object(j, JOB_PROOF_WAITS, waits);
    else
        j->s->clobbers = frame->changes;
    if (frame)
        note_effects(j, frame);
}

/* Read where it is new. NULL: there is no room for it. */
static struct summary *judge_function(struct teams_prover *p, uintptr_t entry, uint32_t depth)
{
    for (uint32_t i = 0; i < p->functions; i++)
        if (p->function[i].entry == entry)
            return &p->function[i];
    if (p->functions == TEAMS_FUNCTIONS)
        return NULL;
    struct summary *s = &p->function[p->functions++];
    *s = (struct summary){
        .entry = entry, .reason = JOB_PROOF_HARMLESS, .clobbers = code_convention()->clobbered, .open = true
    };
    struct judging j = { .p = p, .s = s, .f = teams_flow_read(p->reader, entry, &p->room), .depth = depth };
    judge(&j);
    s->open = false;
    return s;
}

struct teams_prover *teams_prover_create(void)
{
    enum { ROOM = 128 << 20 }; /* bytes of address space */
    struct teams_prover *p = calloc(1, sizeof *p);
    if (p && base_arena_reserve(&p->room, ROOM) == 0 && (p->reader = teams_reader_create()))
        return p;
    teams_prover_destroy(p);
    return NULL;
}

void teams_prover_destroy(struct teams_prover *p)
{
    if (!p)
        return;
    teams_reader_destroy(p->reader);
    base_arena_close(&p->room);
    free(p);
}

/* Functions that other regions call, too, are read once: those that were harmless, so that a bound of this proof, or a
   recursion of tasks, says nothing about the next one. */
static void keep_harmless(struct teams_prover *p, uintptr_t module, enum teams_kind kind)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->functions; i++)
        if (p->function[i].reason == JOB_PROOF_HARMLESS)
            p->function[kept++] = p->function[i];
    bool other = kind == TEAMS_TASK || module != p->module || kind != p->kind || kept > TEAMS_FUNCTIONS / 2;
    p->functions = other ? 0 : kept;
    p->module = module;
    p->kind = kind;
}

struct teams_verdict teams_prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind)
{
    struct code_image module;
    if (!p)
        return (struct teams_verdict){ JOB_PROOF_NO_READER, 0 };
    keep_harmless(p, code_image_find(function, &module) ? module.base : 0, kind);
    p->read = 0;
    p->room.taken = 0;
    const struct summary *s = judge_function(p, function, 0);
    uint32_t rests = TEAMS_VERSION * JOB_PROOF_VERSION | (s->elsewhere ? JOB_PROOF_ELSEWHERE : 0);
    return (struct teams_verdict){ s->reason | rests, s->where };
}
