/* SPDX-License-Identifier: MIT */
#include "teams/loops.h"

static int meet(const struct teams_flow *f, int a, int b)
{
    while (a != b)
        if (a > b)
            a = f->block[a].dominator;
        else
            b = f->block[b].dominator;
    return a;
}

void teams_dominators_find(struct teams_flow *f)
{
    bool changed = true;
    f->block[0].dominator = 0;
    while (changed) {
        changed = false;
        for (uint32_t b = 1; b < f->blocks; b++) {
            int now = -1;
            for (uint32_t i = 0; i < f->block[b].before_count; i++) {
                int p = f->block[b].before[i];
                if (f->block[p].dominator >= 0)
                    now = now < 0 ? p : meet(f, now, p);
            }
            changed |= now != f->block[b].dominator;
            f->block[b].dominator = now;
        }
    }
}

bool teams_flow_dominates(const struct teams_flow *f, int dominator, int block)
{
    while (block > dominator)
        block = f->block[block].dominator;
    return block == dominator;
}

bool teams_flow_edge_dominates(const struct teams_flow *f, int from, int to, int block)
{
    if (f->block[from].next[0] == f->block[from].next[1] || !teams_flow_dominates(f, to, block))
        return false;
    for (uint32_t i = 0; i < f->block[to].before_count; i++) {
        int p = f->block[to].before[i];
        if (p != from && !teams_flow_dominates(f, to, p))
            return false;
    }
    return true;
}

bool teams_flow_leads_out(const struct teams_flow *f, int loop, int block)
{
    bool out = false;
    for (int k = 0; k < 2 && teams_flow_in_loop(f, loop, block); k++)
        out |= f->block[block].next[k] >= 0 && !teams_flow_in_loop(f, loop, f->block[block].next[k]);
    return out;
}

static void fill_loop(struct teams_flow *f, uint8_t *member, int tail, int *stack)
{
    int depth = 0;
    if (!member[tail]) {
        member[tail] = 1;
        stack[depth++] = tail;
    }
    while (depth) {
        const struct teams_block *b = &f->block[stack[--depth]];
        for (uint32_t i = 0; i < b->before_count; i++)
            if (!member[b->before[i]]) {
                member[b->before[i]] = 1;
                stack[depth++] = b->before[i];
            }
    }
}

static bool is_back(const struct teams_flow *f, int from, int to)
{
    return to <= from && teams_flow_dominates(f, to, from);
}

bool teams_loops_have_two_entries(const struct teams_flow *f, uintptr_t *where)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        for (uint32_t i = 0; i < f->block[b].before_count; i++) {
            int p = f->block[b].before[i];
            if (p >= (int)b && !is_back(f, p, (int)b)) {
                *where = f->insn[f->block[b].first].address;
                return true;
            }
        }
    return false;
}

static bool is_head(const struct teams_flow *f, uint32_t b)
{
    for (uint32_t i = 0; i < f->block[b].before_count; i++)
        if (is_back(f, f->block[b].before[i], (int)b))
            return true;
    return false;
}

bool teams_loops_find(struct teams_flow *f, struct base_arena *room, int *stack)
{
    uint32_t heads = 0;
    for (uint32_t b = 0; b < f->blocks; b++)
        heads += is_head(f, b);
    f->head = teams_flow_take(room, heads * sizeof *f->head);
    f->member = teams_flow_take_zeroed(room, (size_t)heads * f->blocks);
    if (!f->head || !f->member)
        return false;
    for (uint32_t b = 0; b < f->blocks; b++) {
        uint8_t *member = f->member + (size_t)f->loops * f->blocks;
        if (!is_head(f, b))
            continue;
        member[b] = 1;
        for (uint32_t i = 0; i < f->block[b].before_count; i++)
            if (is_back(f, f->block[b].before[i], (int)b))
                fill_loop(f, member, f->block[b].before[i], stack);
        f->head[f->loops] = (int)b;
        for (uint32_t k = 0; k < f->blocks; k++)
            if (member[k])
                f->block[k].loop = (int)f->loops; /* heads come outermost first */
        f->loops++;
    }
    return true;
}
