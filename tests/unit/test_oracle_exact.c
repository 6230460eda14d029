/* SPDX-License-Identifier: MIT */
/* The oracle against the plain expansion of what it knows: rooted following is exact, jumping agrees with replaying. */
#include <math.h>
#include <stdlib.h>

#include "tests/unit/follower.h"
#include "tests/unit/unit.h"

/* Replays the next `distance` events of the list; the time until the last one begins. */
static double replay(const struct follower_list *l, uint32_t at, uint64_t distance)
{
    double ns = 0;
    for (uint64_t i = 0; i < distance; i++)
        ns += (double)l->e[at + i].gap + (i + 1 < distance ? (double)l->e[at + i].duration : 0);
    return ns;
}

START_TEST(jumping_agrees_with_replay)
{
    static struct follower_list l;
    struct follower f;
    struct oracle_answer a;

    for (unsigned seed = 0; seed < 60; seed++) {
        follower_program(&l, seed);
        follower_open(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            for (int n = 0; n < 4; n++) {
                uint64_t d = n == 0 ? 1 : 1 + follower_random(n == 1 ? 10 : l.count);
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
            follower_follow(&f, &l, i);
            follower_audit(f.o, seed, i);
            if (f.o->count != 1)
                ck_abort_msg("seed %u event %u: not on the fast path", seed, i);
        }
        const struct oracle_score *s = oracle_score(f.o);
        ck_assert_uint_eq(s->events, l.count);
        ck_assert_uint_eq(s->known, l.count);
        ck_assert_uint_eq(s->at[0].hits, l.count);
        for (int i = 1; i < ORACLE_DISTANCES; i++)
            ck_assert_uint_eq(s->at[i].hits + s->at[i].unknown, s->at[i].predictions);
        follower_close(&f);
    }
}
END_TEST

START_TEST(next_agrees_with_search)
{
    static struct follower_list l;
    struct follower f;
    struct oracle_answer a;
    uint64_t d;

    for (unsigned seed = 0; seed < 40; seed++) {
        follower_program(&l, seed);
        follower_open(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            uint8_t set[16] = { 0 };
            set[follower_random(14)] = 1;
            set[follower_random(14)] = 1;
            uint32_t at = i;
            while (at < l.count && !set[l.e[at].terminal])
                at++;
            uint64_t horizon = follower_random(2) ? 0 : 1 + follower_random(30), want = at - i + 1;
            int status = oracle_next(f.o, set, sizeof set, horizon, &d, &a);
            bool there = at < l.count && (horizon == 0 || want <= horizon);
            if (status != (there ? 0 : 1))
                ck_abort_msg("seed %u event %u: status %d", seed, i, status);
            if (there && (d != want || a.terminal != l.e[at].terminal))
                ck_abort_msg("seed %u event %u: distance %ju, not %ju", seed, i, (uintmax_t)d, (uintmax_t)want);
            if (there && fabs(a.until - replay(&l, i, want)) > 1e-4 * a.until + 1)
                ck_abort_msg("seed %u event %u: until %f", seed, i, a.until);
            follower_follow(&f, &l, i);
        }
        follower_close(&f);
    }
}
END_TEST

START_TEST(remaining_adds_up)
{
    static struct follower_list l;
    struct follower f;
    struct oracle_remaining r;

    for (unsigned seed = 0; seed < 40; seed++) {
        follower_program(&l, seed);
        follower_open(&f, &l);
        for (uint32_t i = 0; i < l.count; i++) {
            double ns = 0;
            for (uint32_t j = i; j < l.count && i % 50 == 0; j++)
                ns += (double)(l.e[j].gap + l.e[j].duration);
            oracle_remaining(f.o, &r);
            ck_assert_double_eq(r.events, l.count - i);
            if (i % 50 == 0)
                ck_assert_double_eq_tol(r.ns, ns, 1e-4 * ns + 1);
            ck_assert_double_eq_tol(r.progress, (double)i / l.count, 1e-9);
            follower_follow(&f, &l, i);
        }
        oracle_remaining(f.o, &r);
        ck_assert_double_eq(r.events, 0);
        ck_assert_double_eq(r.progress, 1);
        follower_close(&f);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(jumping_agrees_with_replay),
        UNIT_TEST(next_agrees_with_search),
        UNIT_TEST(remaining_adds_up),
    };
    return unit_run("oracle/exact", tests, UNIT_COUNT(tests));
}
