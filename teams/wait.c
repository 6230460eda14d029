/* SPDX-License-Identifier: MIT */
#include "teams/wait.h"

#include <stdlib.h>
#include <string.h>

#include "teams/marks.h"

enum { PLACES = CODE_REGISTERS + TEAMS_SLOTS };
struct marks {
    mark_t of[PLACES];
    bool seen;
    bool searched; /* a bound came closer */
};

/* What is known of a block. */
struct around {
    struct marks begin;
    mark_t flags;  /* at its end */
    bool leaves;   /* its branch out of the loop moves on */
    uint8_t ways;  /* whether it can be reached from the head, and the head from it */
};
enum { FROM = 1, TO = 2, INSIDE = FROM | TO };

enum { WORDS = 16 };
struct turn {
    const struct teams_frame *frame;
    const struct teams_flow *f;
    uint32_t head; /* the loop's block with the smallest number */
    struct around *at;
    struct marks begin, end; /* of the loop's turn */
    uint64_t written[WORDS]; /* by link_of(): places that the loop writes */
    uint64_t changed;        /* registers that it changes */
    uint32_t low, high;      /* places of a search's bounds, 0: none are looked for */
    bool spoiled;            /* one of them changed in another way */
};

static uint32_t places(const struct turn *t)
{
    return CODE_REGISTERS + t->frame->slots;
}

/* --- Values --- */

static mark_t of_register(const struct marks *m, uint8_t reg)
{
    return reg < CODE_REGISTERS ? m->of[reg] : STILL;
}

/* An array that is found through memory anew in each turn, where the loop leaves it alone, is the same. */
static mark_t of_base(const struct marks *m, uint8_t reg)
{
    mark_t mark = reg == code_convention()->stack ? STILL : of_register(m, reg);
    return is(mark, WATCHED | SEEN) && !(mark & MOVES) ? STILL : mark;
}

static mark_t of_address(const struct code_insn *i, const struct marks *m)
{
    mark_t base = of_base(m, i->place.base), index = of_register(m, i->place.index);
    index = i->place.scale > 1 ? teams_mark_scale(index, STILL) : index;
    return i->place.base == i->place.index ? teams_mark_scale(base, index) : teams_mark_add(base, index);
}

/* Equal for instructions that reach memory in the same way: by the same offset, scale and registers. */
static mark_t link_of(const struct code_insn *i)
{
    const struct code_place *p = &i->place;
    uint64_t way = (uint64_t)p->offset << 24 ^ (uint64_t)p->scale << 16 ^ (uint64_t)p->base << 8 ^ p->index;
    return (mark_t)((way * 0x9e3779b97f4a7c15u >> 49 | 1) << 17);
}

static bool is_inside(const struct turn *t, int block)
{
    return block >= 0 && t->at[block].ways == INSIDE;
}

static bool is_same_place(const struct code_place *a, const struct code_place *b)
{
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->offset == b->offset;
}

/* Whether the loop itself writes the place of a load, by the same registers, which stay; and no one else: what is
   exchanged others change, too. */
static bool is_written(const struct turn *t, const struct code_insn *load)
{
    uint32_t bit = link_of(load) >> 17;
    bool stays = !((code_bit(load->place.base) | code_bit(load->place.index)) & t->changed);
    if (!stays || !(t->written[bit / 64 % WORDS] >> bit % 64 & 1))
        return false;
    for (uint32_t b = t->head; b < t->f->blocks; b++)
        for (uint32_t k = 0; is_inside(t, (int)b) && k < t->f->block[b].count; k++) {
            const struct code_insn *i = &t->f->insn[t->f->block[b].first + k];
            if (i->stores && !i->atomic && is_same_place(&i->place, &load->place))
                return true;
        }
    return false;
}

/* A place that moves because it is followed is another one only where that is its next link: what else it has may be
   the same again, on a ring. */
