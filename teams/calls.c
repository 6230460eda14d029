/* SPDX-License-Identifier: MIT */
#include "teams/case.h"
#include "teams/memory.h"

#include <string.h>

static uint64_t first_arguments(unsigned count)
{
    const struct teams_convention *c = teams_convention();
    uint64_t mask = 0;
    for (unsigned i = 0; i < count && i < c->argument_count; i++)
        mask |= 1ull << c->arguments[i];
    return mask;
}

static uint64_t first_numbers(unsigned count)
{
    return ((1ull << count) - 1) << TEAMS_GENERAL;
}

bool teams_case_read_calls(struct teams_case *c)
{
    uint64_t all = teams_convention()->clobbered;
    bool changed = false;
    for (uint32_t i = 0; i < c->f->insns; i++) {
        struct teams_call *call = &c->f->call[i];
        if (!teams_is_call(&c->f->insn[i]) && c->f->insn[i].op != TEAMS_JUMP_SLOT)
            continue;
        bool named = call->name && call->known != TEAMS_UNKNOWN_CALL;
        const struct teams_summary *s =
            !named && call->target ? teams_case_summary(c->p, call->target, c->kind, c->depth + 1) : NULL;
        if (s && !s->open && s->reason != JOB_PROOF_HARMLESS) {
            teams_case_object(c, s->reason, s->where == s->entry ? c->f->insn[i].address : s->where);
            return changed;
        }
        c->p->elsewhere |= !named && call->name;
        uint64_t clobbers = s && !call->pad ? s->clobbers : all;
        uint64_t reads = named ? first_arguments(teams_known_arguments(call->name)) |
                                     first_numbers(teams_known_numbers(call->name))
                         : s ? s->arguments
                             : first_arguments(9) | first_numbers(8);
        changed |= call->clobbers != clobbers || call->reads != reads;
        call->reads = reads;
        call->clobbers = clobbers;
    }
    return changed;
}

/* Size, and in the same block next number: what compilers do for a schedule. */
static bool is_schedule(const struct teams_case *c, const struct teams_block *block, uint32_t insn)
{
    for (uint32_t k = insn + 1; k < block->first + block->count; k++)
        if (teams_is_call(&c->f->insn[k]))
            return c->f->call[k].known == TEAMS_ASKS_NUMBER;
    return false;
}

static void check_arguments(struct teams_case *c, uint32_t insn, const struct teams_state *s, bool stack)
{
    enum { WORDS = 32 };
    for (uint64_t left = c->f->call[insn].reads; left; left &= left - 1) {
        const struct teams_value *v = &s->reg[teams_first(left)];
        if (teams_value_is_raw(v))
            teams_case_object(c, JOB_PROOF_NUMBER, c->f->insn[insn].address);
        for (uint32_t k = 0; v->kind == TEAMS_STACK && k < c->r->slots; k++)
            if (teams_value_is_raw(&s->slot[k]))
                teams_case_object(c, JOB_PROOF_NUMBER, c->f->insn[insn].address);
        if (c->outlined && (v->bits & TEAMS_FOUND))
            teams_case_object(c, JOB_PROOF_COUNTS, c->f->insn[insn].address);
    }
    const struct teams_value *top = &s->reg[teams_convention()->stack];
    for (uint32_t k = 0; k < c->r->slots; k++) {
        int32_t at = c->r->slot_offset[k], end = at + c->r->slot_size[k];
        bool handed = stack && top->kind == TEAMS_FRAME && end > top->number && at < top->number + 8 * WORDS;
        if (handed && c->outlined && teams_value_is_kept(&s->slot[k]))
            teams_case_object(c, JOB_PROOF_CARRIES, c->f->insn[insn].address);
        for (uint32_t e = 0; e < c->r->escapes; e++)
            handed |= c->r->escaped[e] < 0; /* by an address, whatever is above it or below */
        if (handed && teams_value_is_raw(&s->slot[k]))
            teams_case_object(c, JOB_PROOF_NUMBER, c->f->insn[insn].address);
    }
}

/* What a call looks at. x86-64's caller says how many vectors one with any number of arguments gets. */
static uint64_t reads_of(const struct teams_case *c, uint32_t insn, const struct teams_state *s)
{
    const struct teams_convention *convention = teams_convention();
    const struct teams_value *count = &s->reg[convention->result];
    bool told = !(first_arguments(convention->argument_count) >> convention->result & 1) &&
                count->kind == TEAMS_CONSTANT && count->number >= 0 && count->number < 8;
    bool any = c->f->call[insn].known == TEAMS_ACTS || c->f->call[insn].known == TEAMS_WRITES;
    return c->f->call[insn].reads & ~(told && any ? first_numbers(8) & ~first_numbers((unsigned)count->number) : 0);
}

