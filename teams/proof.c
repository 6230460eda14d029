/* SPDX-License-Identifier: MIT */
#include "teams/proof.h"

#include <stdlib.h>

#include "teams/case.h"
#include "teams/live.h"
#include "teams/memory.h"
#include "teams/wait.h"

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

void teams_case_object(struct teams_case *c, enum job_proof reason, uintptr_t where)
{
    if ((c->kind == TEAMS_TASK && !concerns_tasks(reason)) || (c->kind == TEAMS_IN_TURN && !concerns_shares(reason)))
        return;
    if (c->s->reason == JOB_PROOF_HARMLESS) {
        c->s->reason = reason;
        c->s->where = where;
    }
}

/* Where a thread's stack is; shares that are run in turn have one. */
static bool is_in_frame(const struct teams_value *v)
{
    return v->kind == TEAMS_FRAME || v->kind == TEAMS_STACK;
}

/* Who is first, and whose share is longer, is compared in one way each; a chunk decides on its loop. */
static void check_branch(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_value *flags)
{
    bool equality = i->if_equal || i->if_unequal;
    bool one = flags->kind == TEAMS_IF_MASTER || flags->kind == TEAMS_IF_SINGLE;
    int loop = c->r->shared_loop[b];
    bool chunk = flags->kind == TEAMS_IF_CHUNK && loop >= 0 && !teams_flow_leads_out(c->f, loop, b);
    if (flags->kind == TEAMS_RAW || flags->kind == TEAMS_LINEAR || (one && !equality) || chunk ||
        (flags->kind == TEAMS_IF_REST && equality))
        teams_case_object(c, JOB_PROOF_NUMBER, i->address);
    int retry = c->f->nest.node[b].loop;
    if (c->outlined && (flags->bits & TEAMS_FOUND) && (retry < 0 || !c->r->retries[retry]))
        teams_case_object(c, JOB_PROOF_COUNTS, i->address);
}

/* Whether a way ends in a call that does not come back. */
static bool gives_up(const struct teams_case *c, int b)
{
    while (c->f->block[b].next[0] >= 0 && c->f->block[b].next[1] < 0 && c->f->block[b].next[0] > b)
        b = c->f->block[b].next[0];
    uint32_t last = c->f->block[b].first + c->f->block[b].count - 1;
    bool leaves = teams_is_call(&c->f->insn[last]) && c->f->call[last].known == TEAMS_LEAVES;
    return c->f->block[b].next[0] < 0 && c->f->block[b].next[1] < 0 && (leaves || c->f->insn[last].op == TEAMS_TRAP);
}

/* Whether it is the same in all turns of a loop. */
static bool is_fixed(const struct teams_case *c, const struct teams_value *v, int loop)
{
    bool plain = v->kind == TEAMS_ANY && v->number && v->number != TEAMS_PART &&
                 !(v->bits & (TEAMS_MARKS | TEAMS_BOUND));
    return v->kind == TEAMS_CONSTANT ||
           (plain &&
            (v->number <= TEAMS_MEMORY_NAMES || !loops_holds(&c->f->nest, loop, teams_block_of_name(c->r, v->number))));
}

bool teams_case_is_fixed(const struct teams_case *c, int b, int loop)
{
    const struct teams_block *block = &c->f->block[b];
    uint32_t k = block->first + block->count - 1;
    struct teams_state s = { 0 };
    while (k > block->first && !teams_sets_flags(&c->f->insn[k]))
        k--;
    const struct teams_insn *i = &c->f->insn[k];
    if (!teams_flow_branch(c->f, b) || (i->op != TEAMS_COMPARE && i->op != TEAMS_TEST))
        return false;
    teams_follow_begin(c->r, b, &s);
    for (uint32_t n = block->first; n < k; n++)
        teams_follow_step(c->r, b, n, &s);
    struct teams_value x = teams_follow_operand(c->r, i, &i->a, &s), y = teams_follow_operand(c->r, i, &i->b, &s);
    return is_fixed(c, &x, loop) && is_fixed(c, &y, loop);
}

