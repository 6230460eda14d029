/* SPDX-License-Identifier: MIT */
/*
 * Value models. Every change goes one of two ways: a short sequence (up to SHORT values) is rebuilt value by value, which
 * finds the best formula; a longer one is kept only where a formula can be proven to hold from its parameters alone.
 * What cannot be proven becomes VARIES: never a guess.
 *
 * Periods of lists are at most LENGTH, so that two of them that agree on 2 * LENGTH values agree everywhere (Fine and
 * Wilf, 1965): comparing SHORT values is a proof.
 */
#include "grammar/attr.h"

#include <string.h>

enum { SHORT = 2 * GRAMMAR_ATTR_LENGTH };

/* Steps are kept far below the range of the type, so that no ramp of a real length wraps around it. */
#define STEP_MAX ((int64_t)1 << 40)

/* --- Formulas --- */

static bool exact(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_RAMP || a->kind == GRAMMAR_ATTR_LIST;
}

/* Two's complement arithmetic: overflow is defined and the same everywhere. */
static int64_t ramp_at(const struct grammar_attr *a, uint64_t i)
{
    uint64_t turn = a->period ? i % a->period : i;
    return (int64_t)((uint64_t)a->ramp.base + (uint64_t)a->ramp.step * turn);
}

/* Value that the formula gives for occurrence i, also beyond the last one. */
static int64_t value_at(const struct grammar_attr *a, uint64_t i)
{
    return a->kind == GRAMMAR_ATTR_LIST ? a->list[i % a->period] : ramp_at(a, i);
}

static bool constant(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_RAMP && (a->ramp.step == 0 || a->count == 1);
}

/* A constant has one form only: step 0, no period. */
static void set_ramp(struct grammar_attr *a, int64_t base, int64_t step, uint64_t period)
{
    a->kind = GRAMMAR_ATTR_RAMP;
    a->length = 0;
    memset(a->key, 0, sizeof a->key); /* the largest member of the union */
    a->ramp.base = base;
    a->ramp.step = period == 1 ? 0 : step;
    a->period = a->ramp.step == 0 ? 0 : (uint32_t)period;
}

static void set_varies(struct grammar_attr *a)
{
    set_ramp(a, 0, 0, 0);
    a->kind = GRAMMAR_ATTR_VARIES;
}

static void set_list(struct grammar_attr *a, const int64_t *value, uint32_t period)
{
    uint32_t same = 1;

    while (same < period && value[same] == value[0])
        same++;
    set_ramp(a, value[0], 0, 0);
    if (same == period)
        return;
    a->kind = GRAMMAR_ATTR_LIST;
    a->period = period;
    a->length = (uint16_t)period;
    memcpy(a->list, value, period * sizeof *value);
}

static uint64_t triangle(uint64_t n) /* 0 + 1 + … + (n - 1), modulo 2^64 */
{
    return n == 0 ? 0 : n % 2 == 0 ? n / 2 * (n - 1) : n * ((n - 1) / 2);
}

static uint64_t ramp_sum(const struct grammar_attr *a, uint64_t n)
{
    return (uint64_t)a->ramp.base * n + (uint64_t)a->ramp.step * triangle(n);
}

/* Sets sum and extremes of an exact model from its formula. */
static void summarise(struct grammar_attr *a, int64_t low, int64_t high)
{
    uint64_t n = a->count, sum = 0, period = a->period ? a->period : n;
    uint64_t seen = n < period ? n : period;

    if (a->kind == GRAMMAR_ATTR_RAMP) {
        int64_t reach, end;
        sum = n / period * ramp_sum(a, period) + ramp_sum(a, n % period);
        if (!__builtin_mul_overflow(a->ramp.step, (int64_t)(seen - 1), &reach) &&
            !__builtin_add_overflow(a->ramp.base, reach, &end)) {
            low = reach < 0 ? end : a->ramp.base;
            high = reach < 0 ? a->ramp.base : end;
        }
    } else {
        low = high = a->list[0];
        for (uint64_t i = 0; i < seen; i++) {
            sum += (uint64_t)a->list[i] * (n / period + (i < n % period));
            low = a->list[i] < low ? a->list[i] : low;
            high = a->list[i] > high ? a->list[i] : high;
        }
    }
    a->sum = (int64_t)sum;
    a->min = low;
    a->max = high;
}

/* --- Keyed durations --- */

static void key_spill(struct grammar_attr *a)
{
    a->key[GRAMMAR_ATTR_KEYS - 1].value = -1;
}