/* Registers that a function with any number of arguments hardly gets: what was not made for this call is none. */
static uint64_t last_arguments(const struct teams_case *c, uint32_t insn)
{
    enum { FIRST = 3 };
    return c->f->call[insn].known == TEAMS_ACTS ? first_arguments(9) & ~first_arguments(FIRST) : 0;
}

/* What a thread carries is handed to a function that acts by it. */
static void check_carried(struct teams_case *c, uint32_t insn, const struct teams_state *s)
{
    for (uint64_t left = c->outlined ? reads_of(c, insn, s) : 0; left; left &= left - 1) {
        const struct teams_value *v = &s->reg[teams_first(left)];
        uint8_t slot = v->kind == TEAMS_FRAME ? teams_memory_find_slot(c->r, v->number) : TEAMS_NO_SLOT;
        bool left_there = (teams_bit(teams_first(left)) & last_arguments(c, insn)) && v->number <= 0;
        if (!left_there && teams_value_is_kept(slot == TEAMS_NO_SLOT ? v : &s->slot[slot]))
            teams_case_object(c, JOB_PROOF_CARRIES, c->f->insn[insn].address);
    }
}

/* A whole share is set, or copied, at once: as long as it is. */
static bool takes_share(const struct teams_case *c, int b, uint32_t insn, const struct teams_state *s)
{
    const uint8_t *arguments = teams_convention()->arguments;
    const struct teams_value *to = &s->reg[arguments[0]], *of = &s->reg[arguments[1]], *size = &s->reg[arguments[2]];
    const char *name = c->f->call[insn].name;
    bool sets = strcmp(name, "memset") == 0 && !teams_value_is_kept(of);
    bool copies = (strcmp(name, "memcpy") == 0 || strcmp(name, "memmove") == 0) && (of->bits & TEAMS_BOUND);
    return (sets || copies) && (to->bits & TEAMS_BOUND) && (size->bits & TEAMS_LENGTH) &&
           !((to->bits | size->bits | of->bits) & TEAMS_CARRIED) &&
           !(c->r->context[b] & (TEAMS_IF_CARRIED | TEAMS_RUN_BY_OTHERS));
}

/* Memory of its own is handed to what may write there, in each iteration: a seed, say. */
static void check_lent(struct teams_case *c, int b, uint32_t insn, const struct teams_state *s)
{
    for (uint64_t left = c->f->call[insn].reads; left; left &= left - 1)
        teams_case_keeps(c, b, insn, &s->reg[teams_first(left)]);
}

static void check_followed(struct teams_case *c, int b, uint32_t insn, const struct teams_state *s)
{
    const struct teams_call *call = &c->f->call[insn];
    struct teams_summary *g = call->target ? teams_case_summary(c->p, call->target, c->kind, c->depth + 1) : NULL;
    uintptr_t where = c->f->insn[insn].address;
    if (g && g->open && c->kind == TEAMS_TASK)
        return; /* a recursion that ends, or the task never would have */
    if (!g || g->open) {
        teams_case_object(c, c->f->insn[insn].op == TEAMS_CALL_ANY ? JOB_PROOF_POINTER : JOB_PROOF_CALLS, where);
        return;
    }
    if (g->reason != JOB_PROOF_HARMLESS) /* code that is not even looked at has no place that says more than the call */
        teams_case_object(c, g->reason, g->where == g->entry ? where : g->where);
    if (g->acts) {
        teams_case_effect(c, b, where, g->locks);
        check_lent(c, b, insn, s);
        check_carried(c, insn, s);
    }
    check_arguments(c, insn, s, g->stack);
}

/* A share learns its number and its team's size in the module whose region it is: the calls of others may not come to
   us. */
static void check_question(struct teams_case *c, uintptr_t where)
{
    if (c->kind != TEAMS_IN_TURN || c->f->module.base != c->p->module)
        teams_case_object(c, JOB_PROOF_ASKS, where);
}

