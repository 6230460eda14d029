/* SPDX-License-Identifier: MIT */
/*
 * Value models of nodes with exponents: the turns of each pass cut apart, and two nodes side by side woven together.
 */
#include "grammar/attr_formula.h"

/* --- Splitting --- */

/* Of each pass of `whole` turns the `keep` turns from `start` on. */
struct slice {
    const struct grammar_attr *of;
    uint64_t start, keep, whole, count;
};

static int64_t slice_at(const struct slice *s, uint64_t i)
{
    return grammar_attr_at(s->of, s->start + i / s->keep * s->whole + i % s->keep);
}

static void slice_rebuild(const struct slice *s, struct grammar_attr *out)
{
    struct grammar_attr g;

    grammar_attr_start(&g, GRAMMAR_BYTES, slice_at(s, 0), 0, 0);
    for (uint64_t i = 1; i < s->count; i++)
        grammar_attr_append(&g, slice_at(s, i));
    grammar_attr_copy(out, &g);
}

/* The slice is periodic with this short period. */
static void slice_list(const struct slice *s, uint32_t period, struct grammar_attr *out)
{
    int64_t list[GRAMMAR_ATTR_LENGTH];

    for (uint32_t i = 0; i < period; i++)
        list[i] = slice_at(s, i);
    grammar_attr_set_list(out, list, period);
}

/* One pass: a part of a long sequence, from `start` on. */
static void slice_single(const struct slice *s, struct grammar_attr *out)
{
    const struct grammar_attr *a = s->of;
    uint64_t at = grammar_attr_phase(a, s->start);

    if (a->kind == GRAMMAR_ATTR_RAMP && (a->period == 0 || at + s->count <= a->period))
        grammar_attr_set_ramp(out, slice_at(s, 0), a->ramp.step, 0);
    else if (at == 0)
        grammar_attr_copy(out, a);
    else if (a->period <= GRAMMAR_ATTR_LENGTH)
        slice_list(s, a->period, out);
    else
        grammar_attr_set_varies(out);
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
            grammar_attr_set_ramp(out, slice_at(s, 0), a->ramp.step, s->keep);
        else if (at == 0 && s->keep % a->period == 0)
            grammar_attr_copy(out, a);
        else
            grammar_attr_set_varies(out);
    } else if (ramp && s->keep == 1 && s->whole < (uint64_t)GRAMMAR_ATTR_STEP &&
               (a->period == 0 || (a->period % s->whole == 0 && s->start < a->period))) {
        grammar_attr_set_ramp(out, slice_at(s, 0), (int64_t)((uint64_t)a->ramp.step * s->whole), a->period / s->whole);
    } else {
        grammar_attr_set_varies(out);
    }
}

static void slice_model(const struct slice *s, struct grammar_attr *out)
{
    const struct grammar_attr *a = s->of;

    if (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == 0)
        grammar_attr_set_ramp(out, a->ramp.base, 0, 0);
    else if (s->count <= GRAMMAR_ATTR_SHORT)
        slice_rebuild(s, out);
    else if (s->count == s->keep)
        slice_single(s, out);
    else
        slice_passes(s, out);
}

void grammar_attr_next(const struct grammar_attr *a, uint64_t count, uint64_t first, struct grammar_attr *out)
{
    struct grammar_attr all = *a;

    all.count += count;
    grammar_attr_summarise(&all, INT64_MIN, INT64_MAX);
    *out = all;
    out->count = count;
    out->first = first;
    out->last = first + count - 1;
    slice_model(&(struct slice){ a, a->count, count, count, count }, out);
    if (grammar_attr_exact(out))
        grammar_attr_summarise(out, all.min, all.max);
    else
        out->sum = (int64_t)((uint64_t)all.sum - (uint64_t)a->sum);
}

/* Shares of what is not exact: extremes stay as bounds, sums are in proportion. */
static void split_loose(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out)
{
    __int128 sum = (__int128)a->sum * (__int128)out->count / (__int128)(whole ? whole : 1);

    out->sum = (int64_t)sum;
    a->sum = (int64_t)((uint64_t)a->sum - (uint64_t)out->sum);
    if (a->kind == GRAMMAR_ATTR_KEYED)
        grammar_attr_split_keys(a, whole, out);
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
    if (!grammar_attr_exact(&before)) {
        a->count = front ? tail->count : head->count;
        split_loose(a, total, out);
    } else if (passes == 0 || total % whole != 0 || head->count == 0 || tail->count == 0) {
        grammar_attr_set_varies(a); /* not what a grammar does; stay sound */
        grammar_attr_set_varies(out);
        split_loose(a, total, out);
    } else {
        slice_model(&(struct slice){ &before, 0, part, whole, head->count }, head);
        slice_model(&(struct slice){ &before, part, rest, whole, tail->count }, tail);
        for (int i = 0; i < 2; i++) {
            struct grammar_attr *one = i ? tail : head;
            if (grammar_attr_exact(one))
                grammar_attr_summarise(one, before.min, before.max);
        }
        if (grammar_attr_exact(head))
            tail->sum = (int64_t)((uint64_t)before.sum - (uint64_t)head->sum);
        else if (grammar_attr_exact(tail))
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

    return turn < w->left ? grammar_attr_at(w->a, pass * w->left + turn)
                          : grammar_attr_at(w->b, pass * w->right + turn - w->left);
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
        grammar_attr_append(out, woven_at(w, i));
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

    if (w->passes * turns <= GRAMMAR_ATTR_SHORT) {
        weave_short(w, w->passes * turns, out);
        return grammar_attr_exact(out);
    }
    if (a == 0 || b == 0 || turns > UINT32_MAX)
        return false;
    if (a <= GRAMMAR_ATTR_LENGTH && b <= GRAMMAR_ATTR_LENGTH &&
        a / common_divisor(a, b) * b * turns <= GRAMMAR_ATTR_LENGTH) {
        weave_short(w, GRAMMAR_ATTR_SHORT, out);
        return grammar_attr_exact(out) && out->period <= GRAMMAR_ATTR_LENGTH;
    }
    int64_t step = (int64_t)((uint64_t)woven_at(w, w->left) - (uint64_t)woven_at(w, w->left - 1));
    if (a != 1 || b != 1 || step >= GRAMMAR_ATTR_STEP || step <= -GRAMMAR_ATTR_STEP || !straight(w->a, w->left, step) ||
        !straight(w->b, w->right, step))
        return false;
    grammar_attr_set_ramp(out, woven_at(w, 0), step, turns);
    return true;
}

void grammar_attr_weave(struct grammar_attr *into, uint64_t left, const struct grammar_attr *from, uint64_t right)
{
    struct woven w = { into, from, left, right, into->count / left };
    struct grammar_attr g;

    if (!grammar_attr_exact(into) || !grammar_attr_exact(from) || w.passes <= 1 || into->count != w.passes * left ||
        from->count != w.passes * right) {
        grammar_attr_join(into, from);
        return;
    }
    if (weave_formula(&w, &g))
        grammar_attr_copy(into, &g);
    else
        grammar_attr_set_varies(into);
    grammar_attr_totals(into, from);
}
