/* SPDX-License-Identifier: MIT */
/* The grammar against the paper's figures and against a flat array, every invariant audited after every append. */
#include <stdlib.h>
#include <string.h>

#include "grammar/internal.h"
#include "grammar/notation.h"
#include "pythia.h"
#include "tests/unit/audit.h"
#include "tests/unit/unit.h"

enum { MEMORY = 64 << 20 };

/* ck_assert_msg without its note to the file of the test runner: two system calls an assertion that holds. */
#define require(condition, ...)         \
    do {                                \
        if (!(condition))               \
            ck_abort_msg(__VA_ARGS__);  \
    } while (0)

static const char *letter(void *context, uint32_t terminal)
{
    static char names[4][2];
    static unsigned turn;
    (void)context;
    char *name = names[turn++ % 4];
    name[0] = (char)('a' + terminal);
    return name;
}

/* The grammar in the paper's notation; the caller frees it. */
static char *text_of(struct grammar *g)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct grammar_flat *f = grammar_freeze(g);
    ck_assert_int_eq(grammar_print(f, letter, NULL, out), 0);
    grammar_flat_destroy(f);
    fclose(out);
    return text;
}

static void append_word(struct grammar *g, const char *word)
{
    for (; *word; word++) {
        struct grammar_event e = {.terminal = (uint32_t)(*word - 'a'), .gap = 3, .duration = 7};
        grammar_append(g, &e);
    }
}

static void expect_text(struct grammar *g, const char *expected)
{
    char *text = text_of(g), why[128] = "";
    ck_assert_str_eq(text, expected);
    ck_assert_msg(audit_grammar(g, why, sizeof why) == 0, "%s", why);
    free(text);
}

START_TEST(figure_1)
{
    struct grammar *g = grammar_create(MEMORY);
    append_word(g, "abbcbcab");
    expect_text(g, "R -> A B^2 A\nA -> a b\nB -> b c\n");
    grammar_destroy(g);
}
END_TEST

/* Figure 2 of the paper, from (a), R ends with B b^5, through (c), after the first c, to (g), after the second. */
START_TEST(figure_2_step_by_step)
{
    struct grammar *g = grammar_create(MEMORY);
    append_word(g, "bbbccabbbbbccdbbbbbccbbbbb");
    expect_text(g, "R -> A a B d B b^5\nA -> b^3 c^2\nB -> b^2 A\n");
    append_word(g, "c"); /* b^3 c becomes a rule, b^2 stays outside */
    expect_text(g, "R -> A a C d C b^2 B\nA -> B c\nB -> b^3 c\nC -> b^2 A\n");
    append_word(g, "c"); /* B c is A, so B is used once and goes; b^2 A is C, which stands before: C^2 */
    expect_text(g, "R -> A a B d B^2\nA -> b^3 c^2\nB -> b^2 A\n");
    grammar_destroy(g);
}
END_TEST

START_TEST(empty_and_single)
{
    struct grammar *g = grammar_create(MEMORY);
    expect_text(g, "R ->\n");
    append_word(g, "a");
    expect_text(g, "R -> a\n");
    append_word(g, "aaa");
    expect_text(g, "R -> a^4\n");
    grammar_destroy(g);
    grammar_destroy(NULL);
}
END_TEST

START_TEST(names_that_could_be_rules_are_quoted)
{
    char name[16];
    grammar_rule_name(0, name);
    ck_assert_str_eq(name, "R");
    grammar_rule_name(17, name);
    ck_assert_str_eq(name, "Q");
    grammar_rule_name(18, name);
    ck_assert_str_eq(name, "S");
    grammar_rule_name(26, name);
    ck_assert_str_eq(name, "AA");
}
END_TEST

/* --- Against a flat array --- */

struct model {
    struct grammar *grammar;
    struct grammar_event *event;
    uint64_t count, gap, duration;
};

