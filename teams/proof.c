/* SPDX-License-Identifier: MIT */
#include "teams/proof.h"

#include <stdlib.h>
#include <string.h>

#include "teams/wait.h"

/* What a function does to whoever calls it. */
struct summary {
    uintptr_t entry;
    enum job_proof reason; /* JOB_PROOF_HARMLESS: none */
    uintptr_t where;
    uint64_t arguments; /* registers that it reads before it writes them */
    uint64_t clobbers;  /* registers that it changes: compilers know that of their own functions */
    bool open;          /* being read */
    bool acts;          /* writes what others may see */
    bool locks;         /* critical or atomic: as often as it is called */
    bool stack;         /* reads arguments from the stack */
};

struct teams_prover {
    struct teams_decoder *decoder;
    struct summary function[TEAMS_FUNCTIONS];
    uint32_t functions, read;
    uintptr_t module; /* base of the one with the outlined function */
};

/* One function that is judged. */
struct case_ {
    struct teams_prover *p;
    struct teams_flow *f;
    struct teams_reading *r;
    struct summary *s;
    enum teams_kind kind;
    bool outlined; /* the function of a region itself */
    uint32_t depth;
};

static struct summary *summary_of(struct teams_prover *p, uintptr_t entry, enum teams_kind kind, uint32_t depth);

/* A task may run wherever OpenMP likes: what it learns of its team, and what it writes, is its own. Only waiting
   counts. */
static bool concerns_tasks(enum job_proof reason)
{
    return reason == JOB_PROOF_WAITS || reason == JOB_PROOF_CALLS || reason == JOB_PROOF_POINTER ||
           reason == JOB_PROOF_MPI || reason == JOB_PROOF_NESTS || reason >= JOB_PROOF_SYSTEM;
}

/* Each thread's share is run as it is, with its own number: only what ties one to another, or to a thread, counts. */
static bool concerns_shares(enum job_proof reason)
{
    return concerns_tasks(reason) || reason == JOB_PROOF_THREAD_DATA || reason == JOB_PROOF_ASKS ||
           reason == JOB_PROOF_TASKS || reason == JOB_PROOF_SUMS;
}

static void object(struct case_ *c, enum job_proof reason, uintptr_t where)
{
    if ((c->kind == TEAMS_TASK && !concerns_tasks(reason)) || (c->kind == TEAMS_IN_TURN && !concerns_shares(reason)))
        return;
    if (c->s->reason == JOB_PROOF_HARMLESS) {
        c->s->reason = reason;
        c->s->where = where;
    }
}

/* --- Arguments: registers that are read before they are written --- */

static uint64_t bit(uint8_t reg)
{
    return reg < 64 ? 1ull << reg : 0;
}

static uint64_t first_arguments(unsigned count)
{
    const struct teams_convention *c = teams_convention();
    uint64_t mask = 0;
    for (unsigned i = 0; i < count && i < c->argument_count; i++)
        mask |= bit(c->arguments[i]);
    return mask;
}

static uint64_t vectors(void)
{
    return 0xffull << TEAMS_GENERAL;
}

/* What each call looks at and changes: of what is followed, by reading it first. */
static void read_calls(struct case_ *c)
{
    uint64_t all = teams_convention()->clobbered;
    for (uint32_t i = 0; i < c->f->insns; i++) {
        struct teams_call *call = &c->f->call[i];
        if (!teams_is_call(&c->f->insn[i]) && c->f->insn[i].op != TEAMS_JUMP_SLOT)
            continue;
        bool named = call->name && call->known != TEAMS_UNKNOWN_CALL;
        const struct summary *s = !named && call->target ? summary_of(c->p, call->target, c->kind, c->depth + 1) : NULL;
        if (s && !s->open && s->reason != JOB_PROOF_HARMLESS) {
            object(c, s->reason, s->where == s->entry ? c->f->insn[i].address : s->where);
            return;
        }
        call->reads = named ? first_arguments(teams_known_arguments(call->name)) | vectors()
                      : s   ? s->arguments
                            : first_arguments(8) | vectors();
        call->clobbers = s && !call->name ? s->clobbers : all;
    }
}

