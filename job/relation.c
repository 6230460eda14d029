/* SPDX-License-Identifier: MIT */
/*
 * All arithmetic on values is modulo 2^64, through uint64_t: models come from files too, and nothing a file says may
 * overflow a signed integer.
 */
#include "job/relation.h"

#include <string.h>

enum { SHORT = GRAMMAR_ATTR_LENGTH };

/* Values in one period, before they repeat; the whole sequence where it does not. */
static uint64_t period_of(const struct grammar_attr *a)
{
    return a->period && a->period < a->count ? a->period : a->count;
}

static uint64_t value_at(const struct grammar_attr *a, uint64_t i)
{
    if (a->kind == GRAMMAR_ATTR_LIST)
        return (uint64_t)a->list[i % a->period];
    return (uint64_t)a->ramp.base + (uint64_t)a->ramp.step * (a->period ? i % a->period : i);
}

/* Shortest period of the first `n` values, of which `count` follow one another in all. */
static uint32_t shortest_period(const uint64_t *value, uint32_t n, uint64_t count)
{
    uint64_t seen = count < (uint64_t)n * n ? count : (uint64_t)n * n; /* two periods agree for good after lcm <= n *
                                                                          n */
    for (uint32_t p = 1; p < n; p++) {
        uint64_t i = 0;
        while (i < seen && value[i % n] == value[i % p])
            i++;
        if (i == seen)
            return p;
    }
    return n;
}

static bool arithmetic(const uint64_t *value, uint32_t n)
{
    for (uint32_t i = 2; i < n; i++)
        if (value[i] - value[i - 1] != value[1] - value[0])
            return false;
    return true;
}

/* Sum of base + step * i for i < n, modulo 2^64. */
static uint64_t ramp_sum(uint64_t base, uint64_t step, uint64_t n)
{
    uint64_t pairs = n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
    return n * base + step * pairs;
}

static void set_extremes(struct grammar_attr *a, uint64_t x)
{
    if ((int64_t)x < a->min)
        a->min = (int64_t)x;
    if ((int64_t)x > a->max)
        a->max = (int64_t)x;
}

/* Values that a sum is of. */
static uint64_t counted(const struct grammar_attr *a)
{
    return a->count != JOB_ALWAYS ? a->count : a->period ? a->period : 1;
}

static void ramp_totals(struct grammar_attr *a)
{
    uint64_t count = counted(a), n = a->period && a->period < count ? a->period : count, base = (uint64_t)a->ramp.base,
             step = (uint64_t)a->ramp.step;
    uint64_t whole = n ? count / n : 0, rest = n ? count % n : 0;
    a->sum = (int64_t)(whole * ramp_sum(base, step, n) + ramp_sum(base, step, rest));
    a->min = a->max = a->ramp.base;
    if (n)
        set_extremes(a, base + step * (n - 1));
}

static void list_totals(struct grammar_attr *a)
{
    uint64_t sum = 0, count = counted(a);
    a->min = a->max = a->list[0];
    for (uint32_t i = 0; i < a->period; i++) {
        uint64_t times = count / a->period + (i < count % a->period);
        sum += times * (uint64_t)a->list[i];
        if (times)
            set_extremes(a, (uint64_t)a->list[i]);
    }
    a->sum = (int64_t)sum;
}

/* A model of up to SHORT values, n of them. */
static void set_short(struct grammar_attr *a, const uint64_t *value, uint32_t n)
{
    uint32_t p = shortest_period(value, n, a->count);
    memset(a->list, 0, sizeof a->list);
    memset(a->key, 0, sizeof a->key);
    if (arithmetic(value, p)) {
        a->kind = GRAMMAR_ATTR_RAMP;
        a->length = 0;
        a->period = p > 1 && p < a->count ? p : 0;
        a->ramp.base = (int64_t)value[0];
        a->ramp.step = p > 1 ? (int64_t)(value[1] - value[0]) : 0;
        ramp_totals(a);
        return;
    }
    a->kind = GRAMMAR_ATTR_LIST;
    a->length = (uint16_t)p;
    a->period = p;
    for (uint32_t i = 0; i < p; i++)
        a->list[i] = (int64_t)value[i];
    list_totals(a);
}

static void canonical_long_ramp(struct grammar_attr *a)
{
    int64_t base = a->ramp.base, step = a->ramp.step;
    memset(a->key, 0, sizeof a->key);
    a->length = 0;
    if (!step || a->period >= a->count)
        a->period = 0;
    a->ramp.base = base;
    a->ramp.step = step;
    ramp_totals(a);
}

/* By value; what did not fit, -1, last. */
static bool key_after(const struct grammar_attr_key *a, const struct grammar_attr_key *b)
{
    return (uint64_t)a->value > (uint64_t)b->value;
}

static void canonical_keyed(struct grammar_attr *a)
{
    for (uint32_t i = 1; i < a->length; i++)
        for (uint32_t k = i; k > 0 && key_after(&a->key[k - 1], &a->key[k]); k--) {
            struct grammar_attr_key swap = a->key[k];
            a->key[k] = a->key[k - 1];
            a->key[k - 1] = swap;
        }
    for (uint32_t i = a->length; i < GRAMMAR_ATTR_KEYS; i++)
        a->key[i] = (struct grammar_attr_key){ 0 };
    a->period = 0;
}