static struct grammar_attr_key *key_find(struct grammar_attr *a, int64_t value)
{
    for (uint32_t i = 0; i < a->length; i++)
        if (a->key[i].value == value)
            return &a->key[i];
    if (a->length == GRAMMAR_ATTR_KEYS || value == -1) {
        if (a->length < GRAMMAR_ATTR_KEYS) /* what did not fit elsewhere: keep it last */
            memset(&a->key[a->length], 0, sizeof a->key[0] * (GRAMMAR_ATTR_KEYS - a->length));
        a->length = GRAMMAR_ATTR_KEYS;
        key_spill(a);
        return &a->key[GRAMMAR_ATTR_KEYS - 1];
    }
    struct grammar_attr_key *k = &a->key[a->length++];
    *k = (struct grammar_attr_key){ value, 0, 0 };
    return k;
}

static void key_add(struct grammar_attr *a, int64_t value, uint64_t count, uint64_t sum)
{
    if (count == 0)
        return;
    struct grammar_attr_key *k = key_find(a, value);
    k->count += count;
    k->sum += sum;
}

static uint64_t proportion(uint64_t x, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (uint64_t)((unsigned __int128)x * part / whole);
}

/* Counts in proportion, rounded so that `out` gets out->count in all. */
static void key_split(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out)
{
    uint64_t share[GRAMMAR_ATTR_KEYS] = { 0 }, given = 0;

    for (uint32_t i = 0; i < a->length; i++)
        given += share[i] = proportion(a->key[i].count, out->count, whole);
    for (uint32_t i = 0; i < a->length && given < out->count; i++) {
        uint64_t more = out->count - given, room = a->key[i].count - share[i];
        more = more < room ? more : room;
        share[i] += more;
        given += more;
    }
    memset(out->key, 0, sizeof out->key);
    out->length = a->length;
    for (uint32_t i = 0; i < a->length; i++) {
        uint64_t sum = proportion(a->key[i].sum, share[i], a->key[i].count);
        out->key[i] = (struct grammar_attr_key){ a->key[i].value, share[i], sum };
        a->key[i].count -= share[i];
        a->key[i].sum -= sum;
    }
}

/* --- Appending --- */

void grammar_attr_start(struct grammar_attr *a, enum grammar_channel c, int64_t value, uint64_t duration, uint64_t at)
{
    memset(a, 0, sizeof *a);
    a->channel = (uint8_t)c;
    a->count = 1;
    a->first = a->last = at;
    a->min = a->max = a->sum = value;
    set_ramp(a, value, 0, 0);
    if (c == GRAMMAR_TEAM) {
        memset(a->key, 0, sizeof a->key);
        a->kind = GRAMMAR_ATTR_KEYED;
        key_add(a, value, 1, duration);
    }
}

/* The shortest list that explains all values so far and `value` after them. */
static bool find_list(struct grammar_attr *a, int64_t value)
{
    int64_t all[SHORT + 1];
    uint64_t n = a->count;

    if (n > SHORT)
        return false;
    for (uint64_t i = 0; i < n; i++)
        all[i] = value_at(a, i);
    all[n++] = value;
    for (uint32_t period = 1; period <= GRAMMAR_ATTR_LENGTH && period <= n; period++) {
        uint64_t i = period;
        while (i < n && all[i] == all[i - period])
            i++;
        if (i == n) {
            set_list(a, all, period);
            return true;
        }
    }
    return false;
}

/* The formula failed at the next occurrence: change it to one that explains this one too. */
static void bend(struct grammar_attr *a, int64_t value)
{
    int64_t step;
    bool ramp = a->kind == GRAMMAR_ATTR_RAMP && a->period == 0;

    if (ramp && a->count == 1 && !__builtin_sub_overflow(value, a->ramp.base, &step) && step < STEP_MAX &&
        step > -STEP_MAX)
        a->ramp.step = step;
    else if (ramp && a->ramp.step != 0 && value == a->ramp.base && a->count <= UINT32_MAX)
        a->period = (uint32_t)a->count;
    else if (!find_list(a, value))
        set_varies(a);
}

static void append_value(struct grammar_attr *a, int64_t value)
{
    if (exact(a) && value_at(a, a->count) != value)
        bend(a, value);
    a->min = value < a->min ? value : a->min;
    a->max = value > a->max ? value : a->max;
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)value);
    a->count++;
}

void grammar_attr_add(struct grammar_attr *a, int64_t value, uint64_t duration, uint64_t at)
{
    append_value(a, value);
    a->last = at;
    if (a->kind == GRAMMAR_ATTR_KEYED)
        key_add(a, value, 1, duration);
}

/* --- Joining --- */

static bool short_period(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_LIST || a->ramp.step == 0 || (a->period && a->period <= GRAMMAR_ATTR_LENGTH);
}

