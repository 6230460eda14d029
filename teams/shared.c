/* SPDX-License-Identifier: MIT */
#include "teams/shared.h"

#include <string.h>

static bool by_bound(const struct teams_value *flags)
{
    return flags->kind == TEAMS_ANY && (flags->bits & (TEAMS_BOUND | TEAMS_LENGTH));
}

static bool by_carried(const struct teams_value *flags)
{
    return flags->kind == TEAMS_ANY &&
           ((flags->bits & TEAMS_CARRIED) || (!by_bound(flags) && (flags->bits & TEAMS_COUNTER)));
}

/* By where a share begins or ends, compared with anything else than another end: a first or a last iteration. */
static bool by_iteration(const struct teams_value *flags)
{
    return by_bound(flags) && (flags->bits & TEAMS_BOUND);
}

/* The number of a section is asked for, and is 0 behind the last one. */
static bool has_sections(const struct teams_flow *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->insns; i++)
        any |= f->call[i].known == TEAMS_BOUNDS && strstr(f->call[i].name, "sections");
    return any;
}

/* By one end of a share and another, not by one and something else. The next chunk is compared before it is known as a
   bound. */
static bool turns_by(const struct teams_value *flags, bool sections)
{
    return (by_bound(flags) && ((flags->bits & TEAMS_LENGTH) || sections)) || flags->kind == TEAMS_IF_CHUNK;
}

static bool is_shared(const struct teams_reading *r, int loop, bool sections)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (teams_flow_leads_out(r->flow, loop, (int)b) && teams_flow_branch(r->flow, (int)b) &&
            turns_by(teams_follow_flags(r, (int)b), sections))
            return true;
    return false;
}

void teams_shared_find_loops(struct teams_reading *r)
{
    bool sections = has_sections(r->flow);
    for (uint32_t l = 0; l < r->flow->nest.loops; l++) {
        if (!is_shared(r, (int)l, sections))
            continue;
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            if (loops_holds(&r->flow->nest, (int)l, (int)b) && r->shared_loop[b] < 0)
                r->shared_loop[b] = (int)l; /* outer loops come first */
    }
}

/* Which side of a branch leads to each block without turning back: a bit of each. */
static void find_sides(const struct teams_flow *f, int from, uint8_t *sides)
{
    for (int k = 0; k < 2; k++)
        if (f->block[from].next[k] > from)
            sides[f->block[from].next[k]] |= (uint8_t)(1 << k);
    for (uint32_t b = (uint32_t)from + 1; b < f->blocks; b++)
        for (int k = 0; k < 2; k++)
            if (f->block[b].next[k] > (int)b)
                sides[f->block[b].next[k]] |= sides[b];
}

static bool comes_back(const struct teams_flow *f, const struct teams_block *block)
{
    uint32_t last = block->first + block->count - 1;
    return f->insn[last].op == TEAMS_RETURN ||
           (f->insn[last].op == TEAMS_JUMP_SLOT && f->call[last].known != TEAMS_LEAVES);
}

/* Blocks that both sides lead to, and that a way may pass by, up to where all ways meet. One that turns back passes by
   the rest of its loop. */
static void find_between(const struct teams_flow *f, int from, uint8_t *sides)
{
    enum { BETWEEN = 4 };
    const int *next = f->block[from].next;
    int last = next[0] > next[1] ? next[0] : next[1], turned = -1;
    bool ended = false;
    for (int b = from + 1; b < (int)f->blocks; b++) {
        const struct teams_block *block = &f->block[b];
        if (!sides[b])
            continue;
        if (b == last && !ended && (turned < 0 || !loops_holds(&f->nest, turned, b)))
            return;
        sides[b] |= sides[b] == 3 ? BETWEEN : 0;
        for (int k = 0; k < 2; k++) {
            last = block->next[k] > last ? block->next[k] : last;
            if (block->next[k] >= 0 && block->next[k] <= b)
                turned = f->nest.node[block->next[k]].loop;
        }
        ended |= comes_back(f, block);
    }
}

static void add_side(struct teams_reading *r, int from, int side, enum teams_control_kind kind)
{
    const struct teams_flow *f = r->flow;
    int to = f->block[from].next[side];
    uint8_t *inside = teams_flow_take_zeroed(r->room, f->blocks), *within = teams_flow_take_zeroed(r->room, f->blocks);
    if (r->controls == TEAMS_CONTROLS || !inside || !within) {
        r->too_large = true;
        return;
    }
    find_sides(f, from, inside);
    find_between(f, from, inside);
    within[to] = teams_flow_edge_dominates(f, from, to, to);
    for (uint32_t b = 0; b < f->blocks; b++) {
        inside[b] = inside[b] == 1 << side || inside[b] > 3;
        if ((int)b > to)
            within[b] = f->nest.node[b].dominator >= to && within[f->nest.node[b].dominator];
    }
    r->control[r->controls++] = (struct teams_control){
        .from = from, .to = to, .kind = kind, .inside = inside, .within = within
    };
}

