/* SPDX-License-Identifier: MIT */
#include "teams/jumps.h"

#include <string.h>

/* --- Addresses in registers --- */

struct state {
    uintptr_t value[CODE_GENERAL];
    uint32_t known;
    bool seen;
};

struct teams_constants { struct state *begin; };

static uint64_t sets_of(const struct teams_flow *f, uint32_t insn)
{
    const struct code_insn *i = &f->insn[insn];
    bool call = code_is_call(i);
    return i->writes | (i->dst.kind == CODE_REGISTER ? code_bit(i->dst.number) : 0) |
           (call ? code_convention()->clobbered : 0);
}

static void step(const struct teams_flow *f, uint32_t insn, struct state *s)
{
    const struct code_insn *i = &f->insn[insn];
    bool to = i->dst.kind == CODE_REGISTER && i->dst.number < CODE_GENERAL, known = false;
    uintptr_t value = 0;
    if (to && i->op == CODE_ADDRESS && i->place.fixed) {
        value = (uintptr_t)i->place.offset;
        known = true;
    } else if (to && i->op == CODE_MOVE && i->a.kind == CODE_REGISTER && i->a.number < CODE_GENERAL && !i->partial) {
        value = s->value[i->a.number];
        known = s->known >> i->a.number & 1;
    }
    s->known &= ~(uint32_t)sets_of(f, insn);
    if (known) {
        s->value[i->dst.number] = value;
        s->known |= 1u << i->dst.number;
    }
}

static bool meet(struct state *to, const struct state *from)
{
    if (!to->seen) {
        *to = *from;
        return true;
    }
    uint32_t before = to->known;
    to->known &= from->known;
    for (int k = 0; k < CODE_GENERAL; k++)
        if (to->known >> k & 1 && to->value[k] != from->value[k])
            to->known &= ~(1u << k);
    return to->known != before;
}

struct teams_constants *teams_constants_find(const struct teams_flow *f, struct base_arena *room)
{
    struct teams_constants *c = teams_flow_take_zeroed(room, sizeof *c);
    if (!c || !(c->begin = teams_flow_take_zeroed(room, f->blocks * sizeof *c->begin)))
        return NULL;
    c->begin[0].seen = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < f->blocks; b++) {
            struct state s = c->begin[b];
            for (uint32_t k = 0; s.seen && k < f->block[b].count; k++)
                step(f, f->block[b].first + k, &s);
            for (uint32_t k = 0; s.seen && k < teams_flow_ways(f, b); k++)
                if (teams_flow_way(f, b, k) >= 0)
                    changed |= meet(&c->begin[teams_flow_way(f, b, k)], &s);
        }
    }
    return c;
}

/* Before an instruction of a block. */
static bool known_at(const struct teams_flow *f, const struct teams_constants *c, uint32_t block, uint32_t insn,
                     uint8_t reg, uintptr_t *value)
{
    struct state s = c->begin[block];
    for (uint32_t k = f->block[block].first; k < insn; k++)
        step(f, k, &s);
    if (reg >= CODE_GENERAL || !s.seen || !(s.known >> reg & 1))
        return false;
    *value = s.value[reg];
    return true;
}

/* --- What the jump's address is made of --- */

/* The instruction of the block, before `insn`, that sets a register last; UINT32_MAX: none does. */
static uint32_t set_by(const struct teams_flow *f, uint32_t block, uint32_t insn, uint8_t reg)
{
    for (uint32_t k = insn; k-- > f->block[block].first;)
        if (sets_of(f, k) & code_bit(reg))
            return k;
    return UINT32_MAX;
}

/* A table and the register of its index, by a place of memory that is reached before `insn`. */
static bool take_place(const struct teams_flow *f, const struct teams_constants *c, uint32_t block, uint32_t insn,
                       struct teams_table *t)
{
    const struct code_place *p = &f->insn[insn].place;
    uintptr_t base = 0;
    if (p->thread || p->fixed || p->index == CODE_NO_REGISTER || p->scale != t->size ||
        (p->base != CODE_NO_REGISTER && !known_at(f, c, block, insn, p->base, &base)))
        return false;
    t->entries = base + (uintptr_t)p->offset;
    return true;
}

/* An entry of 4 bytes that was added to the table's address: the instruction that reads it, UINT32_MAX: none. */
static uint32_t find_load(const struct teams_flow *f, const struct teams_constants *c, uint32_t block, uint32_t jump,
                          struct teams_table *t)
{
    uint32_t sum = set_by(f, block, jump, f->insn[jump].a.number);
    const struct code_insn *s = sum == UINT32_MAX ? NULL : &f->insn[sum];
    if (!s || s->op != CODE_ADD || s->a.kind != CODE_REGISTER || s->b.kind != CODE_REGISTER)
        return UINT32_MAX;
    bool second = known_at(f, c, block, sum, s->b.number, &t->base);
    if (!second && !known_at(f, c, block, sum, s->a.number, &t->base))
        return UINT32_MAX;
    uint32_t load = set_by(f, block, sum, second ? s->a.number : s->b.number);
    const struct code_insn *l = load == UINT32_MAX ? NULL : &f->insn[load];
    bool reads = l && l->op == CODE_MOVE && l->a.kind == CODE_MEMORY && l->place.size == 4;
    return reads && take_place(f, c, block, load, t) ? load : UINT32_MAX;
}

