/* SPDX-License-Identifier: MIT */
/* One instruction of a function that is read. */
#include "teams/memory.h"

#include <string.h>

static struct teams_value named(const struct teams_reading *r, const struct teams_insn *i, struct teams_value v)
{
    if (v.kind == TEAMS_ANY && v.number == 0)
        v.number = (int32_t)(i - r->flow->insn) + 1;
    return v;
}

/* In a part of what holds something else besides. */
static struct teams_value beside(struct teams_value v, struct teams_value rest, bool low)
{
    if (teams_value_is_raw(&v))
        return v;
    if (teams_value_is_raw(&rest))
        return (struct teams_value){ .kind = low ? TEAMS_LOW : TEAMS_RAW,
                                     .bits = v.bits & ~(unsigned)(TEAMS_ZERO | TEAMS_EXACT) };
    v.bits |= rest.bits & TEAMS_MARKS;
    return v.kind == TEAMS_CONSTANT ? teams_value_any(v.bits & ~(unsigned)TEAMS_ZERO) : v;
}

/* What is left in other lanes of vectors, and beside a condition, is hardly ever used: it counts where it is raw. */
static struct teams_value rest_of(const struct teams_state *s, const struct teams_insn *i, uint8_t reg)
{
    struct teams_value v = s->reg[reg];
    return (reg >= TEAMS_GENERAL || i->op == TEAMS_SET) && !teams_value_is_raw(&v) ? teams_value_any(0) : v;
}

static void write(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                  struct teams_value v)
{
    if (i->partial && i->dst.kind == TEAMS_REGISTER)
        v = beside(v, rest_of(s, i, i->dst.number), i->narrow == 1);
    v = named(r, i, v);
    if (i->dst.kind == TEAMS_MEMORY) {
        teams_memory_store(r, block, i, s, v);
    } else if (i->dst.kind == TEAMS_REGISTER && i->dst.number < TEAMS_REGISTERS) {
        bool step = (i->op == TEAMS_ADD || i->op == TEAMS_SUB) && i->a.kind == TEAMS_REGISTER &&
                    i->a.number == i->dst.number && i->b.kind == TEAMS_IMMEDIATE;
        step |= i->op == TEAMS_ADDRESS && i->place.base == i->dst.number && i->place.index == TEAMS_NO_REGISTER;
        s->reg[i->dst.number] = v;
        teams_memory_define(r, block, i->dst.number, step);
    }
}

static void write_all(struct teams_reading *r, int block, struct teams_state *s, uint64_t registers,
                      struct teams_value v)
{
    for (; registers; registers &= registers - 1) {
        s->reg[teams_first(registers)] = v;
        teams_memory_define(r, block, teams_first(registers), false);
    }
}

/* --- Operations --- */

/* What was computed in 32 bits is another number by a multiple of 2^32 where it was negative or did not fit. In 64 bits
   that is left where the thread's number goes away, and differs with what each thread added. */
static struct teams_value of_width(const struct teams_insn *i, struct teams_value v, unsigned before, bool linear)
{
    bool moves = i->op == TEAMS_MOVE || i->op == TEAMS_SELECT, half = before & TEAMS_HALF;
    v.bits &= (uint16_t)~TEAMS_HALF;
    if (half && !i->half && !moves && linear && !teams_value_is_raw(&v))
        return (struct teams_value){ .kind = TEAMS_RAW };
    bool sum = v.kind == TEAMS_ANY && (v.bits & TEAMS_ZERO);
    if (sum && (i->narrow || (half && !i->half && (!moves || i->widens))))
        v.bits &= (uint16_t)~TEAMS_ZERO;
    bool negative = v.kind == TEAMS_LINEAR && !((v.bits & TEAMS_EXACT) && v.t >= 0 && v.n >= 0 && v.m >= 0 && v.r >= 0);
    bool keeps = i->half ? !moves || sum || negative || half : half && !i->widens;
    if (keeps && (v.kind == TEAMS_LINEAR || (v.kind == TEAMS_ANY && (v.bits & TEAMS_ZERO))))
        v.bits |= TEAMS_HALF;
    return v;
}

