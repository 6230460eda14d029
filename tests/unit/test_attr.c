/* SPDX-License-Identifier: MIT */
/*
 * Value models against a flat list of the values: whatever a model claims must be so, and what must stay exact does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/attr_formula.h"
#include "grammar/grammar.h"
#include "tests/unit/unit.h"

enum { ROOM = 4096 };

struct list {
    uint64_t count;
    int64_t value[ROOM];
    uint64_t at[ROOM]; /* index in the stream */
};

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void audit(const struct grammar_attr *a, const struct list *l, unsigned seed, const char *what)
{
    int64_t v, min = INT64_MAX, max = INT64_MIN;
    uint64_t sum = 0;

    ck_assert_msg(a->count == l->count, "seed %u %s: count %ju, not %ju", seed, what, (uintmax_t)a->count,
                  (uintmax_t)l->count);
    for (uint64_t i = 0; i < l->count; i++) {
        sum += (uint64_t)l->value[i];
        min = l->value[i] < min ? l->value[i] : min;
        max = l->value[i] > max ? l->value[i] : max;
        /* (Check's assertions cost a system call, also where they hold) */
        bool answered = grammar_attr_value(a, i, &v);
        if (answered && v != l->value[i])
            ck_abort_msg("seed %u %s: kind %d period %u of %ju: value %ju is %jd, not %jd", seed, what, a->kind,
                         a->period, (uintmax_t)l->count, (uintmax_t)i, (intmax_t)v, (intmax_t)l->value[i]);
        if (!answered && a->kind != GRAMMAR_ATTR_VARIES)
            ck_abort_msg("seed %u %s: silent", seed, what);
    }
    ck_assert_msg(!grammar_attr_value(a, l->count, &v), "seed %u %s: a value beyond the end", seed, what);
    if (a->kind == GRAMMAR_ATTR_VARIES) {
        ck_assert_msg(a->min <= min && a->max >= max, "seed %u %s: bounds", seed, what);
        return;
    }
    ck_assert_msg(a->min == min && a->max == max, "seed %u %s: extremes %jd %jd, not %jd %jd", seed, what,
                  (intmax_t)a->min, (intmax_t)a->max, (intmax_t)min, (intmax_t)max);
    ck_assert_msg((uint64_t)a->sum == sum, "seed %u %s: sum", seed, what);
    ck_assert_msg(grammar_attr_constant(a, &v) == (min == max), "seed %u %s: constant or not", seed, what);
    ck_assert_msg(a->first <= l->at[0] && a->last >= l->at[l->count - 1], "seed %u %s: ends", seed, what);
}

static void append(struct grammar_attr *a, struct list *l, int64_t value, uint64_t at)
{
    if (l->count == 0)
        grammar_attr_start(a, GRAMMAR_PEER, value, 0, at);
    else
        grammar_attr_add(a, value, 0, at);
    l->value[l->count] = value;
    l->at[l->count++] = at;
}

/* Sequences of the kinds that programs make, and of kinds that they should not. */
static int64_t pattern(unsigned kind, uint64_t i)
{
    static const int64_t list[] = { 7, -3, 7, 0, 12, 5, 5, 1 };
    switch (kind) {
    case 0: return 42;
    case 1: return (int64_t)(i % 63);
    case 2: return 1000 - 3 * (int64_t)i;
    case 3: return list[i % 3];
    case 4: return list[i % 8];
    case 5: return (int64_t)(i % 2) * 5;
    case 6: return (int64_t)rnd(3);
    case 7: return (int64_t)(i / 5 % 3);
    case 8: return INT64_MAX - (int64_t)(i % 4);
    case 9: return i % 2 ? INT64_MIN : INT64_MAX;
    case 10: return (int64_t)(i % 12) * 7;
    default: return i < 20 ? 5 : 6;
    }
}
enum { PATTERNS = 12 };

