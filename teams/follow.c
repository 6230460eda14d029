/* SPDX-License-Identifier: MIT */
#include "teams/follow.h"

#include <stddef.h>
#include <string.h>

#include "teams/live.h"
#include "teams/memory.h"
#include "teams/shared.h"

/* --- States --- */

static struct teams_value *at_place(struct teams_state *s, int place)
{
    return place < TEAMS_REGISTERS ? &s->reg[place] : &s->slot[place - TEAMS_REGISTERS];
}

/* What is followed, of 0 to places(): registers, then slots. */
static int place_of(const struct teams_reading *r, uint32_t k)
{
    return k < r->regs ? r->reg[k] : TEAMS_REGISTERS + (int)(k - r->regs);
}

static uint32_t places(const struct teams_reading *r)
{
    return r->regs + r->slots;
}

/* The flags are the first of the registers that are kept. */
static bool seen(const struct teams_value *flags)
{
    return flags && flags->kind != TEAMS_UNSEEN;
}

/* Whether a value was made in these blocks (a row of bytes, one a block). */
static bool made_inside(const struct teams_reading *r, const struct teams_value *v, const uint8_t *inside)
{
    if (v->kind == TEAMS_CONSTANT)
        return false;
    if (v->kind != TEAMS_ANY || v->number == 0 || v->number == TEAMS_PART)
        return true;
    if (v->number <= TEAMS_MEMORY_NAMES)
        return false;
    return inside[teams_block_of_name(r, v->number)];
}

/* Quotient and rest, a thread's first iteration or one that is made of it. */
static bool is_of_share(const struct teams_value *v)
{
    return v->kind == TEAMS_LINEAR || v->kind == TEAMS_QUOTIENT || v->kind == TEAMS_QUOTIENT_1 ||
           (v->bits & (TEAMS_BOUND | TEAMS_LENGTH));
}

/* What was changed on one side of a branch that not all threads take alike. */
static void mark_value(const struct teams_reading *r, struct teams_value *v, unsigned how, const uint8_t *inside)
{
    bool place = v->kind == TEAMS_ANY && v->number <= TEAMS_MEMORY_NAMES && v->number != TEAMS_PART;
    bool same = place || v->kind == TEAMS_CONSTANT || teams_value_is_own(v); /* unless the other side has another one */
    if (same)
        v->bits |= how & (TEAMS_CARRIED | TEAMS_COUNTER) ? TEAMS_SIDE_CARRIED
                   : how == TEAMS_DECIDED_MARK           ? TEAMS_SIDE_CARRIED | TEAMS_SIDE_DECIDED
                   : how == TEAMS_REST_MARK              ? TEAMS_SIDE_REST
                                                         : TEAMS_SIDE;
    if (same || v->kind == TEAMS_UNSEEN || teams_value_is_raw(v) || !made_inside(r, v, inside))
        return;
    if (how == TEAMS_REST_MARK && is_of_share(v))
        return;
    if (how == TEAMS_RAW_MARK || how == TEAMS_REST_MARK ||
        (how == TEAMS_CHUNK_MARK && !(v->bits & (TEAMS_CARRIED | TEAMS_COUNTER))))
        *v = (struct teams_value){ .kind = TEAMS_RAW };
    else if (how == TEAMS_FOUND)
        v->bits |= TEAMS_FOUND;
    else if (how == TEAMS_DECIDED_MARK && !(v->bits & TEAMS_BOUND))
        *v = teams_value_any(TEAMS_CARRIED);
    else if (how != TEAMS_CHUNK_MARK && !(v->bits & TEAMS_BOUND))
        *v = (struct teams_value){ .kind = TEAMS_ANY, .bits = (v->bits & (TEAMS_ZERO | TEAMS_HALF)) | how, .t = v->t };
}