static uint64_t phase(const struct grammar_attr *g, uint64_t i)
{
    return g->period ? i % g->period : i;
}

/* Whether formula `g`, from occurrence `offset` on, gives the values of `m`. */
static bool explains(const struct grammar_attr *g, uint64_t offset, const struct grammar_attr *m)
{
    for (uint64_t i = 0; i < m->count && i < SHORT; i++)
        if (value_at(g, offset + i) != value_at(m, i))
            return false;
    if (m->count <= SHORT || (short_period(g) && short_period(m)))
        return true;
    if (short_period(g) || short_period(m) || g->ramp.step != m->ramp.step)
        return false;
    if (m->period == 0 || m->count <= m->period) /* one straight line: it must not cross a turn of g */
        return g->period == 0 || phase(g, offset) + m->count <= g->period;
    return g->period == m->period && phase(g, offset) == 0;
}

/* The formula of `b` as it would have begun `n` occurrences earlier. */
static bool shift_back(struct grammar_attr *g, const struct grammar_attr *b, uint64_t n)
{
    int64_t list[GRAMMAR_ATTR_LENGTH];

    *g = *b;
    if (b->kind == GRAMMAR_ATTR_RAMP && b->period == 0) {
        g->ramp.base = (int64_t)((uint64_t)b->ramp.base - (uint64_t)b->ramp.step * n);
        return true;
    }
    if (n % b->period == 0)
        return true;
    if (b->period > GRAMMAR_ATTR_LENGTH)
        return false;
    for (uint32_t i = 0; i < b->period; i++)
        list[(i + n) % b->period] = value_at(b, i);
    set_list(g, list, b->period);
    return true;
}

static bool one_formula(struct grammar_attr *g, const struct grammar_attr *a, const struct grammar_attr *b)
{
    *g = *a;
    if (explains(g, a->count, b))
        return true;
    if (a->kind == GRAMMAR_ATTR_RAMP && a->period == 0 && a->count <= UINT32_MAX) { /* a was the first turn */
        g->period = (uint32_t)a->count;
        if (explains(g, a->count, b))
            return true;
    }
    return shift_back(g, b, a->count) && explains(g, 0, a) && explains(g, a->count, b);
}

static void copy_formula(struct grammar_attr *a, const struct grammar_attr *g)
{
    a->kind = g->kind;
    a->length = g->length;
    a->period = g->period;
    memcpy(a->key, g->key, sizeof a->key); /* the largest member of the union */
}

/* a's occurrences, then b's; the totals are the caller's. */
static void chain(struct grammar_attr *a, const struct grammar_attr *b)
{
    struct grammar_attr g;

    if (b->count <= SHORT) {
        g = *a;
        for (uint64_t i = 0; i < b->count; i++)
            append_value(&g, value_at(b, i));
        copy_formula(a, &g);
    } else if (one_formula(&g, a, b)) {
        copy_formula(a, &g);
    } else {
        set_varies(a);
    }
}

static void join_keys(struct grammar_attr *into, const struct grammar_attr *from)
{
    for (uint32_t i = 0; i < from->length; i++)
        if (from->key[i].value != -1)
            key_add(into, from->key[i].value, from->key[i].count, from->key[i].sum);
    if (from->length == GRAMMAR_ATTR_KEYS && from->key[GRAMMAR_ATTR_KEYS - 1].value == -1)
        key_add(into, -1, from->key[GRAMMAR_ATTR_KEYS - 1].count, from->key[GRAMMAR_ATTR_KEYS - 1].sum);
}

static void join_values(struct grammar_attr *into, const struct grammar_attr *from)
{
    if (constant(into) && constant(from) && into->ramp.base == from->ramp.base) {
        set_ramp(into, into->ramp.base, 0, 0); /* whatever the order */
    } else if (!exact(into) || !exact(from)) {
        set_varies(into);
    } else if (into->last < from->first) {
        chain(into, from);
    } else if (from->last < into->first) {
        struct grammar_attr g = *from;
        chain(&g, into);
        copy_formula(into, &g);
    } else {
        set_varies(into);
    }
}

static void join_totals(struct grammar_attr *into, const struct grammar_attr *from)
{
    into->count += from->count;
    into->first = from->first < into->first ? from->first : into->first;
    into->last = from->last > into->last ? from->last : into->last;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    into->sum = (int64_t)((uint64_t)into->sum + (uint64_t)from->sum);
}

void grammar_attr_join(struct grammar_attr *into, const struct grammar_attr *from)
{
    if (into->kind == GRAMMAR_ATTR_KEYED && from->kind == GRAMMAR_ATTR_KEYED)
        join_keys(into, from);
    else
        join_values(into, from);
    join_totals(into, from);
}