void job_relation_canonical(struct grammar_attr *a)
{
    uint64_t value[SHORT];
    if (a->kind == GRAMMAR_ATTR_KEYED) {
        canonical_keyed(a);
    } else if (a->kind == GRAMMAR_ATTR_VARIES) {
        int64_t course = a->list[0], modulus = a->list[1];
        memset(a->key, 0, sizeof a->key);
        a->list[0] = course;
        a->list[1] = modulus;
        a->length = 0;
        a->period = 0;
    } else if (period_of(a) > SHORT) {
        canonical_long_ramp(a);
    } else {
        uint32_t n = (uint32_t)period_of(a);
        for (uint32_t i = 0; i < n; i++)
            value[i] = value_at(a, i);
        if (n)
            set_short(a, value, n);
    }
}

void job_relation_always(struct grammar_attr *a, uint64_t expansions)
{
    bool holds = a->period || (a->kind == GRAMMAR_ATTR_RAMP && !a->ramp.step);
    a->first = a->last = 0;
    if (!job_relation_exact(a) || !holds || a->count != expansions)
        return;
    a->count = JOB_ALWAYS;
    job_relation_canonical(a);
}

uint32_t job_relation_possible(const struct grammar_attr *a, uint32_t modulus)
{
    uint32_t relations = JOB_ABSOLUTE;
    if (!modulus || (a->channel != GRAMMAR_PEER && a->channel != GRAMMAR_SOURCE) || !job_relation_exact(a) ||
        a->min < 0)
        return relations;
    if (a->max < modulus)
        relations |= JOB_OFFSET;
    bool constant = a->kind == GRAMMAR_ATTR_RAMP && !a->ramp.step;
    if ((constant || period_of(a) <= SHORT) && a->max <= UINT32_MAX) /* what it becomes elsewhere fits a list */
        relations |= JOB_XOR;
    return relations;
}

int64_t job_relation_value(uint32_t relations, uint32_t modulus, int64_t value, uint32_t from, uint32_t to)
{
    if (relations & JOB_ABSOLUTE || !modulus)
        return value;
    if (relations & JOB_OFFSET)
        return (int64_t)(((uint64_t)value + modulus - from % modulus + to % modulus) % modulus);
    return value ^ (int64_t)from ^ (int64_t)to;
}

/* Takes a model of values below the modulus to another rank. */
static void shift(struct grammar_attr *a, uint32_t relation, uint32_t modulus, uint32_t from, uint32_t to)
{
    uint64_t value[SHORT], n = period_of(a);
    if (n > SHORT) { /* a long ramp: only its base moves; on the ranks that it was recorded on, it does not wrap */
        a->ramp.base = job_relation_value(relation, modulus, a->ramp.base, from, to);
        ramp_totals(a);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        value[i] = (uint64_t)job_relation_value(relation, modulus, (int64_t)value_at(a, i), from, to);
    if (n)
        set_short(a, value, (uint32_t)n);
}

void job_relation_take(const struct job_variant *v, uint32_t rank, struct grammar_attr *out)
{
    *out = v->attr;
    if (job_relation_exact(out) && !(v->relations & JOB_ABSOLUTE))
        shift(out, v->relations & JOB_OFFSET ? JOB_OFFSET : JOB_XOR, v->modulus, v->sample_rank, rank);
}

/* Of models without exact values only what tells them apart is a key: team sizes, or a course. */
static void key_of_inexact(const struct grammar_attr *a, struct job_relation_key *key)
{
    key->attr.channel = a->channel;
    key->attr.kind = a->kind;
    if (a->kind != GRAMMAR_ATTR_KEYED) {
        key->attr.list[0] = a->list[0];
        key->attr.list[1] = a->list[1];
        return;
    }
    key->attr.length = a->length;
    for (uint32_t i = 0; i < a->length; i++)
        key->attr.key[i].value = a->key[i].value;
}

void job_relation_key(const struct grammar_attr *a, uint32_t modulus, uint32_t relation, uint32_t rank,
                        struct job_relation_key *key)
{
    memset(key, 0, sizeof *key);
    key->modulus = modulus;
    key->relation = job_relation_possible(a, modulus) & relation ? relation : JOB_ABSOLUTE;
    if (!job_relation_exact(a)) {
        key_of_inexact(a, key);
        return;
    }
    key->attr = *a;
    if (key->relation != JOB_ABSOLUTE)
        shift(&key->attr, key->relation, modulus, rank, 0);
    key->attr.min = key->attr.max = key->attr.sum = 0;
}

uint32_t job_relation_agree(uint32_t mask, uint32_t modulus, const struct grammar_attr *a, uint32_t a_rank,
                              const struct grammar_attr *b, uint32_t b_rank)
{
    uint32_t agreed = 0;
    mask &= job_relation_possible(a, modulus) & job_relation_possible(b, modulus);
    for (uint32_t relation = JOB_ABSOLUTE; relation <= JOB_XOR; relation <<= 1) {
        struct job_relation_key left, right;
        if (!(mask & relation))
            continue;
        job_relation_key(a, modulus, relation, a_rank, &left);
        job_relation_key(b, modulus, relation, b_rank, &right);
        if (!memcmp(&left, &right, sizeof left))
            agreed |= relation;
    }
    return agreed;
}
