/* SPDX-License-Identifier: MIT */
#include "teams/flow.h"

#include <string.h>

#include "teams/jumps.h"
#include "teams/landing.h"

/* --- Calls --- */

/* A program may define functions by such names itself, for vectors compilers do. */
static bool is_own(uintptr_t target, enum teams_known known)
{
    struct code_image m;
    bool judged = known == TEAMS_HARMLESS || known == TEAMS_LOOKS || known == TEAMS_OPENS || known == TEAMS_CLOSES ||
                  known == TEAMS_COMPUTES || teams_known_leaves(known);
    if (!judged || !code_image_find(target, &m))
        return false;
    return !(known == TEAMS_COMPUTES ? teams_known_computes(&m) : teams_known_library(m.path));
}

/* A slot without a name may be a variable of the program's: what is in it now says nothing. */
static void through_slot(const struct code_image *m, uintptr_t slot, struct teams_call *c)
{
    c->name = code_image_slot(m, slot);
    c->known = c->name ? teams_known(c->name) : TEAMS_UNKNOWN_CALL;
    uintptr_t target = c->name ? code_image_target(m, slot, c->name) : 0;
    if (is_own(target, c->known))
        c->known = TEAMS_UNKNOWN_CALL;
    c->target = c->known == TEAMS_UNKNOWN_CALL ? target : 0;
}

/* Where a call leads to. What goes to a stub goes through its slot; a jump through one is a call for good. */
static void look_at_call(const struct code_image *m, struct code_insn *i, struct teams_call *c)
{
    uint64_t slot;
    if ((i->op == CODE_CALL || i->op == CODE_JUMP) && code_image_stub(m, i->target, &slot)) {
        i->op = i->op == CODE_CALL ? CODE_CALL_SLOT : CODE_JUMP_SLOT;
        i->target = slot;
    }
    if (i->op == CODE_CALL_SLOT || i->op == CODE_JUMP_SLOT)
        through_slot(m, i->target, c);
    else if (i->op == CODE_CALL)
        c->target = i->target;
}

/* --- Functions that end the process --- */

enum { EXIT_INSNS = 400, EXIT_WAYS = 64, EXIT_DEPTH = 3 };

/* A look at where its instructions lead to, without what catches exceptions. */
struct leaving {
    uintptr_t seen[EXIT_INSNS], todo[EXIT_WAYS];
    uint32_t count, ways;
    bool exits;
};

static bool ends_process(const struct code_image *m, uintptr_t entry, int depth);

/* Whether control may go on behind an instruction; false in *fine: it may come back, or this is not known. */
static bool goes_on_after(struct leaving *l, const struct code_image *m, uintptr_t at, struct code_insn *i,
                          int depth, bool *fine)
{
    struct teams_call c = { .known = TEAMS_UNKNOWN_CALL };
    *fine = l->count < EXIT_INSNS && l->ways < EXIT_WAYS && at >= m->begin && at < m->end &&
            code_read(m->begin, m->end, at, i);
    if (!*fine)
        return false;
    l->seen[l->count++] = at;
    look_at_call(m, i, &c);
    bool read = c.target && c.known == TEAMS_UNKNOWN_CALL;
    bool ends = c.known == TEAMS_EXITS || (read && ends_process(m, c.target, depth));
    l->exits |= ends;
    *fine = i->op != CODE_RETURN && i->op != CODE_JUMP_ANY && (i->op != CODE_JUMP_SLOT || ends);
    if (i->op == CODE_BRANCH || i->op == CODE_JUMP)
        l->todo[l->ways++] = i->target;
    return *fine && !ends && c.known != TEAMS_THROWS && i->op != CODE_JUMP && i->op != CODE_TRAP;
}

static bool is_seen(const struct leaving *l, uintptr_t at)
{
    bool seen = false;
    for (uint32_t k = 0; k < l->count && !seen; k++)
        seen = l->seen[k] == at;
    return seen;
}

/* Whether a function of the module never comes back, and some way through it ends the process: an error path, like
   exit() itself. */
static bool ends_process(const struct code_image *m, uintptr_t entry, int depth)
{
    struct leaving l = { .todo = { entry }, .ways = 1 };
    bool fine = depth < EXIT_DEPTH && !teams_known_library(m->path) && entry >= m->begin && entry < m->end;
    while (fine && l.ways) {
        struct code_insn i;
        uintptr_t at = l.todo[--l.ways];
        while (fine && !is_seen(&l, at) && goes_on_after(&l, m, at, &i, depth + 1, &fine))
            at += i.length;
    }
    return fine && l.exits;
}

/* --- Reading instructions --- */

enum { HASH = 32768, ENDS = 4096, MORE = 8192 /* ways of tables */, ROUNDS = 16 };

