/* SPDX-License-Identifier: MIT */
#include "teams/live.h"

#include <stdlib.h>

/* `returned`: registers that whoever called looks at afterwards, as far as they are changed: others it still knows. */
static void use_and_define(const struct teams_flow *f, uint32_t insn, uint64_t returned, uint64_t *uses,
                           uint64_t *defines)
{
    const struct teams_insn *i = &f->insn[insn];
    uint64_t use = i->reads | teams_bit(i->place.base) | teams_bit(i->place.index) | teams_bit(i->second);
    use |= i->op == TEAMS_RETURN ? returned : 0;
    uint64_t define = i->writes | teams_bit(i->second);
    if (i->from.size)
        use |= teams_bit(i->from.base) | teams_bit(i->from.index);
    if (i->a.kind == TEAMS_REGISTER)
        use |= teams_bit(i->a.number);
    if (i->b.kind == TEAMS_REGISTER)
        use |= teams_bit(i->b.number);
    if (i->dst.kind == TEAMS_REGISTER)
        define |= teams_bit(i->dst.number);
    if (i->op == TEAMS_MOVE && i->a.kind == TEAMS_IMMEDIATE)
        use &= ~define;
    if (i->partial) /* the rest of it stays */
        use |= i->writes | (i->dst.kind == TEAMS_REGISTER ? teams_bit(i->dst.number) : 0);
    if (teams_is_call(i) || i->op == TEAMS_JUMP_SLOT) {
        use |= f->call[insn].reads;
        define |= f->call[insn].clobbers;
    }
    *uses = use;
    *defines = define;
}

/* Of a block: registers that are looked at before they are written, and that are written; `live` before it. */
struct block_use { uint64_t uses, defines, live; };

static struct block_use use_of(const struct teams_flow *f, const struct teams_block *block, uint64_t returned)
{
    struct block_use u = { 0 };
    for (uint32_t k = block->count; k-- > 0;) {
        uint64_t uses, defines;
        use_and_define(f, block->first + k, returned, &uses, &defines);
        u.uses = (u.uses & ~defines) | uses;
        u.defines |= defines;
    }
    return u;
}

uint64_t teams_live_arguments(const struct teams_flow *f, uint64_t changes)
{
    struct block_use *use = calloc(f->blocks + 1, sizeof *use);
    uint64_t returned = teams_convention()->returned & changes, entry = UINT64_MAX;
    for (uint32_t b = 0; use && b < f->blocks; b++)
        use[b] = use_of(f, &f->block[b], returned);
    for (bool changed = use != NULL; changed;) {
        changed = false;
        for (uint32_t b = f->blocks; b-- > 0;) {
            uint64_t out = 0;
            for (int k = 0; k < 2; k++)
                out |= f->block[b].next[k] >= 0 ? use[f->block[b].next[k]].live : 0;
            uint64_t now = (out & ~use[b].defines) | use[b].uses;
            changed |= now != use[b].live;
            use[b].live = now;
        }
    }
    if (use)
        entry = use[0].live;
    free(use);
    return entry & teams_convention()->clobbered;
}

uint64_t teams_live_changes(const struct teams_flow *f, uint64_t *reads)
{
    uint64_t all = 0, uses, defines;
    *reads = 0;
    for (uint32_t i = 0; i < f->insns; i++) {
        use_and_define(f, i, 0, &uses, &defines);
        all |= defines;
        *reads |= uses;
    }
    return all & teams_convention()->clobbered;
}

/* --- Flags --- */

enum { SEEN = 1, KEPT = 2 }; /* TEAMS_FLAGS, TEAMS_KEPT_FLAGS */

static unsigned flags_in(const struct teams_operand *o)
{
    bool reg = o->kind == TEAMS_REGISTER;
    return reg && o->number == TEAMS_FLAGS ? SEEN : reg && o->number == TEAMS_KEPT_FLAGS ? KEPT : 0;
}

/* Flags that are looked at from an instruction on, `live` behind it. */
static unsigned flags_before(const struct teams_insn *i, unsigned live)
{
    live &= ~(flags_in(&i->dst) | (teams_sets_flags(i) ? SEEN : 0));
    return live | flags_in(&i->a) | (i->reads_flags || i->op == TEAMS_BRANCH ? SEEN : 0);
}

static uintptr_t look_at_flags(const struct teams_flow *f, uint8_t *live, bool *changed)
{
    uintptr_t found = 0;
    for (uint32_t b = f->blocks; b-- > 0;) {
        const struct teams_block *block = &f->block[b];
        unsigned now = 0;
        for (int k = 0; k < 2; k++)
            now |= block->next[k] >= 0 ? live[block->next[k]] : 0;
        for (uint32_t k = block->first + block->count; k-- > block->first;) {
            found = now && teams_is_call(&f->insn[k]) ? f->insn[k].address : found;
            now = teams_is_call(&f->insn[k]) ? 0 : flags_before(&f->insn[k], now);
        }
        *changed |= live[b] != now;
        live[b] = (uint8_t)now;
    }
    return live[0] ? f->entry : found;
}

uintptr_t teams_live_flags(const struct teams_flow *f)
{
    uint8_t *live = calloc(f->blocks + 1, 1);
    uintptr_t found = f->entry;
    for (bool changed = live != NULL; changed;) {
        changed = false;
        found = look_at_flags(f, live, &changed);
    }
    free(live);
    return found;
}