static mark_t of_memory(const struct turn *t, const struct code_insn *i, mark_t place)
{
    mark_t link = link_of(i);
    if (!(place & MOVES))
        return FIXED | SEEN | (is_written(t, i) ? NOTHING : WATCHED);
    if (!(place & CHASED))
        return SWEPT | SEEN | link;
    return SEEN | ((place & LINK) == link ? SWEPT | CHASED | link : FIXED);
}

/* What is narrow comes back when it is full. */
static mark_t of_load(const struct turn *t, const struct code_insn *i, const struct marks *m)
{
    uint8_t slot = t->frame->slot_of[i - t->f->insn];
    if (slot != TEAMS_NO_SLOT) {
        mark_t mark = m->of[CODE_REGISTERS + slot] | (teams_frame_is_lent(t->frame, slot, false) ? LENT : NOTHING);
        return i->place.size < 4 ? teams_mark_compute(mark, NOTHING) : mark;
    }
    if (i->place.fixed && code_image_is_constant(&t->f->module, (uintptr_t)i->place.offset))
        return STILL;
    return of_memory(t, i, of_address(i, m));
}

static mark_t of_operand(const struct turn *t, const struct code_insn *i, const struct code_operand *o,
                          const struct marks *m)
{
    if (o->kind == CODE_MEMORY)
        return i->copies ? FIXED : of_load(t, i, m);
    return o->kind == CODE_REGISTER ? of_register(m, o->number) : STILL;
}

/* --- Instructions --- */

/* A slot is written: so are parts of those that overlap it. */
static void put_slot(const struct turn *t, uint8_t slot, struct marks *m, mark_t mark)
{
    for (uint32_t k = 0; k < t->frame->slots; k++)
        if (k != slot && teams_frame_overlap(t->frame, slot, (uint8_t)k))
            m->of[CODE_REGISTERS + k] = mark & ORIGIN;
    m->of[CODE_REGISTERS + slot] = mark;
}

static void put(const struct turn *t, const struct code_insn *i, struct marks *m, mark_t mark)
{
    uint8_t slot = t->frame->slot_of[i - t->f->insn];
    if (i->dst.kind == CODE_REGISTER && i->dst.number < CODE_REGISTERS)
        m->of[i->dst.number] = i->partial ? teams_mark_join(mark, m->of[i->dst.number]) : mark;
    else if (i->dst.kind == CODE_MEMORY && slot != TEAMS_NO_SLOT)
        put_slot(t, slot, m, mark);
}

static void other(const struct turn *t, const struct code_insn *i, struct marks *m)
{
    mark_t mark = i->copies ? FIXED : code_sources(i) ? STILL : NOTHING, slot = t->frame->slot_of[i - t->f->insn];
    for (uint64_t left = code_sources(i); left; left &= left - 1)
        mark = teams_mark_compute(mark, m->of[code_first(left)]);
    if (i->reads_flags)
        mark = teams_mark_compute(mark, m->of[CODE_FLAGS]);
    if (i->loads)
        mark = teams_mark_compute(mark, of_load(t, i, m));
    for (uint64_t left = i->writes; left; left &= left - 1) {
        mark_t *to = &m->of[code_first(left)];
        *to = i->partial ? teams_mark_join(mark, *to) : mark;
    }
    if (i->writes_flags)
        m->of[CODE_FLAGS] = mark;
    if (i->stores && slot != TEAMS_NO_SLOT)
        put_slot(t, slot, m, mark);
    for (uint32_t k = 0; i->stores && i->repeats && k < t->frame->slots; k++) /* any that it may reach */
        if (teams_frame_is_lent(t->frame, (uint8_t)k, false))
            m->of[CODE_REGISTERS + k] = (m->of[CODE_REGISTERS + k] | mark) & ORIGIN;
}

/* Compare and swap: whether it was the value that it should have been moves on by itself, where that value was read; a
   constant it waits for. */
static void swap(const struct turn *t, const struct code_insn *i, struct marks *m)
{
    uint8_t result = code_convention()->result;
    bool constant = !is(m->of[result], SEEN);
    mark_t found = of_address(i, m) & MOVES ? NOTHING : WATCHED;
    other(t, i, m);
    m->of[CODE_FLAGS] = constant ? FIXED | found : MOVED;
    m->of[result] = FIXED | SEEN | found | (constant ? NOTHING : SWAPPED);
}