static void use_and_define(struct case_ *c, uint32_t insn, uint64_t *uses, uint64_t *defines)
{
    const struct teams_insn *i = &c->f->insn[insn];
    uint64_t use = i->reads | bit(i->place.base) | bit(i->place.index), define = i->writes | bit(i->second);
    if (i->a.kind == TEAMS_REGISTER)
        use |= bit(i->a.number);
    if (i->b.kind == TEAMS_REGISTER)
        use |= bit(i->b.number);
    if (i->dst.kind == TEAMS_REGISTER)
        define |= bit(i->dst.number);
    if (i->op == TEAMS_MOVE && i->a.kind == TEAMS_IMMEDIATE)
        use &= ~define;
    if (teams_is_call(i) || i->op == TEAMS_JUMP_SLOT) {
        use |= c->f->call[insn].reads;
        define |= c->f->call[insn].clobbers;
    }
    *uses = use;
    *defines = define;
}

static uint64_t live_before(struct case_ *c, int b, uint64_t live)
{
    const struct teams_block *block = &c->f->block[b];
    for (uint32_t k = block->count; k-- > 0;) {
        uint64_t uses, defines;
        use_and_define(c, block->first + k, &uses, &defines);
        live = (live & ~defines) | uses;
    }
    return live;
}

static uint64_t live_at_entry(struct case_ *c)
{
    uint64_t *live = calloc(c->f->blocks + 1, sizeof *live), entry = UINT64_MAX;
    bool changed = live != NULL;
    while (changed) {
        changed = false;
        for (uint32_t b = c->f->blocks; b-- > 0;) {
            uint64_t out = 0;
            for (int k = 0; k < 2; k++)
                out |= c->f->block[b].next[k] >= 0 ? live[c->f->block[b].next[k]] : 0;
            uint64_t now = live_before(c, (int)b, out);
            changed |= now != live[b];
            live[b] = now;
        }
    }
    if (live)
        entry = live[0];
    free(live);
    return entry & teams_convention()->clobbered;
}

static uint64_t all_writes(struct case_ *c)
{
    uint64_t all = 0, uses, defines;
    for (uint32_t i = 0; i < c->f->insns; i++) {
        use_and_define(c, i, &uses, &defines);
        all |= defines;
    }
    return all & teams_convention()->clobbered;
}

/* --- Where an instruction stands --- */

/* Run once for each iteration, all threads together; or by one thread of the team. */
static bool by_iteration(const struct case_ *c, int b)
{
    return c->r->context[b] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE);
}

static bool is_shared(const struct case_ *c, int b)
{
    return c->r->context[b] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE | TEAMS_GUARDED);
}

static bool is_carried(const struct teams_value *v)
{
    return (v->bits & (TEAMS_CARRIED | TEAMS_COUNTER | TEAMS_LENGTH)) && !(v->bits & TEAMS_BOUND);
}

/* Something that others see happens here. */
static void check_effect(struct case_ *c, int b, uintptr_t where, bool counts)
{
    c->s->acts = true;
    c->s->locks |= counts;
    if (!c->outlined)
        return;
    if (c->r->context[b] & TEAMS_RUN_BY_OTHERS)
        object(c, JOB_PROOF_OTHERS, where);
    else if (c->r->context[b] & TEAMS_IF_CARRIED)
        object(c, JOB_PROOF_CARRIES, where);
    else if (counts ? !by_iteration(c, b) : !is_shared(c, b))
        object(c, counts ? JOB_PROOF_COUNTS : JOB_PROOF_WRITES, where);
}

/* --- Memory --- */

/* The loop of an exchange that is repeated: does it only take an extreme, or bits, which all threads may do in any
   number? */
