/* SPDX-License-Identifier: MIT */
#include "teams/value.h"

static const struct teams_value raw = { .kind = TEAMS_RAW };

struct teams_value teams_value_constant(int64_t number)
{
    if (number != (int32_t)number)
        return teams_value_any(0);
    return (struct teams_value){ .kind = TEAMS_CONSTANT, .bits = number ? 0 : TEAMS_ZERO, .number = (int32_t)number };
}

/* What two plain values leave of their marks. A count of iterations beside a bound is the number of an iteration, unless
   that was the number already. */
static unsigned both_bits(struct teams_value a, struct teams_value b)
{
    unsigned bits = (a.bits | b.bits) & (TEAMS_BOUND | TEAMS_TURNS | TEAMS_CARRIED | TEAMS_COUNTER | TEAMS_LENGTH |
                                         TEAMS_FOUND | TEAMS_EITHER);
    if (!(bits & TEAMS_BOUND))
        return bits & ~(unsigned)TEAMS_TURNS;
    if (bits & TEAMS_COUNTER)
        bits |= bits & TEAMS_TURNS ? TEAMS_CARRIED : TEAMS_TURNS;
    return bits & ~(unsigned)(TEAMS_COUNTER | TEAMS_LENGTH);
}

/* A quotient is nothing special but for the one multiplication. */
static struct teams_value plain(struct teams_value v)
{
    return v.kind == TEAMS_QUOTIENT || v.kind == TEAMS_QUOTIENT_1 ? teams_value_any(TEAMS_LENGTH) : v;
}

static bool fits(long x)
{
    return x == (int16_t)x;
}

static struct teams_value form(long t, long n, long m, long r, unsigned bits)
{
    if (!fits(t) || !fits(n) || !fits(m) || !fits(r))
        return raw;
    if (t == 0 && n == 0 && m == r && (bits & TEAMS_EITHER))
        return teams_value_any((bits & (TEAMS_CARRIED | TEAMS_FOUND)) | TEAMS_LENGTH);
    if (t == 0 && n == 0 && m == r)
        return teams_value_any((bits & ~(unsigned)(TEAMS_EXACT | TEAMS_ZERO | TEAMS_COUNTER)) | TEAMS_BOUND |
                               TEAMS_EDGE | (bits & TEAMS_COUNTER ? TEAMS_TURNS : 0));
    return (struct teams_value){ TEAMS_LINEAR, (uint16_t)bits, (int16_t)t, (int16_t)n, (int16_t)m, (int16_t)r, 0 };
}

/* The way from one chunk to the next. */
static bool is_step(struct teams_value v)
{
    return v.kind == TEAMS_LINEAR && !v.t && v.n && !v.m && !v.r;
}

static struct teams_value add_linear(struct teams_value a, struct teams_value b, int sign)
{
    unsigned exact = a.bits & b.bits & TEAMS_EXACT;
    return form(a.t + sign * b.t, a.n + sign * b.n, a.m + sign * b.m, a.r + sign * b.r, both_bits(a, b) | exact);
}

static struct teams_value add_pointer(struct teams_value a, struct teams_value b, int sign)
{
    struct teams_value p = teams_value_is_own(&a) ? a : b, other = teams_value_is_own(&a) ? b : a;
    if (teams_value_is_own(&other) || (teams_value_is_own(&b) && sign < 0))
        return teams_value_any(both_bits(a, b));
    if (p.kind == TEAMS_FRAME && other.kind == TEAMS_CONSTANT) {
        p.number += sign * other.number;
        return p;
    }
    if (p.kind == TEAMS_FRAME)
        p.kind = TEAMS_STACK;
    p.bits = (uint16_t)both_bits(a, b);
    return p;
}

bool teams_value_begins_anew(const struct teams_value *a, const struct teams_value *b)
{
    bool on = a->kind == TEAMS_CONSTANT ? teams_value_is_carried(b) : teams_value_is_carried(a);
    return on && (a->bits & b->bits & TEAMS_ZERO) && (a->kind == TEAMS_CONSTANT) != (b->kind == TEAMS_CONSTANT);
}