START_TEST(append_is_exact)
{
    struct grammar_attr a;
    static struct list l;

    for (unsigned kind = 0; kind < PATTERNS; kind++) {
        l.count = 0;
        for (uint64_t i = 0; i < 500; i++)
            append(&a, &l, pattern(kind, i), 10 * i);
        audit(&a, &l, kind, "append");
        if (kind < 6 || kind == 8 || kind == 9 || kind == 10)
            ck_assert_msg(a.kind != GRAMMAR_ATTR_VARIES, "pattern %u must stay exact", kind);
    }
    for (unsigned period = 1; period <= GRAMMAR_ATTR_LENGTH; period++)
        for (unsigned seed = 0; seed < 200; seed++) {
            int64_t list[GRAMMAR_ATTR_LENGTH];
            random_state = seed;
            for (unsigned i = 0; i < period; i++)
                list[i] = (int64_t)rnd(4);
            l.count = 0;
            for (uint64_t i = 0; i < 200; i++)
                append(&a, &l, list[i % period], i);
            audit(&a, &l, seed, "short list");
            ck_assert_msg(a.kind != GRAMMAR_ATTR_VARIES, "period %u seed %u must stay exact", period, seed);
        }
}
END_TEST

static void make(struct grammar_attr *a, struct list *l, unsigned kind, uint64_t from, uint64_t count, uint64_t at,
                 uint64_t stride)
{
    l->count = 0;
    for (uint64_t i = 0; i < count; i++)
        append(a, l, pattern(kind, from + i), at + i * stride);
}

static void merge_lists(struct list *into, const struct list *a, const struct list *b)
{
    uint64_t i = 0, j = 0;
    into->count = 0;
    while (i < a->count || j < b->count) {
        bool left = j == b->count || (i < a->count && a->at[i] < b->at[j]);
        into->at[into->count] = left ? a->at[i] : b->at[j];
        into->value[into->count++] = left ? a->value[i++] : b->value[j++];
    }
}

START_TEST(join_is_sound)
{
    struct grammar_attr a, b;
    static struct list la, lb, all;
    unsigned kept = 0;

    for (unsigned seed = 0; seed < 20000; seed++) {
        random_state = seed;
        unsigned kind = (unsigned)rnd(PATTERNS);
        uint64_t first = 1 + rnd(rnd(2) ? 200 : 12), second = 1 + rnd(rnd(2) ? 200 : 12);
        bool ordered = rnd(3) != 0, same = rnd(4) != 0, aligned = rnd(2);
        if (aligned && first > 63)
            first -= first % 63;
        make(&a, &la, kind, 0, first, 0, 10);
        make(&b, &lb, same ? kind : (unsigned)rnd(PATTERNS), same ? first : rnd(10), second, ordered ? 10 * first : 5,
             10);
        merge_lists(&all, &la, &lb);
        if (rnd(2)) {
            grammar_attr_join(&a, &b);
            audit(&a, &all, seed, "join");
        } else {
            grammar_attr_join(&b, &a);
            audit(&b, &all, seed, "join backwards");
            a = b;
        }
        if (same && kind == 0)
            ck_assert_msg(a.kind != GRAMMAR_ATTR_VARIES, "seed %u: constants must stay so", seed);
        if (same && ordered && (kind == 2 || kind == 3 || kind == 4 || kind == 5))
            ck_assert_msg(a.kind != GRAMMAR_ATTR_VARIES, "seed %u: pattern %u in order must stay exact", seed, kind);
        kept += a.kind != GRAMMAR_ATTR_VARIES;
    }
    ck_assert_uint_gt(kept, 7000); /* of 20000 */
}
END_TEST

static void split_list(const struct list *l, uint64_t part, uint64_t whole, struct list *head, struct list *tail)
{
    head->count = tail->count = 0;
    for (uint64_t i = 0; i < l->count; i++) {
        struct list *to = i % whole < part ? head : tail;
        to->value[to->count] = l->value[i];
        to->at[to->count++] = l->at[i];
    }
}

