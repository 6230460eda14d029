/* SPDX-License-Identifier: MIT */
/*
 * The oracle against the plain expansion of what it knows: rooted following is exact, jumping agrees with replaying, noise
 * is survived, work is bounded, and the hypotheses are audited after every event.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "oracle/internal.h"
#include "tests/unit/unit.h"

enum { ROOM = 20000 };

struct list {
    uint32_t count;
    struct { uint32_t terminal; uint64_t gap, duration; } e[ROOM];
};

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void put(struct list *l, uint32_t terminal)
{
    /* times depend on the terminal alone, so that means are exact, but for the rounding of split sums */
    if (l->count < ROOM) {
        l->e[l->count].terminal = terminal;
        l->e[l->count].gap = 100 + 7 * terminal;
        l->e[l->count++].duration = 10 + terminal;
    }
}

/* A program: nested loops over random blocks. */
static void program(struct list *l, int depth, uint32_t *seed_terminal)
{
    uint64_t parts = 1 + rnd(4);

    for (uint64_t i = 0; i < parts; i++) {
        uint64_t turns = rnd(3) ? 1 + rnd(9) : 1, mark = random_state;
        uint32_t terminal = (uint32_t)rnd(12) + *seed_terminal;
        for (uint64_t turn = 0; turn < turns && l->count < ROOM / 2; turn++) {
            random_state = mark; /* the same body in every turn */
            if (depth == 0 || rnd(3) == 0)
                put(l, terminal);
            else
                program(l, depth - 1, seed_terminal);
        }
    }
}

static void make(struct list *l, unsigned seed)
{
    uint32_t base = 0;

    random_state = seed;
    l->count = 0;
    while (l->count < 200)
        program(l, 3, &base);
}

struct fixture {
    struct grammar_flat *g;
    struct oracle_index *x;
    struct oracle *o;
};

static void open_options(struct fixture *f, const struct list *l, const struct oracle_options *options)
{
    struct grammar *g = grammar_create(64 << 20);
    const struct oracle_index *one;

    for (uint32_t i = 0; i < l->count; i++) {
        struct grammar_event e = { .terminal = l->e[i].terminal, .gap = l->e[i].gap, .duration = l->e[i].duration };
        grammar_append(g, &e);
    }
    f->g = grammar_freeze(g);
    grammar_destroy(g);
    one = f->x = oracle_index_create(f->g);
    f->o = oracle_create(&one, NULL, 1, options);
    ck_assert_ptr_nonnull(f->o);
}

static void open_all(struct fixture *f, const struct list *l)
{
    open_options(f, l, NULL);
}

static void close_all(struct fixture *f)
{
    oracle_destroy(f->o);
    oracle_index_destroy(f->x);
    grammar_flat_destroy(f->g);
}

static void audit(const struct oracle *o, unsigned seed, uint32_t at)
{
    char why[200];
    if (oracle_check(o, why, sizeof why) != 0)
        ck_abort_msg("seed %u, event %u: %s", seed, at, why);
}

static void follow(struct fixture *f, const struct list *l, uint32_t i)
{
    oracle_follow(f->o, l->e[i].terminal, l->e[i].gap, l->e[i].duration);
}

/* Replays the next `distance` events of the list; the time until the last one begins. */
static double replay(const struct list *l, uint32_t at, uint64_t distance)
{
    double ns = 0;
    for (uint64_t i = 0; i < distance; i++)
        ns += (double)l->e[at + i].gap + (i + 1 < distance ? (double)l->e[at + i].duration : 0);
    return ns;
}

