/* SPDX-License-Identifier: MIT */
#include "teams/shared.h"

static bool by_bound(const struct teams_value *flags)
{
    return flags->kind == TEAMS_ANY && (flags->bits & (TEAMS_BOUND | TEAMS_LENGTH));
}

/* The next chunk is compared before it is known as a bound. */
static bool turns_by(const struct teams_value *flags)
{
    return by_bound(flags) || flags->kind == TEAMS_IF_CHUNK;
}

static bool is_shared(const struct teams_reading *r, int loop)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (teams_flow_branch(r->flow, (int)b) && turns_by(teams_follow_flags(r, (int)b)) &&
            teams_flow_leads_out(r->flow, loop, (int)b))
            return true;
    return false;
}

void teams_shared_find_loops(struct teams_reading *r)
{
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        r->shared_loop[b] = -1;
    for (uint32_t l = 0; l < r->flow->loops; l++) {
        if (!is_shared(r, (int)l))
            continue;
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            if (teams_flow_in_loop(r->flow, (int)l, (int)b) && r->shared_loop[b] < 0)
                r->shared_loop[b] = (int)l; /* outer loops come first */
    }
}

static void add_control(struct teams_reading *r, int from, int side, enum teams_control_kind kind)
{
    int to = r->flow->block[from].next[side];
    if (to < 0)
        return;
    for (uint32_t i = 0; i < r->controls; i++)
        if (r->control[i].from == from && r->control[i].to == to)
            return;
    if (r->controls == TEAMS_CONTROLS) {
        r->too_large = true;
        return;
    }
    uint8_t *inside = teams_flow_take_zeroed(r->room, r->flow->blocks);
    r->too_large |= !inside;
    if (inside)
        inside[to] = teams_flow_edge_dominates(r->flow, from, to, to);
    for (uint32_t b = (uint32_t)to + 1; inside && b < r->flow->blocks; b++)
        inside[b] = r->flow->block[b].dominator >= to && inside[r->flow->block[b].dominator];
    if (inside)
        r->control[r->controls++] = (struct teams_control){ .from = from, .to = to, .kind = kind, .inside = inside };
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
        } else if (flags->kind == TEAMS_ANY && !by_bound(flags) && (flags->bits & (TEAMS_CARRIED | TEAMS_COUNTER))) {
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

void teams_shared_find_context(struct teams_reading *r)
{
    static const uint8_t of[] = { TEAMS_RUN_ONCE,     TEAMS_RUN_BY_OTHERS,
                                  TEAMS_GUARDED,      TEAMS_GUARDED | TEAMS_BY_SHARE,
                                  TEAMS_BEFORE_CHUNK, TEAMS_IF_CARRIED,
                                  0 };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        r->context[b] = r->shared_loop[b] >= 0 ? TEAMS_IN_LOOP : 0;
    for (uint32_t i = 0; i < r->controls; i++)
        for (uint32_t b = 0; b < r->flow->blocks; b++)
            if (r->control[i].inside[b])
                r->context[b] |= of[r->control[i].kind];
}
