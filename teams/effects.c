/* SPDX-License-Identifier: MIT */
#include "teams/case.h"
#include "teams/memory.h"

/* --- Where an instruction stands --- */

/* Run once for each iteration, all threads together; or by one thread of the team. */
static bool by_iteration(const struct teams_case *c, int b)
{
    return c->r->context[b] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE);
}

static bool is_shared(const struct teams_case *c, int b)
{
    return c->r->context[b] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE | TEAMS_REST);
}

void teams_case_effect(struct teams_case *c, int b, uintptr_t where, bool counts)
{
    c->s->acts = true;
    c->s->locks |= counts;
    if (!c->outlined)
        return;
    if (c->r->context[b] & TEAMS_RUN_BY_OTHERS)
        teams_case_object(c, JOB_PROOF_OTHERS, where);
    else if ((c->r->context[b] & (TEAMS_BEFORE_CHUNK | TEAMS_IN_LOOP)) == TEAMS_BEFORE_CHUNK)
        teams_case_object(c, JOB_PROOF_NUMBER, where);
    else if ((c->r->context[b] & TEAMS_IF_CARRIED) ||
             (c->r->context[b] & (TEAMS_BY_SHARE | TEAMS_IN_LOOP)) == TEAMS_BY_SHARE)
        teams_case_object(c, JOB_PROOF_CARRIES, where);
    else if (counts ? !by_iteration(c, b) : !is_shared(c, b))
        teams_case_object(c, counts ? JOB_PROOF_COUNTS : JOB_PROOF_WRITES, where);
}

/* --- Memory --- */

/* Whether an instruction only takes an extreme, or a bit: done again, it changes nothing. */
static bool repeats_alike(const struct teams_case *c, int b, const struct teams_insn *i)
{
    return i->op == TEAMS_NOTHING || i->op == TEAMS_MOVE || i->op == TEAMS_COMPARE || i->op == TEAMS_TEST ||
           i->op == TEAMS_EXTREME || i->op == TEAMS_BITS || i->op == TEAMS_BRANCH || i->op == TEAMS_JUMP ||
           teams_flow_extreme(c->f, b, i);
}

/* Whether a block of a loop leaves it, if at all, for where others do. A block that goes on within the loop on both
   sides of a branch chooses. */
static bool leads_to_one(const struct teams_case *c, int loop, int b, int *out)
{
    for (int k = 0; k < 2; k++) {
        int to = c->f->block[b].next[k];
        if (to < 0 || loops_holds(&c->f->nest, loop, to))
            continue;
        while (c->f->block[to].count == 1 && c->f->insn[c->f->block[to].first].op == TEAMS_JUMP)
            to = c->f->block[to].next[1];
        if (*out != TEAMS_NO_BLOCK && *out != to)
            return false;
        *out = to;
    }
    return !teams_flow_branch(c->f, b) || teams_flow_leads_out(c->f, loop, b);
}

/* The loop of an exchange that is repeated: does it only take an extreme, or bits, which all threads may do in any
   number? */
static enum job_proof check_swap(const struct teams_case *c, int b)
{
    int loop = c->f->nest.node[b].loop, out = TEAMS_NO_BLOCK;
    if (loop < 0)
        return JOB_PROOF_COUNTS;
    for (uint32_t k = 0; k < c->f->blocks; k++) {
        if (!loops_holds(&c->f->nest, loop, (int)k))
            continue;
        for (uint32_t n = 0; n < c->f->block[k].count; n++) {
            const struct teams_insn *i = &c->f->insn[c->f->block[k].first + n];
            if (i->op == TEAMS_FLOAT)
                return JOB_PROOF_SUMS;
            if (!i->swaps && !repeats_alike(c, (int)k, i))
                return JOB_PROOF_COUNTS;
        }
        if (!leads_to_one(c, loop, (int)k, &out))
            return JOB_PROOF_COUNTS;
    }
    return JOB_PROOF_HARMLESS;
}

static bool is_extreme(const struct teams_value *v, int takes)
{
    return teams_value_is_own(v) || teams_value_is_extreme(v, takes);
}

