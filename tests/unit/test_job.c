/* SPDX-License-Identifier: MIT */
/* Job files: what is written is read back; what is damaged, hostile or can't be written is refused with a line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "merge/container.h"
#include "merge/format.h"
#include "merge/job.h"
#include "pythia.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

static const char *const names[] = { "ring", "butterfly", "stencil", "master", "random" };

static struct job *some_job(enum simulate_shape shape, uint32_t ranks)
{
    struct job *j = job_create();
    for (uint32_t i = 0; i < ranks; i++) {
        struct simulate_rank r;
        simulate_rank(&r, shape, i, ranks, 11);
        ck_assert_int_eq(job_merge(j, r.job), 0);
        simulate_clear(&r);
    }
    return j;
}

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes pack(const struct job *j)
{
    void *data;
    struct bytes b;
    ck_assert_int_eq(job_pack(j, NULL, &data, &b.size), 0);
    b.data = data;
    return b;
}

/* Unpacks from a block of exactly that size, so that a sanitizer sees a read past the end. */
static int unpack(const void *data, size_t size, struct job **j, char why[200])
{
    void *exact = malloc(size ? size : 1);
    *j = NULL;
    why[0] = 0;
    memcpy(exact, data, size);
    int error = job_unpack(exact, size, j, why, 200);
    free(exact);
    if (error) {
        ck_assert_ptr_null(*j);
        ck_assert_msg(*why && !strchr(why, '\n'), "one line: '%s'", why);
    }
    return error;
}

static void refused(const void *data, size_t size, const char *what)
{
    struct job *j;
    char why[200];
    int error = unpack(data, size, &j, why);
    ck_assert_msg(error == PYTHIA_EFORMAT || error == PYTHIA_EVERSION, "%s: %d %s", what, error, why);
}

/* --- Building --- */

START_TEST(test_equal_content_equal_number)
{
    struct job *j = job_create();
    uint32_t a = job_module(j, "/lib/a.so", "1111"), b = job_module(j, "/lib/a.so", "2222");
    struct job_frame f[2] = { { a, 0, 16 }, { b, 0, 32 } }, g[2] = { { b, 0, 32 }, { a, 0, 16 } };
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(job_module(j, "/lib/a.so", "1111"), a);
    ck_assert_uint_eq(job_callsite(j, f, 2), job_callsite(j, f, 2));
    ck_assert_uint_ne(job_callsite(j, f, 2), job_callsite(j, g, 2));
    ck_assert_uint_ne(job_callsite(j, f, 1), job_callsite(j, f, 2));
    ck_assert_uint_ne(job_callsite(j, f, 0), GRAMMAR_NONE);
    ck_assert_uint_eq(job_comm(j, "world", 4), job_comm(j, "world", 8)); /* a name is an identity, a size is not */
    ck_assert_uint_eq(j->comms[0].size, 4);
    struct job_terminal t = { .kind = JOB_CALL, .function = job_string(j, "MPI_Send"), .callsite = 0, .comm = 0 };
    uint32_t send = job_terminal(j, &t);
    t.comm = GRAMMAR_NONE;
    ck_assert_uint_ne(job_terminal(j, &t), send);
    t.comm = 0;
    ck_assert_uint_eq(job_terminal(j, &t), send);
    t.function = 12345;
    ck_assert_uint_eq(job_terminal(j, &t), GRAMMAR_NONE);
    struct job_frame bad = { 99, 0, 0 };
    ck_assert_uint_eq(job_callsite(j, &bad, 1), GRAMMAR_NONE);
    ck_assert_str_eq(job_text(j, GRAMMAR_NONE), "");
    job_destroy(j);
    job_destroy(NULL);
}
END_TEST

START_TEST(test_hashes_are_of_content)
{
    struct job *a = job_create(), *b = job_create();
    job_string(b, "something else first");
    job_module(b, "/x", "y");
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        struct job_frame f = { job_module(a, "/m", "id"), 0, (uint64_t)i }, g = { job_module(b, "/m", "id"), 0, (uint64_t)i };
        struct job_terminal t = { .function = job_string(a, name), .callsite = job_callsite(a, &f, 1), .comm = GRAMMAR_NONE };
        struct job_terminal u = { .function = job_string(b, name), .callsite = job_callsite(b, &g, 1), .comm = GRAMMAR_NONE };
        uint32_t x = job_terminal(a, &t), y = job_terminal(b, &u);
        ck_assert_uint_eq(job_find_terminal(a, b->terminal_hash[y]), x);
    }
    job_destroy(a);
    job_destroy(b);
}
END_TEST