/* A dividend without its rest, taken from the same dividend. */
static bool leaves_rest(struct teams_value a, struct teams_value b)
{
    return b.kind == TEAMS_LINEAR && b.number && b.number == teams_value_dividend(&a) && b.r == -1 && !b.t && !b.n &&
           !b.m;
}

struct teams_value teams_value_add(struct teams_value a, struct teams_value b, bool minus)
{
    int sign = minus ? -1 : 1;
    if (minus && leaves_rest(a, b))
        return form(0, 0, 0, 1, TEAMS_EXACT);
    if (a.kind == TEAMS_QUOTIENT && b.kind == TEAMS_CONSTANT && sign * b.number == 1)
        return (struct teams_value){ .kind = TEAMS_QUOTIENT_1, .bits = TEAMS_BOUND };
    if (b.kind == TEAMS_QUOTIENT && a.kind == TEAMS_CONSTANT && a.number == 1 && !minus)
        return (struct teams_value){ .kind = TEAMS_QUOTIENT_1, .bits = TEAMS_BOUND };
    a = plain(a);
    b = plain(b);
    if (a.kind == TEAMS_RAW || b.kind == TEAMS_RAW || a.kind == TEAMS_LOW || b.kind == TEAMS_LOW ||
        a.kind >= TEAMS_IF_REST || b.kind >= TEAMS_IF_REST)
        return raw;
    if (a.kind == TEAMS_LINEAR || b.kind == TEAMS_LINEAR)
        return teams_value_is_own(&a) || teams_value_is_own(&b) ? raw : add_linear(a, b, sign);
    if (teams_value_is_own(&a) || teams_value_is_own(&b))
        return add_pointer(a, b, sign);
    if (a.kind == TEAMS_CONSTANT && b.kind == TEAMS_CONSTANT)
        return teams_value_constant((int64_t)a.number + sign * (int64_t)b.number);
    unsigned bits = both_bits(a, b);
    if ((a.bits & b.bits & TEAMS_BOUND) &&
        ((a.bits ^ b.bits) & TEAMS_TURNS)) /* of an iteration, and of the first one */
        bits |= TEAMS_CARRIED;
    if (minus && (a.bits & b.bits & TEAMS_EDGE))
        return teams_value_any((bits & ~(unsigned)(TEAMS_BOUND | TEAMS_TURNS)) | TEAMS_LENGTH);
    return teams_value_any(bits | ((a.bits | b.bits) & TEAMS_EDGE));
}

struct teams_value teams_value_scale(struct teams_value a, int64_t factor)
{
    if (factor == 1 || (factor == 0 && !teams_value_is_raw(&a)))
        return factor ? a : teams_value_constant(0);
    a = plain(a);
    if (a.kind == TEAMS_CONSTANT)
        return teams_value_constant(a.number * factor);
    if (a.kind == TEAMS_LINEAR && factor == (int16_t)factor)
        return form(a.t * (long)factor, a.n * (long)factor, a.m * (long)factor, a.r * (long)factor, a.bits);
    return teams_value_is_raw(&a) ? raw : teams_value_any(a.bits & ~(unsigned)TEAMS_ZERO);
}

static bool is_exactly(struct teams_value v, int t, int n, int r)
{
    return v.kind == TEAMS_LINEAR && v.t == t && v.n == n && !v.m && v.r == r && (v.bits & TEAMS_EXACT);
}

static bool is_number(struct teams_value v)
{
    return is_exactly(v, 1, 0, 0);
}

static bool is_rest(struct teams_value v)
{
    return is_exactly(v, 0, 0, 1);
}

int32_t teams_value_dividend(const struct teams_value *v)
{
    enum { CONSTANTS = 1 << 29 }; /* above all names of instructions */
    if (v->kind == TEAMS_CONSTANT && v->number >= 0 && v->number < CONSTANTS)
        return CONSTANTS + v->number;
    return v->kind == TEAMS_ANY ? v->number : 0;
}

