/* SPDX-License-Identifier: MIT */
/* Job files whose checksums are right and whose contents lie: refused with a line, or harmless. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "file/format.h"
#include "grammar/grammar.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/forge.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

START_TEST(test_forging_works)
{
    struct job *j = simulate_job(SIMULATE_STENCIL, 8), *back;
    struct forgery f = forge_take_apart(j);
    char why[200];
    ck_assert_msg(forge_unpack(&f, &back, why) == 0, "%s", why);
    job_destroy(back);
    for (uint32_t version = FORMAT_VERSION - 1; version <= FORMAT_VERSION + 1; version++) {
        struct bytes b = forge_put_together(&f);
        forge_put(b.data + 8, version, 4);
        forge_seal(b);
        bool known = version == FORMAT_VERSION;
        ck_assert_int_eq(bytes_unpack(b.data, b.size, &back, why), known ? 0 : PYTHIA_EVERSION);
        if (known)
            job_destroy(back);
        else
            ck_assert_msg(strstr(why, version < FORMAT_VERSION ? "recorded by an older version" : "newer") != NULL,
                          "%s", why);
        free(b.data);
    }
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* Replaces all rules by a ladder of `levels`: each uses the next one `exponent` times twice; the last is a terminal. */
static void make_ladder(struct forgery *f, uint32_t levels, uint64_t exponent, int cyclic)
{
    struct bytes *rules = &f->section[RULES], *nodes = &f->section[NODES], *list = &f->section[CLASS_RULES];
    struct bytes *stats = &f->section[STATS];
    free(rules->data), free(nodes->data), free(list->data), free(stats->data);
    *rules = (struct bytes){ calloc(levels, 8), levels * 8 };
    *nodes = (struct bytes){ calloc(levels, 32), levels * 32 };
    *list = (struct bytes){ calloc(levels, 4), levels * 4 };
    *stats = (struct bytes){ calloc(levels, 256), levels * 256 };
    for (uint32_t i = 0; i < levels; i++) {
        forge_put(rules->data + 8 * i, 2 * i, 4);
        forge_put(rules->data + 8 * i + 4, 2, 4);
        forge_put(list->data + 4 * i, i, 4);
        for (int k = 0; k < 2; k++) {
            unsigned char *n = nodes->data + 32 * i + 16 * k;
            forge_put(n, i + 1 < levels ? 0x80000000u | (i + 1) : cyclic ? 0x80000000u | 1 : (uint32_t)k, 4);
            forge_put(n + 8, k ? exponent + 1 : exponent, 8);
        }
    }
    f->count[RULES] = f->count[CLASS_RULES] = levels;
    f->count[NODES] = f->count[STATS] = 2 * levels;
    unsigned char *c = f->section[CLASSES].data;
    forge_put(c + 24, levels, 4);      /* rules */
    forge_put(c + 32, 2 * levels, 4);  /* nodes */
    forge_put(c + 52, 0, 4);           /* variants */
    forge_put(c + 40, forge_get(c + 44, 4), 4);
    f->section[VARIANTS].size = f->count[VARIANTS] = 0;
    f->count[RANGES] = forge_get(c + 44, 4);
    f->section[RANGES].size = RECORD_RANGE * f->count[RANGES];
}