START_TEST(test_streams)
{
    struct job *j = job_create();
    struct job_stream s = { .rank = 3 };
    struct grammar_flat *g = grammar_flat_create(1, 0, 0);
    ck_assert_int_eq(job_add_stream(j, &s, grammar_flat_copy(g)), 0);
    ck_assert_int_eq(job_add_stream(j, &s, grammar_flat_copy(g)), PYTHIA_EINVAL);
    s.rank = 1;
    ck_assert_int_eq(job_add_stream(j, &s, grammar_flat_copy(g)), 0);
    s.thread = 2;
    ck_assert_int_eq(job_add_stream(j, &s, grammar_flat_copy(g)), 0);
    g->terminals = 7; /* more than the job has */
    s.thread = 3;
    ck_assert_int_eq(job_add_stream(j, &s, g), PYTHIA_EINVAL);
    ck_assert_uint_eq(j->stream_count, 3);
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_ptr_eq(job_find_stream(j, 1, 0), &j->streams[0]);
    ck_assert_ptr_eq(job_find_stream(j, 1, 2), &j->streams[1]);
    ck_assert_ptr_eq(job_find_stream(j, 3, 0), &j->streams[2]);
    ck_assert_ptr_null(job_find_stream(j, 2, 0));
    job_destroy(j);
}
END_TEST

/* A rebuilt program: another build-id, every call moved, one frame above changed. */
START_TEST(test_matching_another_build)
{
    struct job *a = job_create(), *b = job_create();
    uint32_t old[6], new[6];
    for (uint32_t i = 0; i < 6; i++) {
        struct job_frame f[2] = { { job_module(a, "/bin/app", "aaaa"), 0, 100 + 10 * i }, { 0, 0, 5 } };
        struct job_terminal t = { .function = job_string(a, i % 2 ? "MPI_Send" : "MPI_Recv"), .callsite = job_callsite(a, f, 2),
                                  .comm = job_comm(a, "world", 4) };
        old[i] = job_terminal(a, &t);
    }
    for (uint32_t k = 6; k-- > 0;) { /* seen in another order */
        struct job_frame f[2] = { { job_module(b, "/tmp/app", "bbbb"), 0, 1000 + 70 * k }, { 0, 0, 6 } };
        struct job_terminal t = { .function = job_string(b, k % 2 ? "MPI_Send" : "MPI_Recv"), .callsite = job_callsite(b, f, 2),
                                  .comm = job_comm(b, "world", 8) };
        new[k] = job_terminal(b, &t);
    }
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(job_match_terminal(b, a, old[i]), new[i]);
    struct job_frame f[2] = { { 0, 0, 100 }, { 0, 0, 77 } }; /* the same place, called from elsewhere */
    struct job_terminal t = { .function = job_string(a, "MPI_Recv"), .callsite = job_callsite(a, f, 2), .comm = 0 };
    struct job *c = job_create();
    ck_assert_int_eq(job_merge(c, a), 0);
    ck_assert_uint_eq(job_match_terminal(c, a, job_terminal(a, &t)), old[0]);
    t.peer_class = JOB_PEER_SELF; /* with one rank, the neighbour is the rank itself */
    ck_assert_uint_eq(job_match_terminal(c, a, job_terminal(a, &t)), old[0]);
    t.function = job_string(a, "MPI_Ssend");
    ck_assert_uint_eq(job_match_terminal(b, a, job_terminal(a, &t)), GRAMMAR_NONE);
    ck_assert_uint_eq(job_match_terminal(b, a, 4711), GRAMMAR_NONE);
    job_destroy(a);
    job_destroy(b);
    job_destroy(c);
}
END_TEST

/* --- There and back --- */

