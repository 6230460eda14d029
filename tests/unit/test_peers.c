/* SPDX-License-Identifier: MIT */
/* Peers: rules that hold are used, rules that do not are dropped, and what no rule gives is learned. */
#include "oracle/peers.h"

#include "oracle/oracle.h"
#include "tests/unit/unit.h"

enum { TERMINAL = 5, NODE = 3 };

static struct oracle_peers *peers;

static void begin(void)
{
    oracle_peers_destroy(peers);
    ck_assert_ptr_nonnull(peers = oracle_peers_create());
}

static struct oracle_peers_event at(uint64_t turn)
{
    return (struct oracle_peers_event){TERMINAL, 0, NODE, turn};
}

/* One event; `said` is what a recording says. Whether it was foretold right; *source: by whom. */
static bool event(struct oracle_peers_event e, struct oracle_peers_said said, int64_t peer, int *source)
{
    struct oracle_peers_actual actual = {peer, -1, -1};
    oracle_peers_ask(peers, &e, &said);
    *source = oracle_peers_choose(peers, &e, &said, NULL);
    bool right = *source >= 0 && oracle_peers_right(&said, *source, &actual);
    oracle_peers_learn(peers, &e, &said, &actual);
    oracle_peers_pass(peers, e.terminal, peer);
    return right;
}

static struct oracle_peers_said rule(enum oracle_peers_source source, int64_t value)
{
    struct oracle_peers_said said = {.mask = 1u << source};
    said.value[source] = value;
    return said;
}

static const struct oracle_peers_said nothing = {0, {0}};

/* The neighbours of a block inside of a mesh: no formula, the same list in each turn of the outer loop. */
START_TEST(neighbours_of_a_mesh)
{
    begin();
    int source, right = 0;
    for (int turn = 0; turn < 10; turn++)
        for (int i = 0; i < 26; i++)
            right += event(at((uint64_t)i), nothing, i < 13 ? i * 7 : i * i, &source) && turn > 0;
    ck_assert_int_ge(right, 9 * 26 - 3);
}
END_TEST

/* The same where the position is never known. */
START_TEST(neighbours_without_a_position)
{
    begin();
    int source, right = 0;
    for (int turn = 0; turn < 10; turn++)
        for (int i = 0; i < 26; i++) {
            struct oracle_peers_event e = {TERMINAL, GRAMMAR_NONE, GRAMMAR_NONE, 0};
            right += event(e, nothing, i < 13 ? i * 7 : i * i, &source) && turn > 0;
        }
    ck_assert_int_ge(right, 9 * 26 - 12);
}
END_TEST

START_TEST(a_rule_is_used_at_once)
{
    for (int s = ORACLE_PEERS_OWN; s <= ORACLE_PEERS_SAME; s++) {
        begin();
        struct oracle_peers_event e = at(0);
        struct oracle_peers_said said = rule((enum oracle_peers_source)s, 1);
        struct oracle_peers_actual actual = {1, 1, 1};
        oracle_peers_ask(peers, &e, &said);
        int source = oracle_peers_choose(peers, &e, &said, NULL);
        ck_assert_msg(source == s, "source %d is not believed, but %d", s, source);
        ck_assert(oracle_peers_right(&said, source, &actual));
        actual = (struct oracle_peers_actual){2, 2, 2};
        ck_assert(!oracle_peers_right(&said, source, &actual));
    }
}
END_TEST

/* +4 of a small mesh is +9 of a larger one. */
START_TEST(a_wrong_rule_is_dropped)
{
    begin();
    int source, wrong = 0;
    for (int i = 0; i < 50; i++)
        wrong += !event(at(0), rule(ORACLE_PEERS_OFFSET, 17), 22, &source);
    ck_assert_int_le(wrong, 4);
    ck_assert_int_ne(source, ORACLE_PEERS_OFFSET);
}
END_TEST