struct teams_reader {
    struct base_arena memory; /* its own */
    struct teams_flow *f;
    struct base_arena *room;
    struct code_insn insn[TEAMS_MOST_INSNS]; /* as they were read */
    struct teams_call call[TEAMS_MOST_INSNS];
    uintptr_t todo[TEAMS_MOST_INSNS + 1 + MORE]; /* the entry, and where each instruction may jump to */
    uint32_t todo_count;
    struct { uintptr_t target; bool process; } ends[ENDS];
    struct teams_table table[TEAMS_TABLES]; /* as far as they are known by now */
    uint32_t tables, more_count;
    int more[MORE]; /* blocks that they lead to */
    uint16_t at[HASH]; /* of addresses: index of an instruction + 1 */
    uint32_t starts[TEAMS_MOST_INSNS]; /* of an instruction: number of the block that it begins + 1 */
    struct teams_block block[TEAMS_MOST_INSNS]; /* in the order of instructions: the first one is the entry's */
    int stack[TEAMS_MOST_INSNS], order[TEAMS_MOST_INSNS], number[TEAMS_MOST_INSNS]; /* of blocks */
};

struct teams_reader *teams_reader_create(void)
{
    struct base_arena memory;
    struct teams_reader *r = code_prepare() ? base_arena_whole(&memory, sizeof *r) : NULL;
    if (r)
        r->memory = memory;
    return r;
}

void teams_reader_destroy(struct teams_reader *r)
{
    if (!r)
        return;
    struct base_arena memory = r->memory;
    base_arena_close(&memory);
}

static uint16_t *slot_of(struct teams_reader *r, uintptr_t address)
{
    uint32_t slot = (uint32_t)(address * 0x9e3779b97f4a7c15u >> 40) % HASH;
    while (r->at[slot] && r->insn[r->at[slot] - 1].address != address)
        slot = (slot + 1) % HASH;
    return &r->at[slot];
}

static bool unreadable(struct teams_flow *f, const char *why, uintptr_t where)
{
    if (!f->unreadable) {
        f->unreadable = why;
        f->where = where;
    }
    return false;
}

/* The same for each call of a function: remembered. */
static bool ends_process_once(struct teams_reader *r, uintptr_t target)
{
    uint32_t at = (uint32_t)(target >> 4) % ENDS;
    if (r->ends[at].target != target) {
        r->ends[at].target = target;
        r->ends[at].process = ends_process(&r->f->module, target, 0);
    }
    return r->ends[at].process;
}

/* Whether control may go on with the next instruction. */
static bool falls_through(const struct code_insn *n, const struct teams_call *c)
{
    bool leaves = code_is_call(n) && teams_known_leaves(c->known);
    return !leaves && n->op != CODE_JUMP && n->op != CODE_JUMP_SLOT && n->op != CODE_JUMP_ANY &&
           n->op != CODE_RETURN && n->op != CODE_TRAP;
}

/* The table of a jump, NULL: none is known. */
static const struct teams_table *table_of(const struct teams_reader *r, const struct code_insn *i)
{
    for (uint32_t k = 0; i->op == CODE_JUMP_ANY && k < r->tables; k++)
        if (r->table[k].jump == i->address)
            return &r->table[k];
    return NULL;
}

/* Reads one instruction at `address`; returns whether control falls through. */
static bool read_one(struct teams_reader *r, uintptr_t address)
{
    struct teams_flow *f = r->f;
    if (address < f->module.begin || address >= f->module.end)
        return unreadable(f, "control leaves its module", address);
    if (f->insns == TEAMS_MOST_INSNS)
        return unreadable(f, "too long to be read", address);
    struct code_insn *i = &r->insn[f->insns];
    struct teams_call *c = &r->call[f->insns];
    *c = (struct teams_call){ .known = TEAMS_UNKNOWN_CALL };
    if (!code_read(f->module.begin, f->module.end, address, i))
        return unreadable(f, "an instruction that cannot be read", address);
    *slot_of(r, address) = (uint16_t)++f->insns;
    look_at_call(&f->module, i, c);
    if (c->target && c->known == TEAMS_UNKNOWN_CALL && ends_process_once(r, c->target))
        c->known = TEAMS_EXITS;
    if (code_is_call(i) && !teams_landing_pad(address + i->length - 1u, &c->pad))
        return unreadable(f, "tables of exceptions that cannot be read", address);
    if (c->pad || i->op == CODE_JUMP || i->op == CODE_BRANCH)
        r->todo[r->todo_count++] = c->pad ? c->pad : i->target;
    const struct teams_table *t = table_of(r, i);
    if (t && r->more_count + t->count > MORE)
        return unreadable(f, "too many ways", address);
    for (uint32_t k = 0; t && k < t->count; k++, r->more_count++)
        r->todo[r->todo_count++] = teams_table_entry(t, k);
    return falls_through(i, c);
}