static void fill_oracle(struct job *j)
{
    j->oracle.present = 1;
    j->oracle.ranks = 4;
    j->oracle.gain_seconds = 1.25;
    j->oracle.score.events = 77;
    j->oracle.score.peers = (struct oracle_score_peers){9, 8, 7};
    j->oracle.score.at[3].right[9] = 5;
    j->oracle.score.time_error[63] = 9;
    j->oracle.score.at[0].brier = 0.5;
}

START_TEST(test_round_trip)
{
    struct job *j = some_job(_i % SIMULATE_SHAPES, 9), *back;
    char why[200];
    if (_i >= SIMULATE_SHAPES)
        fill_oracle(j);
    struct bytes b = pack(j);
    ck_assert_msg(unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_msg(job_check(back, why, sizeof why) == 0, "%s", why);
    struct bytes again = pack(back);
    ck_assert_msg(again.size == b.size && !memcmp(again.data, b.data, b.size), "%s", names[_i % SIMULATE_SHAPES]);
    ck_assert_int_eq(memcmp(&j->oracle.score, &back->oracle.score, sizeof j->oracle.score), 0);
    ck_assert_uint_eq(back->oracle.ranks, j->oracle.ranks);
    ck_assert(back->oracle.gain_seconds == j->oracle.gain_seconds);
    for (uint32_t i = 0; i < j->stream_count; i++)
        ck_assert_int_eq(memcmp(&j->streams[i], &back->streams[i], sizeof j->streams[i]), 0);
    free(b.data);
    free(again.data);
    job_destroy(back);
    job_destroy(j);
}
END_TEST

START_TEST(test_sums)
{
    struct job *a = job_create(), *b = job_create();
    job_string(b, "first in b"); /* other numbers than in a */
    struct job_terminal send = { .function = job_string(a, "MPI_Send"), .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE };
    uint32_t in_a = job_terminal(a, &send);
    send.function = job_string(b, "MPI_Recv");
    uint32_t other = job_terminal(b, &send);
    send.function = job_string(b, "MPI_Send");
    uint32_t in_b = job_terminal(b, &send);
    ck_assert_int_eq(job_count(a, in_a, "cycles", (struct job_count){ 1, 10 }), 0);
    ck_assert_int_eq(job_count(a, in_a, "cycles", (struct job_count){ 2, 20 }), 0);
    ck_assert_int_eq(job_count(b, in_b, "cycles", (struct job_count){ 3, 500 }), 0);
    ck_assert_int_eq(job_count(b, other, "faults", (struct job_count){ 4, 7 }), 0);
    ck_assert_int_eq(job_count(b, 99, "faults", (struct job_count){ 4, 7 }), PYTHIA_EINVAL);
    ck_assert_int_eq(job_merge(a, b), 0);
    ck_assert_uint_eq(a->sum_count, 2);
    ck_assert_uint_eq(a->sums[0].terminal, in_a);
    ck_assert_str_eq(job_text(a, a->sums[0].name), "cycles");
    ck_assert_uint_eq(a->sums[0].count.samples, 6);
    ck_assert_uint_eq(a->sums[0].count.total, 530);
    ck_assert_str_eq(job_text(a, a->sums[1].name), "faults");
    ck_assert_uint_eq(a->sums[1].count.total, 7);
    job_destroy(a);
    job_destroy(b);
}
END_TEST

START_TEST(test_an_empty_job)
{
    struct job *j = job_create(), *back;
    char why[200];
    struct bytes b = pack(j);
    ck_assert_msg(unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_uint_eq(back->stream_count, 0);
    free(b.data);
    job_destroy(back);
    job_destroy(j);
}
END_TEST

/* --- Damage --- */

START_TEST(test_every_truncation)
{
    struct job *j = some_job(SIMULATE_MASTER, 6);
    struct bytes b = pack(j);
    for (size_t size = 0; size < b.size; size++)
        refused(b.data, size, "truncated");
    unsigned char *longer = calloc(1, b.size + 8);
    memcpy(longer, b.data, b.size);
    refused(longer, b.size + 8, "with a tail");
    free(longer);
    free(b.data);
    job_destroy(j);
}
END_TEST

START_TEST(test_every_flipped_bit)
{
    struct job *j = some_job(SIMULATE_MASTER, 4);
    struct bytes b = pack(j);
    for (size_t bit = (size_t)_i; bit < b.size * 8; bit += 4) {
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        refused(b.data, b.size, "flipped");
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(b.data);
    job_destroy(j);
}
END_TEST

START_TEST(test_foreign_files)
{
    unsigned char noise[4096];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)simulate_random(&random);
    refused(noise, sizeof noise, "noise");
    memset(noise, 0, sizeof noise);
    refused(noise, sizeof noise, "zeros");
    refused("", 0, "nothing");
    refused("PYTHIA\x1a\n", 8, "only the magic");
}
END_TEST

/* --- Forged files: a job taken apart, changed, and put together with right checksums --- */

enum { SECTIONS = 17 };

struct forgery {
    struct bytes section[SECTIONS + 1];
    uint64_t count[SECTIONS + 1];
};

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | at[bytes];
    return v;
}

static void put(unsigned char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

static struct forgery take_apart(const struct job *j)
{
    struct bytes b = pack(j);
    struct forgery f = { 0 };
    struct merge_container c;
    char why[200];
    ck_assert_msg(merge_container_open(&c, b.data, b.size, why, sizeof why) == 0 &&
                  merge_container_need_all(&c, why, sizeof why) == 0, "%s", why);
    for (int type = 1; type <= SECTIONS; type++) { /* without the times: they are of sections in blocks */
        const struct merge_section *s = &c.section[type];
        if (!s->data)
            continue;
        f.count[type] = s->count;
        f.section[type] = (struct bytes){ malloc(s->size + 1), s->size };
        memcpy(f.section[type].data, s->data, s->size);
    }
    merge_container_close(&c);
    free(b.data);
    return f;
}

/* Makes the checksums of the blocks right; the bytes that the section's own is of. */
static uint64_t seal_blocks(unsigned char *at)
{
    uint64_t n = get(at + 4, 4), frame = 8 + 12 * n;
    for (uint64_t i = 0; i < n; frame += get(at + 8 + 4 * i, 4), i++)
        put(at + 8 + 4 * n + 8 * i, XXH64(at + frame, get(at + 8 + 4 * i, 4), 0), 8);
    return 8 + 12 * n;
}

static void seal(struct bytes b)
{
    uint64_t sections = get(b.data + 12, 4);
    for (uint64_t i = 0; i < sections; i++) {
        unsigned char *e = b.data + 64 + 48 * i, *at = b.data + get(e + 8, 8);
        put(e + 32, XXH64(at, get(e + 4, 4) & ENTRY_BLOCKS ? seal_blocks(at) : get(e + 16, 8), 0), 8);
    }
    put(b.data + 24, 0, 8);
    put(b.data + 24, XXH64(b.data, 64 + 48 * sections, 0), 8);
}

static struct bytes put_together(const struct forgery *f)
{
    size_t size = 64, sections = 0;
    for (int type = 1; type <= SECTIONS; type++) {
        sections += f->section[type].data != NULL;
        size += (f->section[type].size + 7) / 8 * 8;
    }
    size += 48 * sections;
    struct bytes b = { calloc(1, size), size };
    size_t at = 64 + 48 * sections;
    unsigned char *e = b.data + 64;
    memcpy(b.data, "PYTHIA\x1a\n", 8);
    put(b.data + 8, FORMAT_VERSION, 4);
    put(b.data + 12, sections, 4);
    put(b.data + 16, size, 8);
    for (int type = 1; type <= SECTIONS; type++) {
        const struct bytes *s = &f->section[type];
        if (!s->data)
            continue;
        put(e, (uint64_t)type, 4);
        put(e + 8, at, 8);
        put(e + 16, s->size, 8);
        put(e + 24, s->size, 8);
        put(e + 40, f->count[type], 8);
        memcpy(b.data + at, s->data, s->size);
        at += (s->size + 7) / 8 * 8;
        e += 48;
    }
    seal(b);
    return b;
}

static void discard(struct forgery *f)
{
    for (int type = 0; type <= SECTIONS; type++)
        free(f->section[type].data);
}

static int unpack_forgery(const struct forgery *f, struct job **j, char why[200])
{
    struct bytes b = put_together(f);
    int error = unpack(b.data, b.size, j, why);
    free(b.data);
    return error;
}

static void refused_forgery(const struct forgery *f, const char *expected)
{
    struct job *j;
    char why[200];
    int error = unpack_forgery(f, &j, why);
    ck_assert_msg(error == PYTHIA_EFORMAT && strstr(why, expected), "expected '%s': %d '%s'", expected, error, why);
}

START_TEST(test_forging_works)
{
    struct job *j = some_job(SIMULATE_STENCIL, 8), *back;
    struct forgery f = take_apart(j);
    char why[200];
    ck_assert_msg(unpack_forgery(&f, &back, why) == 0, "%s", why);
    job_destroy(back);
    for (uint32_t version = FORMAT_OLDEST - 1; version <= FORMAT_VERSION + 1; version++) {
        struct bytes b = put_together(&f);
        put(b.data + 8, version, 4);
        seal(b);
        bool known = version >= FORMAT_OLDEST && version <= FORMAT_VERSION;
        ck_assert_int_eq(unpack(b.data, b.size, &back, why), known ? 0 : PYTHIA_EVERSION);
        if (known)
            job_destroy(back);
        free(b.data);
    }
    discard(&f);
    job_destroy(j);
}
END_TEST

enum { STRINGS = 2, NODES = 9, RULES = 8, CLASSES = 10, CLASS_RULES = 11, STATS = 12, RANGES = 13, VARIANTS = 14, STREAMS = 15, SUMS = 17 };

/* Replaces all rules by a ladder of `levels`: each uses the next one `exponent` times twice; the last is a terminal. */
static void make_ladder(struct forgery *f, uint32_t levels, uint64_t exponent, int cyclic)
{
    struct bytes *rules = &f->section[RULES], *nodes = &f->section[NODES], *list = &f->section[CLASS_RULES], *stats = &f->section[STATS];
    free(rules->data), free(nodes->data), free(list->data), free(stats->data);
    *rules = (struct bytes){ calloc(levels, 8), levels * 8 };
    *nodes = (struct bytes){ calloc(levels, 32), levels * 32 };
    *list = (struct bytes){ calloc(levels, 4), levels * 4 };
    *stats = (struct bytes){ calloc(levels, 256), levels * 256 };
    for (uint32_t i = 0; i < levels; i++) {
        put(rules->data + 8 * i, 2 * i, 4);
        put(rules->data + 8 * i + 4, 2, 4);
        put(list->data + 4 * i, i, 4);
        for (int k = 0; k < 2; k++) {
            unsigned char *n = nodes->data + 32 * i + 16 * k;
            put(n, i + 1 < levels ? 0x80000000u | (i + 1) : cyclic ? 0x80000000u | 1 : (uint32_t)k, 4);
            put(n + 8, k ? exponent + 1 : exponent, 8);
        }
    }
    f->count[RULES] = f->count[CLASS_RULES] = levels;
    f->count[NODES] = f->count[STATS] = 2 * levels;
    unsigned char *c = f->section[CLASSES].data;
    put(c + 24, levels, 4);      /* rules */
    put(c + 32, 2 * levels, 4);  /* nodes */
    put(c + 52, 0, 4);           /* variants */
    put(c + 40, get(c + 44, 4), 4);
    f->section[VARIANTS].size = f->count[VARIANTS] = 0;
    f->count[RANGES] = get(c + 44, 4);
    f->section[RANGES].size = RECORD_RANGE * f->count[RANGES];
}

START_TEST(test_hostile_grammars)
{
    struct job *j = some_job(SIMULATE_RING, 4);
    struct forgery f = take_apart(j);
    make_ladder(&f, 20, 16, 0); /* 2^80 and more */
    refused_forgery(&f, "2^63");
    make_ladder(&f, 3, 0x7fffffffffffffff, 0);
    refused_forgery(&f, "");
    make_ladder(&f, 3, UINT64_MAX - 1, 0);
    refused_forgery(&f, "exponent");
    make_ladder(&f, 3, 0, 0);
    refused_forgery(&f, "exponent");
    make_ladder(&f, 5, 2, 1);
    refused_forgery(&f, "contains itself");
    make_ladder(&f, 100000, 1, 0);
    refused_forgery(&f, "");
    make_ladder(&f, 4, 1, 0); /* sane, but not what the hash says */
    refused_forgery(&f, "");
    make_ladder(&f, 4, 1, 0);
    put(f.section[CLASS_RULES].data + 4, 0, 4); /* a rule twice */
    refused_forgery(&f, "rule 1 of class 0");
    put(f.section[CLASS_RULES].data + 4, 0xffffffff, 4);
    refused_forgery(&f, "rule 1 of class 0");
    discard(&f);
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
    job_merge(copy, j);
    job_merge(copy, extra.job);
    for (uint32_t i = 0; i < j->stream_count; i++) {
        const struct job_class_entry *c = &j->classes[j->streams[i].class_index];
        int64_t value;
        for (uint32_t n = 0; n < c->grammar->node_count; n++)
            for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++)
                job_attr_value(j, c, n, channel, j->streams[i].rank, j->streams[i].thread, UINT64_MAX / 2 + n, &value);
    }
    struct bytes b = pack(copy);
    free(b.data);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        job_match_terminal(copy, j, t);
    simulate_clear(&extra);
    job_destroy(copy);
}

START_TEST(test_hostile_sums)
{
    struct job *j = some_job(SIMULATE_RING, 2);
    struct forgery f = take_apart(j);
    unsigned char *s = f.section[SUMS].data;
    ck_assert_uint_gt(f.count[SUMS], 1);
    uint64_t first = get(s, 4), samples = get(s + 8, 8);
    put(s, 0x10000, 4);
    refused_forgery(&f, "sum 0: out of range");
    put(s, get(s + 24, 4), 4);
    put(s + 4, 0xffffffff, 4);
    refused_forgery(&f, "sum 0: out of range");
    put(s + 4, get(s + 28, 4), 4);
    refused_forgery(&f, "sum 1: out of order");
    put(s, first, 4);
    put(s + 8, 0, 8);
    refused_forgery(&f, "sum 0: out of range");
    put(s + 8, samples, 8);
    f.count[SUMS]++;
    refused_forgery(&f, "half a record");
    discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_extreme_numbers)
{
    static const uint64_t extremes[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, UINT64_MAX, INT64_MAX };
    struct job *j = some_job(_i % 2 ? SIMULATE_RANDOM : SIMULATE_MASTER, 5), *back;
    struct forgery f = take_apart(j);
    char why[200];
    int step = _i / 2 ? 8 : 4;
    unsigned refusals = 0, accepted = 0;
    for (int type = 1; type <= SECTIONS; type++)
        for (size_t at = 0; at + (size_t)step <= f.section[type].size; at += (size_t)step * (f.section[type].size > 2000 ? 5 : 1)) {
            uint64_t old = get(f.section[type].data + at, step);
            put(f.section[type].data + at, extremes[(at / (size_t)step + (size_t)type) % 8], step);
            if (unpack_forgery(&f, &back, why)) {
                refusals++;
            } else {
                accepted++;
                try_everything(back);
                job_destroy(back);
            }
            put(f.section[type].data + at, old, step);
        }
    ck_assert_uint_gt(refusals, 100);
    ck_assert_uint_gt(accepted, 10); /* times, for example, may be anything */
    discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_random_forgeries)
{
    uint64_t random = (uint64_t)_i;
    struct job *j = some_job(_i % SIMULATE_SHAPES, 5), *back;
    struct forgery f = take_apart(j);
    char why[200];
    for (int turn = 0; turn < 300; turn++) {
        struct { unsigned char *at, old; } change[3];
        for (int i = 0; i < 3; i++) {
            struct bytes *s = &f.section[1 + simulate_random(&random) % SECTIONS];
            change[i].at = s->size ? s->data + simulate_random(&random) % s->size : f.section[1].data;
            change[i].old = *change[i].at;
            *change[i].at ^= (unsigned char)(1 << simulate_random(&random) % 8);
        }
        if (!unpack_forgery(&f, &back, why)) {
            try_everything(back);
            job_destroy(back);
        }
        for (int i = 2; i >= 0; i--)
            *change[i].at = change[i].old;
    }
    discard(&f);
    job_destroy(j);
}
END_TEST

/* Sections of the table itself that lie. */
START_TEST(test_hostile_tables)
{
    static const struct { int field, bytes; uint64_t value; } lies[] = {
        { 0, 4, 1 },          { 0, 4, 99 },        { 0, 4, 0 },          { 4, 4, 1 },          { 4, 4, 8 },
        { 8, 8, 0 },          { 8, 8, 1ull << 63 }, { 8, 8, UINT64_MAX - 7 }, { 16, 8, 1ull << 63 }, { 16, 8, UINT64_MAX },
        { 24, 8, 1ull << 63 }, { 24, 8, 0 },        { 24, 8, UINT64_MAX }, { 40, 8, 1ull << 63 }, { 40, 8, 0xffffffff },
    };
    struct job *j = some_job(SIMULATE_MASTER, 4);
    struct forgery f = take_apart(j);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (uint64_t section = 1; section < 15; section++) {
            struct bytes b = put_together(&f);
            put(b.data + 64 + 48 * section + lies[i].field, lies[i].value, lies[i].bytes);
            put(b.data + 24, 0, 8);
            put(b.data + 24, XXH64(b.data, 64 + 48 * 15, 0), 8);
            refused(b.data, b.size, "a lying table");
            free(b.data);
        }
    discard(&f);
    job_destroy(j);
}
END_TEST

/* A section of zeros that is 4 GB when decompressed, and one that says less than it is. */
START_TEST(test_bombs)
{
    struct job *j = some_job(SIMULATE_RING, 2), *back;
    struct forgery f = take_apart(j);
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
        struct bytes b = put_together(&f);
        unsigned char *e = b.data + 64 + 48 * (STATS - 1);
        put(e + 4, 1, 4);
        put(e + 24, claims[i], 8);
        seal(b);
        ck_assert_int_eq(unpack(b.data, b.size, &back, why), PYTHIA_EFORMAT);
        ck_assert_msg(strstr(why, "claims") != NULL, "%s", why);
        free(b.data);
    }
    discard(&f);
    job_destroy(j);
}
END_TEST