/* What was wrong at other nodes is not believed at a new one for long; what was right there is. */
START_TEST(rules_are_known_by_their_record)
{
    begin();
    int source, wrong = 0;
    for (uint32_t n = 0; n < 40; n++) {
        struct oracle_peers_event e = {n, 0, 100 + n, 0};
        struct oracle_peers_said said = rule(ORACLE_PEERS_OFFSET, 17);
        said.mask |= 1u << ORACLE_PEERS_SAME;
        said.value[ORACLE_PEERS_SAME] = 30;
        wrong += !event(e, said, 30, &source);
    }
    ck_assert_int_le(wrong, 1);
    begin();
    wrong = 0;
    for (uint32_t n = 0; n < 40; n++) {
        struct oracle_peers_event e = {n, 0, 100 + n, 0};
        struct oracle_peers_said said = rule(ORACLE_PEERS_OFFSET, 17);
        said.mask |= 1u << ORACLE_PEERS_SAME;
        said.value[ORACLE_PEERS_SAME] = 30;
        wrong += !event(e, said, 17, &source);
    }
    ck_assert_int_le(wrong, 4);
}
END_TEST

START_TEST(a_root_goes_round)
{
    begin();
    int source, right = 0;
    for (int i = 0; i < 210; i++)
        right += event(at(0), nothing, i % 21, &source) && i >= 42;
    ck_assert_int_ge(right, 160);
}
END_TEST

/* A rule that comes true again is believed again. */
START_TEST(what_changes_is_learned_anew)
{
    begin();
    int source, wrong = 0;
    for (int i = 0; i < 400; i++)
        wrong += !event(at(0), rule(ORACLE_PEERS_SAME, 4), i / 100 % 2 ? 4 : 9, &source);
    ck_assert_int_le(wrong, 40);
}
END_TEST

/* "I do not know" is an answer. */
START_TEST(chance_is_not_foretold)
{
    begin();
    int source, foretold = 0;
    uint32_t random = 1;
    for (int i = 0; i < 2000; i++) {
        random = random * 1664525u + 1013904223u;
        event(at(0), rule(ORACLE_PEERS_SAME, 4), random >> 24, &source);
        foretold += source >= 0 && i >= 100;
    }
    ck_assert_int_le(foretold, 100);
}
END_TEST

/* More nodes, calls and turns than there is room for, and ranks of any size: nothing but a wrong answer may come of
   it. */
START_TEST(what_collides_is_forgotten)
{
    begin();
    int source;
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t node = (uint32_t)(random >> 40);
        struct oracle_peers_event e = {node % 5000, random >> 32 & 1 ? 0 : GRAMMAR_NONE, node, random >> 50};
        event(e, nothing, (int64_t)(random >> 33), &source);
    }
    int right = 0;
    for (int i = 0; i < 40; i++)
        right += event(at(0), nothing, 7, &source);
    ck_assert_int_ge(right, 35);
}
END_TEST

/* Not each event need be judged where all is right; what comes then is noticed. */
START_TEST(calm_and_not)
{
    begin();
    int source, i = 0;
    for (; i < 500 && !oracle_peers_calm(peers); i++)
        event(at((uint64_t)i % 5), nothing, i % 5 * i % 5 + 3, &source);
    ck_assert_int_lt(i, 200);
    for (int k = 0; k < 1000; k++, i++)
        oracle_peers_pass(peers, TERMINAL, i % 5 * i % 5 + 3);
    ck_assert(event(at((uint64_t)i % 5), nothing, i % 5 * i % 5 + 3, &source));
    ck_assert(oracle_peers_calm(peers));
    ck_assert(!event(at(0), nothing, 77, &source));
    ck_assert(!oracle_peers_calm(peers));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(neighbours_of_a_mesh),
        UNIT_TEST(neighbours_without_a_position),
        UNIT_TEST(a_rule_is_used_at_once),
        UNIT_TEST(a_wrong_rule_is_dropped),
        UNIT_TEST(rules_are_known_by_their_record),
        UNIT_TEST(a_root_goes_round),
        UNIT_TEST(what_changes_is_learned_anew),
        UNIT_TEST(chance_is_not_foretold),
        UNIT_TEST(what_collides_is_forgotten),
        UNIT_TEST(calm_and_not),
    };
    return unit_run("peers", tests, UNIT_COUNT(tests));
}
