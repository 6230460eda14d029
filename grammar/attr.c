/* SPDX-License-Identifier: MIT */
#include "grammar/attr.h"

#include <string.h>

#include "grammar/tally.h"

/* --- Durations by value --- */

static struct grammar_attr_key *key_find(struct grammar_attr *a, int64_t value)
{
    for (uint32_t i = 0; i < a->length; i++)
        if (a->key[i].value == value)
            return &a->key[i];
    if (a->length == GRAMMAR_ATTR_KEYS || value == -1) {
        if (a->length < GRAMMAR_ATTR_KEYS) /* what did not fit elsewhere: keep it last */
            memset(&a->key[a->length], 0, sizeof a->key[0] * (GRAMMAR_ATTR_KEYS - a->length));
        a->length = GRAMMAR_ATTR_KEYS;
        a->key[GRAMMAR_ATTR_KEYS - 1].value = -1;
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

static void join_keys(struct grammar_attr *into, const struct grammar_attr *from)
{
    for (uint32_t i = 0; i < from->length; i++)
        if (from->key[i].value != -1)
            key_add(into, from->key[i].value, from->key[i].count, from->key[i].sum);
    if (from->length == GRAMMAR_ATTR_KEYS && from->key[GRAMMAR_ATTR_KEYS - 1].value == -1)
        key_add(into, -1, from->key[GRAMMAR_ATTR_KEYS - 1].count, from->key[GRAMMAR_ATTR_KEYS - 1].sum);
}

/* Counts in proportion, rounded so that `out` gets out->count of `whole` in all. */
static void split_keys(struct grammar_attr *a, uint64_t whole, struct grammar_attr *out)
{
    uint64_t share[GRAMMAR_ATTR_KEYS] = { 0 }, given = 0;

    for (uint32_t i = 0; i < a->length; i++)
        given += share[i] = grammar_share(a->key[i].count, out->count, whole);
    for (uint32_t i = 0; i < a->length && given < out->count; i++) {
        uint64_t more = out->count - given, room = a->key[i].count - share[i];
        more = more < room ? more : room;
        share[i] += more;
        given += more;
    }
    memset(out->key, 0, sizeof out->key);
    out->length = a->length;
    for (uint32_t i = 0; i < a->length; i++) {
        uint64_t sum = a->key[i].count ? grammar_share(a->key[i].sum, share[i], a->key[i].count) : 0;
        out->key[i] = (struct grammar_attr_key){ a->key[i].value, share[i], sum };
        a->key[i].count -= share[i];
        a->key[i].sum -= sum;
    }
}

/* --- Values --- */

void grammar_attr_start(struct grammar_attr *a, enum grammar_channel c, int64_t value, uint64_t duration)
{
    *a = (struct grammar_attr){
        .channel = (uint8_t)c, .count = 1, .min = value, .max = value, .sum = value,
        .key = { { 0 } }, /* the largest member of the union */
    };
    if (c == GRAMMAR_TEAM) {
        a->kind = GRAMMAR_ATTR_KEYED;
        key_add(a, value, 1, duration);
    }
}

/* Two sets of occurrences of which these are the extremes. */
static void widen(struct grammar_attr *a, int64_t min, int64_t max)
{
    if (a->kind == GRAMMAR_ATTR_CONSTANT && (min != a->min || max != a->max))
        grammar_attr_vary(a);
    a->min = min < a->min ? min : a->min;
    a->max = max > a->max ? max : a->max;
}

void grammar_attr_add(struct grammar_attr *a, int64_t value, uint64_t duration)
{
    widen(a, value, value);
    a->sum = (int64_t)((uint64_t)a->sum + (uint64_t)value);
    a->count++;
    if (a->kind == GRAMMAR_ATTR_KEYED)
        key_add(a, value, 1, duration);
}

void grammar_attr_join(struct grammar_attr *into, const struct grammar_attr *from)
{
    if (from->kind == GRAMMAR_ATTR_VARIES && into->kind == GRAMMAR_ATTR_CONSTANT)
        grammar_attr_vary(into);
    widen(into, from->min, from->max);
    into->count += from->count;
    into->sum = (int64_t)((uint64_t)into->sum + (uint64_t)from->sum);
    if (into->kind == GRAMMAR_ATTR_KEYED && from->kind == GRAMMAR_ATTR_KEYED)
        join_keys(into, from);
}

/* What `count` of `whole` occurrences sum up to. */
static int64_t share_of_sum(const struct grammar_attr *a, uint64_t count, uint64_t whole)
{
    if (a->kind == GRAMMAR_ATTR_CONSTANT)
        return (int64_t)((uint64_t)a->min * count);
    return (int64_t)((__int128)a->sum * (__int128)count / (__int128)(whole ? whole : 1));
}

void grammar_attr_split(struct grammar_attr *a, uint64_t count, struct grammar_attr *out)
{
    uint64_t whole = a->count;

    *out = *a;
    out->count = count;
    out->sum = share_of_sum(a, count, whole);
    a->count -= count;
    a->sum = (int64_t)((uint64_t)a->sum - (uint64_t)out->sum);
    if (a->kind == GRAMMAR_ATTR_KEYED)
        split_keys(a, whole, out);
}

bool grammar_attr_constant(const struct grammar_attr *a, int64_t *value)
{
    if (a->kind == GRAMMAR_ATTR_VARIES || a->min != a->max)
        return false;
    *value = a->min;
    return true;
}