static void model_append(struct model *m, uint32_t terminal)
{
    struct grammar_event *e = &m->event[m->count];
    *e = (struct grammar_event){ .terminal = terminal,
                                 .gap = (uint64_t)(rand() % 1000),
                                 .duration = (uint64_t)(rand() % 99) };
    if (terminal % 2) {
        e->channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES;
        e->value[GRAMMAR_PEER] = rand() % 10 ? (int64_t)(m->count % 3) : rand() % 5;
        e->value[GRAMMAR_BYTES] = 8;
    }
    if (terminal % 4 == 1 && rand() % 3) { /* some have it, and some have not */
        e->channels |= 1u << GRAMMAR_REPLY;
        e->value[GRAMMAR_REPLY] = rand() % 8 == 0;
    }
    m->gap += e->gap;
    m->duration += e->duration;
    m->count++;
    grammar_append(m->grammar, e);
}

static const struct grammar_attr *attr_of(const struct grammar_flat *f, uint32_t node, unsigned channel)
{
    for (uint32_t a = 0; a < f->nodes[node].attr_count; a++)
        if (f->attrs[f->nodes[node].attr + a].channel == channel)
            return &f->attrs[f->nodes[node].attr + a];
    return NULL;
}

/* The expansion is the stream; an attribute that claims to be exact gives the very value that was appended. */
static void compare_expansion(const struct model *m, const struct grammar_flat *f, int seed)
{
    struct grammar_cursor c;
    uint64_t i = 0;
    for (int more = grammar_cursor_open(&c, f); more; more = grammar_cursor_next(&c), i++) {
        const struct grammar_event *e = &m->event[i];
        int64_t value;
        require(i < m->count && c.index == i && c.terminal == e->terminal, "seed %d: event %d differs", seed, (int)i);
        for (unsigned channel = GRAMMAR_PEER; channel <= GRAMMAR_BYTES; channel++) {
            const struct grammar_attr *a = attr_of(f, c.node, channel);
            require((a != NULL) == (e->channels >> channel & 1), "seed %d: attribute lost", seed);
            if (a && grammar_attr_constant(a, &value))
                require(value == e->value[channel], "seed %d: event %d of %d: attribute %u is %d, not %d", seed,
                              (int)i, (int)m->count, channel, (int)value, (int)e->value[channel]);
        }
        const struct grammar_attr *reply = attr_of(f, c.node, GRAMMAR_REPLY);
        if (reply && grammar_attr_constant(reply, &value))
            require(e->channels >> GRAMMAR_REPLY & 1 && value == e->value[GRAMMAR_REPLY],
                    "seed %d: event %d of %d: reply %d is not so", seed, (int)i, (int)m->count, (int)value);
    }
    grammar_cursor_close(&c);
    require(i == m->count, "seed %d: %d events of %d", seed, (int)i, (int)m->count);
}

static void audit(struct model *m, int seed)
{
    char why[128] = "";
    require(audit_grammar(m->grammar, why, sizeof why) == 0, "seed %d, %d events: %s", seed, (int)m->count, why);
    struct grammar_flat *f = grammar_freeze(m->grammar);
    uint64_t gap = 0, duration = 0;
    for (uint32_t n = 0; n < f->rules[0].length; n++) {
        gap += f->stats[n].gap.sum;
        duration += f->stats[n].duration.sum;
    }
    require(gap == m->gap && duration == m->duration, "seed %d: times do not add up", seed);
    compare_expansion(m, f, seed);
    grammar_flat_destroy(f);
}

/* Streams with repetitions, copies of earlier parts, and noise. */
static uint64_t next_piece(const struct model *m, int shape, uint32_t alphabet, uint32_t piece[16])
{
    uint64_t n = 1;
    if (shape == 2 && m->count > 16 && rand() % 3 == 0) {
        uint64_t from = (uint64_t)rand() % (m->count - 16);
        n = 1 + (uint64_t)rand() % 16;
        for (uint64_t i = 0; i < n; i++)
            piece[i] = m->event[from + i].terminal;
        return n;
    }
    if (shape > 0)
        n += (uint64_t)rand() % 4;
    uint32_t t = (uint32_t)rand() % alphabet;
    for (uint64_t i = 0; i < n; i++)
        piece[i] = t;
    return n;
}

