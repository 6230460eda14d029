/* SPDX-License-Identifier: MIT */
/*
 * Learning goes on: new code is predicted from its second turn on, with or without a reference; where the reference is
 * exact it stays so; memory and work are bounded, and what is kept is audited against the plain list of events.
 */
#include <stdlib.h>

#include "grammar/grammar.h"
#include "oracle/internal.h"
#include "tests/unit/audit.h"
#include "tests/unit/unit.h"

enum { ROOM = 20000, MEMORY = 1 << 20, TWO = 2, SIX = 4 /* voters: by the last 2 events, by the last 6 */ };

static uint32_t list[ROOM], count;

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void put(uint32_t terminal)
{
    if (count < ROOM)
        list[count++] = terminal;
}

/* A loop of 30 turns over 5 events, then 7 others: the inner trip count takes more than a few events to see. */
static void nest(uint32_t first, int turns)
{
    for (int outer = 0; outer < turns; outer++) {
        for (int i = 0; i < 150; i++)
            put(first + (uint32_t)i % 5);
        for (uint32_t i = 0; i < 7; i++)
            put(first + 5 + i);
    }
}

static uint64_t gap_of(uint32_t terminal)
{
    return 100 + 7 * (uint64_t)terminal;
}

struct fixture {
    struct grammar_flat *g;
    struct oracle_index *x;
    struct oracle *o;
};

/* An oracle that knows the list (`known`), or nothing. */
static void open_oracle(struct fixture *f, bool known, size_t memory)
{
    struct grammar *g = grammar_create(64 << 20);
    struct oracle_options options = { .learn = memory };

    for (uint32_t i = 0; i < count; i++) {
        struct grammar_event e = { .terminal = list[i], .gap = gap_of(list[i]), .duration = 50 };
        grammar_append(g, &e);
    }
    f->g = grammar_freeze(g);
    grammar_destroy(g);
    f->x = oracle_index_create(f->g);
    const struct oracle_index *one = f->x;
    f->o = oracle_create(known ? &one : NULL, NULL, known, &options);
    ck_assert_ptr_nonnull(f->o);
}

static void close_oracle(struct fixture *f)
{
    oracle_destroy(f->o);
    oracle_index_destroy(f->x);
    grammar_flat_destroy(f->g);
}

static void follow(struct fixture *f, uint32_t i)
{
    char why[200];

    oracle_follow(f->o, list[i], gap_of(list[i]), 50);
    if (audit_oracle(f->o, why, sizeof why) != 0)
        ck_abort_msg("event %u: %s", i, why);
}

/* Follows events `from` to `to`; the share of them that was predicted `distance` events before. */
static double accuracy(struct fixture *f, uint32_t from, uint32_t to, uint64_t distance)
{
    struct oracle_answer a;
    uint32_t right = 0, asked = 0;

    for (uint32_t i = from; i < to; i++) {
        if (i + distance <= to) {
            asked++;
            right += oracle_predict(f->o, distance, &a) == 0 && a.terminal == list[i + distance - 1];
        }
        follow(f, i);
    }
    return (double)right / asked;
}

/* The third turn of an outer loop is known: its second showed where the inner one ends. */
START_TEST(without_a_reference)
{
    static const uint64_t distance[] = { 1, 16, 64, 128 };

    for (int i = 0; i < 4; i++) {
        struct fixture f;
        count = 0;
        nest(10, 12);
        open_oracle(&f, false, MEMORY);
        accuracy(&f, 0, 2 * 157, 1);
        ck_assert_double_gt(accuracy(&f, 2 * 157, count, distance[i]), 0.95);
        close_oracle(&f);
    }
}
END_TEST

START_TEST(times_are_those_of_the_last_turn)
{
    struct fixture f;
    struct oracle_answer a;

    count = 0;
    nest(10, 12);
    open_oracle(&f, false, MEMORY);
    for (uint32_t i = 0; i < 1000; i++)
        follow(&f, i);
    for (uint64_t d = 1; d < 800; d += 13) {
        double until = 0;
        for (uint64_t i = 0; i < d; i++)
            until += (double)gap_of(list[1000 + i]) + (i + 1 < d ? 50 : 0);
        ck_assert_int_eq(oracle_predict(f.o, d, &a), 0);
        ck_assert_uint_eq(a.terminal, list[1000 + d - 1]);
        ck_assert_double_eq_tol(a.until, until, 1e-6);
        ck_assert_double_eq(a.duration, 50);
        ck_assert_uint_eq(a.node, GRAMMAR_NONE);
    }
    close_oracle(&f);
}
END_TEST