static void flow_read_all(struct teams_reader *r, struct teams_flow *f)
{
    r->f = f;
    memset(r->at, 0, sizeof r->at);
    r->todo[0] = f->entry;
    r->todo_count = 1;
    r->more_count = 0;
    while (r->todo_count && !f->unreadable) {
        uintptr_t address = r->todo[--r->todo_count];
        while (!*slot_of(r, address) && read_one(r, address))
            address += r->insn[f->insns - 1].length;
    }
}

/* --- Blocks --- */

/* Where an instruction may go but for the next one, 0: nowhere. */
static uintptr_t leads_to(const struct teams_reader *r, uint32_t i)
{
    const struct code_insn *n = &r->insn[i];
    return n->op == CODE_JUMP || n->op == CODE_BRANCH ? n->target : r->call[i].pad;
}

/* Where it goes on, 0: nowhere. */
static uintptr_t goes_on(const struct teams_reader *r, uint32_t i)
{
    return falls_through(&r->insn[i], &r->call[i]) ? r->insn[i].address + r->insn[i].length : 0;
}

static bool flow_ends(const struct teams_reader *r, uint32_t i)
{
    return leads_to(r, i) || i + 1 == r->f->insns || r->insn[i + 1].address != goes_on(r, i);
}

static uint32_t mark_starts(struct teams_reader *r)
{
    uint32_t count = 0, insns = r->f->insns;
    memset(r->starts, 0, insns * sizeof *r->starts);
    for (uint32_t i = 0; i < insns; i++) {
        if (leads_to(r, i))
            r->starts[*slot_of(r, leads_to(r, i)) - 1] = 1;
        const struct teams_table *t = table_of(r, &r->insn[i]);
        for (uint32_t k = 0; t && k < t->count; k++)
            r->starts[*slot_of(r, teams_table_entry(t, k)) - 1] = 1;
        if (flow_ends(r, i) && goes_on(r, i))
            r->starts[*slot_of(r, goes_on(r, i)) - 1] = 1;
        if (flow_ends(r, i) && i + 1 < insns)
            r->starts[i + 1] = 1;
    }
    r->starts[0] = 1;
    for (uint32_t i = 0; i < insns; i++)
        if (r->starts[i])
            r->starts[i] = ++count;
    return count;
}

/* The block that begins at an address, -1: nowhere. */
static int block_at(struct teams_reader *r, uintptr_t address)
{
    return address ? (int)r->starts[*slot_of(r, address) - 1] - 1 : -1;
}

static void link_block(struct teams_reader *r, struct teams_block *b)
{
    uint32_t last = b->first + b->count - 1;
    int on = block_at(r, goes_on(r, last)), to = block_at(r, leads_to(r, last));
    b->next[0] = r->insn[last].op == CODE_JUMP ? to : on;
    b->next[1] = r->insn[last].op == CODE_JUMP ? -1 : to;
    const struct teams_table *t = table_of(r, &r->insn[last]);
    b->more = r->more_count;
    b->mores = t ? t->count : 0;
    for (uint32_t k = 0; t && k < t->count; k++)
        r->more[r->more_count++] = block_at(r, teams_table_entry(t, k));
}

static uint32_t make_blocks(struct teams_reader *r)
{
    uint32_t count = mark_starts(r);
    for (uint32_t i = 0, b = 0; i < r->f->insns; i++) {
        if (r->starts[i]) {
            b = r->starts[i] - 1;
            r->block[b] = (struct teams_block){ .first = i };
        }
        r->block[b].count++;
    }
    r->more_count = 0;
    for (uint32_t b = 0; b < count; b++)
        link_block(r, &r->block[b]);
    return count;
}

/* --- Order --- */

/* Blocks in postorder into r->order; the number of those that can be reached. A number of -1: not reached. */
static uint32_t visit(struct teams_reader *r)
{
    uint32_t depth = 0, count = 0;
    r->stack[depth++] = 0;
    r->number[0] = 0;
    while (depth) {
        int b = r->stack[depth - 1], next = -1;
        const struct teams_block *block = &r->block[b];
        for (uint32_t k = 0; k < 2 + block->mores && next < 0; k++) {
            int to = k < 2 ? block->next[k] : r->more[block->more + k - 2];
            next = to >= 0 && r->number[to] < 0 ? to : -1;
        }
        if (next >= 0) {
            r->number[next] = 0;
            r->stack[depth++] = next;
        } else {
            r->order[count++] = b;
            depth--;
        }
    }
    return count;
}