/* The shape of OpenMP's own calls: the outlined function itself makes them, and asks as compilers do. */
static void check_team_call(struct teams_case *c, int b, uint32_t insn)
{
    uintptr_t where = c->f->insn[insn].address;
    enum teams_known known = c->f->call[insn].known;
    bool asks = known == TEAMS_ASKS_SIZE || known == TEAMS_ASKS_NUMBER;
    bool meets = known == TEAMS_BARRIER || known == TEAMS_SINGLE;
    if (known == TEAMS_LOCKS)
        teams_case_effect(c, b, where, true);
    else if (c->kind == TEAMS_IN_TURN && (asks || meets))
        check_question(c, where);
    else if (known == TEAMS_ASKS_SIZE && !(c->outlined && is_schedule(c, &c->f->block[b], insn)))
        teams_case_object(c, JOB_PROOF_SIZE, where);
    else if (known == TEAMS_ASKS_NUMBER && !c->outlined)
        teams_case_object(c, JOB_PROOF_NUMBER, where);
    else if ((meets || known == TEAMS_BOUNDS || known == TEAMS_SYNC) && !c->outlined) /* an orphaned construct */
        teams_case_object(c, JOB_PROOF_CALLS, where);
}

/* The address that the first argument has been given in this block, 0: not known. */
static uintptr_t first_argument(const struct teams_case *c, int b, uint32_t insn)
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
static void check_made(struct teams_case *c, int b, uint32_t insn)
{
    const char *name = c->f->call[insn].name;
    uintptr_t where = c->f->insn[insn].address, made = first_argument(c, b, insn);
    if (strcmp(name, "GOMP_taskgroup_start") == 0)
        return;
    if (strcmp(name, "GOMP_task") != 0 && strcmp(name, "GOMP_taskloop") != 0 &&
        strcmp(name, "GOMP_taskloop_ull") != 0) {
        teams_case_object(c, JOB_PROOF_CALLS, where);
        return;
    }
    const struct teams_summary *g = made ? teams_case_summary(c->p, made, c->kind, c->depth + 1) : NULL;
    if (!g)
        teams_case_object(c, JOB_PROOF_POINTER, where);
    else if (g->reason != JOB_PROOF_HARMLESS)
        teams_case_object(c, g->reason, g->where);
}

bool teams_case_is_hopeless(struct teams_case *c)
{
    static const enum job_proof reasons[] = {
        [TEAMS_ASKS] = JOB_PROOF_ASKS,   [TEAMS_MPI] = JOB_PROOF_MPI,
        [TEAMS_NESTS] = JOB_PROOF_NESTS, [TEAMS_WAITS] = JOB_PROOF_WAITS,
        [TEAMS_JOINS] = JOB_PROOF_TASKS, [TEAMS_MAKES_TASKS] = JOB_PROOF_TASKS,
        [TEAMS_THREAD_DATA] = JOB_PROOF_THREAD_DATA,
    };
    for (uint32_t i = 0; i < c->f->insns; i++) {
        const struct teams_insn *insn = &c->f->insn[i];
        const struct teams_call *call = &c->f->call[i];
        if (!teams_is_call(insn) && insn->op != TEAMS_JUMP_SLOT)
            continue;
        if (call->known == TEAMS_ASKS_ITSELF)
            check_question(c, insn->address);
        else if (call->known == TEAMS_UNKNOWN_CALL && !call->target)
            teams_case_object(c, insn->op == TEAMS_CALL_ANY ? JOB_PROOF_POINTER : JOB_PROOF_CALLS, insn->address);
        else if (reasons[call->known])
            teams_case_object(c, reasons[call->known], insn->address);
    }
    return c->s->reason != JOB_PROOF_HARMLESS;
}

/* What is no reason by itself. */
void teams_case_call(struct teams_case *c, int b, uint32_t insn, const struct teams_state *s)
{
    enum teams_known known = c->f->call[insn].known;
    uintptr_t where = c->f->insn[insn].address;
    if (known == TEAMS_UNKNOWN_CALL) {
        check_followed(c, b, insn, s);
        return;
    }
    if (known == TEAMS_WRITES) /* by its first argument */
        teams_case_keeps(c, b, insn, &s->reg[teams_convention()->arguments[0]]);
    bool writes = known == TEAMS_WRITES && !teams_value_is_own(&s->reg[teams_convention()->arguments[0]]);
    if (writes && takes_share(c, b, insn, s)) {
        c->s->acts = true;
    } else if (known == TEAMS_ACTS || writes) {
        teams_case_effect(c, b, where, false);
        check_carried(c, insn, s);
    } else if (known == TEAMS_LEAVES && (c->r->context[b] & TEAMS_IF_CARRIED)) {
        teams_case_object(c, JOB_PROOF_CARRIES, where);
    }
    if (known == TEAMS_MAKES_TASKS)
        check_made(c, b, insn);
    else if (known != TEAMS_ACTS && !writes)
        check_team_call(c, b, insn);
    check_arguments(c, insn, s, known == TEAMS_ACTS || known == TEAMS_WRITES);
}