/* The run leaves what is known for other code, then comes back. */
START_TEST(new_code_is_learned)
{
    struct fixture f;

    count = 0;
    nest(10, 20);
    open_oracle(&f, true, MEMORY);
    count = 0;
    nest(10, 5);
    nest(500, 12); /* terminals that no reference has */
    nest(10, 6);
    ck_assert_double_eq(accuracy(&f, 0, 5 * 157, 1), 1);
    accuracy(&f, 5 * 157, 7 * 157, 1);
    ck_assert_double_gt(accuracy(&f, 7 * 157, 17 * 157, 16), 0.95);
    accuracy(&f, 17 * 157, 18 * 157, 1);
    ck_assert_double_gt(accuracy(&f, 18 * 157, 23 * 157, 16), 0.95);
    close_oracle(&f);
}
END_TEST

/* Without learning the same run is lost: the test above can fail. */
START_TEST(learning_can_be_off)
{
    struct fixture f;

    count = 0;
    nest(10, 20);
    open_oracle(&f, true, 0);
    count = 0;
    nest(500, 12);
    ck_assert_double_lt(accuracy(&f, 0, count, 1), 0.01);
    close_oracle(&f);
}
END_TEST

START_TEST(an_exact_reference_stays_exact)
{
    for (uint64_t d = 1; d <= 128; d *= 4) {
        struct fixture f;
        random_state = d;
        count = 0;
        for (int i = 0; i < 40; i++) { /* irregular: what usually follows is often wrong */
            for (uint64_t n = 1 + rnd(20); n-- > 0;)
                put((uint32_t)rnd(4));
            nest(10, 1 + (int)rnd(2));
        }
        open_oracle(&f, true, MEMORY);
        ck_assert_double_eq(accuracy(&f, 0, count, d), 1);
        ck_assert_uint_eq(f.o->mixer.past->matches, 0); /* it slept */
        ck_assert_uint_eq(f.o->mixer.past->history.count, f.o->mixer.past->history.fixed + count);
        close_oracle(&f);
    }
}
END_TEST

/* Noise, shuffles, and numbers without meaning, in as little memory as there can be: the ring goes round many times. */
START_TEST(anything_is_survived_in_bounded_memory)
{
    for (unsigned seed = 0; seed < 12; seed++) {
        struct fixture f;
        random_state = seed;
        count = 0;
        nest(10, 6);
        open_oracle(&f, seed % 2, 1);
        ck_assert_uint_le(f.o->mixer.past->history.size, 1024);
        count = 0;
        while (count < 6000)
            if (rnd(50) == 0)
                nest(10 + (uint32_t)rnd(3), 1);
            else
                put(rnd(9) ? (uint32_t)rnd(20) : (uint32_t)random_state);
        for (uint32_t i = 0; i < count; i++) {
            struct oracle_answer a;
            uint64_t before = f.o->steps, d = 1 + rnd(i + 1);
            if (oracle_predict(f.o, d, &a) == 0) {
                ck_assert(a.probability >= 0 && a.probability <= 1);
                ck_assert(a.until >= 0);
            }
            follow(&f, i);
            ck_assert_uint_le(f.o->mixer.past->matches, ORACLE_MATCHES);
            ck_assert_uint_lt(f.o->steps - before, 500000);
        }
        close_oracle(&f);
    }
}
END_TEST

static struct oracle_past *open_past(struct base_arena *room)
{
    ck_assert_int_eq(base_arena_open(room, 1, oracle_past_room(MEMORY)), 0);
    return oracle_past_create(room, MEMORY, 0);
}

/* However many events came since the last look, the past is indexed bit by bit and used again. */
START_TEST(it_wakes_up)
{
    struct base_arena room;
    struct oracle_past *l = open_past(&room);
    uint32_t at = 0;

    oracle_past_start(l);
    for (uint64_t sleep = 1; sleep < 4 * l->history.size; sleep = sleep * 3 + 1) {
        for (uint64_t i = 0; i < sleep; i++)
            oracle_past_store(l, at++ % 11, 1, 1);
        for (uint64_t i = 0; i < 200 + l->history.size / 64; i++) {
            uint64_t before = l->index.next;
            oracle_past_store(l, at++ % 11, 1, 1);
            oracle_past_follow(l);
            ck_assert(l->index.next - before <= 64 || i == 0);
        }
        ck_assert_uint_eq(l->index.next, l->history.count);
        ck_assert_uint_eq(oracle_past_vote(l, 0, 1000).terminal, (at + 999) % 11);
        ck_assert_double_eq(oracle_past_time(l, 0, 1000, (at + 999) % 11).until, 2 * 1000 - 1);
    }
    base_arena_close(&room);
}
END_TEST

/* As the run does from its first surprise on, and not before. */
static void list_references(struct oracle *o)
{
    const struct oracle_history *t = &o->mixer.past->history;

    ck_assert_uint_eq(t->preloaded, 0);
    while (t->preloaded < t->fixed)
        oracle_preload_more(o);
}

/* The references' events are a list too: what usually follows in them is known from the first surprise on, and a place
   that looks like the present is a position. */