/* Of an instruction of a loop: those that are not made in it, addresses aside. */
static bool operands_are_extremes(const struct teams_case *c, int loop, const struct teams_insn *i,
                                  const struct teams_state *s, int takes)
{
    const struct teams_defs *d = &c->r->loop_defs[loop];
    const struct teams_operand *const operands[] = { &i->a, &i->b };
    uint8_t slot = c->r->slot_of[i - c->f->insn];
    bool all = true;
    for (int o = 0; o < 2; o++)
        if (operands[o]->kind == TEAMS_REGISTER && operands[o]->number < 64 &&
            !(d->regs & teams_bit(operands[o]->number)))
            all = all && is_extreme(&s->reg[operands[o]->number], takes);
    if (slot != TEAMS_NO_SLOT && i->loads && !(d->slots[slot / 64] >> slot % 64 & 1))
        all = all && is_extreme(&s->slot[slot], takes);
    for (uint64_t left = teams_is_masked(i) ? teams_sources(i) & ~d->regs : 0; left; left &= left - 1)
        all = all && is_extreme(&s->reg[teams_first(left)], takes);
    return all;
}

/* What is put into the loop of an exchange and does not come from it is an extreme of the same kind, or plain. */
static bool puts_extremes(const struct teams_case *c, int b, const struct teams_state *s)
{
    int loop = c->f->nest.node[b].loop, takes = 0;
    bool all = true;
    for (int time = 0; time < 2; time++)
        for (uint32_t k = 0; k < c->f->blocks; k++)
            for (uint32_t n = 0; loops_holds(&c->f->nest, loop, (int)k) && n < c->f->block[k].count; n++) {
                const struct teams_insn *i = &c->f->insn[c->f->block[k].first + n];
                int now = teams_flow_extreme(c->f, (int)k, i);
                all = all && (!now || !takes || now == takes);
                takes = now ? now : takes;
                all = all && (time == 0 || operands_are_extremes(c, loop, i, s, takes));
            }
    return all;
}

static void check_atomic(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    if (by_iteration(c, b) || !c->outlined || (c->r->context[b] & (TEAMS_RUN_BY_OTHERS | TEAMS_IF_CARRIED))) {
        teams_case_effect(c, b, i->address, true);
        return;
    }
    if (i->swaps) {
        enum job_proof reason = check_swap(c, b);
        if (reason == JOB_PROOF_HARMLESS && !puts_extremes(c, b, s))
            reason = JOB_PROOF_CARRIES;
        if (reason != JOB_PROOF_HARMLESS)
            teams_case_object(c, reason, i->address);
        return;
    }
    struct teams_value v = teams_follow_operand(c->r, i, &i->b, s);
    bool whole = i->half || !(v.bits & TEAMS_HALF);
    bool sums = (i->op == TEAMS_ADD || i->op == TEAMS_SUB) && (v.bits & TEAMS_ZERO) && whole;
    if (!sums && i->op != TEAMS_BITS)
        teams_case_object(c, JOB_PROOF_COUNTS, i->address);
    else if (!sums && !is_extreme(&v, i->extreme))
        teams_case_object(c, JOB_PROOF_CARRIES, i->address);
}

static struct teams_value operands(const struct teams_case *c, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value v = teams_value_any(0);
    if (i->op == TEAMS_MOVE || i->op == TEAMS_ADD || i->op == TEAMS_SUB || i->op == TEAMS_BITS) {
        const struct teams_operand *o = i->op == TEAMS_MOVE ? &i->a : &i->b;
        return o->kind == TEAMS_MEMORY ? v : teams_follow_operand(c->r, i, o, s);
    }
    for (uint64_t left = teams_sources(i); left; left &= left - 1)
        v = teams_value_mix(v, s->reg[teams_first(left)]);
    return v;
}

static struct teams_value stored(const struct teams_case *c, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value v = operands(c, i, s);
    const struct teams_value *flags = &s->reg[TEAMS_FLAGS];
    if (i->reads_flags && teams_value_is_raw(flags)) /* with carry */
        return *flags;
    v.bits |= i->reads_flags ? flags->bits & (TEAMS_CARRIED | TEAMS_FOUND) : 0;
    return v;
}

/* A place that is the iteration's own is written in it, or in what is left of a share behind a loop. Where a first or a
   last iteration is run apart, what it stores is computed: a flag is no different from it otherwise. */
static void check_place(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_value *at,
                        const struct teams_value *v)
{
    bool plain = !i->loads && (v->kind == TEAMS_CONSTANT || (v->kind == TEAMS_ANY && v->number <= TEAMS_MEMORY_NAMES));
    if (!(at->bits & TEAMS_BOUND) || (c->r->context[b] & TEAMS_RUN_BY_OTHERS)) {
        teams_case_effect(c, b, i->address, false);
        return;
    }
    c->s->acts = true;
    if (c->outlined && ((c->r->context[b] & TEAMS_IF_CARRIED) || (!is_shared(c, b) && plain)))
        teams_case_object(c, JOB_PROOF_CARRIES, i->address);
}

