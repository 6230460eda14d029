/* SPDX-License-Identifier: MIT */
/* Members of one shape: each has its own exponents, exactly, however they were joined, in memory, packed, opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "grammar/grammar.h"
#include "job/ranges.h"
#include "job/turns.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/audit.h"
#include "tests/unit/unit.h"

enum { PLACES = 10, BODY = 3, WORDS = PLACES * BODY + 1, LONGEST = PLACES * BODY * 40 + 2 * PLACES };

enum pattern { POSITIONS, STRIDED, RANDOM, PATTERNS };
static const char *const names[PATTERNS] = { "by position", "every eleventh", "at random" };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Never 1: what stands once is no loop. */
static uint32_t trips(enum pattern p, uint32_t rank, uint32_t ranks, uint32_t place)
{
    if (place % 3 == 2)
        return 5; /* the same for all */
    switch (p) {
    case POSITIONS:
        return 2 + (rank == 0) + (rank + 1 == ranks) + (rank % 8 == 0) + place;
    case STRIDED:
        return 2 + (rank + place) % 11 / 4;
    default:
        return 2 + (uint32_t)(mix(rank * 77 + place + 1) % 16);
    }
}

/* What a rank does: loops in a loop, one after the other. */
static uint32_t sequence(enum pattern p, uint32_t rank, uint32_t ranks, uint32_t *word)
{
    uint32_t n = 0;
    for (uint32_t turn = 0; turn < 2; turn++)
        for (uint32_t place = 0; place < PLACES; place++) {
            for (uint32_t t = trips(p, rank, ranks, place); t > 0; t--)
                for (uint32_t k = 0; k < BODY; k++)
                    word[n++] = place * BODY + k;
            word[n++] = WORDS - 1;
        }
    return n;
}

/* The thread's stream, which does what the rank does that is so many threads further. */
static void add_thread(struct job *j, enum pattern p, uint32_t rank, uint32_t thread, uint32_t ranks)
{
    uint32_t terminal[WORDS], word[LONGEST], n = sequence(p, (rank + 7 * thread) % ranks, ranks, word);
    struct grammar *g = grammar_create(1 << 20);
    uint64_t wall = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        char name[8];
        snprintf(name, sizeof name, "w%u", w);
        terminal[w] = job_terminal(j, &(struct job_terminal){ .kind = JOB_WORD, .function = job_string(j, name),
                                                              .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE });
    }
    j->info.ranks = ranks;
    for (uint32_t i = 0; i < n; i++) {
        struct grammar_event e = { .terminal = terminal[word[i]], .gap = 100 + word[i], .duration = 50 + rank % 7 };
        e.channels = 1u << GRAMMAR_BYTES;
        e.value[GRAMMAR_BYTES] = word[i];
        wall += e.gap + e.duration;
        grammar_append(g, &e);
    }
    struct grammar_flat *flat = grammar_freeze(g);
    flat->terminals = j->terminal_count;
    struct job_stream s = { .rank = rank, .thread = thread, .wall_ns = wall };
    ck_assert_int_eq(merge_add_stream(j, &s, flat), 0);
    grammar_destroy(g);
}

static uint32_t threads = 1;

static struct job *rank_of(enum pattern p, uint32_t rank, uint32_t ranks)
{
    struct job *j = job_create();
    for (uint32_t t = 0; t < threads; t++)
        add_thread(j, p, rank, t, ranks);
    return j;
}

/* Ranks first … first + count - 1 as a tree joins them. */
static struct job *tree(enum pattern p, uint32_t first, uint32_t count, uint32_t ranks)
{
    if (count == 1)
        return rank_of(p, first, ranks);
    struct job *left = tree(p, first, count / 2, ranks), *right = tree(p, first + count / 2, count - count / 2, ranks);
    ck_assert_int_eq(merge_job(left, right), 0);
    job_destroy(right);
    return left;
}