START_TEST(jumping_agrees_with_replay)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer a;

    for (unsigned seed = 0; seed < 60; seed++) {
        make(&l, seed);
        open_all(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            for (int n = 0; n < 4; n++) {
                uint64_t d = n == 0 ? 1 : 1 + rnd(n == 1 ? 10 : l.count);
                int status = oracle_predict(f.o, d, &a);
                if (i + d > l.count) {
                    if (status != 1 || a.terminal != GRAMMAR_NONE)
                        ck_abort_msg("seed %u event %u: an answer past the end", seed, i);
                    continue;
                }
                if (status != 0 || a.terminal != l.e[i + d - 1].terminal)
                    ck_abort_msg("seed %u event %u distance %ju: %d, not %u", seed, i, (uintmax_t)d, (int)a.terminal,
                                 l.e[i + d - 1].terminal);
                double until = replay(&l, i, d);
                if (fabs(a.until - until) > 1e-4 * until + 1)
                    ck_abort_msg("seed %u event %u distance %ju: until %f, not %f", seed, i, (uintmax_t)d, a.until,
                                 until);
                if (fabs(a.duration - (double)l.e[i + d - 1].duration) > 1)
                    ck_abort_msg("seed %u event %u: duration %f", seed, i, a.duration);
                if (f.g->nodes[a.node].symbol != a.terminal || a.turn >= f.g->nodes[a.node].exponent)
                    ck_abort_msg("seed %u event %u: node", seed, i);
            }
            follow(&f, &l, i);
            audit(f.o, seed, i);
            if (f.o->count != 1)
                ck_abort_msg("seed %u event %u: not on the fast path", seed, i);
        }
        const struct oracle_score *s = oracle_score(f.o);
        ck_assert_uint_eq(s->events, l.count);
        ck_assert_uint_eq(s->known, l.count);
        ck_assert_uint_eq(s->at[0].hits, l.count);
        for (int i = 1; i < ORACLE_DISTANCES; i++)
            ck_assert_uint_eq(s->at[i].hits + s->at[i].unknown, s->at[i].predictions);
        close_all(&f);
    }
}
END_TEST

/* The place of the next event is the node that a question finds; it is said for what comes next only. */
START_TEST(places_agree_with_questions)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer asked, placed;

    for (unsigned seed = 0; seed < 30; seed++) {
        make(&l, seed);
        open_all(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            uint32_t terminal = l.e[i].terminal;
            ck_assert(!oracle_place(f.o, terminal + 1, &placed));
            ck_assert_int_eq(oracle_predict(f.o, 1, &asked), 0);
            if (!oracle_place(f.o, terminal, &placed) || placed.node != asked.node ||
                placed.reference != asked.reference || placed.terminal != terminal)
                ck_abort_msg("seed %u event %u: node %u, not %u", seed, i, placed.node, asked.node);
            follow(&f, &l, i);
        }
        ck_assert(!oracle_place(f.o, l.e[0].terminal, &placed)); /* the end */
        close_all(&f);
    }
}
END_TEST

START_TEST(next_agrees_with_search)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer a;
    uint64_t d;

    for (unsigned seed = 0; seed < 40; seed++) {
        make(&l, seed);
        open_all(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            uint8_t set[16] = { 0 };
            set[rnd(14)] = 1;
            set[rnd(14)] = 1;
            uint32_t at = i;
            while (at < l.count && !set[l.e[at].terminal])
                at++;
            uint64_t horizon = rnd(2) ? 0 : 1 + rnd(30), want = at - i + 1;
            int status = oracle_next(f.o, set, sizeof set, horizon, &d, &a);
            bool there = at < l.count && (horizon == 0 || want <= horizon);
            if (status != (there ? 0 : 1))
                ck_abort_msg("seed %u event %u: status %d", seed, i, status);
            if (there && (d != want || a.terminal != l.e[at].terminal))
                ck_abort_msg("seed %u event %u: distance %ju, not %ju", seed, i, (uintmax_t)d, (uintmax_t)want);
            if (there && fabs(a.until - replay(&l, i, want)) > 1e-4 * a.until + 1)
                ck_abort_msg("seed %u event %u: until %f", seed, i, a.until);
            follow(&f, &l, i);
        }
        close_all(&f);
    }
}
END_TEST