static void mark(const struct teams_reading *r, struct teams_state *s, const struct teams_defs *d, unsigned how,
                 const uint8_t *inside)
{
    for (uint64_t left = d->regs & r->used; left; left &= left - 1) {
        bool counts = how == TEAMS_CARRIED && (d->stepped & left & -left);
        mark_value(r, &s->reg[teams_first(left)], counts ? TEAMS_COUNTER : how, inside);
    }
    mark_value(r, &s->reg[TEAMS_KEPT_FLAGS], how, inside);
    for (uint32_t word = 0; word * 64 < r->slots; word++)
        for (uint64_t left = d->slots[word]; left; left &= left - 1)
            mark_value(r, &s->slot[word * 64 + teams_first(left)], how, inside);
}

static void add_defs(struct teams_defs *into, const struct teams_defs *from)
{
    into->stepped = (into->stepped | ~into->regs) & (from->stepped | ~from->regs);
    into->regs |= from->regs;
    into->stepped &= into->regs;
    for (int k = 0; k < 4; k++)
        into->slots[k] |= from->slots[k];
}

static struct teams_defs defs_inside(const struct teams_reading *r, const uint8_t *inside)
{
    struct teams_defs d = { 0 };
    for (uint32_t b = 0; b < r->flow->blocks; b++)
        if (inside[b])
            add_defs(&d, &r->defs[b]);
    return d;
}

static const uint8_t *blocks_of_loop(const struct teams_reading *r, int loop)
{
    return r->flow->nest.member + (size_t)loop * r->flow->blocks;
}

static void collect_defs(struct teams_reading *r)
{
    for (uint32_t l = 0; l < r->flow->nest.loops; l++)
        if (r->shared_loop[r->flow->nest.head[l]] == (int)l || r->retries[l])
            r->loop_defs[l] = defs_inside(r, blocks_of_loop(r, (int)l));
    for (uint32_t i = 0; i < r->controls; i++)
        r->control[i].defs = defs_inside(r, r->control[i].inside);
}

/* A sum's place at the head of a loop, for each. */
static void name_sums(const struct teams_reading *r, struct teams_state *s)
{
    for (uint32_t k = 0; k < places(r); k++) {
        int place = place_of(r, k);
        struct teams_value *v = at_place(s, place);
        v->n = v->kind == TEAMS_ANY && (v->bits & TEAMS_ZERO) ? (int16_t)(place + 1) : v->kind == TEAMS_ANY ? 0 : v->n;
    }
}

/* What goes on from iteration to iteration is a sum; something else that is made of it on the way is none. */
static void drop_others(const struct teams_reading *r, struct teams_state *s, bool again)
{
    for (uint32_t k = 0; k < places(r); k++) {
        int place = place_of(r, k);
        struct teams_value *v = at_place(s, place);
        if (v->kind != TEAMS_ANY || !(v->bits & TEAMS_ZERO) || v->n == 0 || v->n == place + 1)
            continue;
        if (again || v->n == TEAMS_OF_SEVERAL || v->number == 0 || at_place(s, v->n - 1)->number != v->number)
            v->bits &= (uint16_t)~TEAMS_ZERO;
    }
}

/* The state at the end of `from` as `to` sees it. Whether anything is marked in it. */
static bool along_edge(const struct teams_reading *r, int from, int to, struct teams_state *s)
{
    int loop = r->shared_loop[from];
    bool marked = false;
    if (loop >= 0 && !loops_holds(&r->flow->nest, loop, to)) {
        struct teams_defs d = r->loop_defs[loop];
        drop_others(r, s, false);
        d.stepped = 0;
        mark(r, s, &d, TEAMS_CARRIED, blocks_of_loop(r, loop));
        marked = true;
    }
    int retry = r->flow->nest.node[from].loop;
    if (retry >= 0 && r->retries[retry] && !loops_holds(&r->flow->nest, retry, to) &&
        !(r->context[from] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE))) {
        mark(r, s, &r->loop_defs[retry], TEAMS_FOUND, blocks_of_loop(r, retry));
        marked = true;
    }
    static const uint32_t how[] = {
        [TEAMS_ONCE] = TEAMS_RAW_MARK,     [TEAMS_OTHERS] = TEAMS_RAW_MARK,     [TEAMS_BY_BOUND] = TEAMS_CARRIED,
        [TEAMS_BY_LENGTH] = TEAMS_CARRIED, [TEAMS_BY_CHUNK] = TEAMS_CHUNK_MARK, [TEAMS_BY_CARRIED] = TEAMS_DECIDED_MARK,
        [TEAMS_BY_REST] = TEAMS_REST_MARK
    };
    for (uint32_t i = 0; i < r->controls; i++) {
        const struct teams_control *c = &r->control[i];
        if (!c->inside[from] || c->inside[to])
            continue;
        mark(r, s, &c->defs, how[c->kind], c->inside);
        marked = true;
    }
    return marked;
}