static unsigned bits_of_place(const struct teams_place *p, const struct teams_state *s, bool *linear)
{
    const uint8_t regs[] = { p->base, p->index };
    unsigned bits = 0;
    for (int k = 0; k < 2; k++)
        if (regs[k] != TEAMS_NO_REGISTER) {
            bits |= s->reg[regs[k]].bits;
            *linear |= s->reg[regs[k]].kind == TEAMS_LINEAR;
        }
    return bits;
}

/* Whether the block is run by the threads with T < r only. */
static bool has_rest(const struct teams_reading *r, int block)
{
    const struct teams_flow *f = r->flow;
    for (int b = f->nest.node[block].dominator, last = block; b >= 0 && b != last;
         last = b, b = f->nest.node[b].dominator)
        for (int k = 0; teams_follow_flags(r, b)->kind == TEAMS_IF_REST && k < 2; k++)
            if (f->block[b].next[k] >= 0 && teams_flow_edge_dominates(f, b, f->block[b].next[k], block))
                return true;
    return false;
}

/* q T + T, which a processor does at once. */
static bool is_begin(const struct teams_value *v)
{
    return v->kind == TEAMS_LINEAR && (v->bits & TEAMS_EXACT) && v->t == 1 && v->m == 1 && !v->n && !v->r;
}

/* Sums that begin with 0 stay such where iterations add to them. */
static struct teams_value sum(const struct teams_reading *r, int block, struct teams_value a, struct teams_value b,
                              bool minus)
{
    struct teams_value v = teams_value_add(a, b, minus);
    if (is_begin(&v) && has_rest(r, block))
        return teams_value_any(TEAMS_BOUND | TEAMS_EDGE);
    bool in = r->context[block] & (TEAMS_IN_LOOP | TEAMS_GUARDED);
    bool both = a.bits & b.bits & TEAMS_ZERO;
    bool loop = r->context[block] & TEAMS_IN_LOOP; /* there, what this thread has done so far is not added to one */
    bool a_carried = loop && teams_value_is_carried(&a), b_carried = loop && teams_value_is_carried(&b);
    bool zero = (both && !(a_carried && b_carried)) || (in && (a.bits & TEAMS_ZERO) && !b_carried) ||
                (in && !minus && (b.bits & TEAMS_ZERO) && !a_carried);
    if (v.kind == TEAMS_ANY && zero) {
        v.bits |= TEAMS_ZERO;
        int16_t x = a.kind == TEAMS_ANY && (a.bits & TEAMS_ZERO) ? a.n : 0;
        int16_t y = b.kind == TEAMS_ANY && (b.bits & TEAMS_ZERO) ? b.n : 0;
        v.n = x && y ? TEAMS_OF_SEVERAL : x | y;
    }
    return v;
}

static struct teams_value choose(struct teams_value flags, struct teams_value a, struct teams_value b, bool outside)
{
    struct teams_value v = teams_value_join(a, b);
    /* by whether a chunk is there only its end is chosen, which still has the number in it */
    if (flags.kind == TEAMS_IF_MASTER || flags.kind == TEAMS_IF_SINGLE || flags.kind == TEAMS_RAW ||
        (flags.kind == TEAMS_IF_CHUNK && v.kind != TEAMS_LINEAR) ||
        (flags.kind == TEAMS_IF_REST && v.kind != TEAMS_QUOTIENT && v.kind != TEAMS_LINEAR))
        return (struct teams_value){ .kind = TEAMS_RAW };
    if (v.kind == TEAMS_CONSTANT || v.kind == TEAMS_ANY)
        v.bits |= flags.bits & TEAMS_MARKS;
    if (v.kind == TEAMS_ANY && outside && ((a.bits ^ b.bits) & TEAMS_BOUND)) /* where a share ends, or not */
        v.bits |= TEAMS_CARRIED;
    if ((teams_value_is_carried(&flags) && !(flags.bits & TEAMS_EDGE)) || teams_value_begins_anew(&a, &b))
        v.bits &= (uint16_t)~TEAMS_ZERO;
    return v;
}

/* An extreme stays one where another one is taken of it and of what an iteration has. */
static bool keeps_extreme(const struct teams_reading *r, int block, const struct teams_value *v, int takes)
{
    bool own = (r->context[block] & (TEAMS_IN_LOOP | TEAMS_REST)) && v->kind == TEAMS_ANY && !(v->bits & TEAMS_MARKS);
    return takes && (own || teams_value_is_extreme(v, takes));
}

