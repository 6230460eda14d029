/* SPDX-License-Identifier: MIT */
/*
 * Value models. Every change goes one of two ways: a short sequence (up to SHORT values) is rebuilt value by value,
 * which finds the best formula; a longer one is kept only where a formula can be proven to hold from its parameters
 * alone. What cannot be proven becomes VARIES: never a guess.
 *
 * Periods of lists are at most LENGTH, so that two of them that agree on 2 * LENGTH values agree everywhere (Fine and
 * Wilf, 1965): comparing SHORT values is a proof.
 */
#include "grammar/attr_formula.h"

#include <string.h>

/* --- Formulas --- */

static bool constant(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_RAMP && (a->ramp.step == 0 || a->count == 1);
}

/* A constant has one form only: step 0, no period. */
void grammar_attr_set_ramp(struct grammar_attr *a, int64_t base, int64_t step, uint64_t period)
{
    a->kind = GRAMMAR_ATTR_RAMP;
    a->length = 0;
    memset(a->key, 0, sizeof a->key); /* the largest member of the union */
    a->ramp.base = base;
    a->ramp.step = period == 1 ? 0 : step;
    a->period = a->ramp.step == 0 ? 0 : (uint32_t)period;
}

void grammar_attr_set_varies(struct grammar_attr *a)
{
    grammar_attr_set_ramp(a, 0, 0, 0);
    a->kind = GRAMMAR_ATTR_VARIES;
}

void grammar_attr_set_list(struct grammar_attr *a, const int64_t *value, uint32_t period)
{
    uint32_t same = 1;

    while (same < period && value[same] == value[0])
        same++;
    grammar_attr_set_ramp(a, value[0], 0, 0);
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
void grammar_attr_summarise(struct grammar_attr *a, int64_t low, int64_t high)
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
void grammar_attr_split_keys(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out)
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
    *a = (struct grammar_attr){
        .channel = (uint8_t)c, .count = 1, .first = at, .last = at, .min = value, .max = value, .sum = value,
        .key = { { 0 } }, /* the largest member of the union */
    };
    if (c == GRAMMAR_TEAM) {
        a->kind = GRAMMAR_ATTR_KEYED;
        key_add(a, value, 1, duration);
    } else {
        a->ramp.base = value;
    }
}

/* The shortest list that explains all values so far and `value` after them. */
static bool find_list(struct grammar_attr *a, int64_t value)
{
    int64_t all[GRAMMAR_ATTR_SHORT + 1];
    uint64_t n = a->count;

    if (n > GRAMMAR_ATTR_SHORT)
        return false;
    for (uint64_t i = 0; i < n; i++)
        all[i] = grammar_attr_at(a, i);
    all[n++] = value;
    for (uint32_t period = 1; period <= GRAMMAR_ATTR_LENGTH && period <= n; period++) {
        uint64_t i = period;
        while (i < n && all[i] == all[i - period])
            i++;
        if (i == n) {
            grammar_attr_set_list(a, all, period);
            return true;
        }
    }
    return false;
}

/* A list in which nothing came back so far: with one more value, only the longer list explains all. */
static bool lengthen(struct grammar_attr *a, int64_t value)
{
    if (a->kind != GRAMMAR_ATTR_LIST || a->period != a->count || a->count == GRAMMAR_ATTR_LENGTH)
        return false;
    a->list[a->period++] = value;
    a->length++;
    return true;
}

/* The formula failed at the next occurrence: change it to one that explains this one too. */
static void bend(struct grammar_attr *a, int64_t value)
{
    int64_t step;
    bool ramp = a->kind == GRAMMAR_ATTR_RAMP && a->period == 0;

    if (ramp && a->count == 1 && !__builtin_sub_overflow(value, a->ramp.base, &step) && step < GRAMMAR_ATTR_STEP &&
        step > -GRAMMAR_ATTR_STEP)
        a->ramp.step = step;
    else if (ramp && a->ramp.step != 0 && value == a->ramp.base && a->count <= UINT32_MAX)
        a->period = (uint32_t)a->count;
    else if (!lengthen(a, value) && !find_list(a, value))
        grammar_attr_set_varies(a);
}

static inline void total(struct grammar_attr *a, int64_t value)
{
    a->min = value < a->min ? value : a->min;
    a->max = value > a->max ? value : a->max;
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)value);
}

void grammar_attr_append(struct grammar_attr *a, int64_t value)
{
    if (grammar_attr_exact(a) && grammar_attr_at(a, a->count) != value)
        bend(a, value);
    total(a, value);
    a->count++;
}