static void call(const struct turn *t, const struct code_insn *i, struct marks *m)
{
    const struct teams_call *c = &t->f->call[i - t->f->insn];
    uint8_t result = code_convention()->result;
    bool watches = c->looks;
    for (uint64_t left = c->asks & code_convention()->clobbered; left; left &= left - 1)
        watches &= !(m->of[code_first(left)] & MOVES);
    for (uint64_t left = c->clobbers; left; left &= left - 1)
        m->of[code_first(left)] = FIXED;
    m->of[CODE_FLAGS] = FIXED;
    for (uint32_t k = 0; k < t->frame->slots; k++)
        if (teams_frame_is_lent(t->frame, (uint8_t)k, true) ||
            (c->known == TEAMS_BOUNDS && teams_frame_is_bound(t->frame, (uint8_t)k)))
            m->of[CODE_REGISTERS + k] = FIXED;
    if (c->known == TEAMS_BOUNDS) /* it comes to its end */
        m->of[result] = SWEPT;
    else if (watches)
        m->of[result] = m->of[CODE_GENERAL] = FIXED | WATCHED;
}

/* A step by a number. */
static mark_t step_by(mark_t mark, int64_t number)
{
    return number < 0 && (mark & MOVES) == MOVED ? mark | DOWN : mark;
}

static mark_t result(const struct turn *t, const struct code_insn *i, const struct marks *m)
{
    mark_t a = of_operand(t, i, &i->a, m), b = of_operand(t, i, &i->b, m);
    bool number = i->b.kind == CODE_IMMEDIATE, none = number && i->b.value == 0;
    bool alike = i->a.kind == CODE_REGISTER && i->b.kind == CODE_REGISTER && i->a.number == i->b.number;
    switch (i->op) {
    case CODE_MOVE: /* a number may be another one on another way */
        return i->a.kind == CODE_IMMEDIATE ? NOTHING : a;
    case CODE_ADDRESS:
        return step_by(of_address(i, m), i->place.index < CODE_REGISTERS ? 0 : i->place.offset);
    case CODE_SELECT:
        return (teams_mark_join(a, b) & ~(STILL | SAME)) | (m->of[CODE_FLAGS] & ORIGIN);
    case CODE_COMPARE:
        return teams_mark_compare(a, b);
    case CODE_ADD:
        return none ? a : step_by(alike ? teams_mark_scale(a, b) : teams_mark_add(a, b), number ? i->b.value : 0);
    case CODE_SUB:
        return none ? a : step_by(teams_mark_subtract(a, b), number ? -i->b.value : 0);
    case CODE_SCALE:
        return teams_mark_scale(a, b);
    case CODE_HALVE:
        return teams_mark_halve(a);
    default:
        return alike ? a : teams_mark_compute(a, b);
    }
}

/* What became of a search's bound, in a place: one that is left is the other's. */
static void note_bound(struct turn *t, const struct code_insn *i, uint32_t place, mark_t before, struct marks *m)
{
    mark_t own = place == t->low ? LOW | SAME : HIGH | SAME, mark = m->of[place];
    bool written = place < CODE_REGISTERS ? (i->dst.kind == CODE_REGISTER && i->dst.number == place) ||
                                                (place < 64 && i->writes & code_bit((uint8_t)place))
                                          : i->stores && t->frame->slot_of[i - t->f->insn] == place - CODE_REGISTERS;
    if ((!written && mark == before) || (mark & (BOUNDS | SAME)) == own)
        return;
    bool halved = is(mark, BETWEEN) && i->op != CODE_SELECT; /* it might stay */
    m->searched |= halved;
    t->spoiled |= !halved;
}