static void check_store(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    struct teams_value at = teams_follow_address(i, s), v = stored(c, i, s);
    bool open = !teams_value_is_own(&at);
    if (teams_value_is_raw(&v) && (open || at.kind != TEAMS_FRAME))
        teams_case_object(c, JOB_PROOF_NUMBER, i->address);
    if (c->outlined && !i->swaps && at.kind != TEAMS_FRAME && ((v.bits | at.bits) & TEAMS_FOUND))
        teams_case_object(c, JOB_PROOF_COUNTS, i->address);
    if (!open)
        return;
    if (i->atomic && !(i->op == TEAMS_OTHER && !i->swaps && is_shared(c, b))) {
        check_atomic(c, b, i, s);
        if (c->outlined && by_iteration(c, b) && (teams_value_is_kept(&v) || teams_value_is_kept(&at)))
            teams_case_object(c, JOB_PROOF_CARRIES, i->address);
        return;
    }
    check_place(c, b, i, &at, &v);
    bool first = (c->r->context[b] & TEAMS_IN_LOOP) && (v.bits & TEAMS_BOUND) && !(v.bits & TEAMS_TURNS);
    if (c->outlined && first) /* where the share begins, in each iteration */
        teams_case_object(c, JOB_PROOF_CARRIES, i->address);
    if (c->outlined && (teams_value_is_kept(&v) || teams_value_is_kept(&at)))
        teams_case_object(c, JOB_PROOF_CARRIES, i->address);
}

void teams_case_keeps(struct teams_case *c, int b, uint32_t insn, const struct teams_value *at)
{
    if (c->outlined && c->r->shared_loop[b] >= 0 && teams_value_is_own(at))
        teams_case_object(c, JOB_PROOF_CARRIES, c->f->insn[insn].address);
}

void teams_case_memory(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_state *s)
{
    enum { GUARD = 0x28 }; /* of the stack's protector, x86-64 */
    int32_t first = teams_convention()->first_on_stack;
    struct teams_value at = teams_follow_address(i, s);
    if (i->from.size) {
        struct teams_insn second = { .address = i->address, .place = i->from, .loads = true };
        struct teams_value from = teams_follow_address(&second, s);
        if (i->from.thread)
            teams_case_object(c, JOB_PROOF_THREAD_DATA, i->address);
        if (teams_value_is_raw(&from))
            teams_case_object(c, JOB_PROOF_NUMBER, i->address);
        c->s->stack |= (from.kind == TEAMS_FRAME || from.kind == TEAMS_STACK) && from.number >= first;
    }
    if (i->place.thread) {
        if (!i->loads || i->stores || i->place.offset != GUARD || i->place.base != TEAMS_NO_REGISTER)
            teams_case_object(c, JOB_PROOF_THREAD_DATA, i->address);
        return;
    }
    if (teams_value_is_raw(&at))
        teams_case_object(c, JOB_PROOF_NUMBER, i->address);
    if (i->stores && at.kind != TEAMS_FRAME) /* what has a known place there is followed */
        teams_case_keeps(c, b, (uint32_t)(i - c->f->insn), &at);
    if ((at.kind == TEAMS_FRAME || at.kind == TEAMS_STACK) && at.number >= first && i->loads)
        c->s->stack = true;
    if (i->stores)
        check_store(c, b, i, s);
}

/* --- Sums --- */

/* In a lock of OpenMP's: its end, in the same block, comes before anything is computed of floating-point numbers. */
static bool is_exact(const struct teams_case *c, const struct teams_block *block, uint32_t insn)
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
void teams_case_sums(struct teams_case *c)
{
    for (uint32_t b = 0; c->kind == TEAMS_IN_TURN && b < c->f->blocks; b++) {
        const struct teams_block *block = &c->f->block[b];
        for (uint32_t k = block->first; k < block->first + block->count; k++) {
            const struct teams_insn *i = &c->f->insn[k];
            if ((i->swaps && check_swap(c, (int)b) == JOB_PROOF_SUMS) ||
                (teams_is_call(i) && c->f->call[k].known == TEAMS_LOCKS && !is_exact(c, block, k)))
                teams_case_object(c, JOB_PROOF_SUMS, i->address);
        }
    }
}