/* --- Its bound --- */

/* What is compared: a register, or what was read from a place. */
struct index { uint8_t reg; const struct code_insn *load; };

/* One instruction back; false: it is made of something else there. */
static bool go_back(const struct teams_flow *f, uint32_t insn, struct index *x)
{
    const struct code_insn *i = &f->insn[insn];
    if (x->load) { /* whose place stays */
        uint64_t by = code_bit(x->load->place.base) | code_bit(x->load->place.index);
        return !i->stores && !code_is_call(i) && !(sets_of(f, insn) & by);
    }
    if (!(sets_of(f, insn) & code_bit(x->reg)))
        return true;
    if (i->op != CODE_MOVE || i->partial)
        return false;
    if (i->a.kind == CODE_REGISTER && i->a.number < CODE_GENERAL)
        x->reg = i->a.number;
    else if (i->a.kind == CODE_MEMORY)
        x->load = i;
    else
        return false;
    return true;
}

static bool is_compared(const struct code_insn *i, const struct index *x)
{
    const struct code_place *a = &i->place, *b = x->load ? &x->load->place : NULL;
    if (i->op != CODE_COMPARE || i->b.kind != CODE_IMMEDIATE)
        return false;
    if (!b)
        return i->a.kind == CODE_REGISTER && i->a.number == x->reg;
    return i->a.kind == CODE_MEMORY && a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->offset == b->offset && a->size == b->size;
}

/* ja 1, jae 0, else -1: how many more values than its number go on behind it. */
static int passes(const struct code_insn *branch)
{
    const uint8_t *code = (const uint8_t *)branch->address;
    uint8_t condition = code[0] == 0x0f ? code[1] - 0x10 : code[0];
    return condition == 0x77 ? 1 : condition == 0x73 ? 0 : -1;
}

/* The one block that leads to another, by not taking its branch. */
static bool find_before(const struct teams_flow *f, uint32_t block, uint32_t *before)
{
    uint32_t ways = 0;
    for (uint32_t b = 0; b < f->blocks; b++)
        for (uint32_t k = 0; k < teams_flow_ways(f, b); k++)
            if (teams_flow_way(f, b, k) == (int)block) {
                ways += k == 0 ? 1 : 2;
                *before = b;
            }
    return block > 0 && ways == 1 && teams_flow_branch(f, (int)*before) != NULL;
}

static bool jumps_find_bound(const struct teams_flow *f, uint32_t block, uint32_t insn, uint8_t reg,
                             struct teams_table *t)
{
    struct index x = { .reg = reg };
    uint32_t before = 0;
    for (uint32_t k = insn; k-- > f->block[block].first;)
        if (!go_back(f, k, &x))
            return false;
    if (!find_before(f, block, &before) || passes(teams_flow_branch(f, (int)before)) < 0)
        return false;
    uint32_t first = f->block[before].first;
    for (uint32_t k = first + f->block[before].count - 1; k-- > first;) {
        const struct code_insn *i = &f->insn[k];
        if (is_compared(i, &x)) {
            int64_t count = i->b.value + passes(teams_flow_branch(f, (int)before));
            t->count = (uint32_t)count;
            return count > 0 && count <= TEAMS_MOST_ENTRIES;
        }
        if (i->writes_flags || code_is_call(i) || !go_back(f, k, &x))
            return false;
    }
    return false;
}

/* --- Tables --- */

uintptr_t teams_table_entry(const struct teams_table *t, uint32_t k)
{
    if (t->size == 4) {
        int32_t offset;
        memcpy(&offset, (const char *)t->entries + 4 * (size_t)k, sizeof offset);
        return t->base + (uintptr_t)(intptr_t)offset;
    }
    uintptr_t address;
    memcpy(&address, (const char *)t->entries + 8 * (size_t)k, sizeof address);
    return address;
}

bool teams_jump_table(const struct teams_flow *f, const struct teams_constants *c, uint32_t block,
                      struct teams_table *t)
{
    uint32_t jump = f->block[block].first + f->block[block].count - 1, load = UINT32_MAX;
    *t = (struct teams_table){ .jump = f->insn[jump].address, .size = 8 };
    if (f->insn[jump].a.kind == CODE_REGISTER) {
        t->size = 4;
        load = find_load(f, c, block, jump, t);
    } else if (f->insn[jump].a.kind == CODE_MEMORY && take_place(f, c, block, jump, t)) {
        load = jump;
    }
    if (load == UINT32_MAX || !jumps_find_bound(f, block, load, f->insn[load].place.index, t) ||
        !code_image_keeps(t->entries, (size_t)t->count * t->size))
        return false;
    bool inside = true;
    for (uint32_t k = 0; k < t->count; k++) {
        uintptr_t to = teams_table_entry(t, k);
        inside &= to >= f->module.begin && to < f->module.end;
    }
    return inside;
}