static void run_model(int seed, uint64_t length, uint32_t alphabet, uint64_t audit_every)
{
    struct model m = {.grammar = grammar_create(MEMORY), .event = calloc(length + 16, sizeof *m.event)};
    uint32_t piece[16];
    srand((unsigned)seed);
    int shape = rand() % 3;
    while (m.count < length) {
        uint64_t n = next_piece(&m, shape, alphabet, piece);
        for (uint64_t i = 0; i < n && m.count < length; i++) {
            model_append(&m, piece[i]);
            if (m.count % audit_every == 0)
                audit(&m, seed);
        }
    }
    audit(&m, seed);
    grammar_destroy(m.grammar);
    free(m.event);
}

/* Loops: a part of what was there, up to five times over, so that turns complete, break off and nest. */
static void append_loop(struct model *m, uint64_t length)
{
    uint64_t from = (uint64_t)rand() % m->count, part = 1 + (uint64_t)rand() % (m->count - from),
             turns = 1 + (uint64_t)rand() % 5;
    if (part > 40)
        part = 1 + (uint64_t)rand() % 12;
    for (uint64_t i = 0; i < turns * part && m->count < length; i++)
        model_append(m, m->event[from + i % part].terminal);
}

static void append_loops(struct model *m, uint64_t length)
{
    int alphabet = 1 + rand() % 8, shape = 1 + rand() % 5;
    while (m->count < length)
        if (m->count > 3 && rand() % shape)
            append_loop(m, length);
        else
            model_append(m, (uint32_t)(rand() % alphabet));
}

START_TEST(loops_audited_now_and_then)
{
    for (int seed = 1 + _i * 50; seed <= 50 + _i * 50; seed++) {
        struct model m = {.grammar = grammar_create(MEMORY), .event = calloc(3200, sizeof *m.event)};
        srand((unsigned)seed);
        while (m.count < 2900) {
            append_loops(&m, m.count + 1 + (uint64_t)rand() % 200);
            audit(&m, seed);
        }
        grammar_destroy(m.grammar);
        free(m.event);
    }
}
END_TEST

/* --- The tail --- */

static void expect_same_grammar(const struct grammar_flat *a, const struct grammar_flat *b, int seed, int events)
{
    bool same = a->rule_count == b->rule_count && a->node_count == b->node_count;
    for (uint32_t r = 0; same && r < a->rule_count; r++)
        same = a->rules[r].length == b->rules[r].length;
    for (uint32_t n = 0; same && n < a->node_count; n++)
        same = a->nodes[n].symbol == b->nodes[n].symbol && a->nodes[n].exponent == b->nodes[n].exponent &&
               a->stats[n].count == b->stats[n].count;
    require(same, "seed %d: the tail changes the grammar of %d events", seed, events);
}

/* Written out after `count` events, the tail gives what the structural steps alone give. */
static void compare_tail(const struct model *plain, const struct grammar_flat *expected, int seed)
{
    struct grammar *g = grammar_create(1 << 20);
    char why[128] = "";
    for (uint64_t i = 0; i < plain->count; i++)
        grammar_append(g, &plain->event[i]);
    struct grammar_flat *f = grammar_freeze(g);
    expect_same_grammar(f, expected, seed, (int)plain->count);
    require(audit_grammar(g, why, sizeof why) == 0, "seed %d, %d events: %s", seed, (int)plain->count, why);
    grammar_flat_destroy(f);
    grammar_destroy(g);
}

START_TEST(the_tail_is_a_short_cut_only)
{
    enum { LENGTH = 120 };
    for (int seed = 1 + _i * 60; seed <= 60 + _i * 60; seed++) {
        struct model m = {.grammar = grammar_create(1 << 20), .event = calloc(LENGTH, sizeof *m.event)};
        struct grammar *plain = grammar_create(1 << 20);
        srand((unsigned)seed);
        append_loops(&m, LENGTH);
        for (m.count = 0; m.count < LENGTH;) {
            grammar_append_plain(plain, &m.event[m.count++]);
            if (rand() % 4)
                continue;
            struct grammar_flat *expected = grammar_freeze(plain);
            compare_tail(&m, expected, seed);
            grammar_flat_destroy(expected);
        }
        grammar_destroy(plain);
        grammar_destroy(m.grammar);
        free(m.event);
    }
}
END_TEST