START_TEST(test_versions_and_unknown_sections)
{
    struct job *j = some_job(SIMULATE_RING, 2), *back;
    struct bytes b = pack(j);
    char why[200];
    put(b.data + 8, FORMAT_VERSION + 1, 4);
    seal(b);
    ck_assert_int_eq(unpack(b.data, b.size, &back, why), PYTHIA_EVERSION);
    ck_assert_msg(strstr(why, "format version ") != NULL, "%s", why);
    free(b.data);
    fill_oracle(j);
    b = pack(j);
    put(b.data + 64 + 48 * 15, 999, 4); /* the oracle's section becomes one that nobody knows: optional */
    seal(b);
    ck_assert_msg(unpack(b.data, b.size, &back, why) == 0, "%s", why);
    ck_assert_uint_eq(back->oracle.present, 0);
    job_destroy(back);
    put(b.data + 64 + 48 * 15 + 4, 0, 4); /* and now a required one */
    seal(b);
    ck_assert_int_eq(unpack(b.data, b.size, &back, why), PYTHIA_EVERSION);
    free(b.data);
    job_destroy(j);
}
END_TEST

/* --- Files --- */

static char directory[] = "/tmp/pythia-job-XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int entries(const char *path)
{
    char command[300];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *p = popen(command, "r");
    ck_assert_int_eq(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void remove_directory(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_files)
{
    struct job *j = some_job(SIMULATE_MASTER, 4), *back = NULL;
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_msg(job_write(j, in_directory("a.pythia"), why, sizeof why) == 0, "%s", why);
    ck_assert_msg(job_write(j, in_directory("a.pythia"), why, sizeof why) == 0, "%s", why); /* over itself */
    ck_assert_int_eq(entries(directory), 1);
    ck_assert_msg(job_read(in_directory("a.pythia"), &back, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(back->stream_count, j->stream_count);
    job_destroy(back);
    ck_assert_int_eq(chdir(directory), 0); /* a name without a directory */
    ck_assert_int_eq(job_write(j, "b.pythia", why, sizeof why), 0);
    ck_assert_int_eq(job_read("b.pythia", &back, why, sizeof why), 0);
    job_destroy(back);
    ck_assert_int_eq(job_write(j, in_directory("missing/c"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "missing/c") && strstr(why, "No such file"), "%s", why);
    ck_assert_int_eq(mkdir(in_directory("d"), 0777), 0);
    ck_assert_int_eq(job_write(j, in_directory("d"), why, sizeof why), PYTHIA_EIO); /* a directory is in the way */
    ck_assert_int_eq(job_read(in_directory("nothing"), &back, why, sizeof why), PYTHIA_EIO);
    ck_assert_int_eq(job_read(directory, &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_int_eq(job_read("/dev/zero", &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_int_eq(mkfifo(in_directory("pipe"), 0666), 0);
    ck_assert_int_eq(job_read(in_directory("pipe"), &back, why, sizeof why), PYTHIA_EFORMAT); /* and does not wait */
    ck_assert_int_eq(entries(directory), 4);
    remove_directory();
    job_destroy(j);
}
END_TEST

/* The limit must not hold for Check's own files. */
static int write_limited(const struct job *j, const char *path, char *why, size_t size)
{
    struct rlimit old, tight;
    getrlimit(RLIMIT_FSIZE, &old);
    tight = (struct rlimit){ 512, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    int error = job_write(j, path, why, size);
    setrlimit(RLIMIT_FSIZE, &old);
    return error;
}

START_TEST(test_disk_full)
{
    struct job *j = some_job(SIMULATE_MASTER, 4), *other = some_job(SIMULATE_RING, 2), *back = NULL;
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(job_write(j, in_directory("a"), why, sizeof why), 0);
    ck_assert_int_eq(write_limited(other, in_directory("a"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "can't write") != NULL, "%s", why);
    ck_assert_int_eq(write_limited(other, in_directory("b"), why, sizeof why), PYTHIA_EIO);
    ck_assert_int_eq(entries(directory), 1);
    ck_assert_int_eq(job_read(in_directory("a"), &back, why, sizeof why), 0); /* the old one */
    ck_assert_uint_eq(back->stream_count, j->stream_count);
    remove_directory();
    job_destroy(back);
    job_destroy(other);
    job_destroy(j);
}
END_TEST

/* Root may write anywhere: as somebody else. */
START_TEST(test_directory_not_writable)
{
    struct job *j = some_job(SIMULATE_RING, 2);
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(job_write(j, in_directory("a"), why, sizeof why), 0);
    ck_assert_int_eq(chmod(directory, 0555), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(job_write(j, in_directory("a"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "ermission denied") != NULL, "%s", why);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    chmod(directory, 0755);
    ck_assert_int_eq(entries(directory), 1);
    remove_directory();
    job_destroy(j);
}
END_TEST

START_TEST(test_damaged_file_is_named)
{
    char why[300] = "";
    struct job *back = NULL;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    FILE *f = fopen(in_directory("x"), "w");
    fputs("hello, world\n", f);
    fclose(f);
    ck_assert_int_eq(job_read(in_directory("x"), &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_msg(strstr(why, "/x: not a Pythia job file") != NULL, "%s", why);
    remove_directory();
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(test_equal_content_equal_number),
    UNIT_TEST(test_hashes_are_of_content),
    UNIT_TEST(test_streams),
    UNIT_TEST(test_matching_another_build),
    UNIT_LOOP(test_round_trip, 2 * SIMULATE_SHAPES),
    UNIT_TEST(test_sums),
    UNIT_TEST(test_an_empty_job),
    UNIT_TEST(test_every_truncation),
    UNIT_LOOP(test_every_flipped_bit, 4),
    UNIT_TEST(test_foreign_files),
    UNIT_TEST(test_forging_works),
    UNIT_TEST(test_hostile_sums),
    UNIT_TEST(test_hostile_grammars),
    UNIT_LOOP(test_extreme_numbers, 4),
    UNIT_LOOP(test_random_forgeries, 10),
    UNIT_TEST(test_hostile_tables),
    UNIT_TEST(test_bombs),
    UNIT_TEST(test_versions_and_unknown_sections),
    UNIT_TEST(test_files),
    UNIT_TEST(test_disk_full),
    UNIT_TEST(test_directory_not_writable),
    UNIT_TEST(test_damaged_file_is_named),
};

int main(void)
{
    return unit_run("merge/job", tests, UNIT_COUNT(tests));
}