static void step_of(const struct turn *t, const struct code_insn *i, struct marks *m)
{
    if (code_is_call(i)) {
        call(t, i, m);
    } else if (i->swaps) {
        swap(t, i, m);
    } else if (i->op == CODE_OTHER) {
        other(t, i, m);
    } else if (i->op != CODE_NOTHING && i->op < CODE_OTHER) {
        mark_t mark = result(t, i, m);
        if (i->reads_flags && i->op != CODE_SELECT) /* with carry: it may be that nothing is added */
            mark = teams_mark_compute(mark, m->of[CODE_FLAGS]);
        put(t, i, m, mark);
        if (i->writes_flags)
            m->of[CODE_FLAGS] = mark;
    }
}

static void step(struct turn *t, const struct code_insn *i, struct marks *m)
{
    mark_t low = m->of[t->low], high = m->of[t->high];
    step_of(t, i, m);
    if (t->low != t->high) {
        note_bound(t, i, t->low, low, m);
        note_bound(t, i, t->high, high, m);
    }
}

/* --- A turn --- */

static bool meet(const struct turn *t, struct marks *to, const struct marks *from)
{
    bool changed = !to->seen || (to->searched && !from->searched);
    if (!to->seen)
        *to = *from;
    to->searched &= from->searched;
    for (uint32_t k = 0; k < places(t); k++) {
        mark_t both = teams_mark_join(to->of[k], from->of[k]);
        changed |= both != to->of[k];
        to->of[k] = both;
    }
    return changed;
}

/* What decides it. */
static mark_t of_branch(const struct turn *t, const struct code_insn *i, const struct marks *m)
{
    if (!i || i->a.kind == CODE_NONE)
        return m->of[CODE_FLAGS];
    mark_t a = of_operand(t, i, &i->a, m);
    if (i->op == CODE_JUMP_ANY)
        return a;
    return i->b.kind == CODE_NONE ? teams_mark_compare(a, STILL) : teams_mark_compute(a, STILL);
}

static bool run_block(struct turn *t, uint32_t b)
{
    const struct teams_block *block = &t->f->block[b];
    struct marks m = t->at[b].begin;
    bool changed = false;
    for (uint32_t k = 0; k < block->count; k++)
        step(t, &t->f->insn[block->first + k], &m);
    t->at[b].flags = of_branch(t, teams_flow_decides(t->f, (int)b), &m);
    for (uint32_t k = 0; k < teams_flow_ways(t->f, b); k++) {
        int to = teams_flow_way(t->f, b, k);
        if (is_inside(t, to))
            changed |= meet(t, to == (int)t->head ? &t->end : &t->at[to].begin, &m);
    }
    return changed;
}

/* From the head, with the marks there as they are; inner loops need several passes. False: too many. */
static bool run_turn(struct turn *t)
{
    bool changed = true;
    for (uint32_t b = 0; b < t->f->blocks; b++)
        t->at[b].begin.seen = false;
    t->at[t->head].begin = t->begin;
    t->end.seen = false;
    for (int round = 0; changed && round < 32; round++) {
        changed = false;
        for (uint32_t b = t->head; b < t->f->blocks; b++)
            if (is_inside(t, (int)b) && t->at[b].begin.seen)
                changed |= run_block(t, b);
    }
    return !changed;
}

/* What does not move on in each turn loses its mark; whether any did. What just stays does so first: others may be
   counted by it. */
static bool drop_still(struct turn *t)
{
    bool stays = false, changed = false;
    for (uint32_t k = 0; k < places(t); k++)
        if (t->begin.of[k] & t->end.of[k] & SAME) {
            t->begin.of[k] = STILL | (t->begin.of[k] & ORIGIN);
            stays = true;
        }
    for (uint32_t k = 0; k < places(t) && !stays; k++) {
        mark_t before = t->begin.of[k], end = t->end.of[k];
        if (before & MOVES && (end & MOVES) == MOVED)
            t->begin.of[k] |= is(end, SWEPT) && !(before & CHASED) ? CHASED | (end & LINK) : NOTHING;
        else
            t->begin.of[k] = ((before | end) & ORIGIN) | (end & SEEN) | (before & end & STILL);
        changed |= t->begin.of[k] != before;
    }
    return stays || changed;
}