START_TEST(test_hostile_grammars)
{
    struct job *j = simulate_job(SIMULATE_RING, 4);
    struct forgery f = forge_take_apart(j);
    make_ladder(&f, 20, 16, 0); /* 2^80 and more */
    forge_refused(&f, "2^63");
    make_ladder(&f, 3, 0x7fffffffffffffff, 0);
    forge_refused(&f, "");
    make_ladder(&f, 3, UINT64_MAX - 1, 0);
    forge_refused(&f, "exponent");
    make_ladder(&f, 3, 0, 0);
    forge_refused(&f, "exponent");
    make_ladder(&f, 5, 2, 1);
    forge_refused(&f, "contains itself");
    make_ladder(&f, 100000, 1, 0);
    forge_refused(&f, "");
    make_ladder(&f, 4, 1, 0); /* sane, but not what the hash says */
    forge_refused(&f, "");
    make_ladder(&f, 4, 1, 0);
    forge_put(f.section[CLASS_RULES].data + 4, 0, 4); /* a rule twice */
    forge_refused(&f, "rule 1 of class 0");
    forge_put(f.section[CLASS_RULES].data + 4, 0xffffffff, 4);
    forge_refused(&f, "rule 1 of class 0");
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* One number after another, in every section, becomes an extreme one: refused or harmless. */
static void try_everything(const struct job *j)
{
    struct simulate_rank extra;
    struct job *copy = job_create();
    char why[200];
    simulate_rank(&extra, SIMULATE_STENCIL, 1000000, 1000001, 1);
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
    merge_job(copy, j);
    merge_job(copy, extra.job);
    for (uint32_t i = 0; i < j->stream_count; i++) {
        const struct job_class *c = &j->classes[j->streams[i].class_index];
        int64_t value;
        for (uint32_t n = 0; n < c->grammar->node_count; n++)
            for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++)
                job_attr_value(j, c, n, channel, j->streams[i].rank, j->streams[i].thread, UINT64_MAX / 2 + n, &value);
    }
    struct bytes b = bytes_pack(copy);
    free(b.data);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        job_match_terminal(copy, j, t);
    simulate_clear(&extra);
    job_destroy(copy);
}