static enum job_proof check_swap(const struct case_ *c, int b)
{
    int loop = c->f->block[b].loop;
    if (loop < 0)
        return JOB_PROOF_COUNTS;
    for (uint32_t k = 0; k < c->f->blocks; k++)
        for (uint32_t n = 0; teams_flow_in_loop(c->f, loop, (int)k) && n < c->f->block[k].count; n++) {
            const struct teams_insn *i = &c->f->insn[c->f->block[k].first + n];
            if (i->op == TEAMS_FLOAT)
                return JOB_PROOF_SUMS;
            if (!i->swaps &&
                (i->op == TEAMS_ADD || i->op == TEAMS_SUB || i->op == TEAMS_MUL || i->op >= TEAMS_VECTOR_ADD) &&
                i->op != TEAMS_BRANCH && i->op != TEAMS_JUMP && i->op != TEAMS_SHUFFLE)
                return JOB_PROOF_COUNTS;
        }
    return JOB_PROOF_HARMLESS;
}

static void check_atomic(struct case_ *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    if (by_iteration(c, b) || !c->outlined || (c->r->context[b] & (TEAMS_RUN_BY_OTHERS | TEAMS_IF_CARRIED))) {
        check_effect(c, b, i->address, true);
        return;
    }
    if (i->swaps) {
        enum job_proof reason = check_swap(c, b);
        if (reason != JOB_PROOF_HARMLESS)
            object(c, reason, i->address);
        return;
    }
    struct teams_value v = teams_follow_operand(c->r, i, &i->b, s);
    bool sums = (i->op == TEAMS_ADD || i->op == TEAMS_SUB) && (v.bits & TEAMS_ZERO);
    if (!sums && i->op != TEAMS_BITS)
        object(c, JOB_PROOF_COUNTS, i->address);
}

static struct teams_value stored(const struct case_ *c, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value v = teams_value_any(0);
    if (i->op == TEAMS_MOVE || i->op == TEAMS_ADD || i->op == TEAMS_SUB || i->op == TEAMS_BITS) {
        const struct teams_operand *o = i->op == TEAMS_MOVE ? &i->a : &i->b;
        return o->kind == TEAMS_MEMORY ? v : teams_follow_operand(c->r, i, o, s);
    }
    if (i->op == TEAMS_SET)
        return s->reg[TEAMS_FLAGS];
    for (uint8_t k = 0; k < 64; k++)
        if ((i->reads >> k & 1) && i->place.base != k && i->place.index != k)
            v = teams_value_mix(v, s->reg[k]);
    return v;
}

static void check_store(struct case_ *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value at = teams_follow_address(i, s), v = stored(c, i, s);
    bool open = !teams_value_is_own(&at);
    if (teams_value_is_raw(&v) && (open || at.kind != TEAMS_FRAME))
        object(c, JOB_PROOF_NUMBER, i->address);
    if (!open)
        return;
    if (i->atomic && !(i->op == TEAMS_OTHER && !i->swaps && is_shared(c, b))) {
        check_atomic(c, b, i, s);
        return;
    }
    if (at.bits & TEAMS_BOUND && !(c->r->context[b] & TEAMS_RUN_BY_OTHERS))
        c->s->acts = true;
    else
        check_effect(c, b, i->address, false);
    if (c->outlined && (is_carried(&v) || is_carried(&at)))
        object(c, JOB_PROOF_CARRIES, i->address);
}

static void check_memory(struct case_ *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    enum { GUARD = 0x28 }; /* of the stack's protector */
    struct teams_value at = teams_follow_address(i, s);
    if (i->place.thread) {
        if (!i->loads || i->stores || i->place.offset != GUARD || i->place.base != TEAMS_NO_REGISTER)
            object(c, JOB_PROOF_THREAD_DATA, i->address);
        return;
    }
    if (teams_value_is_raw(&at))
        object(c, JOB_PROOF_NUMBER, i->address);
    if (at.kind == TEAMS_FRAME && at.number >= 8 && i->loads)
        c->s->stack = true;
    if (i->stores)
        check_store(c, b, i, s);
}

/* --- Calls --- */

/* Size, and in the same block next number: what compilers do for a schedule. */
static bool is_schedule(const struct case_ *c, const struct teams_block *block, uint32_t insn)
{
    for (uint32_t k = insn + 1; k < block->first + block->count; k++)
        if (teams_is_call(&c->f->insn[k]))
            return c->f->call[k].known == TEAMS_ASKS_NUMBER;
    return false;
}