START_TEST(split_is_sound)
{
    struct grammar_attr a, out;
    static struct list l, head, tail, all;
    unsigned kept = 0;

    for (unsigned seed = 0; seed < 20000; seed++) {
        random_state = seed;
        unsigned kind = (unsigned)rnd(PATTERNS);
        uint64_t whole = 2 + rnd(rnd(2) ? 8 : 130), passes = rnd(2) ? 1 : 1 + rnd(20), part = 1 + rnd(whole - 1);
        bool front = rnd(2);
        if (rnd(4) == 0)
            whole = 63, part = 1 + rnd(62);
        l.count = 0;
        for (uint64_t i = 0; i < passes * whole; i++)
            append(&a, &l, pattern(kind, i), i / whole * 1000 + i % whole);
        int64_t sum = a.sum;
        split_list(&l, part, whole, &head, &tail);
        grammar_attr_split(&a, part, whole, front, &out);
        audit(&out, front ? &head : &tail, seed, "out");
        audit(&a, front ? &tail : &head, seed, "rest");
        ck_assert_msg((uint64_t)out.sum + (uint64_t)a.sum == (uint64_t)sum, "seed %u: sums", seed);
        if (kind == 0 || (passes == 1 && kind >= 2 && kind <= 5) || (whole == 63 && kind == 1))
            ck_assert_msg(out.kind != GRAMMAR_ATTR_VARIES && a.kind != GRAMMAR_ATTR_VARIES,
                          "seed %u: pattern %u must stay exact", seed, kind);
        kept += out.kind != GRAMMAR_ATTR_VARIES;
        /* and the ends must still tell order from disorder */
        if (passes == 1 && rnd(2)) {
            merge_lists(&all, &head, &tail);
            grammar_attr_join(&a, &out);
            audit(&a, &all, seed, "joined again");
        }
    }
    ck_assert_uint_gt(kept, 8000); /* of 20000 */
}
END_TEST

START_TEST(random_histories)
{
    enum { PIECES = 6 };
    static struct list l[PIECES], head, tail, all;
    struct grammar_attr a[PIECES], out;

    for (unsigned seed = 0; seed < 3000; seed++) {
        random_state = seed + 77;
        unsigned kind = (unsigned)rnd(PATTERNS);
        uint64_t at = 0, from = 0;
        for (int i = 0; i < PIECES; i++) {
            uint64_t n = 1 + rnd(70);
            make(&a[i], &l[i], rnd(8) ? kind : (unsigned)rnd(PATTERNS), from, n, at, 1);
            from += n;
            at += n;
        }
        for (int step = 0; step < 20; step++) {
            int i = (int)rnd(PIECES), j = (int)rnd(PIECES);
            if (i != j && l[i].count && l[j].count) {
                grammar_attr_join(&a[i], &a[j]);
                merge_lists(&all, &l[i], &l[j]);
                l[i] = all;
                l[j].count = 0;
                audit(&a[i], &l[i], seed, "history, join");
            } else if (i != j && l[i].count > 1 && l[i].at[l[i].count - 1] - l[i].at[0] + 1 == l[i].count) {
                bool front = rnd(2);
                uint64_t part = 1 + rnd(l[i].count - 1);
                split_list(&l[i], part, l[i].count, &head, &tail);
                grammar_attr_split(&a[i], part, l[i].count, front, &out);
                a[j] = out;
                l[j] = front ? head : tail;
                l[i] = front ? tail : head;
                audit(&a[i], &l[i], seed, "history, split");
                audit(&a[j], &l[j], seed, "history, out");
            }
        }
    }
}
END_TEST

static uint64_t key_total(const struct grammar_attr *a, bool sums)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < a->length; i++)
        total += sums ? a->key[i].sum : a->key[i].count;
    return total;
}

START_TEST(keys_are_exact)
{
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct grammar_attr a, b, out;
        uint64_t total = 0, count[8] = { 0 }, sum[8] = { 0 };
        random_state = seed;
        unsigned values = 1 + (unsigned)rnd(7);
        uint64_t whole = 1 + rnd(5), n = whole * (1 + rnd(20));
        for (uint64_t i = 0; i < 2 * n; i++) {
            unsigned v = (unsigned)rnd(values);
            uint64_t ns = rnd(100000);
            struct grammar_attr *to = i < n ? &a : &b;
            if (i == 0 || i == n)
                grammar_attr_start(to, GRAMMAR_TEAM, v + 1, ns, i);
            else
                grammar_attr_add(to, v + 1, ns, i);
            count[v]++;
            sum[v] += ns;
            total += ns;
        }
        grammar_attr_join(&a, &b);
        ck_assert_int_eq(a.kind, GRAMMAR_ATTR_KEYED);
        ck_assert_msg(key_total(&a, false) == 2 * n && a.count == 2 * n, "seed %u: counts", seed);
        ck_assert_msg(key_total(&a, true) == total, "seed %u: sums", seed);
        if (values <= GRAMMAR_ATTR_KEYS)
            for (unsigned i = 0; i < a.length; i++) {
                ck_assert_msg(a.key[i].value >= 1, "seed %u: spilled", seed);
                ck_assert_msg(a.key[i].count == count[a.key[i].value - 1], "seed %u: key count", seed);
                ck_assert_msg(a.key[i].sum == sum[a.key[i].value - 1], "seed %u: key sum", seed);
            }
        if (whole > 1) {
            grammar_attr_split(&a, 1, whole, seed % 2, &out);
            ck_assert_msg(out.count == (seed % 2 ? 2 * n / whole : 2 * n - 2 * n / whole), "seed %u: split", seed);
            ck_assert_msg(key_total(&a, false) == a.count && key_total(&out, false) == out.count, "seed %u: split",
                          seed);
            ck_assert_msg(key_total(&a, true) + key_total(&out, true) == total, "seed %u: split sums", seed);
        }
    }
}
END_TEST