START_TEST(test_hostile_sums)
{
    struct job *j = simulate_job(SIMULATE_RING, 2);
    struct forgery f = forge_take_apart(j);
    uint64_t n = f.count[SUMS];
    unsigned char *terminals = f.section[SUMS].data, *names = terminals + 4 * n, *samples = names + 4 * n;
    ck_assert_uint_gt(n, 1);
    uint64_t first = forge_get(terminals, 4), counted = forge_get(samples, 8);
    forge_put(terminals, 0x10000, 4);
    forge_refused(&f, "sum 0: out of range");
    forge_put(terminals, forge_get(terminals + 4, 4), 4);
    forge_put(names, 0xffffffff, 4);
    forge_refused(&f, "sum 0: out of range");
    forge_put(names, forge_get(names + 4, 4), 4);
    forge_refused(&f, "sum 1: out of order");
    forge_put(terminals, first, 4);
    forge_put(samples, 0, 8);
    forge_refused(&f, "sum 0: out of range");
    forge_put(samples, counted, 8);
    f.count[SUMS]++;
    forge_refused(&f, "half a record");
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_extreme_numbers)
{
    static const uint64_t extremes[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, UINT64_MAX, INT64_MAX };
    struct job *j = simulate_job(_i % 2 ? SIMULATE_RANDOM : SIMULATE_MASTER, 5), *back;
    struct forgery f = forge_take_apart(j);
    char why[200];
    int step = _i / 2 ? 8 : 4;
    unsigned refusals = 0, accepted = 0;
    for (int type = 1; type <= SECTIONS; type++)
        for (size_t at = 0, stride = (size_t)step * (f.section[type].size > 2000 ? 5 : 1);
             at + (size_t)step <= f.section[type].size; at += stride) {
            uint64_t old = forge_get(f.section[type].data + at, step);
            forge_put(f.section[type].data + at, extremes[(at / (size_t)step + (size_t)type) % 8], step);
            if (forge_unpack(&f, &back, why)) {
                refusals++;
            } else {
                accepted++;
                try_everything(back);
                job_destroy(back);
            }
            forge_put(f.section[type].data + at, old, step);
        }
    ck_assert_uint_gt(refusals, 100);
    ck_assert_uint_gt(accepted, 10); /* times, for example, may be anything */
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_random_forgeries)
{
    uint64_t random = (uint64_t)_i;
    struct job *j = simulate_job(_i % SIMULATE_SHAPES, 5), *back;
    struct forgery f = forge_take_apart(j);
    char why[200];
    for (int turn = 0; turn < 300; turn++) {
        struct { unsigned char *at, old; } change[3];
        for (int i = 0; i < 3; i++) {
            struct bytes *s = &f.section[1 + simulate_random(&random) % SECTIONS];
            change[i].at = s->size ? s->data + simulate_random(&random) % s->size : f.section[1].data;
            change[i].old = *change[i].at;
            *change[i].at ^= (unsigned char)(1 << simulate_random(&random) % 8);
        }
        if (!forge_unpack(&f, &back, why)) {
            try_everything(back);
            job_destroy(back);
        }
        for (int i = 2; i >= 0; i--)
            *change[i].at = change[i].old;
    }
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* Sections of the table itself that lie. */
START_TEST(test_hostile_tables)
{
    static const struct { int field, bytes; uint64_t value;
    } lies[] = {
        { 0, 4, 1 },           { 0, 4, 99 },          { 0, 4, 0 },           { 4, 4, 1 },
        { 4, 4, 8 },           { 8, 8, 0 },           { 8, 8, 1ull << 63 },  { 8, 8, UINT64_MAX - 7 },
        { 16, 8, 1ull << 63 }, { 16, 8, UINT64_MAX }, { 24, 8, 1ull << 63 }, { 24, 8, 0 },
        { 24, 8, UINT64_MAX }, { 40, 8, 1ull << 63 }, { 40, 8, 0xffffffff },
    };
    struct job *j = simulate_job(SIMULATE_MASTER, 4);
    struct forgery f = forge_take_apart(j);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (uint64_t section = 1; section < 15; section++) {
            struct bytes b = forge_put_together(&f);
            forge_put(b.data + 64 + 48 * section + lies[i].field, lies[i].value, lies[i].bytes);
            forge_put(b.data + 24, 0, 8);
            forge_put(b.data + 24, XXH64(b.data, 64 + 48 * 15, 0), 8);
            bytes_refused(b.data, b.size, "a lying table");
            free(b.data);
        }
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* A section of zeros that is 4 GB when decompressed, and one that says less than it is. */
START_TEST(test_bombs)
{
    struct job *j = simulate_job(SIMULATE_RING, 2), *back;
    struct forgery f = forge_take_apart(j);
    size_t raw = 64 << 20;
    void *zeros = calloc(1, raw);
    struct bytes small = { malloc(ZSTD_compressBound(raw)), 0 };
    char why[200];
    small.size = ZSTD_compress(small.data, ZSTD_compressBound(raw), zeros, raw, 1);
    free(zeros);
    free(f.section[STATS].data);
    f.section[STATS] = small;
    for (int i = 0; i < 3; i++) {
        static const uint64_t claims[] = { 64 << 20, 1ull << 40, 128 * 4 };
        struct bytes b = forge_put_together(&f);
        unsigned char *e = b.data + 64 + 48 * (STATS - 1);
        forge_put(e + 4, 1, 4);
        forge_put(e + 24, claims[i], 8);
        forge_seal(b);
        ck_assert_int_eq(bytes_unpack(b.data, b.size, &back, why), PYTHIA_EFORMAT);
        ck_assert_msg(strstr(why, "claims") != NULL, "%s", why);
        free(b.data);
    }
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* Many blocks that each claim what one may: 2000 times 64 KB of zeros, in as many times 32 bytes. */
START_TEST(test_bombs_in_blocks)
{
    enum { COUNT = 2000 * 512 };
    struct job *j = simulate_job(SIMULATE_RING, 2);
    struct forgery f = forge_take_apart(j);
    free(f.section[STATS].data);
    f.section[STATS] = (struct bytes){ calloc(COUNT, 128), (size_t)COUNT * 128 };
    f.count[STATS] = COUNT;
    forge_in_blocks(&f, STATS, 128, 512);
    ck_assert_uint_lt(f.section[STATS].size, (size_t)COUNT * 128 / 1000);
    forge_refused(&f, "damaged: blocks of section statistics");
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* Whoever opens a job reads only those as blocks. */
START_TEST(test_other_sections_in_blocks)
{
    static const struct { int type; uint32_t record; bool legal;
    } kinds[] = {
        { NODES, 16, true }, { STATS, 128, true }, { RANGES, 32, true }, { VARIANTS, 160, true }, { 1, 56, false },
        { 5, 8, false },     { 7, 24, false },     { RULES, 8, false },  { CLASSES, 56, false },  { SUMS, 24, false },
    };
    struct job *j = simulate_job(SIMULATE_RANDOM, 5), *back;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct forgery f = forge_take_apart(j);
        char why[200];
        ck_assert_uint_gt(f.count[kinds[i].type], 0);
        forge_pad(&f, kinds[i].type, kinds[i].record); /* columns are less than their records */
        forge_in_blocks(&f, kinds[i].type, kinds[i].record, 16);
        if (!kinds[i].legal) {
            forge_refused(&f, "damaged: blocks of section");
        } else {
            ck_assert_msg(forge_unpack(&f, &back, why) == 0, "section %d: %s", kinds[i].type, why);
            job_destroy(back);
        }
        forge_discard(&f);
    }
    job_destroy(j);
}
END_TEST

/* One stream without order: a rule of many nodes. */
static struct job *job_of_many_nodes(void)
{
    enum { WORDS = 12, EVENTS = 20000 };
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 24);
    uint64_t random = 1;
    for (uint32_t w = 0; w < WORDS; w++) {
        char name[2] = { (char)('a' + w), 0 };
        job_terminal(
            j, &(struct job_terminal){
                   .kind = JOB_WORD, .function = job_string(j, name), .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE });
    }
    for (int i = 0; i < EVENTS; i++)
        grammar_append(g, &(struct grammar_event){
                              .terminal = (uint32_t)(simulate_random(&random) % WORDS), .gap = 5, .duration = 2 });
    struct grammar_flat *flat = grammar_freeze(g);
    flat->terminals = WORDS;
    j->info.ranks = 1;
    ck_assert_int_eq(merge_add_stream(j, &(struct job_stream){ .wall_ns = 7 * EVENTS }, flat), 0);
    grammar_destroy(g);
    return j;
}

/* Numbers of which no times come: what is accepted can be written and read again. */
START_TEST(test_strange_squares)
{
    struct job *j = job_of_many_nodes(), *strange, *back;
    struct forgery f = forge_take_apart(j);
    double square = 1e300;
    char why[200];
    for (uint64_t i = 0; i < f.count[STATS]; i++) {
        memcpy(f.section[STATS].data + 128 * i + 32, &square, 8);
        memcpy(f.section[STATS].data + 128 * i + 64, &square, 8);
    }
    ck_assert_uint_gt(f.count[STATS], 3 * BLOCK_STATS); /* blocks that begin within a rule */
    ck_assert_msg(forge_unpack(&f, &strange, why) == 0, "%s", why);
    struct bytes b = bytes_pack(strange);
    ck_assert_uint_eq(forge_get(b.data + 64 + 48 * (STATS - 1) + 4, 4), ENTRY_BLOCKS);
    ck_assert_msg(bytes_unpack(b.data, b.size, &back, why) == 0, "%s", why);
    job_destroy(back);
    free(b.data);
    job_destroy(strange);
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_versions_and_unknown_sections)
{
    struct job *j = simulate_job(SIMULATE_RING, 2), *back;
    struct bytes b = bytes_pack(j);
    char why[200];
    forge_put(b.data + 8, FORMAT_VERSION + 1, 4);
    forge_seal(b);
    ck_assert_int_eq(bytes_unpack(b.data, b.size, &back, why), PYTHIA_EVERSION);
    ck_assert_msg(strstr(why, "format version ") != NULL, "%s", why);
    free(b.data);
    bytes_fill_oracle(j);
    b = bytes_pack(j);
    forge_put(b.data + 64 + 48 * 15, 999, 4); /* the oracle's section becomes one that nobody knows: optional */
    forge_seal(b);
    ck_assert_msg(bytes_unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_uint_eq(back->oracle.present, 0);
    job_destroy(back);
    forge_put(b.data + 64 + 48 * 15 + 4, 0, 4); /* and now a required one */
    forge_seal(b);
    ck_assert_int_eq(bytes_unpack(b.data, b.size, &back, why), PYTHIA_EVERSION);
    free(b.data);
    job_destroy(j);
}
END_TEST

/* Of ranks by class, each with as many turns of its own as the rank of the other class: a column each. */
static struct job *two_columns(void)
{
    enum { MEMBERS = 100 };
    struct job *j = job_create();
    uint32_t word[2] = { hand_word(j, "a"), hand_word(j, "b") }, end = hand_word(j, "end");
    for (uint32_t rank = 0; rank < 2 * MEMBERS; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        uint64_t random = rank % MEMBERS;
        for (uint64_t turns = 2 + simulate_random(&random) % 5000; turns > 0; turns--)
            hand_append(g, word[rank / MEMBERS], 1, 1);
        hand_append(g, end, 1, 1);
        hand_stream(j, g, rank, 1, 1);
    }
    return j;
}

/* Each of them would be copied: a file of a few bytes could name as much as memory holds. */
START_TEST(test_classes_share_no_columns)
{
    struct job *j = two_columns(), *back;
    struct forgery f = forge_take_apart(j);
    char why[200];
    ck_assert(j->class_count == 2 && j->classes[0].column_count && j->classes[1].column_count);
    ck_assert_msg(forge_unpack(&f, &back, why) == 0, "%s", why);
    job_destroy(back);
    unsigned char *first = f.section[CLASSES].data + RECORD_CLASS + 64;
    uint64_t begin = forge_get(first, 8);
    ck_assert_uint_eq(2 * begin, f.section[COLUMNS].size);
    forge_put(first, 0, 8);
    forge_refused(&f, "columns of class");
    forge_put(first, begin, 8);
    forge_put(f.section[CLASSES].data + 64, begin, 8);
    forge_refused(&f, "class 0");
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

/* 8 members with 2^62 events each have 2^65: that is 0 in 64 bits, and so were sites without a call. */
START_TEST(test_counts_do_not_wrap)
{
    struct job *j = job_create();
    uint32_t word = hand_word(j, "a");
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct grammar *g = grammar_create(1 << 20);
        hand_append(g, word, 1, 1);
        hand_append(g, word, 1, 1);
        hand_stream(j, g, rank, 1, 1);
    }
    struct forgery f = forge_take_apart(j);
    ck_assert_uint_eq(f.count[NODES], 1);
    forge_put(f.section[NODES].data + 8, 1ull << 62, 8);
    forge_put(f.section[STATS].data, 8, 8);
    const uint64_t n = f.count[STREAMS];
    bool found = false;
    for (uint64_t at = 0; at + 8 * n <= f.section[STREAMS].size && !found; at += 4) {
        found = true;
        for (uint64_t i = 0; i < n; i++)
            found &= forge_get(f.section[STREAMS].data + at + 8 * i, 8) == 2;
        for (uint64_t i = 0; i < n && found; i++)
            forge_put(f.section[STREAMS].data + at + 8 * i, 1ull << 62, 8);
    }
    ck_assert(found);
    forge_refused(&f, "2^63");
    forge_discard(&f);
    job_destroy(j);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(test_forging_works),
    UNIT_TEST(test_hostile_sums),
    UNIT_TEST(test_hostile_grammars),
    UNIT_LOOP(test_extreme_numbers, 4),
    UNIT_LOOP(test_random_forgeries, 10),
    UNIT_TEST(test_hostile_tables),
    UNIT_TEST(test_bombs),
    UNIT_TEST(test_bombs_in_blocks),
    UNIT_TEST(test_other_sections_in_blocks),
    UNIT_TEST(test_strange_squares),
    UNIT_TEST(test_classes_share_no_columns), UNIT_TEST(test_counts_do_not_wrap),
    UNIT_TEST(test_versions_and_unknown_sections),
};

int main(void)
{
    return unit_run("file/job_forged", tests, UNIT_COUNT(tests));
}