START_TEST(remaining_adds_up)
{
    static struct list l;
    struct fixture f;
    struct oracle_remaining r;

    for (unsigned seed = 0; seed < 40; seed++) {
        make(&l, seed);
        open_all(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            double ns = 0;
            for (uint32_t j = i; j < l.count && i % 50 == 0; j++)
                ns += (double)(l.e[j].gap + l.e[j].duration);
            oracle_remaining(f.o, &r);
            ck_assert_double_eq(r.events, l.count - i);
            if (i % 50 == 0)
                ck_assert_double_eq_tol(r.ns, ns, 1e-4 * ns + 1);
            ck_assert_double_eq_tol(r.progress, (double)i / l.count, 1e-9);
            follow(&f, &l, i);
        }
        oracle_remaining(f.o, &r);
        ck_assert_double_eq(r.events, 0);
        ck_assert_double_eq(r.progress, 1);
        close_all(&f);
    }
}
END_TEST

static void simple(struct list *l, uint32_t turns, uint32_t inner)
{
    l->count = 0;
    put(l, 50);
    for (uint32_t t = 0; t < turns; t++) {
        for (uint32_t i = 0; i < inner; i++)
            for (uint32_t k = 0; k < 8; k++)
                put(l, k);
        put(l, 20);
        put(l, 21);
    }
    put(l, 51);
}

/* Hits at distance 1 of `test` by an oracle that knows `f`. */
static double accuracy(struct fixture *f, const struct list *test, unsigned seed)
{
    uint32_t hits = 0;
    struct oracle_answer a;

    for (uint32_t i = 0; i < test->count; i++) {
        hits += oracle_predict(f->o, 1, &a) == 0 && a.terminal == test->e[i].terminal;
        follow(f, test, i);
        audit(f->o, seed, i);
    }
    return (double)hits / test->count;
}

START_TEST(other_trip_counts_are_learned)
{
    static struct list train, test;
    struct fixture f;

    simple(&train, 40, 10);
    simple(&test, 80, 17);
    open_all(&f, &train);
    ck_assert_double_gt(accuracy(&f, &test, 0), 0.99);
    close_all(&f);
    simple(&test, 20, 5);
    open_all(&f, &train);
    ck_assert_double_gt(accuracy(&f, &test, 1), 0.98);
    close_all(&f);
}
END_TEST

static void disturb(const struct list *l, struct list *out, unsigned per_mille, uint32_t alphabet)
{
    out->count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        if (rnd(1000) >= per_mille) {
            put(out, l->e[i].terminal);
            continue;
        }
        switch (rnd(3)) {
        case 0:
            put(out, (uint32_t)rnd(alphabet));
            break;
        case 1:
            put(out, (uint32_t)rnd(alphabet));
            put(out, l->e[i].terminal);
            break;
        }
    }
}

START_TEST(noise_is_survived)
{
    static struct list train, test;
    struct fixture f;

    for (unsigned seed = 0; seed < 10; seed++) {
        random_state = seed;
        simple(&train, 60, 10);
        disturb(&train, &test, 10, 25); /* 9 to 12 and so on are unknown */
        open_all(&f, &train);
        double got = accuracy(&f, &test, seed);
        ck_assert_msg(got > 0.97, "seed %u: %f", seed, got);
        const struct oracle_score *s = oracle_score(f.o);
        ck_assert_uint_lt(s->known, s->events);
        ck_assert_msg((double)s->at[2].hits > 0.4 * (double)s->at[2].predictions, "seed %u: %ju of %ju at 64", seed,
                      (uintmax_t)s->at[2].hits, (uintmax_t)s->at[2].predictions);
        close_all(&f);
    }
}
END_TEST