static void check_arguments(struct case_ *c, uint32_t insn, const struct teams_state *s, bool stack)
{
    enum { WORDS = 32 };
    uint64_t reads = c->f->call[insn].reads;
    for (uint8_t k = 0; k < 64; k++)
        if ((reads >> k & 1) && teams_value_is_raw(&s->reg[k]))
            object(c, JOB_PROOF_NUMBER, c->f->insn[insn].address);
    const struct teams_value *top = &s->reg[teams_convention()->stack];
    for (uint32_t k = 0; k < c->r->slots; k++) {
        int32_t at = c->r->slot_offset[k];
        bool handed = stack && top->kind == TEAMS_FRAME && at >= top->number && at < top->number + 8 * WORDS;
        for (uint32_t e = 0; e < c->r->escapes; e++)
            handed |= at >= c->r->escaped[e] && c->r->escaped[e] < 0;
        if (handed && teams_value_is_raw(&s->slot[k]))
            object(c, JOB_PROOF_NUMBER, c->f->insn[insn].address);
    }
}

/* Whether a slot is written, and not in the loop. */
static bool is_written(const struct teams_reading *r, uint32_t slot, int loop)
{
    bool outside = false, inside = false;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        bool writes = r->defs[b].slots[slot / 64] >> slot % 64 & 1;
        outside |= writes && !teams_flow_in_loop(r->flow, loop, (int)b);
        inside |= writes && teams_flow_in_loop(r->flow, loop, (int)b);
    }
    return outside && !inside;
}

/* What is in the frame since before a shared loop, and is handed in each iteration to a function that writes: a seed,
   say. */
static void check_lent(struct case_ *c, int b, uint32_t insn, const struct teams_state *s)
{
    enum { OBJECT = 64 };
    int loop = c->r->shared_loop[b];
    const struct teams_convention *convention = teams_convention();
    for (int a = 0; c->outlined && loop >= 0 && a < convention->argument_count; a++) {
        const struct teams_value *v = &s->reg[convention->arguments[a]];
        bool lent = (c->f->call[insn].reads >> convention->arguments[a] & 1) && v->kind == TEAMS_FRAME;
        for (uint32_t k = 0; lent && k < c->r->slots; k++)
            if (c->r->slot_offset[k] >= v->number && c->r->slot_offset[k] < v->number + OBJECT &&
                is_written(c->r, k, loop))
                object(c, JOB_PROOF_CARRIES, c->f->insn[insn].address);
    }
}

static void check_followed(struct case_ *c, int b, uint32_t insn, const struct teams_state *s)
{
    const struct teams_call *call = &c->f->call[insn];
    struct summary *g = call->target ? summary_of(c->p, call->target, c->kind, c->depth + 1) : NULL;
    uintptr_t where = c->f->insn[insn].address;
    if (g && g->open && c->kind == TEAMS_TASK)
        return; /* a recursion that ends, or the task never would have */
    if (!g || g->open) {
        object(c, c->f->insn[insn].op == TEAMS_CALL_ANY ? JOB_PROOF_POINTER : JOB_PROOF_CALLS, where);
        return;
    }
    if (g->reason != JOB_PROOF_HARMLESS) /* code that is not even looked at has no place that says more than the call */
        object(c, g->reason, g->where == g->entry ? where : g->where);
    if (g->acts) {
        check_effect(c, b, where, g->locks);
        check_lent(c, b, insn, s);
    }
    check_arguments(c, insn, s, g->stack);
}

/* A share learns its number and its team's size in the module whose region it is: the calls of others may not come to
   us. */
static void check_question(struct case_ *c, uintptr_t where)
{
    if (c->kind != TEAMS_IN_TURN || c->f->module.base != c->p->module)
        object(c, JOB_PROOF_ASKS, where);
}