enum { LOOP = 1, HOPE = 2, INSIDE = 4, OUTSIDE = 8 /* of shared loops, which are known */ };
enum { SIDES = TEAMS_SIDE | TEAMS_SIDE_CARRIED | TEAMS_SIDE_DECIDED | TEAMS_SIDE_REST };

/* What an extreme still is where ways come together. Within an iteration, one that was left as it was would be another
   choice than that of the extreme. */
static int16_t join_extremes(const struct teams_value *a, const struct teams_value *b, unsigned how)
{
    int16_t takes = a->kind == TEAMS_ANY && a->t ? a->t : b->kind == TEAMS_ANY ? b->t : 0;
    bool both = a->kind == TEAMS_ANY && b->kind == TEAMS_ANY && a->t == b->t;
    bool may = both || (how & (LOOP | HOPE)) || !(how & INSIDE);
    return may && teams_value_is_extreme(a, takes) && teams_value_is_extreme(b, takes) ? takes : 0;
}

/* Of which nothing is known but its name. */
static bool only_named(const struct teams_value *v)
{
    static const struct teams_value any = { .kind = TEAMS_ANY };
    return memcmp(v, &any, offsetof(struct teams_value, number)) == 0;
}

static void join_others(struct teams_value *into, const struct teams_value *from, unsigned how, int32_t name)
{
    if (only_named(into) && only_named(from)) {
        into->number = name;
        return;
    }
    struct teams_value other = *from;
    unsigned side = (into->bits | from->bits) & SIDES;
    into->bits &= (uint16_t)~SIDES;
    other.bits &= (uint16_t)~SIDES;
    if (teams_value_equal(into, &other)) {
        into->bits |= (uint16_t)side;
        return;
    }
    from = &other;
    unsigned bound = (into->bits | from->bits) & (TEAMS_BOUND | TEAMS_TURNS);
    bool loop = how & LOOP;
    if (loop && (how & HOPE) && into->kind == TEAMS_ANY && teams_value_is_raw(from))
        return; /* as it was taken for before its head was known */
    /* within an iteration either is that iteration's own */
    bool anew = (how & INSIDE) && teams_value_begins_anew(into, from);
    bool own = (how & INSIDE) && bound && (into->kind == TEAMS_CONSTANT || from->kind == TEAMS_CONSTANT);
    int16_t of = into->n == from->n ? into->n : into->n && from->n ? TEAMS_OF_SEVERAL : 0;
    int16_t takes = side & TEAMS_SIDE_DECIDED ? 0 : join_extremes(into, from, how);
    *into = loop ? teams_value_loop(*into, *from) : teams_value_join(*into, *from);
    into->t = into->kind == TEAMS_ANY ? takes : into->t;
    into->bits |= own && into->kind == TEAMS_ANY ? bound : 0;
    into->bits |= loop && into->kind == TEAMS_ANY && (into->bits & TEAMS_BOUND) ? TEAMS_TURNS : 0;
    if ((how & OUTSIDE) && into->kind == TEAMS_ANY && bound && !(into->bits & TEAMS_BOUND))
        into->bits |= TEAMS_CARRIED; /* where a share ends, or not */
    if (into->kind == TEAMS_ANY)
        into->n = of;
    if (anew || (side & TEAMS_SIDE_DECIDED))
        into->bits &= (uint16_t)~TEAMS_ZERO;
    into->number = into->kind == TEAMS_ANY ? name : into->number;
    if ((side & TEAMS_SIDE) || ((side & TEAMS_SIDE_REST) && !is_of_share(into)))
        *into = (struct teams_value){ .kind = TEAMS_RAW };
    else if (side && !teams_value_is_raw(into) && !(into->bits & TEAMS_BOUND))
        into->bits |= TEAMS_CARRIED;
}