/* A shared loop is left when its iterations are over, or with the program. */
static void check_way_out(struct teams_case *c, int b, const struct teams_insn *i, const struct teams_value *flags)
{
    int loop = c->r->shared_loop[b];
    bool over = flags->kind == TEAMS_IF_CHUNK || (flags->bits & (TEAMS_BOUND | TEAMS_LENGTH));
    if (!c->outlined || loop < 0 || over || teams_case_is_fixed(c, b, loop))
        return;
    for (int k = 0; k < 2; k++)
        if (!loops_holds(&c->f->nest, loop, c->f->block[b].next[k]) && !gives_up(c, c->f->block[b].next[k]))
            teams_case_object(c, JOB_PROOF_CARRIES, i->address);
}

static void check_insn(struct teams_case *c, int b, uint32_t insn, const struct teams_state *s)
{
    const struct teams_insn *i = &c->f->insn[insn];
    if (i->loads || i->stores)
        teams_case_memory(c, b, i, s);
    if (teams_is_call(i) || i->op == TEAMS_JUMP_SLOT)
        teams_case_call(c, b, insn, s);
    else if (i->op == TEAMS_BRANCH) {
        check_branch(c, b, i, &s->reg[TEAMS_FLAGS]);
        check_way_out(c, b, i, &s->reg[TEAMS_FLAGS]);
    } else if (i->op == TEAMS_RETURN && c->depth > 0 && is_in_frame(&s->reg[teams_convention()->result]))
        teams_case_object(c, JOB_PROOF_THREAD_DATA, i->address);
    else if (i->op == TEAMS_SYSTEM)
        teams_case_object(c, JOB_PROOF_SYSTEM, i->address);
    else if (i->op == TEAMS_PAUSE)
        teams_case_object(c, JOB_PROOF_WAITS, i->address);
    else if (i->op == TEAMS_DIVIDE && i->a.kind == TEAMS_REGISTER && teams_value_is_raw(&s->reg[i->a.number]))
        teams_case_object(c, JOB_PROOF_NUMBER, i->address);
}

static void check_code(struct teams_case *c)
{
    teams_case_sums(c);
    struct teams_state *s = calloc(1, sizeof *s);
    if (!s)
        teams_case_object(c, JOB_PROOF_LARGE, c->f->entry);
    for (uint32_t b = 0; s && c->s->reason == JOB_PROOF_HARMLESS && b < c->f->blocks; b++) {
        const struct teams_block *block = &c->f->block[b];
        teams_follow_begin(c->r, (int)b, s);
        if (s->reg[TEAMS_FLAGS].kind == TEAMS_UNSEEN)
            continue;
        for (uint32_t k = 0; k < block->count; k++) {
            check_insn(c, (int)b, block->first + k, s);
            teams_follow_step(c->r, (int)b, block->first + k, s);
        }
    }
    free(s);
    if (c->kept->waits)
        teams_case_object(c, JOB_PROOF_WAITS, c->kept->waits);
    uintptr_t flags = teams_live_flags(c->f);
    if (flags)
        teams_case_object(c, JOB_PROOF_NUMBER, flags);
}

/* Follows the function, unless that was done with the same calls. */
static void follow(struct teams_case *c, bool changed)
{
    if (changed || !c->kept->reading) {
        c->kept->reading = teams_follow(c->f, c->depth ? &c->p->code : &c->p->room);
        c->kept->waits = c->kept->reading && !c->kept->reading->too_large ? teams_wait_find(c->kept->reading) : 0;
    }
    c->r = c->kept->reading;
}

/* What the number of threads means to a task is the same wherever it runs. */
static void judge(struct teams_case *c)
{
    if (c->f->unreadable) {
        teams_case_object(c, JOB_PROOF_UNREADABLE, c->f->where);
        return;
    }
    c->p->read += c->f->insns;
    if (c->f->module.library || c->p->read > TEAMS_READ || c->depth > TEAMS_DEPTH) {
        teams_case_object(c, c->f->module.library ? JOB_PROOF_CALLS : JOB_PROOF_LARGE, c->f->entry);
        return;
    }
    if (teams_case_is_hopeless(c))
        return;
    bool changed = teams_case_read_calls(c);
    if (c->s->reason != JOB_PROOF_HARMLESS)
        return;
    follow(c, changed);
    if (!c->r || c->r->too_large)
        teams_case_object(c, JOB_PROOF_LARGE, c->f->entry);
    else
        check_code(c);
    if (c->depth == 0 || !c->r) /* nobody calls it; or any may be changed */
        return;
    c->s->clobbers = c->r->changes;
    c->s->arguments = teams_live_arguments(c->f, c->s->clobbers);
}