static struct teams_value set(struct teams_value flags)
{
    return flags.kind >= TEAMS_RAW ? (struct teams_value){ .kind = TEAMS_RAW }
                                   : teams_value_any(flags.bits & ~(unsigned)TEAMS_ZERO);
}

static struct teams_value bits(struct teams_value a, struct teams_value b)
{
    if (a.kind == TEAMS_FRAME && b.kind == TEAMS_CONSTANT && b.number < 0)
        return (struct teams_value){ .kind = TEAMS_FRAME, .number = a.number & b.number };
    return teams_value_mix(a, b);
}

/* Of what is 0 or 1 the lowest bit says all. */
static bool is_whole(const struct teams_value *a, const struct teams_value *b)
{
    return a->kind == TEAMS_IF_SINGLE && b->kind == TEAMS_CONSTANT && (b->number & 1);
}

static struct teams_value test(const struct teams_insn *i, struct teams_value a, struct teams_value b)
{
    bool same = i->a.kind == TEAMS_REGISTER && i->b.kind == TEAMS_REGISTER && i->a.number == i->b.number;
    if (same || is_whole(&a, &b))
        return teams_value_compare(a, teams_value_constant(0));
    return teams_value_mix(a, b);
}

struct sources {
    struct teams_value all; /* mixed */
    bool some, zeroes;      /* registers that are no address; all, with what is loaded, are 0 or sums */
    bool changed_zero;      /* one of them is written, too */
    bool carried;           /* one that is not written */
    bool extremes;          /* all, with what is loaded, are extremes, or an iteration's */
};

static struct sources sources_of(struct teams_reading *r, int block, const struct teams_insn *i,
                                 const struct teams_state *s)
{
    struct sources from = { .all = teams_value_any(0), .zeroes = true, .extremes = true };
    uint64_t addresses = teams_bit(i->place.base) | (i->from.size ? teams_bit(i->from.base) : 0);
    for (uint64_t left = teams_sources(i) | (i->reads & i->writes); left; left &= left - 1) {
        const struct teams_value *v = &s->reg[teams_first(left)];
        if (v->kind == TEAMS_FRAME && (addresses & left & -left))
            continue; /* where a string is */
        bool zero = v->bits & TEAMS_ZERO;
        from.all = teams_value_mix(from.all, *v);
        from.zeroes = from.zeroes && zero;
        from.extremes = from.extremes && keeps_extreme(r, block, v, i->extreme);
        from.changed_zero |= zero && (i->writes & left & -left);
        from.carried |= !(i->writes & left & -left) && teams_value_is_carried(v);
        from.some = true;
    }
    if (i->reads_flags)
        from.all = teams_value_mix(from.all, set(s->reg[TEAMS_FLAGS]));
    for (uint64_t left = i->partial ? i->writes : 0; left; left &= left - 1)
        from.all = beside(from.all, rest_of(s, i, teams_first(left)), false);
    if (i->from.size)
        from.all = teams_value_mix(from.all, teams_memory_load_from(r, i, s));
    if (i->loads) {
        struct teams_value loaded = teams_memory_load(r, i, s);
        from.all = teams_value_mix(from.all, loaded);
        from.zeroes = from.zeroes && (loaded.bits & TEAMS_ZERO);
        from.extremes = from.extremes && keeps_extreme(r, block, &loaded, i->extreme);
        from.carried |= teams_value_is_carried(&loaded);
    }
    from.zeroes = from.zeroes && from.some;
    return from;
}

/* Whether what an instruction finds where others change it at once says which thread came first. */
static bool tells_order(const struct teams_reading *r, int block, const struct teams_insn *i,
                        const struct teams_state *s)
{
    if (!i->atomic || (r->context[block] & (TEAMS_IN_LOOP | TEAMS_RUN_ONCE)))
        return false;
    struct teams_value at = teams_follow_address(i, s);
    return !teams_value_is_own(&at);
}

static struct teams_value told(struct teams_value v)
{
    return teams_value_is_raw(&v) ? v : teams_value_any((v.bits & ~(unsigned)TEAMS_ZERO) | TEAMS_FOUND);
}