START_TEST(references_are_known_as_lists)
{
    struct fixture f;

    count = 0;
    nest(10, 20);
    open_oracle(&f, true, MEMORY);
    struct oracle_past *l = f.o->mixer.past;
    ck_assert_uint_eq(l->history.fixed, count);
    list_references(f.o);
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_eq(oracle_history_symbol(&l->history, i), list[i]);
    for (uint32_t i = 0; i < 40; i++)
        oracle_past_store(l, list[5 * 157 + 120 + i], 1, 1);
    oracle_past_follow(l);
    const struct oracle_match *m = oracle_past_in_reference(l, 32);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->at % 157, (5 * 157 + 159) % 157);
    ck_assert_uint_eq(oracle_past_vote(l, SIX, 20).terminal, list[5 * 157 + 159 + 20]);
    struct oracle_hypothesis *h = &f.o->now[0];
    for (uint64_t i = 0; i < count; i += 13) {
        oracle_seek(f.o, h, i);
        ck_assert_uint_eq(f.g->nodes[h->frames[h->depth - 1].node].symbol, list[i]);
        if (i + 1 < count)
            ck_assert_uint_eq(oracle_peek(f.o, h), list[i + 1]);
    }
    close_oracle(&f);
}
END_TEST

/* A long reference is known in pieces, spread over it, each with its origin. */
START_TEST(a_long_reference_in_pieces)
{
    struct fixture f;

    random_state = 1;
    count = 0;
    while (count < ROOM)
        put((uint32_t)rnd(9));
    open_oracle(&f, true, 1);
    const struct oracle_history *t = &f.o->mixer.past->history;
    ck_assert_uint_gt(t->pieces, 1);
    ck_assert_uint_le(t->fixed, 512);
    list_references(f.o);
    for (uint64_t i = 0; i < t->fixed; i++) {
        const struct oracle_history_piece *p = oracle_history_origin(t, i);
        ck_assert_uint_eq(oracle_history_symbol(t, i), list[p->event + (i - p->place)]);
    }
    close_oracle(&f);
}
END_TEST

/* A sample of 14 places of each context: what follows 7 times in 10 has most of them, but for one sample in thousands,
   each of which is asked some times. */
START_TEST(what_is_usual_is_sampled)
{
    struct base_arena room;
    struct oracle_past *l = open_past(&room);

    int right = 0, asked = 0;
    random_state = 3;
    oracle_past_start(l);
    for (int i = 0; i < 4000; i++) {
        oracle_past_store(l, 1, 10, 1);
        oracle_past_store(l, 2, 10, 1);
        oracle_past_follow(l);
        if (i > 1000) {
            asked++;
            right += oracle_past_vote(l, TWO, 1).terminal == 7;
            ck_assert_double_eq_tol(oracle_past_time(l, TWO, 1, 7).until, 10, 1e-6);
        }
        oracle_past_store(l, rnd(10) < 7 ? 7 : 20 + (uint32_t)rnd(6), 10, 1);
        oracle_past_follow(l);
    }
    ck_assert_int_ge(100 * right, 99 * asked);
    base_arena_close(&room);
}
END_TEST

/* Neither reference nor learning: every question has an answer, "I do not know". */
START_TEST(nothing_at_all)
{
    struct oracle *o = oracle_create(NULL, NULL, 0, NULL);
    struct oracle_answer a;
    struct oracle_remaining r;
    uint64_t distance;
    const uint8_t set[4] = { 1, 1, 1, 1 };

    ck_assert_ptr_nonnull(o);
    for (uint32_t i = 0; i < 300; i++) {
        ck_assert_int_eq(oracle_predict(o, 1 + i, &a), 1);
        ck_assert_int_eq(oracle_next(o, set, 4, 0, &distance, &a), 1);
        oracle_remaining(o, &r);
        ck_assert_double_lt(r.events, 0);
        oracle_follow(o, i % 3 ? i % 4 : GRAMMAR_NONE, 1, 1);
    }
    ck_assert_uint_eq(oracle_score(o)->events, 300);
    ck_assert_uint_eq(oracle_score(o)->at[0].unknown, 300);
    oracle_destroy(o);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(without_a_reference),
        UNIT_TEST(times_are_those_of_the_last_turn),
        UNIT_TEST(new_code_is_learned),
        UNIT_TEST(learning_can_be_off),
        UNIT_TEST(an_exact_reference_stays_exact),
        UNIT_TEST(anything_is_survived_in_bounded_memory),
        UNIT_TEST(it_wakes_up),
        UNIT_TEST(references_are_known_as_lists),
        UNIT_TEST(a_long_reference_in_pieces),
        UNIT_TEST(what_is_usual_is_sampled),
        UNIT_TEST(nothing_at_all),
    };
    return unit_run("oracle/past", tests, UNIT_COUNT(tests));
}