/* A function, read once. NULL: out of memory. */
static struct teams_kept *kept_of(struct teams_prover *p, uintptr_t entry, bool outlined)
{
    for (uint32_t i = 0; i < p->flows; i++)
        if (p->kept[i].flow->entry == entry)
            return &p->kept[i];
    struct teams_kept *k = &p->kept[p->flows];
    *k = (struct teams_kept){ .flow = teams_flow_read(p->reader, entry, outlined ? &p->room : &p->code) };
    if (!k->flow)
        return NULL;
    p->flows++;
    p->insns += k->flow->insns;
    return k;
}

enum { ROOM = 64 << 20 }; /* bytes of address space */

/* What others will hardly call goes: the outlined function; all where there are many, or much was followed. */
static void forget(struct teams_prover *p, uintptr_t outlined)
{
    bool all = p->flows > TEAMS_FUNCTIONS || p->insns > 2 * TEAMS_READ || p->code.taken > ROOM / 2;
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->flows; i++) {
        struct teams_kept *k = &p->kept[i];
        if (all || k->flow->entry == outlined) {
            p->insns -= k->flow->insns;
        } else {
            p->kept[left++] = *k;
        }
    }
    p->flows = left;
    p->room.taken = 0;
    if (all)
        p->code.taken = 0;
}

struct teams_summary *teams_case_summary(struct teams_prover *p, uintptr_t entry, enum teams_kind kind, uint32_t depth)
{
    for (uint32_t i = 0; i < p->functions; i++)
        if (p->function[i].entry == entry)
            return &p->function[i];
    if (p->functions == TEAMS_FUNCTIONS)
        return NULL;
    struct teams_summary *s = &p->function[p->functions++];
    *s = (struct teams_summary){ .entry = entry,
                                 .reason = JOB_PROOF_HARMLESS,
                                 .arguments = UINT64_MAX,
                                 .clobbers = teams_convention()->clobbered,
                                 .open = true };
    bool outlined = depth == 0 && kind == TEAMS_REGION;
    struct teams_case c = { .p = p, .s = s, .kind = kind, .outlined = outlined, .depth = depth };
    c.kept = kept_of(p, entry, depth == 0);
    c.f = c.kept ? c.kept->flow : NULL;
    if (c.f)
        judge(&c);
    else
        teams_case_object(&c, JOB_PROOF_LARGE, entry);
    s->open = false;
    return s;
}

struct teams_prover *teams_prover_create(void)
{
    struct teams_prover *p = calloc(1, sizeof *p);
    if (p && base_arena_reserve(&p->room, ROOM) == 0 && base_arena_reserve(&p->code, ROOM) == 0 &&
        (p->reader = teams_reader_create()))
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
    base_arena_close(&p->code);
    free(p);
}

static struct teams_verdict prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind)
{
    p->functions = p->read = 0;
    struct teams_summary *s = teams_case_summary(p, function, kind, 0);
    return (struct teams_verdict){ s->reason, s->where };
}

struct teams_verdict teams_prove(struct teams_prover *p, uintptr_t function, enum teams_kind kind)
{
    struct teams_module module;
    if (!p)
        return (struct teams_verdict){ JOB_PROOF_NO_READER, 0 };
    p->module = teams_image_find(function, &module) ? module.base : 0;
    p->elsewhere = false;
    struct teams_verdict v = prove(p, function, kind);
    if (kind == TEAMS_REGION && v.proof != JOB_PROOF_HARMLESS &&
        prove(p, function, TEAMS_IN_TURN).proof == JOB_PROOF_HARMLESS)
        v.proof |= JOB_PROOF_IN_TURN;
    v.proof |= TEAMS_VERSION * JOB_PROOF_VERSION | (p->elsewhere ? JOB_PROOF_ELSEWHERE : 0);
    forget(p, function);
    return v;
}