static void set_flags(const struct teams_insn *i, struct teams_state *s, struct teams_value v)
{
    struct teams_value *flags = &s->reg[TEAMS_FLAGS];
    if (i->keeps_flags && teams_value_is_raw(flags))
        v = (struct teams_value){ .kind = TEAMS_RAW };
    else if (i->keeps_flags)
        v.bits |= flags->bits & (TEAMS_CARRIED | TEAMS_FOUND);
    *flags = v;
}

/* Whatever goes in comes out. */
static void masked(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s)
{
    struct sources from = sources_of(r, block, i, s);
    bool in = r->context[block] & (TEAMS_IN_LOOP | TEAMS_GUARDED);
    bool carried = (r->context[block] & TEAMS_IN_LOOP) && from.carried;
    bool adds = i->op == TEAMS_VECTOR_ADD && !carried && !(i->widens && from.zeroes);
    bool sums = adds && (from.zeroes || (in && from.changed_zero));
    struct teams_value v = from.all;
    if (v.kind == TEAMS_ANY && sums)
        v.bits |= TEAMS_ZERO;
    v.t = v.kind == TEAMS_ANY && from.extremes ? i->extreme : 0;
    v = named(r, i, v);
    struct teams_value found = tells_order(r, block, i, s) ? told(v) : v;
    if (i->stores)
        teams_memory_store(r, block, i, s, v);
    if (i->stores && teams_value_is_raw(&v)) /* that is a reason if others see the place */
        found = v;
    write_all(r, block, s, i->writes, found);
    if (i->writes_flags)
        set_flags(i, s, found);
    if (i->swaps) { /* the value that was there */
        s->reg[teams_convention()->result] = named(r, i, found);
        teams_memory_define(r, block, teams_convention()->result, false);
    }
}

/* --- Calls --- */

/* Bounds of a shared loop, stored where the arguments point to. */
static void bound_at(struct teams_reading *r, int block, struct teams_state *s, const struct teams_value *v)
{
    if (v->kind != TEAMS_FRAME)
        return;
    uint8_t slot = teams_memory_slot(r, v->number, 8);
    if (slot == TEAMS_NO_SLOT)
        return;
    s->slot[slot] = teams_value_any(TEAMS_BOUND | TEAMS_EDGE);
    teams_memory_define_slot(r, block, slot);
}

static void take_bounds(struct teams_reading *r, int block, struct teams_state *s)
{
    enum { MOST = 7 }; /* arguments of what gives bounds */
    const struct teams_convention *c = teams_convention();
    for (int a = 0; a < c->argument_count && a < MOST; a++)
        bound_at(r, block, s, &s->reg[c->arguments[a]]);
    for (int32_t k = 0; k < 4 && s->reg[c->stack].kind == TEAMS_FRAME; k++) {
        uint8_t slot = teams_memory_find_slot(r, s->reg[c->stack].number + 8 * k);
        if (slot != TEAMS_NO_SLOT) {
            struct teams_value v = s->slot[slot];
            bound_at(r, block, s, &v);
        }
    }
}

/* What a function finds out of its arguments and of what they point to in the frame. */
static unsigned marks_of(const struct teams_reading *r, const struct teams_call *c, const struct teams_state *s)
{
    unsigned bits = 0;
    for (uint64_t left = c->reads; left; left &= left - 1) {
        const struct teams_value *v = &s->reg[teams_first(left)];
        uint8_t slot = v->kind == TEAMS_FRAME ? teams_memory_find_slot(r, v->number) : TEAMS_NO_SLOT;
        v = slot == TEAMS_NO_SLOT ? v : &s->slot[slot];
        bits |= v->bits & TEAMS_BOUND ? v->bits & (TEAMS_CARRIED | TEAMS_FOUND) : v->bits & TEAMS_MARKS;
    }
    return bits;
}

static struct teams_value result_of(const struct teams_call *c, unsigned marks)
{
    switch (c->known) {
    case TEAMS_ASKS_SIZE:
        return (struct teams_value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .n = 1 };
    case TEAMS_ASKS_NUMBER:
        return (struct teams_value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .t = 1 };
    case TEAMS_ALLOCATES:
        return (struct teams_value){ .kind = TEAMS_HEAP };
    case TEAMS_BOUNDS: /* number of a section, or whether there are iterations */
        return teams_value_any(strstr(c->name, "sections") ? TEAMS_BOUND | TEAMS_EDGE : TEAMS_LENGTH);
    case TEAMS_SINGLE:
        return (struct teams_value){ .kind = TEAMS_IF_SINGLE };
    default:
        return teams_value_any(marks);
    }
}