/* Most are the same. */
static inline void join_value(struct teams_value *into, const struct teams_value *from, unsigned how, int32_t name)
{
    if (memcmp(into, from, sizeof *into) != 0)
        join_others(into, from, how, name);
}

static void join_states(const struct teams_reading *r, int block, struct teams_state *into,
                        const struct teams_state *from, bool loop)
{
    int shared = r->shared_loop[block];
    bool inside = shared >= 0 && r->flow->nest.head[shared] != block;
    unsigned how = (loop ? LOOP : 0) | (r->hope ? HOPE : 0) | (inside ? INSIDE : 0) |
                   (shared < 0 && !loop && !r->recording ? OUTSIDE : 0);
    for (uint32_t k = 0; k < r->regs; k++)
        join_value(&into->reg[r->reg[k]], &from->reg[r->reg[k]], how, teams_name_of_meeting(block, r->reg[k]));
    for (uint32_t k = 0; k < r->slots; k++)
        join_value(&into->slot[k], &from->slot[k], how, teams_name_of_meeting(block, TEAMS_REGISTERS + k));
}

static void entry_state(struct teams_state *s)
{
    memset(s, 0, sizeof *s);
    for (uint32_t k = 0; k < TEAMS_REGISTERS; k++)
        s->reg[k] = (struct teams_value){ .kind = TEAMS_ANY, .number = teams_name_of_meeting(0, k) };
    s->reg[teams_convention()->stack] = (struct teams_value){ .kind = TEAMS_FRAME };
}

/* All ways have come together. */
static void drop_sides(const struct teams_reading *r, struct teams_state *s)
{
    for (uint32_t k = 0; k < places(r); k++)
        at_place(s, place_of(r, k))->bits &= (uint16_t)~SIDES;
}

/* Slots that were not known yet when it was kept are unseen. */
static void copy_kept(const struct teams_reading *r, struct teams_state *to, const struct teams_stop *from)
{
    uint32_t slots = from->slots < r->slots ? from->slots : r->slots;
    for (uint32_t k = 0; k < r->regs; k++)
        to->reg[r->reg[k]] = from->value[k];
    memcpy(to->slot, from->value + r->regs, slots * sizeof *to->slot);
    memset(to->slot + slots, 0, (r->slots - slots) * sizeof *to->slot);
}

void teams_follow_begin(const struct teams_reading *r, int block, struct teams_state *s)
{
    s->reg[TEAMS_FLAGS].kind = TEAMS_UNSEEN;
    if (r->in[block].value)
        copy_kept(r, s, &r->in[block]);
}

static void begin_block(const struct teams_reading *r, int block, struct teams_state *s)
{
    const struct loops_node *b = &r->flow->nest.node[block];
    struct teams_state edge;
    int loop = r->shared_loop[block];
    bool head = loop >= 0 && r->flow->nest.head[loop] == block, marked = head;
    s->reg[TEAMS_FLAGS].kind = TEAMS_UNSEEN;
    if (block == 0)
        entry_state(s);
    for (int back = 0; back < 2; back++)
        for (uint32_t i = 0; i < b->before_count; i++) {
            int from = b->before[i];
            if ((from >= block) != back || !seen(r->out[from].value))
                continue;
            struct teams_state *to = seen(&s->reg[TEAMS_FLAGS]) ? &edge : s;
            copy_kept(r, to, &r->out[from]);
            marked |= along_edge(r, from, block, to);
            if (head && back)
                drop_others(r, to, true);
            if (to == &edge)
                join_states(r, block, s, &edge, back);
        }
    if (head) { /* what meets at the head is another one in each turn */
        r->here[block] = 1;
        mark(r, s, &r->loop_defs[loop], TEAMS_CARRIED, r->here);
        r->here[block] = 0;
        name_sums(r, s);
    }
    if (marked)
        drop_sides(r, s);
}