void grammar_attr_go_on(struct grammar_attr *a, uint64_t count, uint64_t at)
{
    uint64_t sum = (uint64_t)a->sum, before = a->count;
    a->count += count;
    a->last = at;
    if (a->kind == GRAMMAR_ATTR_RAMP && a->ramp.step == 0) {
        a->sum = (int64_t)(sum + (uint64_t)a->ramp.base * count);
    } else if (a->kind == GRAMMAR_ATTR_RAMP || count > GRAMMAR_ATTR_SHORT || before < a->period) {
        grammar_attr_summarise(a, INT64_MIN, INT64_MAX);
    } else { /* the extremes are known */
        for (uint32_t i = (uint32_t)grammar_attr_phase(a, before); count; count--, i = i + 1 == a->period ? 0 : i + 1)
            sum += (uint64_t)a->list[i];
        a->sum = (int64_t)sum;
    }
}

void grammar_attr_add(struct grammar_attr *a, int64_t value, uint64_t duration, uint64_t at)
{
    grammar_attr_append(a, value);
    a->last = at;
    if (a->kind == GRAMMAR_ATTR_KEYED)
        key_add(a, value, 1, duration);
}

/* --- Joining --- */

static bool short_period(const struct grammar_attr *a)
{
    return a->kind == GRAMMAR_ATTR_LIST || a->ramp.step == 0 || (a->period && a->period <= GRAMMAR_ATTR_LENGTH);
}

/* Whether formula `g`, from occurrence `offset` on, gives the values of `m`. */
static bool explains(const struct grammar_attr *g, uint64_t offset, const struct grammar_attr *m)
{
    for (uint64_t i = 0; i < m->count && i < GRAMMAR_ATTR_SHORT; i++)
        if (grammar_attr_at(g, offset + i) != grammar_attr_at(m, i))
            return false;
    if (m->count <= GRAMMAR_ATTR_SHORT || (short_period(g) && short_period(m)))
        return true;
    if (short_period(g) || short_period(m) || g->ramp.step != m->ramp.step)
        return false;
    if (m->period == 0 || m->count <= m->period) /* one straight line: it must not cross a turn of g */
        return g->period == 0 || grammar_attr_phase(g, offset) + m->count <= g->period;
    return g->period == m->period && grammar_attr_phase(g, offset) == 0;
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
        list[(i + n) % b->period] = grammar_attr_at(b, i);
    grammar_attr_set_list(g, list, b->period);
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

void grammar_attr_copy(struct grammar_attr *a, const struct grammar_attr *g)
{
    a->kind = g->kind;
    a->length = g->length;
    a->period = g->period;
    memcpy(a->key, g->key, sizeof a->key); /* the largest member of the union */
}

/* Whether b is what a's formula gives next, as it is from its beginning: one more turn of what comes back. */
static bool goes_on(const struct grammar_attr *a, const struct grammar_attr *b)
{
    if (a->period == 0 || a->kind != b->kind || a->count % a->period != 0)
        return false;
    if (a->kind == GRAMMAR_ATTR_LIST)
        return a->period == b->period && !memcmp(a->list, b->list, a->period * sizeof *a->list);
    return a->ramp.base == b->ramp.base && a->ramp.step == b->ramp.step &&
           (b->period == a->period || (b->period == 0 && b->count <= a->period));
}

/* a's occurrences, then b's; the totals are the caller's. */
static void chain(struct grammar_attr *a, const struct grammar_attr *b)
{
    struct grammar_attr g;

    if (goes_on(a, b))
        return;
    if (b->count <= GRAMMAR_ATTR_SHORT) {
        g = *a;
        for (uint64_t i = 0; i < b->count; i++)
            grammar_attr_append(&g, grammar_attr_at(b, i));
        grammar_attr_copy(a, &g);
    } else if (one_formula(&g, a, b)) {
        grammar_attr_copy(a, &g);
    } else {
        grammar_attr_set_varies(a);
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
    if (constant(into) && constant(from) && into->ramp.base == from->ramp.base) { /* whatever the order */
        if (into->ramp.step != 0)
            grammar_attr_set_ramp(into, into->ramp.base, 0, 0);
    } else if (!grammar_attr_exact(into) || !grammar_attr_exact(from)) {
        grammar_attr_set_varies(into);
    } else if (into->last < from->first) {
        chain(into, from);
    } else if (from->last < into->first) {
        struct grammar_attr g = *from;
        chain(&g, into);
        grammar_attr_copy(into, &g);
    } else {
        grammar_attr_set_varies(into);
    }
}

void grammar_attr_totals(struct grammar_attr *into, const struct grammar_attr *from)
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
    grammar_attr_totals(into, from);
}

/* --- Reading --- */

bool grammar_attr_value(const struct grammar_attr *a, uint64_t i, int64_t *value)
{
    if (!grammar_attr_exact(a) || i >= a->count || (a->kind == GRAMMAR_ATTR_LIST && a->period == 0))
        return false;
    *value = grammar_attr_at(a, i);
    return true;
}

bool grammar_attr_constant(const struct grammar_attr *a, int64_t *value)
{
    bool one = a->kind == GRAMMAR_ATTR_KEYED ? a->min == a->max : constant(a);

    if (one)
        *value = a->kind == GRAMMAR_ATTR_KEYED ? a->min : a->ramp.base;
    return one;
}