static void call(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s)
{
    const struct teams_convention *c = teams_convention();
    const struct teams_call *callee = &r->flow->call[i - r->flow->insn];
    enum teams_known known = callee->known;
    unsigned marks = known <= TEAMS_LEAVES ? marks_of(r, callee, s) : 0;
    for (int a = 0; a < c->argument_count; a++)
        teams_memory_escape(r, &s->reg[c->arguments[a]]);
    if (known == TEAMS_WRITES || known == TEAMS_UNKNOWN_CALL)
        teams_memory_forget_escaped(r, s, marks);
    if (known == TEAMS_BOUNDS)
        take_bounds(r, block, s);
    write_all(r, block, s, callee->clobbers, teams_value_any(marks));
    s->reg[TEAMS_FLAGS] = teams_value_any(0);
    if (known != TEAMS_UNKNOWN_CALL || callee->clobbers >> c->result & 1)
        s->reg[c->result] = result_of(callee, marks);
}

static struct teams_value product(const struct teams_reading *r, int block, struct teams_value a, struct teams_value b)
{
    bool longer = a.kind == TEAMS_QUOTIENT_1 || b.kind == TEAMS_QUOTIENT_1;
    return longer && has_rest(r, block) ? teams_value_begin(a, b) : teams_value_multiply(a, b);
}

static struct teams_value quotient(struct teams_reading *r, int block, const struct teams_insn *i,
                                   struct teams_state *s, struct teams_value a, struct teams_value b)
{
    if (i->second != TEAMS_NO_REGISTER && teams_value_is_raw(&s->reg[i->second])) /* its high half */
        a = (struct teams_value){ .kind = TEAMS_RAW };
    struct teams_value rest, v = teams_value_divide(a, b, &rest);
    if (i->second != TEAMS_NO_REGISTER) {
        s->reg[i->second] = rest;
        teams_memory_define(r, block, i->second, false);
    } else if (v.kind == TEAMS_QUOTIENT) {
        v.number = teams_value_dividend(&a);
    }
    return v;
}

static struct teams_value result(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                                 struct teams_value a, struct teams_value b)
{
    switch (i->op) {
    case TEAMS_MOVE:
        return a;
    case TEAMS_ADDRESS:
        return teams_follow_address(i, s);
    case TEAMS_ADD:
    case TEAMS_SUB:
        return sum(r, block, a, b, i->op == TEAMS_SUB);
    case TEAMS_MUL:
        return product(r, block, a, b);
    case TEAMS_DIVIDE:
        return quotient(r, block, i, s, a, b);
    case TEAMS_SHIFT:
        return teams_value_scale(a, i->b.value >= 0 && i->b.value < 31 ? 1ll << i->b.value : 1ll << 31);
    case TEAMS_BITS:
        return bits(a, b);
    case TEAMS_SELECT:
        return choose(s->reg[TEAMS_FLAGS], a, b, !r->recording && r->shared_loop[block] < 0);
    default:
        return set(s->reg[TEAMS_FLAGS]);
    }
}

static struct teams_value compared(const struct teams_insn *i, struct teams_value a, struct teams_value b)
{
    struct teams_value v = i->op == TEAMS_COMPARE ? teams_value_compare(a, b) : test(i, a, b);
    if (i->narrow && (a.kind == TEAMS_LINEAR || b.kind == TEAMS_LINEAR))
        return (struct teams_value){ .kind = TEAMS_RAW };
    bool linear = a.kind == TEAMS_LINEAR || b.kind == TEAMS_LINEAR;
    if (!i->half && ((a.bits | b.bits) & TEAMS_HALF) && linear && v.kind == TEAMS_ANY)
        return (struct teams_value){ .kind = TEAMS_RAW };
    if (v.kind == TEAMS_IF_SINGLE || v.kind == TEAMS_IF_MASTER)
        v.number = i->op == TEAMS_COMPARE && b.kind == TEAMS_CONSTANT ? b.number : 0;
    return v;
}

static void move_stack(struct teams_state *s, const struct teams_insn *i)
{
    struct teams_value *top = &s->reg[teams_convention()->stack];
    *top = teams_value_add(*top, teams_value_constant(i->step), false);
}