/* Room for a state with the slots that are known, and some more. False: no memory is left. */
static bool make_larger(struct teams_reading *r, struct teams_stop *kept)
{
    enum { MORE = 16 };
    uint32_t slots = (r->slots + MORE - 1) / MORE * MORE;
    size_t bytes = (r->regs + slots) * sizeof *kept->value;
    struct teams_value *larger = teams_flow_take_zeroed(r->room, bytes);
    if (larger && kept->value)
        memcpy(larger, kept->value, (r->regs + kept->slots) * sizeof *larger);
    if (larger)
        *kept = (struct teams_stop){ larger, slots };
    return larger;
}

/* Keeps a state of a block; whether it is another one. */
static bool keep(struct teams_reading *r, struct teams_stop *kept, const struct teams_state *s)
{
    if ((!kept->value || kept->slots < r->slots) && !make_larger(r, kept)) {
        r->too_large = true;
        return false;
    }
    struct teams_value *slot = kept->value + r->regs;
    size_t slots = r->slots * sizeof *slot;
    bool changed = memcmp(slot, s->slot, slots) != 0;
    for (uint32_t k = 0; k < r->regs && !changed; k++)
        changed = memcmp(&kept->value[k], &s->reg[r->reg[k]], sizeof *slot) != 0;
    for (uint32_t k = 0; k < r->regs && changed; k++)
        kept->value[k] = s->reg[r->reg[k]];
    if (changed)
        memcpy(slot, s->slot, slots);
    return changed;
}

/* Whether a block may end in another state than when it ran last: one before it changed, or the frame is known better,
   or hope was given up where ways meet. */
static bool is_due(const struct teams_reading *r, uint32_t b, uint32_t hopeless)
{
    const struct loops_node *block = &r->flow->nest.node[b];
    uint32_t ran = r->last[b].ran;
    bool due = b == 0 || r->found >= ran;
    for (uint32_t i = 0; i < block->before_count && !due; i++)
        due = r->last[block->before[i]].changed >= ran || (block->before_count > 1 && hopeless > ran);
    return due;
}

/* Whether any state changed. */
static bool run_round(struct teams_reading *r, struct teams_state *s, uint32_t hopeless)
{
    bool changed = false;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        const struct teams_block *block = &r->flow->block[b];
        if (!is_due(r, b, hopeless))
            continue;
        bool known = r->last[b].ran > r->found;
        r->last[b].ran = ++r->tick;
        begin_block(r, (int)b, s);
        if (!keep(r, &r->in[b], s) && known) /* it ends as it did */
            continue;
        if (r->recording) /* what the last run writes counts */
            r->defs[b] = (struct teams_defs){ .stepped = ~0ull };
        for (uint32_t i = 0; i < block->count; i++)
            teams_follow_step(r, (int)b, block->first + i, s);
        if (keep(r, &r->out[b], s)) {
            r->last[b].changed = r->tick;
            changed = true;
        }
    }
    return changed;
}

/* Until nothing changes; states are made anew from those before, so that what the first rounds took for raw may go.
   What that hope rests on must hold when it is given up. Returns whether the frame was known before. */