/* Nodes side by side: values that repeat with the pass, or climb through it, stay exact; anything else is sound. */
START_TEST(weaving_is_exact)
{
    static struct list l[2], both;
    unsigned exact = 0;

    for (unsigned seed = 0; seed < 4000; seed++) {
        struct grammar_attr a[2];
        uint64_t turns[2], passes, at = 0;
        int64_t value[2][32];
        random_state = seed;
        turns[0] = 1 + rnd(seed % 2 ? 3 : 20);
        turns[1] = 1 + rnd(seed % 2 ? 3 : 12);
        passes = 1 + rnd(60);
        unsigned shape = (unsigned)rnd(3);
        for (uint64_t side = 0, i = 0; side < 2; side++)
            for (uint64_t t = 0; t < turns[side]; t++, i++)
                value[side][t] = shape == 0 ? (int64_t)rnd(9) : shape == 1 ? (int64_t)i * 3 + 5 : (int64_t)rnd(2);
        l[0].count = l[1].count = both.count = 0;
        for (uint64_t p = 0; p < passes; p++)
            for (uint64_t side = 0; side < 2; side++)
                for (uint64_t t = 0; t < turns[side]; t++, at++) {
                    int64_t v = shape == 2 && p % 2 ? -value[side][t] : value[side][t];
                    append(&a[side], &l[side], v, at);
                    both.value[both.count] = v;
                    both.at[both.count++] = at;
                }
        grammar_attr_weave(&a[0], turns[0], &a[1], turns[1]);
        audit(&a[0], &both, seed, "weave");
        exact += a[0].kind != GRAMMAR_ATTR_VARIES;
        bool must = shape == 1 || (shape == 0 && turns[0] + turns[1] <= GRAMMAR_ATTR_LENGTH);
        ck_assert_msg(!must || a[0].kind != GRAMMAR_ATTR_VARIES,
                      "seed %u: %ju and %ju turns, shape %u, must stay exact", seed, (uintmax_t)turns[0],
                      (uintmax_t)turns[1], shape);
    }
    ck_assert_uint_gt(exact, 2000);
}
END_TEST

/* --- In a grammar --- */

enum { STREAM = 1500, SHAPES = 6, NODES = 4096 };

/* Value of turn `i` of a run in turn `loop` of the stream's loop. */
static int64_t run_value(int shape, uint64_t i, uint64_t loop)
{
    switch (shape) {
    case 0: return 5;
    case 1: return (int64_t)i;                    /* begins again with each run */
    case 2: return (int64_t[]){ 3, 1, 4, 1, 5 }[i % 5];
    case 3: return (int64_t)(loop * 1000 + i);
    case 4: return (int64_t)(loop % 3 * 7);
    default: return (int64_t)((i * 2654435761u) % 1000);
    }
}