/* The lowest byte of such a result is made of the lowest bytes alone. */
static bool keeps_low(const struct teams_insn *i)
{
    return (i->op == TEAMS_BITS || i->op == TEAMS_MOVE) && !(i->narrow & 2);
}

static struct teams_value lowest(struct teams_value v)
{
    return v.kind == TEAMS_LOW ? teams_value_any(v.bits) : v;
}

/* What has a result of its own. A push writes below the stack pointer as it is. */
static void compute(struct teams_reading *r, int block, const struct teams_insn *i, struct teams_state *s,
                    struct teams_value a, struct teams_value b)
{
    bool low = keeps_low(i) && (a.kind == TEAMS_LOW || b.kind == TEAMS_LOW);
    if (low) {
        a = lowest(a);
        b = lowest(b);
    }
    struct teams_value v = result(r, block, i, s, a, b);
    bool linear = a.kind == TEAMS_LINEAR || b.kind == TEAMS_LINEAR;
    unsigned before = a.bits | b.bits;
    if (i->op == TEAMS_ADDRESS && !i->place.fixed)
        before = bits_of_place(&i->place, s, &linear);
    v = of_width(i, v, before, linear);
    int takes = teams_flow_extreme(r->flow, block, i);
    if (v.kind == TEAMS_ANY && i->op != TEAMS_MOVE)
        v.t = keeps_extreme(r, block, &a, takes) && keeps_extreme(r, block, &b, takes) ? (int16_t)takes : 0;
    else if (v.kind == TEAMS_ANY && (i->narrow || (i->half && !(v.t & TEAMS_OF_HALF) && v.t > TEAMS_BOTH_BITS)))
        v.t = 0;
    if (!low && v.kind == TEAMS_LOW)
        v = (struct teams_value){ .kind = TEAMS_RAW };
    if (low && !teams_value_is_raw(&v))
        v = (struct teams_value){ .kind = TEAMS_LOW, .bits = v.bits };
    if (i->op == TEAMS_MOVE && i->narrow && v.kind == TEAMS_LINEAR)
        v = (struct teams_value){ .kind = TEAMS_RAW };
    if (i->reads_flags && i->op != TEAMS_SELECT && i->op != TEAMS_SET) /* with carry */
        v = beside(v, set(s->reg[TEAMS_FLAGS]), false);
    if (i->reads_flags && teams_value_is_carried(&s->reg[TEAMS_FLAGS]))
        v.bits &= (uint16_t)~TEAMS_ZERO;
    bool order = tells_order(r, block, i, s);
    write(r, block, i, s, v);
    if (i->step && !(i->loads && i->dst.kind == TEAMS_REGISTER && i->dst.number == teams_convention()->stack))
        move_stack(s, i);
    if (!i->writes_flags)
        return;
    struct teams_value flags = i->op == TEAMS_SUB && i->dst.kind == TEAMS_REGISTER ? teams_value_compare(a, b)
                               : i->op == TEAMS_MOVE                               ? teams_value_any(0)
                                                      : teams_value_compare(v, teams_value_constant(0));
    if (i->op == TEAMS_ADD && (teams_value_is_raw(&a) || teams_value_is_raw(&b))) /* the carry of -T + T */
        flags = (struct teams_value){ .kind = TEAMS_RAW };
    set_flags(i, s, order ? told(flags) : flags);
}

void teams_follow_step(struct teams_reading *r, int block, uint32_t insn, struct teams_state *s)
{
    const struct teams_insn *i = &r->flow->insn[insn];
    if (teams_is_call(i)) {
        call(r, block, i, s);
    } else if (teams_is_masked(i)) {
        masked(r, block, i, s);
    } else if (i->op != TEAMS_NOTHING && i->op < TEAMS_FLOAT) {
        struct teams_value a = i->a.kind ? teams_follow_operand(r, i, &i->a, s) : teams_value_any(0);
        struct teams_value b = i->b.kind ? teams_follow_operand(r, i, &i->b, s) : teams_value_any(0);
        if (i->narrow == 1) {
            a = lowest(a);
            b = lowest(b);
        }
        if (i->op == TEAMS_COMPARE || i->op == TEAMS_TEST)
            s->reg[TEAMS_FLAGS] = compared(i, a, b);
        else
            compute(r, block, i, s, a, b);
    }
}