/* The work of an append is bounded: what is left over waits in a queue that never fills, and is worked off. */
START_TEST(work_is_bounded)
{
    enum { LENGTH = 10000 };
    uint64_t behind = 0, longest = 0;
    for (int seed = 1; seed <= 60; seed++) {
        struct model m = {.grammar = grammar_create(MEMORY), .event = calloc(LENGTH, sizeof *m.event)};
        struct grammar *g = grammar_create(MEMORY);
        srand((unsigned)seed);
        append_loops(&m, LENGTH);
        for (uint64_t i = 0; i < LENGTH; i++) {
            grammar_append(g, &m.event[i]);
            require(grammar_events(g) == i + 1, "seed %d: an event in the queue does not count", seed);
            behind += g->queue.count > 0;
            longest = g->queue.count > longest ? g->queue.count : longest;
        }
        require(g->overruns == 0, "seed %d: %d pieces of work too many", seed, (int)g->overruns);
        grammar_destroy(m.grammar);
        m.grammar = g;
        audit(&m, seed);
        grammar_destroy(g);
        free(m.event);
    }
    ck_assert_uint_gt(behind, 0); /* else this tests nothing */
    ck_assert_uint_lt(longest, GRAMMAR_QUEUE);
}
END_TEST

START_TEST(a_node_is_two_cache_lines)
{
    ck_assert_uint_le(sizeof(struct grammar_node), 128);
    struct grammar *g = grammar_create(MEMORY);
    ck_assert_uint_eq((uintptr_t)g->nodes % 64, 0);
    size_t empty = grammar_memory(g);
    append_word(g, "abcdefgh");
    ck_assert_uint_le(grammar_memory(g) - empty, 8 * 128);
    grammar_destroy(g);
}
END_TEST

START_TEST(random_streams_audited_after_every_append)
{
    for (int seed = 1 + _i * 250; seed <= 250 + _i * 250; seed++)
        run_model(seed, 150, 2 + (uint32_t)seed % 9, 1);
}
END_TEST

START_TEST(longer_streams_and_alphabets)
{
    for (int seed = 1; seed <= 12; seed++)
        run_model(1000 + seed, 6000, seed % 2 ? 1000 : 12, 1500);
}
END_TEST