static void check_team_call(struct case_ *c, int b, uint32_t insn)
{
    const struct teams_block *block = &c->f->block[b];
    uintptr_t where = c->f->insn[insn].address;
    switch (c->f->call[insn].known) {
    case TEAMS_ASKS_SIZE:
        if (c->kind == TEAMS_IN_TURN)
            check_question(c, where);
        else if (!c->outlined || !is_schedule(c, block, insn))
            object(c, JOB_PROOF_SIZE, where);
        break;
    case TEAMS_ASKS_NUMBER:
        if (c->kind == TEAMS_IN_TURN)
            check_question(c, where);
        else if (!c->outlined)
            object(c, JOB_PROOF_NUMBER, where);
        break;
    case TEAMS_ASKS_ITSELF:
        check_question(c, where);
        break;
    case TEAMS_ASKS:
        object(c, JOB_PROOF_ASKS, where);
        break;
    case TEAMS_LOCKS:
        check_effect(c, b, where, true);
        break;
    case TEAMS_BARRIER:
    case TEAMS_SINGLE:
        if (c->kind == TEAMS_IN_TURN)
            check_question(c, where);
        else if (!c->outlined)
            object(c, JOB_PROOF_CALLS, where);
        break;
    case TEAMS_BOUNDS:
    case TEAMS_SYNC:
        if (!c->outlined) /* an orphaned construct */
            object(c, JOB_PROOF_CALLS, where);
        break;
    default:
        break;
    }
}

/* The address that the first argument has been given in this block, 0: not known. */
static uintptr_t first_argument(const struct case_ *c, int b, uint32_t insn)
{
    uint8_t reg = teams_convention()->arguments[0];
    for (uint32_t k = insn; k-- > c->f->block[b].first;) {
        const struct teams_insn *i = &c->f->insn[k];
        if (i->dst.kind != TEAMS_REGISTER || i->dst.number != reg)
            continue;
        if (i->op == TEAMS_ADDRESS && i->place.fixed)
            return (uintptr_t)i->place.offset;
        return i->op == TEAMS_MOVE && i->a.kind == TEAMS_IMMEDIATE ? (uintptr_t)i->a.value : 0;
    }
    return 0;
}

/* A task that makes tasks may have to wait for them: they must not wait either. */
static void check_made(struct case_ *c, int b, uint32_t insn)
{
    uintptr_t where = c->f->insn[insn].address;
    uintptr_t made = c->kind == TEAMS_TASK ? first_argument(c, b, insn) : 0;
    const char *name = c->f->call[insn].name;
    object(c, JOB_PROOF_TASKS, where);
    if (c->kind != TEAMS_TASK || strcmp(name, "GOMP_taskgroup_start") == 0)
        return;
    if (strcmp(name, "GOMP_task") != 0 && strcmp(name, "GOMP_taskloop") != 0 &&
        strcmp(name, "GOMP_taskloop_ull") != 0) {
        object(c, JOB_PROOF_CALLS, where);
        return;
    }
    const struct summary *g = made ? summary_of(c->p, made, c->kind, c->depth + 1) : NULL;
    if (!g)
        object(c, JOB_PROOF_POINTER, where);
    else if (g->reason != JOB_PROOF_HARMLESS)
        object(c, g->reason, g->where);
}

static void check_call(struct case_ *c, int b, uint32_t insn, const struct teams_state *s)
{
    const struct teams_call *call = &c->f->call[insn];
    uintptr_t where = c->f->insn[insn].address;
    switch (call->known) {
    case TEAMS_UNKNOWN_CALL:
        check_followed(c, b, insn, s);
        return;
    case TEAMS_WAITS:
        object(c, JOB_PROOF_WAITS, where);
        break;
    case TEAMS_MAKES_TASKS:
        check_made(c, b, insn);
        break;
    case TEAMS_JOINS:
        object(c, JOB_PROOF_TASKS, where);
        break;
    case TEAMS_NESTS:
        object(c, JOB_PROOF_NESTS, where);
        break;
    case TEAMS_MPI:
        object(c, JOB_PROOF_MPI, where);
        break;
    case TEAMS_THREAD_DATA:
        object(c, JOB_PROOF_THREAD_DATA, where);
        break;
    case TEAMS_ACTS:
        check_effect(c, b, where, false);
        break;
    case TEAMS_WRITES: {
        struct teams_value at = s->reg[teams_convention()->arguments[0]];
        if (!teams_value_is_own(&at))
            check_effect(c, b, where, false);
        break;
    }
    default:
        check_team_call(c, b, insn);
        break;
    }
    check_arguments(c, insn, s, call->known == TEAMS_ACTS || call->known == TEAMS_WRITES);
}