/* Numbers in reverse postorder. False: out of memory. */
static bool order_blocks(struct teams_reader *r, struct teams_flow *f)
{
    memset(r->number, -1, make_blocks(r) * sizeof *r->number);
    f->blocks = visit(r);
    f->block = teams_flow_take(r->room, f->blocks * sizeof *f->block);
    for (uint32_t i = 0; i < f->blocks; i++)
        r->number[r->order[i]] = (int)(f->blocks - 1 - i);
    for (uint32_t i = 0; f->block && i < f->blocks; i++)
        f->block[r->number[r->order[i]]] = r->block[r->order[i]];
    f->more = teams_flow_take(r->room, (r->more_count + 1) * sizeof *f->more);
    if (!f->block || !f->more)
        return false;
    for (uint32_t b = 0; b < f->blocks; b++)
        for (uint32_t k = 0; k < teams_flow_ways(f, b); k++) {
            int *next = k < 2 ? &f->block[b].next[k] : &f->more[f->block[b].more + k - 2];
            int old = k < 2 ? *next : r->more[f->block[b].more + k - 2];
            *next = old >= 0 ? r->number[old] : -1;
            if (*next >= 0 && *next <= (int)b)
                f->block[*next].head = true;
        }
    return true;
}

/* What was read, for good. False: out of memory. */
static bool take_insns(struct teams_reader *r, struct teams_flow *f)
{
    f->insn = teams_flow_take(r->room, f->insns * sizeof *f->insn);
    f->call = teams_flow_take(r->room, f->insns * sizeof *f->call);
    if (!f->insn || !f->call)
        return false;
    memcpy(f->insn, r->insn, f->insns * sizeof *f->insn);
    memcpy(f->call, r->call, f->insns * sizeof *f->call);
    return true;
}

void *teams_flow_take(struct base_arena *room, size_t bytes)
{
    void *taken = base_arena_take(room, bytes);
    if (taken)
        base_arena_ahead(room, room->taken);
    return taken;
}

void *teams_flow_take_zeroed(struct base_arena *room, size_t bytes)
{
    void *p = teams_flow_take(room, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

/* Tables as they are by what was read with those known before; whether they are the same: then that was all of it. A
   jump without one is unreadable. False: out of memory. */
static bool find_tables(struct teams_reader *r, struct teams_flow *f, bool *same)
{
    const struct teams_constants *constants = NULL;
    struct teams_table table[TEAMS_TABLES];
    uint32_t tables = 0;
    for (uint32_t b = 0; b < f->blocks && !f->unreadable; b++) {
        const struct code_insn *last = &f->insn[f->block[b].first + f->block[b].count - 1];
        if (last->op != CODE_JUMP_ANY)
            continue;
        if (!constants && !(constants = teams_constants_find(f, r->room)))
            return false;
        if (tables == TEAMS_TABLES || !teams_jump_table(f, constants, b, &table[tables]))
            unreadable(f, "a computed jump", last->address);
        else
            tables++;
    }
    *same = tables == r->tables || f->unreadable;
    for (uint32_t k = 0; *same && !f->unreadable && k < tables; k++) {
        const struct code_insn jump = { .op = CODE_JUMP_ANY, .address = table[k].jump };
        const struct teams_table *t = &table[k], *old = table_of(r, &jump);
        *same = old && old->entries == t->entries && old->base == t->base && old->count == t->count;
    }
    memcpy(r->table, table, tables * sizeof *table);
    r->tables = tables;
    return true;
}

static void find_ends(struct teams_flow *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->blocks; b-- > 0;) {
            struct teams_block *block = &f->block[b];
            uint32_t last = block->first + block->count - 1;
            bool returns = f->insn[last].op == CODE_RETURN || f->insn[last].op == CODE_JUMP_SLOT;
            bool unwinds = code_is_call(&f->insn[last]) && f->call[last].known == TEAMS_THROWS;
            uint8_t on = (returns ? TEAMS_RETURNS : 0) | (unwinds ? TEAMS_UNWINDS : 0);
            for (uint32_t k = 0; k < teams_flow_ways(f, b); k++)
                on |= teams_flow_way(f, b, k) >= 0 ? f->block[teams_flow_way(f, b, k)].goes_on : 0;
            changed |= on != block->goes_on;
            block->goes_on = on;
        }
    }
}

struct teams_flow *teams_flow_read(struct teams_reader *r, uintptr_t entry, struct base_arena *room)
{
    struct teams_flow *f = teams_flow_take_zeroed(room, sizeof *f);
    if (!f)
        return NULL;
    f->entry = entry;
    r->room = room;
    if (!code_image_find(entry, &f->module)) {
        unreadable(f, "code of no module", entry);
        return f;
    }
    r->tables = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool same = true;
        f->insns = 0;
        flow_read_all(r, f);
        if (f->unreadable)
            return f;
        if (!take_insns(r, f) || !order_blocks(r, f) || !find_tables(r, f, &same))
            return NULL;
        if (same) {
            find_ends(f);
            return f;
        }
    }
    unreadable(f, "a computed jump", entry);
    return f;
}