/* The quotient times what it was divided by: the dividend without its rest. */
static bool is_divided(struct teams_value a, struct teams_value b)
{
    return a.kind == TEAMS_QUOTIENT && a.number && is_exactly(b, 0, 1, 0);
}

struct teams_value teams_value_multiply(struct teams_value a, struct teams_value b)
{
    if (is_divided(a, b) || is_divided(b, a))
        return (struct teams_value){ .kind = TEAMS_LINEAR,
                                     .r = -1,
                                     .number = a.kind == TEAMS_QUOTIENT ? a.number : b.number };
    if ((a.kind == TEAMS_QUOTIENT && is_number(b)) || (b.kind == TEAMS_QUOTIENT && is_number(a)))
        return form(0, 0, 1, 0, TEAMS_EXACT);
    if (a.kind == TEAMS_CONSTANT)
        return teams_value_scale(b, a.number);
    if (b.kind == TEAMS_CONSTANT)
        return teams_value_scale(a, b.number);
    struct teams_value v = teams_value_mix(a, b);
    v.bits |= plain(a).bits & plain(b).bits & TEAMS_LENGTH ? TEAMS_CARRIED : 0; /* its square is no share any more */
    return v;
}

struct teams_value teams_value_begin(struct teams_value a, struct teams_value b)
{
    bool right = (a.kind == TEAMS_QUOTIENT_1 && is_number(b)) || (b.kind == TEAMS_QUOTIENT_1 && is_number(a));
    return right ? teams_value_any(TEAMS_BOUND | TEAMS_EDGE) : raw;
}

struct teams_value teams_value_divide(struct teams_value a, struct teams_value b, struct teams_value *rest)
{
    a = plain(a);
    if (is_exactly(b, 0, 1, 0) && !teams_value_is_raw(&a)) {
        *rest = form(0, 0, 0, 1, TEAMS_EXACT);
        return (struct teams_value){ .kind = TEAMS_QUOTIENT, .bits = TEAMS_BOUND };
    }
    *rest = teams_value_mix(a, b);
    return *rest;
}

/* Of the chunk after this one. */
static bool is_next(struct teams_value v)
{
    return is_step(v) && (v.bits & TEAMS_BOUND);
}

static bool only_number(struct teams_value v)
{
    return v.kind == TEAMS_LINEAR && v.t && !v.m && !v.r;
}

struct teams_value teams_value_compare(struct teams_value a, struct teams_value b)
{
    struct teams_value x = plain(a), y = plain(b);
    if ((is_number(x) && is_rest(y)) || (is_rest(x) && is_number(y)))
        return (struct teams_value){ .kind = TEAMS_IF_REST };
    if (is_number(x) && y.kind == TEAMS_CONSTANT && y.number == 0)
        return (struct teams_value){ .kind = TEAMS_IF_MASTER };
    if (x.kind == TEAMS_IF_SINGLE && y.kind == TEAMS_CONSTANT)
        return x;
    bool chunk = only_number(x) || is_next(x), other = only_number(y) || is_next(y);
    if ((chunk && !teams_value_is_raw(&y)) || (other && !teams_value_is_raw(&x)))
        return (struct teams_value){ .kind = TEAMS_IF_CHUNK, .bits = TEAMS_BOUND };
    struct teams_value d = teams_value_add(x, y, true);
    if (teams_value_is_raw(&d))
        return raw;
    unsigned bits = both_bits(x, y);
    if (x.bits & y.bits & TEAMS_EDGE) /* how far they are apart */
        bits = (bits & ~(unsigned)(TEAMS_BOUND | TEAMS_TURNS)) | TEAMS_LENGTH | TEAMS_EDGE;
    return teams_value_any(bits);
}