static void add_control(struct teams_reading *r, int from, int side, enum teams_control_kind kind)
{
    int to = r->flow->block[from].next[side];
    bool known = to < 0;
    for (uint32_t i = 0; i < r->controls; i++)
        known |= r->control[i].from == from && r->control[i].to == to;
    if (!known)
        add_side(r, from, side, kind);
}

void teams_shared_find_controls(struct teams_reading *r)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        const struct teams_insn *i = teams_flow_branch(r->flow, (int)b);
        const struct teams_value *flags = teams_follow_flags(r, (int)b);
        if (!i)
            continue;
        if (flags->kind == TEAMS_IF_CHUNK && r->shared_loop[b] < 0) {
            add_control(r, (int)b, 0, TEAMS_BY_CHUNK);
            add_control(r, (int)b, 1, TEAMS_BY_CHUNK);
        } else if (flags->kind == TEAMS_IF_REST) {
            add_control(r, (int)b, 0, TEAMS_BY_REST);
            add_control(r, (int)b, 1, TEAMS_BY_REST);
        } else if (flags->kind == TEAMS_IF_MASTER || flags->kind == TEAMS_IF_SINGLE) {
            int equal = i->if_equal; /* the side where the two are equal */
            bool one = flags->kind == TEAMS_IF_MASTER || flags->number == 1;
            add_control(r, (int)b, one ? equal : !equal, TEAMS_ONCE);
            add_control(r, (int)b, one ? !equal : equal, TEAMS_OTHERS);
        } else if (by_carried(flags) || (r->shared_loop[b] < 0 && by_iteration(flags))) {
            add_control(r, (int)b, 0, TEAMS_BY_CARRIED);
            add_control(r, (int)b, 1, TEAMS_BY_CARRIED);
        }
    }
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (teams_flow_branch(r->flow, (int)b) && r->shared_loop[b] < 0 && by_bound(teams_follow_flags(r, (int)b))) {
            bool bound = teams_follow_flags(r, (int)b)->bits & TEAMS_BOUND;
            add_control(r, (int)b, 0, bound ? TEAMS_BY_BOUND : TEAMS_BY_LENGTH);
            add_control(r, (int)b, 1, bound ? TEAMS_BY_BOUND : TEAMS_BY_LENGTH);
        }
}

/* What is left of a share behind a loop that takes several iterations at once: it is there by bounds, and once more by
   how large the share is. */
static void find_rests(struct teams_reading *r)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        int decided = 0;
        for (uint32_t i = 0; i < r->controls; i++)
            decided += r->control[i].inside[b] &&
                       (r->control[i].kind == TEAMS_BY_BOUND || r->control[i].kind == TEAMS_BY_LENGTH);
        r->context[b] |= decided > 1 ? TEAMS_REST : 0;
    }
}

void teams_shared_find_context(struct teams_reading *r)
{
    static const uint8_t allows[] = { [TEAMS_ONCE] = TEAMS_RUN_ONCE,
                                      [TEAMS_BY_BOUND] = TEAMS_GUARDED,
                                      [TEAMS_BY_LENGTH] = TEAMS_GUARDED,
                                      [TEAMS_BY_REST] = 0 };
    static const uint8_t forbids[] = { [TEAMS_OTHERS] = TEAMS_RUN_BY_OTHERS,
                                       [TEAMS_BY_LENGTH] = TEAMS_BY_SHARE,
                                       [TEAMS_BY_CHUNK] = TEAMS_BEFORE_CHUNK,
                                       [TEAMS_BY_CARRIED] = TEAMS_IF_CARRIED,
                                       [TEAMS_BY_REST] = 0 };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        r->context[b] = r->shared_loop[b] >= 0 ? TEAMS_IN_LOOP : 0;
    for (uint32_t i = 0; i < r->controls; i++)
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            r->context[b] |= (r->control[i].within[b] ? allows[r->control[i].kind] : 0) |
                             (r->control[i].inside[b] ? forbids[r->control[i].kind] : 0);
    find_rests(r);
}