static void check_grammar(const struct job *j, const struct grammar_flat *g, enum pattern p, uint32_t rank, uint32_t ranks)
{
    uint32_t word[LONGEST], n = sequence(p, rank, ranks, word), i = 0;
    struct grammar_cursor c;
    char why[200] = "", name[8];
    ck_assert_msg(grammar_flat_check(g, why, sizeof why) == 0, "%s: rank %u: %s", names[p], rank, why);
    for (int more = grammar_cursor_open(&c, g); more; more = grammar_cursor_next(&c), i++) {
        snprintf(name, sizeof name, "w%u", i < n ? word[i] : WORDS);
        ck_assert_msg(i < n && !strcmp(job_text(j, j->terminals[c.terminal].function), name), "%s: rank %u, event %u: %s",
                      names[p], rank, i, name);
        int64_t value;
        uint32_t class_index = job_stream_class(j, rank, 0);
        if (!j->store)
            ck_assert(job_attr_value(j, &j->classes[class_index], c.node, GRAMMAR_BYTES, rank, 0, c.nth,
                                     &value) == 0 &&
                      value == (int64_t)word[i]);
    }
    grammar_cursor_close(&c);
    ck_assert_uint_eq(i, n);
}

static void check_members(const struct job *j, enum pattern p, uint32_t ranks)
{
    char why[200] = "";
    ck_assert_uint_eq(job_ranges_size(j->classes[0].ranges, j->classes[0].member_ranges), ranks);
    ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s: %s", names[p], why);
    for (uint32_t r = 0; r < ranks; r++) {
        const struct job_class *c = &j->classes[job_stream_class(j, r, 0)];
        struct grammar_flat *g = job_member_grammar(c, r, 0);
        check_grammar(j, g, p, r, ranks);
        job_member_free(g);
    }
}

START_TEST(test_members)
{
    enum { RANKS = 60 };
    enum pattern p = (enum pattern)_i;
    struct job *j = tree(p, 0, RANKS, RANKS), *again = NULL;
    char why[200] = "";
    void *data;
    size_t size;
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s: %s", names[p], why);
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_uint_gt(j->classes[0].turn_count, 0);
    check_members(j, p, RANKS);
    ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
    ck_assert_msg(file_unpack(data, size, &again, why, sizeof why) == 0, "%s: %s", names[p], why);
    check_members(again, p, RANKS);
    job_destroy(again);
    ck_assert_msg(file_open_bytes(data, size, &again, why, sizeof why) == 0, "%s: %s", names[p], why);
    for (uint32_t r = 0; r < RANKS; r++) {
        const struct grammar_flat *g, *same;
        ck_assert_msg(file_open_member(again, 0, r, 0, &g, why, sizeof why) == 0, "%s", why);
        ck_assert_msg(file_open_member(again, 0, r, 0, &same, why, sizeof why) == 0, "%s", why);
        ck_assert(g == same);
        check_grammar(again, g, p, r, RANKS);
    }
    job_destroy(again);
    job_destroy(j);
}
END_TEST

/* Threads of one shape are members like any: by thread, then rank. */
START_TEST(test_threads)
{
    enum { RANKS = 40 };
    enum pattern p = (enum pattern)_i;
    threads = 3;
    struct job *j = tree(p, 0, RANKS, RANKS);
    const struct job_class *c = &j->classes[0];
    char why[200] = "";
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s: %s", names[p], why);
    for (uint32_t m = 0; m < threads * RANKS; m++) {
        struct grammar_flat *g = job_member_grammar(c, m % RANKS, m / RANKS);
        uint32_t word[LONGEST];
        ck_assert_uint_eq(g->events, sequence(p, (m % RANKS + 7 * (m / RANKS)) % RANKS, RANKS, word));
        job_member_free(g);
    }
    job_destroy(j);
}
END_TEST

