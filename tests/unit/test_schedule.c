/* SPDX-License-Identifier: MIT */
/* Schedules: a rank's pieces are its time as the account has it; a turn begins and ends with the pace; waits name who
   is late. */
#include <stdlib.h>

#include "pythia.h"
#include "replay/blame.h"
#include "replay/schedule.h"
#include "tests/unit/replay_programs.h"
#include "tests/unit/unit.h"

static const struct replay_model usual = { .L = 2500, .o = 1500, .g = 1000, .G = 6000, .O = 0, .S = 65535 };

/* The invariants of schedule.h. */
static void audit(const struct replay_schedule *s)
{
    for (uint32_t i = 0; i < s->pieces; i++) {
        const struct schedule_piece *p = &s->piece[i], *before = i ? p - 1 : NULL;
        ck_assert(p->begin >= s->begin && p->end <= s->end && p->begin < p->end);
        ck_assert(!before || before->rank < p->rank || (before->rank == p->rank && before->end <= p->begin));
    }
    for (uint32_t i = 0; i < s->messages; i++)
        ck_assert_int_lt(s->message[i].sent, s->message[i].received);
}

static void sums_are_the_account(const struct program *p, uint64_t seed)
{
    struct schedule_wish wish = { .mark = GRAMMAR_NONE, .most = 1u << 22 };
    struct replay_blame *b = replay_blame_create(p->source.ranks, p->source.places);
    struct replay_how how = { .blame = b };
    struct replay_schedule s;
    struct replay_result r;
    struct replay_account *sum = calloc(p->source.ranks, sizeof *sum);

    ck_assert_int_eq(replay_schedule(&p->source, &usual, &wish, &s), 0);
    audit(&s);
    ck_assert_int_eq(replay_run(&p->source, &usual, &how, &r), 0);
    ck_assert_int_eq(s.end, r.longest);
    for (uint32_t i = 0; i < s.pieces; i++) {
        const struct schedule_piece *x = &s.piece[i];
        struct replay_account *a = &sum[x->rank];
        *(x->late != SCHEDULE_NOBODY ? &a->wait : x->computes ? &a->work : &a->call) += x->end - x->begin;
    }
    for (uint32_t k = 0; k < p->source.ranks; k++) {
        struct replay_account a = replay_blame_account(b, k);
        ck_assert_msg(a.work == sum[k].work && a.call == sum[k].call && a.wait == sum[k].wait,
                      "seed %llu rank %u: %lld %lld %lld, in pieces %lld %lld %lld", (unsigned long long)seed, k,
                      (long long)a.work, (long long)a.call, (long long)a.wait, (long long)sum[k].work,
                      (long long)sum[k].call, (long long)sum[k].wait);
    }
    free(sum);
    free(r.end);
    replay_schedule_free(&s);
    replay_blame_destroy(b);
}

START_TEST(test_pieces_are_the_account)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct program *p = program_random(seed, 1 + (uint32_t)(seed % 9), 1 + (uint32_t)(seed % 3), 8);
        sums_are_the_account(p, seed);
        program_destroy(p);
    }
}
END_TEST

/* The first call of the longest loop. */
static uint32_t mark_of(const struct program *p)
{
    const struct grammar_flat *g = p->grammar[0];
    uint32_t best = 0;

    for (uint32_t n = 0; n < g->node_count; n++)
        if (g->nodes[n].exponent > g->nodes[best].exponent)
            best = n;
    uint32_t first = g->nodes[best].symbol;
    while (grammar_is_rule(first))
        first = g->nodes[g->rules[first & ~GRAMMAR_RULE].first].symbol;
    return first;
}

START_TEST(test_turn)
{
    struct phase body[] = { { .kind = PHASE_RING, .bytes = 1000, .ns = 50000, .seed = 7 },
                            { .kind = PHASE_COLLECTIVE, .shape = REPLAY_ALL, .bytes = 8, .ns = 3000, .seed = 8 } };
    struct program *p = program_loop(4, body, 2, 1000000);
    struct schedule_wish wish = { .mark = mark_of(p), .turns = 1000000, .most = 10000 };
    struct replay_schedule s;

    ck_assert_int_eq(replay_schedule(&p->source, &usual, &wish, &s), 0);
    audit(&s);
    ck_assert_uint_eq(s.turn, 3);
    uint32_t waits = 0, at[4] = { 0 };
    for (uint32_t i = 0; i < s.pieces; i++) {
        at[s.piece[i].rank]++;
        waits += s.piece[i].late != SCHEDULE_NOBODY;
        ck_assert_uint_ne(s.piece[i].late, s.piece[i].rank);
    }
    ck_assert_uint_gt(waits, 0);
    for (uint32_t r = 0; r < 4; r++)
        ck_assert_uint_ge(at[r], 3);
    ck_assert_uint_ge(s.messages, 4 + 4 * 2); /* the ring's, and two rounds of the collective */
    /* a turn is as long as the job's mean one */
    struct replay_how how = { 0 };
    struct replay_result r;
    ck_assert_int_eq(replay_run(&p->source, &usual, &how, &r), 0);
    ck_assert_int_le(llabs(r.longest / 1000000 - (s.end - s.begin)), 2);
    free(r.end);
    replay_schedule_free(&s);
    program_destroy(p);
}
END_TEST

START_TEST(test_limits)
{
    struct phase body[] = { { .kind = PHASE_RING, .bytes = 1000, .ns = 50000, .seed = 7 } };
    struct program *p = program_loop(4, body, 1, 100);
    struct schedule_wish few = { .mark = GRAMMAR_NONE, .most = 10 };
    struct schedule_wish nowhere = { .mark = 1u << 30, .most = 10 };
    struct replay_schedule s;

    ck_assert_int_eq(replay_schedule(&p->source, &usual, &few, &s), PYTHIA_ELIMIT);
    ck_assert_int_eq(replay_schedule(&p->source, &usual, &nowhere, &s), SCHEDULE_NONE);
    program_destroy(p);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(test_pieces_are_the_account),
        UNIT_TEST(test_turn),
        UNIT_TEST(test_limits),
    };
    return unit_run("schedule", tests, UNIT_COUNT(tests));
}