START_TEST(a_late_start_is_found)
{
    static struct list train, test;
    struct fixture f;

    simple(&train, 60, 10);
    test = train;
    test.count = 0;
    for (uint32_t i = 2003; i < train.count; i++)
        put(&test, train.e[i].terminal);
    open_all(&f, &train);
    ck_assert_double_gt(accuracy(&f, &test, 0), 0.97);
    close_all(&f);
}
END_TEST

/* Nothing can be learned from noise: every event must still cost a bounded amount of work, and the audit must hold. */
START_TEST(work_is_bounded)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer a;
    uint64_t d;
    uint8_t set[10] = { 0, 1 };

    for (unsigned seed = 0; seed < 6; seed++) {
        random_state = seed;
        l.count = 0;
        while (l.count < ROOM)
            put(&l, (uint32_t)rnd(10));
        struct oracle_options options = { .hypotheses = seed % 2 ? 64 : 4 };
        uint64_t k = options.hypotheses;
        open_options(&f, &l, &options);
        for (uint32_t i = 0; i < 3000; i++) {
            uint64_t before = f.o->steps;
            oracle_follow(f.o, rnd(20) ? (uint32_t)rnd(10) : (uint32_t)rnd(40) + 5, 1, 1);
            if (f.o->steps - before > 4000 + 600 * k + 4 * k * k)
                ck_abort_msg("seed %u event %u: %ju steps to follow", seed, i, (uintmax_t)(f.o->steps - before));
            audit(f.o, seed, i);
            before = f.o->steps;
            oracle_predict(f.o, 1 + rnd(1000), &a);
            if (f.o->steps - before > k * 2 * ORACLE_BRANCHES * ORACLE_DEPTH)
                ck_abort_msg("seed %u event %u: %ju steps to predict", seed, i, (uintmax_t)(f.o->steps - before));
            oracle_next(f.o, set, sizeof set, 0, &d, &a);
        }
        oracle_follow(f.o, GRAMMAR_NONE, 0, 0);
        oracle_follow(f.o, GRAMMAR_LOST, 0, 0);
        oracle_follow(f.o, 0x80000001u, 0, 0);
        audit(f.o, seed, 0);
        ck_assert_int_eq(oracle_predict(f.o, 0, &a), 1);
        oracle_predict(f.o, UINT64_MAX, &a);
        close_all(&f);
    }
}
END_TEST

START_TEST(an_empty_reference_knows_nothing)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer a;
    struct oracle_remaining r;
    uint64_t d;
    uint8_t set[4] = { 1, 1, 1, 1 };

    l.count = 0;
    open_all(&f, &l);
    for (uint32_t i = 0; i < 300; i++) {
        ck_assert_int_eq(oracle_predict(f.o, 1, &a), 1);
        ck_assert_int_eq(oracle_next(f.o, set, 4, 0, &d, &a), 1);
        oracle_remaining(f.o, &r);
        oracle_follow(f.o, i % 3 ? i : GRAMMAR_NONE, 5, 5);
        audit(f.o, 0, i);
    }
    ck_assert_uint_eq(oracle_score(f.o)->known, 0);
    ck_assert_uint_eq(oracle_score(f.o)->at[0].unknown, 300);
    close_all(&f);
}
END_TEST

START_TEST(references_are_told_apart)
{
    static struct list l[3];
    struct fixture f[3];
    const struct oracle_index *x[3];
    struct oracle_answer a;

    for (unsigned i = 0; i < 3; i++) {
        simple(&l[i], 30, 5 + i);
        open_all(&f[i], &l[i]);
        x[i] = f[i].x;
    }
    for (unsigned role = 0; role < 3; role++) {
        struct oracle *o = oracle_create(x, NULL, 3, NULL);
        uint32_t hits = 0;
        for (uint32_t i = 0; i < l[role].count; i++) {
            hits += oracle_predict(o, 1, &a) == 0 && a.terminal == l[role].e[i].terminal;
            oracle_follow(o, l[role].e[i].terminal, l[role].e[i].gap, l[role].e[i].duration);
            audit(o, role, i);
        }
        ck_assert_uint_ge(hits, l[role].count - 2);
        ck_assert_int_eq(oracle_predict(o, 1, &a), 1);
        oracle_destroy(o);
    }
    for (unsigned i = 0; i < 3; i++)
        close_all(&f[i]);
}
END_TEST