/* --- Calls by pointers --- */

/* The code that a place in memory leads to, where nobody can change that; 0: none. */
static uintptr_t pointed(uintptr_t at)
{
    struct code_image m;
    uintptr_t to;
    if (at % sizeof to || !code_image_keeps(at, sizeof to))
        return 0;
    memcpy(&to, (const void *)at, sizeof to);
    return code_image_find(to, &m) ? to : 0;
}

static bool is_and(const struct code_insn *i)
{
    const uint8_t *code = (const uint8_t *)i->address;
    code += (*code & 0xf0) == 0x40; /* REX */
    return *code == 0x25 || ((*code == 0x81 || *code == 0x83) && (code[1] >> 3 & 7) == 4);
}

/* How many values an index has that is cut off by a mask in the block, or bounded as a switch is; 0: not known. */
static uint32_t values_of(const struct teams_flow *f, uint32_t block, uint32_t insn, uint8_t reg)
{
    struct teams_table t = { 0 };
    struct index x = { .reg = reg };
    for (uint32_t k = insn; k-- > f->block[block].first;) {
        const struct code_insn *i = &f->insn[k];
        bool mask = !x.load && i->op == CODE_BITS && i->dst.kind == CODE_REGISTER && i->dst.number == x.reg &&
                    i->b.kind == CODE_IMMEDIATE && is_and(i);
        if (mask)
            return i->b.value >= 0 && i->b.value < TEAMS_MOST_TARGETS ? (uint32_t)i->b.value + 1 : 0;
        if (!go_back(f, k, &x))
            return 0;
    }
    return jumps_find_bound(f, block, insn, reg, &t) ? t.count : 0;
}

/* So many, or, where that is not known, all that stand side by side there: an index may also be counted from behind. */
static bool take_table(uintptr_t at, uint32_t values, struct teams_call *c, struct base_arena *room)
{
    uintptr_t from = at, to = at;
    uint32_t count = 0;
    for (; count < values && pointed(to); count++)
        to += sizeof to;
    if (count < values)
        return true;
    while (!values && count <= TEAMS_MOST_TARGETS && pointed(to))
        to += sizeof to, count++;
    while (!values && count && count <= TEAMS_MOST_TARGETS && pointed(from - sizeof from))
        from -= sizeof from, count++;
    if (count == 0 || count > TEAMS_MOST_TARGETS)
        return true;
    uintptr_t *targets = teams_flow_take(room, count * sizeof *targets);
    for (uint32_t k = 0; targets && k < count; k++)
        targets[k] = pointed(from + k * sizeof from);
    c->targets = targets;
    c->count = targets ? count : 0;
    return targets != NULL;
}

static bool take_one(uintptr_t target, struct teams_call *c, struct base_arena *room)
{
    uintptr_t *targets = teams_flow_take(room, sizeof *targets);
    if (targets)
        *targets = target;
    c->targets = targets;
    c->count = targets ? 1 : 0;
    return targets != NULL;
}

static bool find_targets(struct teams_flow *f, const struct teams_constants *c, uint32_t block, uint32_t call,
                         struct base_arena *room)
{
    const struct code_insn *i = &f->insn[call];
    struct code_image m;
    uint32_t load = call;
    uintptr_t at = 0;
    if (i->a.kind == CODE_REGISTER && known_at(f, c, block, call, i->a.number, &at))
        return !code_image_find(at, &m) || take_one(at, &f->call[call], room);
    if (i->a.kind == CODE_REGISTER)
        load = set_by(f, block, call, i->a.number);
    const struct code_insn *l = load == UINT32_MAX ? NULL : &f->insn[load];
    if (!l || (load != call && (l->op != CODE_MOVE || l->a.kind != CODE_MEMORY)))
        return true;
    const struct code_place *p = &l->place;
    bool indexed = p->index != CODE_NO_REGISTER;
    if (p->thread || (indexed && p->scale != sizeof at) ||
        (!p->fixed && p->base != CODE_NO_REGISTER && !known_at(f, c, block, load, p->base, &at)) ||
        (!p->fixed && p->base == CODE_NO_REGISTER && !indexed))
        return true;
    at += (uintptr_t)p->offset;
    if (indexed)
        return take_table(at, values_of(f, block, load, p->index), &f->call[call], room);
    return !pointed(at) || take_one(pointed(at), &f->call[call], room);
}

bool teams_call_targets(struct teams_flow *f, struct base_arena *room)
{
    const struct teams_constants *c = NULL;
    bool fine = true;
    for (uint32_t b = 0; b < f->blocks && fine; b++)
        for (uint32_t k = f->block[b].first; fine && k < f->block[b].first + f->block[b].count; k++) {
            const struct code_insn *i = &f->insn[k];
            if (i->op == CODE_CALL_SLOT && !f->call[k].name && pointed(i->target))
                fine = take_one(pointed(i->target), &f->call[k], room);
            if (i->op != CODE_CALL_ANY)
                continue;
            fine = (c || (c = teams_constants_find(f, room))) && find_targets(f, c, b, k, room);
        }
    return fine;
}