/* --- Functions --- */

static void check_insn(struct case_ *c, int b, uint32_t insn, const struct teams_state *s)
{
    const struct teams_insn *i = &c->f->insn[insn];
    if (i->loads || i->stores)
        check_memory(c, b, i, s);
    if (teams_is_call(i) || i->op == TEAMS_JUMP_SLOT)
        check_call(c, b, insn, s);
    else if (i->op == TEAMS_BRANCH &&
             (s->reg[TEAMS_FLAGS].kind == TEAMS_RAW || s->reg[TEAMS_FLAGS].kind == TEAMS_LINEAR))
        object(c, JOB_PROOF_NUMBER, i->address);
    else if (i->op == TEAMS_SYSTEM)
        object(c, JOB_PROOF_SYSTEM, i->address);
    else if (i->op == TEAMS_PAUSE)
        object(c, JOB_PROOF_WAITS, i->address);
    else if (i->op == TEAMS_DIVIDE && i->b.kind && teams_value_is_raw(&s->reg[teams_convention()->result]))
        object(c, JOB_PROOF_NUMBER, i->address);
}

/* In a lock of OpenMP's: its end, in the same block, comes before anything is computed of floating-point numbers. */
static bool is_exact(const struct case_ *c, const struct teams_block *block, uint32_t insn)
{
    for (uint32_t k = insn + 1; k < block->first + block->count; k++) {
        const struct teams_insn *i = &c->f->insn[k];
        if (i->op == TEAMS_FLOAT || i->op == TEAMS_VECTOR_ADD)
            return false;
        if (teams_is_call(i) || i->op == TEAMS_JUMP_SLOT)
            return c->f->call[k].known == TEAMS_UNLOCKS;
    }
    return false;
}

/* A team adds up its threads' sums as they come, mostly in another order than that of their numbers. */
static void check_sums(struct case_ *c)
{
    for (uint32_t b = 0; c->kind == TEAMS_IN_TURN && b < c->f->blocks; b++) {
        const struct teams_block *block = &c->f->block[b];
        for (uint32_t k = block->first; k < block->first + block->count; k++) {
            const struct teams_insn *i = &c->f->insn[k];
            if ((i->swaps && check_swap(c, (int)b) == JOB_PROOF_SUMS) ||
                (teams_is_call(i) && c->f->call[k].known == TEAMS_LOCKS && !is_exact(c, block, k)))
                object(c, JOB_PROOF_SUMS, i->address);
        }
    }
}

static void check_code(struct case_ *c)
{
    check_sums(c);
    struct teams_state *s = malloc(sizeof *s);
    if (!s)
        object(c, JOB_PROOF_LARGE, c->f->entry);
    for (uint32_t b = 0; s && b < c->f->blocks; b++) {
        const struct teams_block *block = &c->f->block[b];
        teams_follow_begin(c->r, (int)b, s);
        if (s->reg[0].kind == TEAMS_UNSEEN)
            continue;
        for (uint32_t k = 0; k < block->count; k++) {
            check_insn(c, (int)b, block->first + k, s);
            teams_follow_step(c->r, (int)b, block->first + k, s);
        }
    }
    free(s);
    uintptr_t waits = teams_wait_find(c->r);
    if (waits)
        object(c, JOB_PROOF_WAITS, waits);
}