/* A loop of 2^33 events, folded by appending a loop of loops: exponents and lengths beyond 32 bits. */
START_TEST(flat_lengths_beyond_32_bits)
{
    struct grammar_flat *f = grammar_flat_create(2, 3, 0);
    char why[128] = "";
    f->rules[0] = (struct grammar_flat_rule){0, 1};
    f->rules[1] = (struct grammar_flat_rule){1, 2};
    f->nodes[0] = (struct grammar_flat_node){.symbol = GRAMMAR_RULE | 1, .exponent = UINT64_C(1) << 40};
    f->nodes[1] = (struct grammar_flat_node){.symbol = 0, .exponent = UINT64_C(1) << 10};
    f->nodes[2] = (struct grammar_flat_node){.symbol = 1, .exponent = 1};
    f->terminals = 2;
    f->events = (UINT64_C(1) << 50) + (UINT64_C(1) << 40);
    ck_assert_msg(grammar_flat_check(f, why, sizeof why) == 0, "%s", why);
    f->nodes[1].exponent = UINT64_C(1) << 30;
    ck_assert_int_eq(grammar_flat_check(f, why, sizeof why), PYTHIA_EFORMAT);
    f->nodes[1] = (struct grammar_flat_node){.symbol = GRAMMAR_RULE | 1, .exponent = 1}; /* contains itself */
    ck_assert_int_eq(grammar_flat_check(f, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_str_eq(why, "rule 1 contains itself");
    f->nodes[1] = (struct grammar_flat_node){.symbol = 2, .exponent = 1};
    ck_assert_int_eq(grammar_flat_check(f, why, sizeof why), PYTHIA_EFORMAT);
    grammar_flat_destroy(f);
}
END_TEST

/* At a cap of 1 MiB a stream without structure goes on, coarser: memory stays below, times stay exact. */
START_TEST(memory_cap)
{
    struct grammar *g = grammar_create(1 << 20);
    uint64_t gap = 0, sum = 0, events = 0;
    char why[128] = "";
    srand(7);
    for (int i = 0; i < 400000; i++) {
        struct grammar_event e = {.terminal = (uint32_t)(rand() % (_i ? 500 : 10)), .gap = (uint64_t)(rand() % 100)};
        if (_i)
            e.channels = 1u << GRAMMAR_BYTES;
        e.value[GRAMMAR_BYTES] = rand() % 3;
        gap += e.gap;
        grammar_append(g, &e);
        require(grammar_memory(g) <= (1 << 20) + 4096, "%zu bytes", grammar_memory(g));
        if (i % 40000 == 0)
            ck_assert_msg(audit_grammar(g, why, sizeof why) == 0, "%s", why);
    }
    ck_assert_uint_gt(grammar_lost(g), 0);
    ck_assert_uint_eq(grammar_events(g), 400000);
    struct grammar_flat *f = grammar_freeze(g);
    for (uint32_t n = 0; n < f->rules[0].length; n++)
        sum += f->stats[n].gap.sum;
    for (uint32_t n = 0; n < f->node_count; n++)
        events += f->nodes[n].symbol == GRAMMAR_LOST ? f->nodes[n].exponent : 0;
    ck_assert_uint_eq(sum, gap);
    ck_assert_uint_eq(events, grammar_lost(g));
    ck_assert_uint_eq(f->events, 400000);
    grammar_flat_destroy(f);
    grammar_destroy(g);
}
END_TEST

/* Equal streams give equal hashes whatever the numbering of their terminals; another stream another one. */
START_TEST(hash_is_of_content)
{
    struct grammar_hash hash[3] = {{1, 2}, {3, 4}, {5, 6}}, swapped[3] = {{3, 4}, {1, 2}, {5, 6}};
    struct grammar *a = grammar_create(MEMORY), *b = grammar_create(MEMORY), *c = grammar_create(MEMORY);
    append_word(a, "abbcabbcabcc");
    append_word(b, "baacbaacbacc");
    append_word(c, "abbcabbcabca");
    struct grammar_flat *fa = grammar_freeze(a), *fb = grammar_freeze(b), *fc = grammar_freeze(c);
    struct grammar_hash ha = grammar_flat_hash(fa, hash, NULL), hb = grammar_flat_hash(fb, swapped, NULL);
    struct grammar_hash hc = grammar_flat_hash(fc, hash, NULL);
    ck_assert(ha.low == hb.low && ha.high == hb.high);
    ck_assert(ha.low != hc.low && ha.high != hc.high);
    grammar_flat_destroy(fa);
    grammar_flat_destroy(fb);
    grammar_flat_destroy(fc);
    grammar_destroy(a);
    grammar_destroy(b);
    grammar_destroy(c);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(figure_1),
        UNIT_TEST(figure_2_step_by_step),
        UNIT_TEST(empty_and_single),
        UNIT_TEST(names_that_could_be_rules_are_quoted),
        UNIT_LOOP(random_streams_audited_after_every_append, 10),
        UNIT_LOOP(loops_audited_now_and_then, 4),
        UNIT_LOOP(the_tail_is_a_short_cut_only, 8),
        UNIT_TEST(work_is_bounded),
        UNIT_TEST(a_node_is_two_cache_lines),
        UNIT_TEST(longer_streams_and_alphabets),
        UNIT_TEST(flat_lengths_beyond_32_bits),
        UNIT_LOOP(memory_cap, 2),
        UNIT_TEST(hash_is_of_content),
    };
    return unit_run("grammar", tests, UNIT_COUNT(tests));
}