/* Finds blocks without a smaller number than the head from which it is reached, and that are reached from it, but for
   ways on from those that leave: all ways around whose smallest one it is, whether or not the loop has other entries.
   False: there is none. */
static bool find_ways(struct turn *t)
{
    bool around = false, changed = true;
    for (uint32_t b = 0; b < t->f->blocks; b++)
        t->at[b].ways = b == t->head ? FROM : 0;
    while (changed) {
        changed = false;
        for (uint32_t b = t->head; b < t->f->blocks; b++) {
            struct around *at = &t->at[b];
            for (uint32_t k = 0; k < teams_flow_ways(t->f, b) && !at->leaves; k++) {
                int to = teams_flow_way(t->f, b, k);
                if (to < (int)t->head)
                    continue;
                uint8_t back = to == (int)t->head ? TO : t->at[to].ways & TO, on = at->ways & FROM;
                around |= back && on;
                changed |= (back & ~at->ways) || (on & ~t->at[to].ways);
                at->ways |= back;
                t->at[to].ways |= on;
            }
        }
    }
    return around;
}

static bool leads_out(const struct turn *t, uint32_t b)
{
    bool out = false;
    for (uint32_t k = 0; k < teams_flow_ways(t->f, b); k++)
        out |= teams_flow_way(t->f, b, k) >= 0 && !is_inside(t, teams_flow_way(t->f, b, k));
    return out;
}

/* Likewise, and not only to the process's end. */
static bool leads_on(const struct turn *t, uint32_t b)
{
    bool on = false;
    for (uint32_t k = 0; k < teams_flow_ways(t->f, b); k++) {
        int to = teams_flow_way(t->f, b, k);
        on |= to >= 0 && !is_inside(t, to) && t->f->block[to].goes_on & TEAMS_RETURNS;
    }
    return on;
}

static bool swaps(const struct teams_flow *f, uint32_t b)
{
    bool any = false;
    for (uint32_t k = 0; k < f->block[b].count; k++)
        any |= f->insn[f->block[b].first + k].swaps;
    return any;
}

/* Decided in each turn by what the loop itself does: no way around passes none of the branches that do. A swap alone is
   not: before it the loop may wait for the value that it swaps. Nor is a bound on waiting: whoever leaves by what
   others may have written, or else by a count, waits for so long. */
static bool ends_by_itself(struct turn *t)
{
    bool fixed = false, out = false, watches = false;
    for (uint32_t b = 0; b < t->f->blocks; b++) {
        if (!is_inside(t, (int)b))
            continue;
        out |= leads_out(t, b);
        if (!teams_flow_decides(t->f, (int)b) || !t->at[b].begin.seen)
            continue;
        bool branch = teams_flow_branch(t->f, (int)b) != NULL; /* a table may have no way out for what comes next */
        fixed |= (t->at[b].flags & READ) != 0;
        t->at[b].leaves = branch && (t->at[b].flags & MOVES) && leads_out(t, b) && !swaps(t->f, b);
        watches |= (t->at[b].flags & WATCHED) && !(t->at[b].flags & MOVES) && leads_on(t, b);
    }
    return out && !watches && (!fixed || !find_ways(t));
}

/* What it writes, but in its own frame. */
static void find_written(struct turn *t)
{
    memset(t->written, 0, sizeof t->written);
    t->changed = 0;
    for (uint32_t b = t->head; b < t->f->blocks; b++)
        for (uint32_t k = 0; is_inside(t, (int)b) && k < t->f->block[b].count; k++) {
            const struct code_insn *i = &t->f->insn[t->f->block[b].first + k];
            uint32_t bit = link_of(i) >> 17;
            if (i->stores)
                t->written[bit / 64 % WORDS] |= 1ull << bit % 64;
            t->changed |= i->writes | (i->dst.kind == CODE_REGISTER ? code_bit(i->dst.number) : 0) |
                          (code_is_call(i) ? t->f->call[i - t->f->insn].clobbers : 0);
        }
}