/* The order of joining changes nothing, not a byte. */
START_TEST(test_any_order)
{
    enum { RANKS = 40 };
    enum pattern p = (enum pattern)(_i % PATTERNS);
    uint32_t order[RANKS];
    struct job *j = tree(p, 0, RANKS, RANKS), *other = job_create();
    void *a, *b;
    size_t na, nb;
    for (uint32_t i = 0; i < RANKS; i++)
        order[i] = i;
    for (uint32_t i = RANKS; i > 1; i--) { /* each after rank 0, whose definitions come first */
        uint32_t k = (uint32_t)(mix(i * 31 + (uint64_t)_i) % i), swap = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swap;
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        struct job *one = rank_of(p, order[i], RANKS);
        ck_assert_int_eq(merge_job(other, one), 0);
        job_destroy(one);
    }
    ck_assert_int_eq(file_pack(j, NULL, &a, &na), 0);
    ck_assert_int_eq(file_pack(other, NULL, &b, &nb), 0);
    ck_assert_msg(na == nb && !memcmp(a, b, na), "%s: %zu bytes, %zu bytes", names[p], na, nb);
    free(a);
    free(b);
    job_destroy(j);
    job_destroy(other);
}
END_TEST

static size_t turns_size(const struct job *j)
{
    size_t size = 0;
    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct job_class *c = &j->classes[i];
        size += c->turn_count * sizeof *c->turns;
        for (uint32_t k = 0; k < c->column_count; k++)
            size += c->columns[k].width * job_ranges_size(c->ranges, c->member_ranges);
    }
    return size;
}

/* What follows a rule costs the same for any number of ranks; what follows none, a byte a rank and place. */
START_TEST(test_size)
{
    for (enum pattern p = POSITIONS; p < PATTERNS; p++) {
        struct job *few = tree(p, 0, 256, 256), *many = tree(p, 0, 1024, 1024);
        size_t a = turns_size(few), b = turns_size(many);
        if (p == RANDOM)
            ck_assert_msg(b <= 1024 * PLACES + 4096, "%s: %zu bytes", names[p], b);
        else
            ck_assert_msg(b <= a + 256, "%s: %zu bytes, then %zu", names[p], a, b);
        job_destroy(few);
        job_destroy(many);
    }
}
END_TEST

/* Exponents that are not those of the members, or of some only, are refused. */
START_TEST(test_audit)
{
    struct job *j = tree(STRIDED, 0, 33, 33);
    struct job_class *c = &j->classes[0];
    char why[200] = "";
    ck_assert_uint_gt(c->turn_count, 1);
    c->turns[0].exponent++;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    c->turns[0].exponent--;
    ck_assert_int_eq(job_check(j, why, sizeof why), 0);
    c->turn_count--;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    c->turn_count++;
    c->grammar->nodes[c->turns[0].node].exponent += 3;
    ck_assert_int_eq(job_check(j, why, sizeof why), PYTHIA_EFORMAT);
    job_destroy(j);
}
END_TEST

/* Some members stand for all: those of each pattern's different exponents, with how many have them. */
START_TEST(test_roles)
{
    struct job *j = tree(STRIDED, 0, 44, 44);
    struct job_role role[16];
    uint32_t count = job_roles(&j->classes[0], true, 16, role);
    uint64_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        members += role[i].members;
    ck_assert_uint_eq(count, 11);
    ck_assert_uint_eq(members, 44);
    ck_assert_uint_eq(job_roles(&j->classes[0], false, 16, role), 0);
    job_destroy(j);
}
END_TEST

static const struct unit_test tests[] = { UNIT_LOOP(test_members, PATTERNS), UNIT_LOOP(test_threads, PATTERNS),
                                          UNIT_LOOP(test_any_order, 3 * PATTERNS),
                                          UNIT_TEST(test_size), UNIT_TEST(test_audit), UNIT_TEST(test_roles) };
int main(void)
{
    return unit_run("job/turns", tests, UNIT_COUNT(tests));
}