/* A loop of runs; seldom a value is another one, a run or a turn of the loop ends early. */
static uint64_t loops_stream(struct grammar_event *e)
{
    static const int lengths[] = { 1, 2, 3, 5, 7, 10, 15, 20, 45 };
    int runs = 1 + rand() % 6, turns[6], shape[6], terminal[6], odd = 1 + rand() % 200;
    uint64_t n = 0;
    for (int r = 0; r < runs; r++) {
        turns[r] = lengths[rand() % 9];
        shape[r] = rand() % SHAPES;
        terminal[r] = rand() % 3 ? r : rand() % 3;
    }
    for (uint64_t loop = 0; n < STREAM; loop++)
        for (int r = 0; r < runs && n < STREAM && (r == 0 || rand() % 200); r++)
            for (int i = 0; i < turns[r] && n < STREAM && (i == 0 || rand() % 400); i++, n++) {
                int64_t value = rand() % (5 * odd) ? run_value(shape[r], (uint64_t)i, loop) : rand() % 9;
                e[n] = (struct grammar_event){ .terminal = (uint32_t)terminal[r], .gap = 1, .duration = 1,
                                               .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_INDEX };
                e[n].value[GRAMMAR_PEER] = value;
                e[n].value[GRAMMAR_INDEX] = rand() % (9 * odd) ? 6 : 7;
            }
    return n;
}

struct seen { uint64_t count, first, last; int64_t min, max, sum; };

static void see(struct seen *s, int64_t value, uint64_t at)
{
    if (s->count++ == 0)
        *s = (struct seen){ 1, at, at, value, value, 0 };
    s->last = at;
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    s->sum += value;
}

/* What an exact model says is what was appended: each value, and what follows from them. Returns how many are. */
static uint32_t audit_values(struct grammar *g, const struct grammar_event *e, uint64_t events, int seed)
{
    static struct seen seen[NODES][2];
    static const unsigned channel[2] = { GRAMMAR_PEER, GRAMMAR_INDEX };
    struct grammar_flat *f = grammar_freeze(g);
    struct grammar_cursor c;
    uint64_t i = 0, value_count = 0;
    uint32_t exact = 0;
    ck_assert(f && f->node_count <= NODES);
    memset(seen, 0, sizeof seen);
    for (int more = grammar_cursor_open(&c, f); more; more = grammar_cursor_next(&c), i++)
        for (uint32_t a = 0; a < 2; a++) {
            const struct grammar_attr *t = &f->attrs[f->nodes[c.node].attr + a];
            int64_t value, real = e[i].value[channel[a]];
            ck_assert(f->nodes[c.node].attr_count == 2 && t->channel == channel[a]);
            see(&seen[c.node][a], real, i);
            value_count++;
            if (grammar_attr_value(t, c.occurrence, &value) && value != real)
                ck_abort_msg("seed %d: event %d is %d, not %d", seed, (int)i, (int)real, (int)value);
        }
    grammar_cursor_close(&c);
    ck_assert_uint_eq(value_count, 2 * events);
    for (uint32_t n = 0; n < f->node_count; n++)
        for (uint32_t a = 0; a < f->nodes[n].attr_count; a++) {
            const struct grammar_attr *t = &f->attrs[f->nodes[n].attr + a];
            const struct seen *s = &seen[n][a];
            bool is = grammar_attr_exact(t);
            if (t->count != s->count || (is && (t->sum != s->sum || t->min != s->min || t->max != s->max)) ||
                t->min > s->min || t->max < s->max || t->first != s->first || t->last != s->last)
                ck_abort_msg("seed %d: node %d, channel %d: totals of %d events", seed, (int)n, t->channel,
                             (int)events);
            exact += is && t->period;
        }
    grammar_flat_destroy(f);
    return exact;
}

START_TEST(models_in_loops_are_the_streams)
{
    static struct grammar_event e[STREAM];
    uint32_t exact = 0;
    for (int seed = 1 + _i * 40; seed <= 40 + _i * 40; seed++) {
        struct grammar *g = grammar_create(16 << 20);
        srand((unsigned)seed);
        uint64_t events = loops_stream(e);
        for (uint64_t i = 0; i < events; i++) {
            grammar_append(g, &e[i]);
            if (rand() % 300 == 0)
                exact += audit_values(g, e, i + 1, seed);
        }
        exact += audit_values(g, e, events, seed);
        grammar_destroy(g);
    }
    ck_assert_uint_gt(exact, 20); /* else this tests nothing */
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(append_is_exact), UNIT_TEST(join_is_sound),  UNIT_TEST(split_is_sound),
        UNIT_TEST(random_histories), UNIT_TEST(keys_are_exact), UNIT_TEST(weaving_is_exact),
        UNIT_LOOP(models_in_loops_are_the_streams, 4),
    };
    return unit_run("grammar/attr", tests, UNIT_COUNT(tests));
}