/* --- Searches --- */

/* Each turn sets one of two bounds to what was halved out of both, and passes a way out that they decide. That such a
   search comes to an end, whatever it reads, is taken for granted: one that does not is none without threads either. */
static bool closes_in(struct turn *t)
{
    for (uint32_t b = 0; b < t->f->blocks; b++) {
        mark_t flags = t->at[b].flags;
        bool ours = is_inside(t, (int)b) && t->at[b].begin.seen && teams_flow_branch(t->f, (int)b) != NULL;
        t->at[b].leaves = ours && !(flags & READ) && (flags & BETWEEN || is(flags, LOW | HIGH)) && leads_out(t, b);
    }
    bool around = find_ways(t);
    for (uint32_t b = 0; b < t->f->blocks; b++)
        t->at[b].leaves = false;
    (void)find_ways(t);
    return !around;
}

/* With these bounds. What each turn halves anew is so at the head, too. */
static bool searches_between(struct turn *t, const struct marks *begin, uint32_t low, uint32_t high)
{
    t->low = low, t->high = high;
    t->begin = *begin;
    for (uint32_t k = 0; k < places(t); k++)
        t->begin.of[k] |= begin->of[k] & (STILL | READ) ? NOTHING : BOUNDS;
    t->begin.of[low] = LOW | SAME;
    t->begin.of[high] = HIGH | SAME;
    for (bool more = true; more;) {
        t->spoiled = more = false;
        if (!run_turn(t))
            return false;
        for (uint32_t k = 0; k < places(t); k++)
            if (k != low && k != high && t->begin.of[k] & BOUNDS && !is(t->end.of[k], BOUNDS | FRESH)) {
                t->begin.of[k] = begin->of[k];
                more = true;
            }
    }
    bool both = !is(t->end.of[low], BETWEEN) && !is(t->end.of[high], BETWEEN);
    return both && !t->spoiled && t->end.searched && closes_in(t);
}

/* Bounds are what stays on some ways, and is set on others. */
static bool searches(struct turn *t)
{
    enum { BLOCKS = 24, CANDIDATES = 16 };
    struct marks begin = t->begin;
    uint32_t inside = 0, found[CANDIDATES], count = 0;
    for (uint32_t b = 0; b < t->f->blocks; b++)
        inside += is_inside(t, (int)b);
    for (uint32_t k = 0; k < places(t) && count < CANDIDATES; k++)
        if ((k < CODE_GENERAL || k >= CODE_REGISTERS) && !((begin.of[k] | t->end.of[k]) & (MOVES | READ | STILL)))
            found[count++] = k;
    bool any = false;
    for (uint32_t k = 0; inside <= BLOCKS && k < count * count && !any; k++)
        any = k / count < k % count && searches_between(t, &begin, found[k / count], found[k % count]);
    t->low = t->high = 0;
    return any;
}

static bool waits(struct turn *t)
{
    find_written(t);
    t->begin.seen = true;
    for (uint32_t k = 0; k < PLACES; k++)
        t->begin.of[k] = FIRST | SAME;
    for (int round = 0; round < 16; round++) {
        if (!run_turn(t))
            return true;
        if (!drop_still(t))
            return !ends_by_itself(t) && !searches(t);
    }
    return true;
}

uintptr_t teams_wait_find(const struct teams_frame *frame)
{
    const struct teams_flow *f = frame->flow;
    struct turn t = { .frame = frame, .f = f };
    uintptr_t where = 0;
    for (; t.head < f->blocks && !where; t.head++) {
        if (!f->block[t.head].head)
            continue;
        if (!t.at)
            t.at = calloc(f->blocks, sizeof *t.at);
        for (uint32_t b = 0; t.at && b < f->blocks; b++)
            t.at[b].leaves = false;
        if (!t.at || (find_ways(&t) && waits(&t)))
            where = f->insn[f->block[t.head].first].address;
    }
    free(t.at);
    return where;
}