START_TEST(coarse_identities_carry_over)
{
    static struct list train, test;
    struct fixture f;
    uint32_t coarse[256];

    simple(&train, 40, 10);
    test = train;
    for (uint32_t i = 0; i < 256; i++)
        coarse[i] = i % 128;
    for (uint32_t i = 0; i < test.count; i++)
        test.e[i].terminal += 128; /* a rebuilt program: other callsites everywhere */
    struct oracle_options options = { .coarse = coarse, .coarse_count = 256 };
    open_options(&f, &train, &options);
    for (uint32_t i = 0; i < test.count; i++) {
        follow(&f, &test, i);
        audit(f.o, 0, i);
    }
    ck_assert_uint_gt(oracle_score(f.o)->at[0].hits, test.count - 20);
    close_all(&f);
}
END_TEST

/* Another machine, where everything takes three times as long. */
START_TEST(times_are_rescaled)
{
    static struct list l;
    struct fixture f;
    struct oracle_answer a;

    simple(&l, 60, 10);
    open_all(&f, &l);
    for (uint32_t i = 0; i < 3000; i++)
        oracle_follow(f.o, l.e[i].terminal, 3 * l.e[i].gap, 2 * l.e[i].duration);
    ck_assert_int_eq(oracle_predict(f.o, 1, &a), 0);
    ck_assert_double_eq_tol(a.until, 3 * (double)l.e[3000].gap, 0.05 * a.until);
    ck_assert_double_eq_tol(a.duration, 2 * (double)l.e[3000].duration, 0.05 * a.duration);
    close_all(&f);
}
END_TEST

START_TEST(scores_add_and_medians_hold)
{
    uint64_t histogram[ORACLE_TIME_BUCKETS] = { 0 };
    struct oracle_score a = { .events = 3, .known = 2 }, b = { .events = 4, .cost_ns = 7 };

    ck_assert_double_lt(oracle_time_median(histogram), 0);
    for (int i = 0; i < 101; i++)
        histogram[oracle_time_bucket(0.01 * i)]++;
    ck_assert_double_eq_tol(oracle_time_median(histogram), 0.5, 0.1);
    for (double e = 0; e < 1e9; e = e * 1.01 + 1e-9)
        ck_assert_uint_lt(oracle_time_bucket(e), ORACLE_TIME_BUCKETS);
    ck_assert_uint_lt(oracle_time_bucket(NAN), ORACLE_TIME_BUCKETS);
    ck_assert_uint_lt(oracle_time_bucket(INFINITY), ORACLE_TIME_BUCKETS);
    b.at[2].hits = 5;
    oracle_score_add(&a, &b);
    ck_assert_uint_eq(a.events, 7);
    ck_assert_uint_eq(a.at[2].hits, 5);
    ck_assert_uint_eq(a.cost_ns, 7);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(jumping_agrees_with_replay),
        UNIT_TEST(places_agree_with_questions),
        UNIT_TEST(next_agrees_with_search),
        UNIT_TEST(remaining_adds_up),
        UNIT_TEST(other_trip_counts_are_learned),
        UNIT_TEST(noise_is_survived),
        UNIT_TEST(a_late_start_is_found),
        UNIT_TEST(work_is_bounded),
        UNIT_TEST(an_empty_reference_knows_nothing),
        UNIT_TEST(references_are_told_apart),
        UNIT_TEST(coarse_identities_carry_over),
        UNIT_TEST(times_are_rescaled),
        UNIT_TEST(scores_add_and_medians_hold),
    };
    return unit_run("oracle", tests, UNIT_COUNT(tests));
}