/* Calls that are a reason wherever they stand: nothing else needs to be read then. */
static bool is_hopeless(struct case_ *c)
{
    for (uint32_t i = 0; i < c->f->insns; i++) {
        const struct teams_insn *insn = &c->f->insn[i];
        if (!teams_is_call(insn) && insn->op != TEAMS_JUMP_SLOT)
            continue;
        switch (c->f->call[i].known) {
        case TEAMS_ASKS: object(c, JOB_PROOF_ASKS, insn->address); break;
        case TEAMS_ASKS_ITSELF: check_question(c, insn->address); break;
        case TEAMS_MPI: object(c, JOB_PROOF_MPI, insn->address); break;
        case TEAMS_NESTS: object(c, JOB_PROOF_NESTS, insn->address); break;
        case TEAMS_WAITS: object(c, JOB_PROOF_WAITS, insn->address); break;
        case TEAMS_THREAD_DATA: object(c, JOB_PROOF_THREAD_DATA, insn->address); break;
        case TEAMS_MAKES_TASKS: case TEAMS_JOINS: object(c, JOB_PROOF_TASKS, insn->address); break;
        case TEAMS_UNKNOWN_CALL:
            if (insn->op == TEAMS_CALL_ANY)
                object(c, JOB_PROOF_POINTER, insn->address);
            else if (!c->f->call[i].target)
                object(c, JOB_PROOF_CALLS, insn->address);
            break;
        default: break;
        }
    }
    return c->s->reason != JOB_PROOF_HARMLESS;
}

/* What the number of threads means to a task is the same wherever it runs. */
static void judge(struct case_ *c)
{
    if (c->f->unreadable) {
        object(c, JOB_PROOF_UNREADABLE, c->f->where);
        return;
    }
    c->p->read += c->f->insns;
    if (c->f->module.library || c->p->read > TEAMS_READ || c->depth > TEAMS_DEPTH) {
        object(c, c->f->module.library ? JOB_PROOF_CALLS : JOB_PROOF_LARGE, c->f->entry);
        return;
    }
    if (is_hopeless(c))
        return;
    read_calls(c);
    if (c->s->reason != JOB_PROOF_HARMLESS)
        return;
    c->r = teams_follow(c->f);
    if (!c->r || c->r->too_large)
        object(c, JOB_PROOF_LARGE, c->f->entry);
    else
        check_code(c);
    teams_follow_free(c->r);
    c->s->arguments = live_at_entry(c);
    c->s->clobbers = all_writes(c);
}

static struct summary *summary_of(struct teams_prover *p, uintptr_t entry, enum teams_kind kind, uint32_t depth)
{
    for (uint32_t i = 0; i < p->functions; i++)
        if (p->function[i].entry == entry)
            return &p->function[i];
    if (p->functions == TEAMS_FUNCTIONS)
        return NULL;
    struct summary *s = &p->function[p->functions++];
    *s = (struct summary){ .entry = entry,
                           .reason = JOB_PROOF_HARMLESS,
                           .arguments = UINT64_MAX,
                           .clobbers = teams_convention()->clobbered,
                           .open = true };
    struct case_ c = { .p = p, .s = s, .kind = kind, .outlined = depth == 0 && kind == TEAMS_REGION, .depth = depth };
    struct teams_flow *f = teams_flow_read(p->decoder, entry);
    c.f = f;
    if (f)
        judge(&c);
    else
        object(&c, JOB_PROOF_LARGE, entry);
    teams_flow_destroy(f);
    s->open = false;
    return s;
}

struct teams_prover *teams_prover_create(void)
{
    struct teams_prover *p = calloc(1, sizeof *p);
    if (p)
        p->decoder = teams_decoder_create();
    if (p && p->decoder)
        return p;
    free(p);
    return NULL;
}

void teams_prover_destroy(struct teams_prover *p)
{
    if (p)
        teams_decoder_destroy(p->decoder);
    free(p);
}

struct teams_verdict teams_prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind)
{
    struct teams_module module;
    if (!p)
        return (struct teams_verdict){ JOB_PROOF_NO_READER, 0 };
    p->functions = p->read = 0;
    p->module = teams_image_find(function, &module) ? module.base : 0;
    struct summary *s = summary_of(p, function, kind, 0);
    struct teams_verdict v = { s->reason, s->where };
    if (kind == TEAMS_REGION && v.proof != JOB_PROOF_HARMLESS &&
        teams_prove(p, function, TEAMS_IN_TURN).proof == JOB_PROOF_HARMLESS)
        v.proof |= JOB_PROOF_IN_TURN;
    return v;
}