struct teams_value teams_value_mix(struct teams_value a, struct teams_value b)
{
    a = plain(a);
    b = plain(b);
    if (teams_value_is_raw(&a) || teams_value_is_raw(&b))
        return raw;
    struct teams_value v = teams_value_any(both_bits(a, b));
    const struct teams_value *p = a.kind == TEAMS_FRAME || a.kind == TEAMS_STACK ? &a : &b;
    if (p->kind == TEAMS_FRAME || p->kind == TEAMS_STACK) { /* still an address there, maybe */
        v.kind = TEAMS_STACK;
        v.number = p->number;
    }
    return v;
}

static struct teams_value either(struct teams_value v)
{
    v.bits |= TEAMS_EITHER;
    return v;
}

struct teams_value teams_value_join(struct teams_value a, struct teams_value b)
{
    if (a.kind == TEAMS_UNSEEN || teams_value_equal(&a, &b))
        return b;
    if (b.kind == TEAMS_UNSEEN)
        return a;
    if (a.kind == TEAMS_LINEAR && b.kind == TEAMS_LINEAR && ((a.bits ^ b.bits) & TEAMS_HALF)) {
        a.bits |= TEAMS_HALF;
        b.bits |= TEAMS_HALF;
        return teams_value_join(a, b);
    }
    if ((a.kind == TEAMS_QUOTIENT && b.kind == TEAMS_QUOTIENT_1) ||
        (b.kind == TEAMS_QUOTIENT && a.kind == TEAMS_QUOTIENT_1))
        return (struct teams_value){ .kind = TEAMS_QUOTIENT, .bits = TEAMS_BOUND };
    if (is_rest(a) && b.kind == TEAMS_CONSTANT && b.number == 0)
        return a;
    if (is_rest(b) && a.kind == TEAMS_CONSTANT && a.number == 0)
        return b;
    /* the end of a chunk: the smaller one of its own and the loop's */
    if ((is_next(a) && !teams_value_is_raw(&b)) || (is_next(b) && !teams_value_is_raw(&a)))
        return either(is_next(a) ? a : b);
    if (only_number(a) && !teams_value_is_raw(&b))
        return either(form(a.t, a.n, 0, 0, 0));
    if (only_number(b) && !teams_value_is_raw(&a))
        return either(form(b.t, b.n, 0, 0, 0));
    if (teams_value_is_raw(&a) || teams_value_is_raw(&b))
        return raw;
    unsigned all = a.bits & b.bits & (TEAMS_BOUND | TEAMS_ZERO | TEAMS_EDGE);
    unsigned some = (a.bits | b.bits) & TEAMS_MARKS;
    some |= all & TEAMS_ZERO ? (a.bits | b.bits) & TEAMS_HALF : 0;
    some |= all & TEAMS_BOUND ? (a.bits | b.bits) & TEAMS_TURNS : 0;
    struct teams_value v = teams_value_any(all | some);
    if (teams_value_is_own(&a) && teams_value_is_own(&b) && (a.kind == TEAMS_HEAP) == (b.kind == TEAMS_HEAP))
        v.kind = a.kind == TEAMS_HEAP ? TEAMS_HEAP : TEAMS_STACK;
    v.number = v.kind == TEAMS_STACK ? (a.number > b.number ? a.number : b.number) : 0;
    return v;
}

struct teams_value teams_value_loop(struct teams_value a, struct teams_value b)
{
    bool steps = a.kind == TEAMS_LINEAR && b.kind == TEAMS_LINEAR && a.t && a.t == b.t && !a.n && b.n == a.t && !a.m &&
                 !b.m && !a.r && !b.r;
    if (steps || (only_number(a) && !a.n && is_next(b) && b.n == a.t))
        return teams_value_any(TEAMS_BOUND | TEAMS_EDGE | (b.bits & TEAMS_CARRIED));
    if (a.kind == TEAMS_ANY && (a.bits & TEAMS_BOUND) &&
        b.kind == TEAMS_CONSTANT) /* the inner one of collapsed loops */
        return a;
    return teams_value_join(a, b);
}