static bool settle(struct teams_reading *r)
{
    enum { ROUNDS = 32 };
    struct teams_state s = { 0 };
    uint32_t begin = ++r->tick, hopeless = 0;
    for (uint32_t b = 0; b < r->flow->blocks; b++) {
        if (r->out[b].value)
            r->out[b].value->kind = TEAMS_UNSEEN;
        r->last[b] = (struct teams_ticks){ 0, begin };
    }
    r->hope = true;
    for (int round = 0; round < ROUNDS && !r->too_large; round++) {
        bool changed = run_round(r, &s, hopeless);
        if (!changed && !r->hope)
            return r->found <= begin;
        hopeless = r->hope && !changed ? ++r->tick : hopeless;
        r->hope = changed && r->hope;
    }
    r->too_large = true;
    return r->found <= begin;
}

/* --- The whole --- */

/* Flags, what calls may be given, and what any instruction looks at. */
static void find_registers(struct teams_reading *r)
{
    const struct teams_convention *c = teams_convention();
    r->changes = teams_live_changes(r->flow, &r->used);
    r->used |= teams_bit(c->stack) | teams_bit(c->result);
    for (int a = 0; a < c->argument_count; a++)
        r->used |= teams_bit(c->arguments[a]);
    for (uint8_t reg = TEAMS_FLAGS; reg < TEAMS_REGISTERS; reg++)
        r->reg[r->regs++] = reg;
    for (uint64_t left = r->used; left; left &= left - 1)
        r->reg[r->regs++] = teams_first(left);
}

/* False: no memory is left. */
static bool make_room(struct teams_reading *r, const struct teams_flow *f)
{
    r->in = teams_flow_take_zeroed(r->room, f->blocks * sizeof *r->in);
    r->out = teams_flow_take_zeroed(r->room, f->blocks * sizeof *r->out);
    r->last = teams_flow_take_zeroed(r->room, f->blocks * sizeof *r->last);
    r->defs = teams_flow_take_zeroed(r->room, f->blocks * sizeof *r->defs);
    r->here = teams_flow_take_zeroed(r->room, f->blocks);
    r->context = teams_flow_take_zeroed(r->room, f->blocks);
    r->slot_of = teams_flow_take(r->room, f->insns);
    r->shared_loop = teams_flow_take(r->room, f->blocks * sizeof *r->shared_loop);
    r->loop_defs = teams_flow_take_zeroed(r->room, f->nest.loops * sizeof *r->loop_defs);
    r->retries = teams_flow_take_zeroed(r->room, f->nest.loops * sizeof *r->retries);
    r->block_of = teams_flow_take(r->room, f->insns * sizeof *r->block_of);
    return r->in && r->out && r->last && r->defs && r->here && r->context && r->slot_of && r->shared_loop &&
           r->loop_defs && r->retries && r->block_of;
}

struct teams_reading *teams_follow(const struct teams_flow *f, struct base_arena *room)
{
    enum { TIMES = 4 };
    struct teams_reading *r = teams_flow_take_zeroed(room, sizeof *r);
    if (!r)
        return NULL;
    r->flow = f;
    r->room = room;
    if (!make_room(r, f))
        return NULL;
    find_registers(r);
    memset(r->slot_of, TEAMS_NO_SLOT, f->insns);
    for (uint32_t b = 0; b < f->blocks; b++) {
        r->shared_loop[b] = -1;
        for (uint32_t i = 0; i < f->block[b].count; i++)
            r->block_of[f->block[b].first + i] = (int)b;
        for (uint32_t i = 0; f->nest.node[b].loop >= 0 && i < f->block[b].count; i++)
            r->retries[f->nest.node[b].loop] |= f->insn[f->block[b].first + i].swaps;
    }
    for (int time = 0; time < TIMES; time++) {
        uint32_t before = r->controls;
        r->recording = time == 0;
        bool known = settle(r);
        r->recording = false;
        if (r->too_large)
            return r;
        if (time == 0)
            teams_shared_find_loops(r);
        teams_shared_find_controls(r);
        collect_defs(r);
        teams_shared_find_context(r);
        if ((time > 1 || (time == 1 && known)) && r->controls == before) /* once more would change nothing */
            return r;
    }
    r->too_large = true;
    return r;
}