/* --- Splitting --- */

/* Of each pass of `whole` turns the `keep` turns from `start` on. */
struct slice {
    const struct grammar_attr *of;
    uint64_t start, keep, whole, count;
};

static int64_t slice_at(const struct slice *s, uint64_t i)
{
    return value_at(s->of, s->start + i / s->keep * s->whole + i % s->keep);
}

static void slice_rebuild(const struct slice *s, struct grammar_attr *out)
{
    struct grammar_attr g;

    grammar_attr_start(&g, GRAMMAR_BYTES, slice_at(s, 0), 0, 0);
    for (uint64_t i = 1; i < s->count; i++)
        append_value(&g, slice_at(s, i));
    copy_formula(out, &g);
}

/* The slice is periodic with this short period. */
static void slice_list(const struct slice *s, uint32_t period, struct grammar_attr *out)
{
    int64_t list[GRAMMAR_ATTR_LENGTH];

    for (uint32_t i = 0; i < period; i++)
        list[i] = slice_at(s, i);
    set_list(out, list, period);
}

/* One pass: a part of a long sequence, from `start` on. */
static void slice_single(const struct slice *s, struct grammar_attr *out)
{
    const struct grammar_attr *a = s->of;
    uint64_t at = phase(a, s->start);

    if (a->kind == GRAMMAR_ATTR_RAMP && (a->period == 0 || at + s->count <= a->period))
        set_ramp(out, slice_at(s, 0), a->ramp.step, 0);
    else if (at == 0)
        copy_formula(out, a);
    else if (a->period <= GRAMMAR_ATTR_LENGTH)
        slice_list(s, a->period, out);
    else
        set_varies(out);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Many passes: the values depend on the turn alone, or come back after a few passes, or every pass gives one value of a
   ramp. */
static void slice_passes(const struct slice *s, struct grammar_attr *out)
{
    const struct grammar_attr *a = s->of;
    bool ramp = a->kind == GRAMMAR_ATTR_RAMP;
    uint64_t cycle = a->period ? a->period / common_divisor(a->period, s->whole) : 0; /* passes until it comes back */

    if (cycle && s->keep <= GRAMMAR_ATTR_LENGTH / cycle) {
        slice_list(s, (uint32_t)(s->keep * cycle), out);
    } else if (cycle == 1) {
        uint64_t at = s->start % a->period;
        if (ramp && at + s->keep <= a->period)
            set_ramp(out, slice_at(s, 0), a->ramp.step, s->keep);
        else if (at == 0 && s->keep % a->period == 0)
            copy_formula(out, a);
        else
            set_varies(out);
    } else if (ramp && s->keep == 1 && s->whole < (uint64_t)STEP_MAX &&
               (a->period == 0 || (a->period % s->whole == 0 && s->start < a->period))) {
        set_ramp(out, slice_at(s, 0), (int64_t)((uint64_t)a->ramp.step * s->whole), a->period / s->whole);
    } else {
        set_varies(out);
    }
}

static void slice_model(const struct slice *s, struct grammar_attr *out)
{
    const struct grammar_attr *a = s->of;

    if (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == 0)
        set_ramp(out, a->ramp.base, 0, 0);
    else if (s->count <= SHORT)
        slice_rebuild(s, out);
    else if (s->count == s->keep)
        slice_single(s, out);
    else
        slice_passes(s, out);
}

/* Shares of what is not exact: extremes stay as bounds, sums are in proportion. */
static void split_loose(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out)
{
    __int128 sum = (__int128)a->sum * (__int128)out->count / (__int128)(whole ? whole : 1);

    out->sum = (int64_t)sum;
    a->sum = (int64_t)((uint64_t)a->sum - (uint64_t)out->sum);
    if (a->kind == GRAMMAR_ATTR_KEYED)
        key_split(a, whole, out);
}

void grammar_attr_split(struct grammar_attr *a, uint64_t part, uint64_t whole, bool front, struct grammar_attr *out)
{
    uint64_t total = a->count, passes = whole ? total / whole : 0, rest = whole - part;
    struct grammar_attr before = *a;
    struct grammar_attr *head = front ? out : a, *tail = front ? a : out;

    *out = *a;
    head->count = passes * part;
    tail->count = total - head->count;
    /* the turns of a pass follow each other in the stream */
    head->last = before.last - rest;
    tail->first = before.first + part;
    if (!exact(&before)) {
        a->count = front ? tail->count : head->count;
        split_loose(a, total, out);
    } else if (passes == 0 || total % whole != 0 || head->count == 0 || tail->count == 0) {
        set_varies(a); /* not what a grammar does; stay sound */
        set_varies(out);
        split_loose(a, total, out);
    } else {
        slice_model(&(struct slice){ &before, 0, part, whole, head->count }, head);
        slice_model(&(struct slice){ &before, part, rest, whole, tail->count }, tail);
        for (int i = 0; i < 2; i++) {
            struct grammar_attr *one = i ? tail : head;
            if (exact(one))
                summarise(one, before.min, before.max);
        }
        if (exact(head))
            tail->sum = (int64_t)((uint64_t)before.sum - (uint64_t)head->sum);
        else if (exact(tail))
            head->sum = (int64_t)((uint64_t)before.sum - (uint64_t)tail->sum);
        else {
            a->sum = before.sum;
            split_loose(a, total, out);
        }
    }
}

/* --- Weaving --- */

/* Pass by pass, `left` turns of one sequence and then `right` turns of the other. */
struct woven {
    const struct grammar_attr *a, *b;
    uint64_t left, right, passes;
};

static int64_t woven_at(const struct woven *w, uint64_t i)
{
    uint64_t pass = i / (w->left + w->right), turn = i % (w->left + w->right);

    return turn < w->left ? value_at(w->a, pass * w->left + turn) : value_at(w->b, pass * w->right + turn - w->left);
}

/* Passes after which a sequence of `turns` a pass comes back; 0: not known to. */
static uint64_t cycle_of(const struct grammar_attr *a, uint64_t turns)
{
    if (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == 0)
        return 1;
    return a->period ? a->period / common_divisor(a->period, turns) : 0;
}

static void weave_short(const struct woven *w, uint64_t count, struct grammar_attr *out)
{
    grammar_attr_start(out, GRAMMAR_BYTES, woven_at(w, 0), 0, 0);
    for (uint64_t i = 1; i < count; i++)
        append_value(out, woven_at(w, i));
}

/* Whether each pass of `turns` is one straight line of this step. */
static bool straight(const struct grammar_attr *a, uint64_t turns, int64_t step)
{
    return turns == 1 || (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == step && a->period % turns == 0);
}

/* The formula of two sequences woven, from their parameters; false: none is known to hold. */
static bool weave_formula(const struct woven *w, struct grammar_attr *out)
{
    uint64_t turns = w->left + w->right, a = cycle_of(w->a, w->left), b = cycle_of(w->b, w->right);

    if (w->passes * turns <= SHORT) {
        weave_short(w, w->passes * turns, out);
        return exact(out);
    }
    if (a == 0 || b == 0 || turns > UINT32_MAX)
        return false;
    if (a <= GRAMMAR_ATTR_LENGTH && b <= GRAMMAR_ATTR_LENGTH &&
        a / common_divisor(a, b) * b * turns <= GRAMMAR_ATTR_LENGTH) {
        weave_short(w, SHORT, out);
        return exact(out) && out->period <= GRAMMAR_ATTR_LENGTH;
    }
    int64_t step = (int64_t)((uint64_t)woven_at(w, w->left) - (uint64_t)woven_at(w, w->left - 1));
    if (a != 1 || b != 1 || step >= STEP_MAX || step <= -STEP_MAX || !straight(w->a, w->left, step) ||
        !straight(w->b, w->right, step))
        return false;
    set_ramp(out, woven_at(w, 0), step, turns);
    return true;
}

void grammar_attr_weave(struct grammar_attr *into, uint64_t left, const struct grammar_attr *from, uint64_t right)
{
    struct woven w = { into, from, left, right, into->count / left };
    struct grammar_attr g;

    if (!exact(into) || !exact(from) || w.passes <= 1 || into->count != w.passes * left ||
        from->count != w.passes * right) {
        grammar_attr_join(into, from);
        return;
    }
    if (weave_formula(&w, &g))
        copy_formula(into, &g);
    else
        set_varies(into);
    join_totals(into, from);
}

/* --- Reading --- */

bool grammar_attr_value(const struct grammar_attr *a, uint64_t i, int64_t *value)
{
    if (!exact(a) || i >= a->count || (a->kind == GRAMMAR_ATTR_LIST && a->period == 0))
        return false;
    *value = value_at(a, i);
    return true;
}

bool grammar_attr_constant(const struct grammar_attr *a, int64_t *value)
{
    bool one = a->kind == GRAMMAR_ATTR_KEYED ? a->min == a->max : constant(a);

    if (one)
        *value = a->kind == GRAMMAR_ATTR_KEYED ? a->min : a->ramp.base;
    return one;
}
