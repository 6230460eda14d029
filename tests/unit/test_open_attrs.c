/* SPDX-License-Identifier: MIT */
/* Attributes of an opened job are read node by node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "grammar/grammar.h"
#include "merge/merge.h"
#include "tests/unit/opened.h"
#include "tests/unit/unit.h"

enum { MANY = 60, NODES = 700 };

/* One class whose ranks have peers without a rule, some of them the same: many sets, some of which are used
   again. */
static struct job *peers_of_rank(uint32_t rank)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(64 << 20);
    struct job_stream s = { .rank = rank };
    char name[16];
    j->info.ranks = MANY;
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "call %u", i);
        struct job_terminal t = { .kind = JOB_CALL, .function = job_string(j, name), .callsite = GRAMMAR_NONE,
                                  .comm = job_comm(j, "world", MANY) };
        struct grammar_event e = { .terminal = job_terminal(j, &t),
                                   .gap = 10,
                                   .channels = (i % 5 ? 1u << GRAMMAR_PEER : 0) | (i % 3 ? 1u << GRAMMAR_INDEX : 0),
                                   .value = { [GRAMMAR_PEER] = i % 4 ? rank * rank * (i % 7 + 1) % MANY
                                                                     : (rank + i) % MANY,
                                              [GRAMMAR_INDEX] = rank % (i % 11 + 1) } };
        s.wall_ns += e.gap;
        grammar_append(g, &e);
    }
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_freeze(g)), 0);
    grammar_destroy(g);
    return j;
}

static void write_peers(void)
{
    struct job *j = job_create();
    for (uint32_t r = 0; r < MANY; r++) {
        struct job *one = peers_of_rank(r);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_uint_gt(j->classes[0].variant_count, 4 * NODES);
    opened_write_job(j);
}

/* Whether the opened job says the same of a node, or (where that is not `must`) nothing. */
static bool same_node(const struct job *whole, const struct job *opened, uint32_t node, bool must)
{
    struct job_class c, d;
    ck_assert(file_class_at(whole, 0, node, &c) && file_class_at(opened, 0, node, &d));
    const struct grammar_flat_node *n = &c.grammar->nodes[node], *m = &d.grammar->nodes[node];
    if (!must && !m->attr_count)
        return n->attr_count == 0;
    ck_assert_uint_eq(n->attr_count, m->attr_count);
    for (uint32_t k = 0; k < n->attr_count; k++)
        ck_assert(!memcmp(&c.grammar->attrs[n->attr + k], &d.grammar->attrs[m->attr + k], sizeof(struct grammar_attr)));
    for (uint32_t rank = 0; rank < MANY + 2; rank++)
        for (enum grammar_channel k = 0; k < GRAMMAR_CHANNELS; k++) {
            int64_t v = 0, w = 0;
            ck_assert_int_eq(job_attr_value(whole, &c, node, k, rank, 0, JOB_SOMEWHERE, &v),
                             job_attr_value(opened, &d, node, k, rank, 0, JOB_SOMEWHERE, &w));
            ck_assert_int_eq(v, w);
            const struct job_variant *a = job_variant_most(&c, node, k), *b = job_variant_most(&d, node, k);
            ck_assert(!a == !b && (!a || (a->sample_rank == b->sample_rank && a->range_count == b->range_count)));
        }
    return true;
}

START_TEST(attributes_of_any_node_first)
{
    char why[256];
    struct job_class c;
    write_peers();
    struct job *whole = opened_whole(), *opened = opened_file();
    ck_assert(!file_class_at(opened, 0, 0, &c));
    ck_assert_int_eq(file_open_class(opened, 0, why, sizeof why), 0);
    for (uint32_t i = 0; i < NODES; i++)
        same_node(whole, opened, i * 271 % NODES, true);
    for (uint32_t i = 0; i < NODES; i++)
        same_node(whole, opened, i, true);
    job_destroy(whole);
    job_destroy(opened);
    unlink(opened_path);
}
END_TEST

static unsigned char *bytes_of_file(size_t *size)
{
    struct job *j = opened_file();
    const unsigned char *bytes = file_bytes(j, size);
    unsigned char *own = malloc(*size);
    memcpy(own, bytes, *size);
    job_destroy(j);
    return own;
}

/* A damaged block of variants or of ranges: its nodes have no attributes, the others have theirs. */
START_TEST(attributes_beside_damage)
{
    size_t size;
    char why[256];
    write_peers();
    struct job *whole = opened_whole(), *opened = NULL;
    unsigned char *own = bytes_of_file(&size);
    own[opened_block(own, size, SECTION_VARIANTS) + 7] ^= 1;
    ck_assert_int_eq(file_open_bytes(own, size, &opened, why, sizeof why), 0);
    ck_assert_int_eq(file_open_class(opened, 0, why, sizeof why), 0);
    uint32_t good = 0;
    for (uint32_t i = 0; i < NODES; i++)
        good += same_node(whole, opened, i * 271 % NODES, false);
    ck_assert_msg(good > NODES / 2 && good < NODES, "%u", good);
    job_destroy(whole);
    job_destroy(opened);
    unlink(opened_path);
}
END_TEST

/* What one node needs, whatever there is beside it. */
START_TEST(attributes_of_one_node_are_little)
{
    struct stat st;
    char why[256];
    struct job_class c;
    write_peers();
    ck_assert_int_eq(stat(opened_path, &st), 0);
    struct job *whole = opened_whole(), *opened = opened_file();
    ck_assert_int_eq(file_open_class(opened, 0, why, sizeof why), 0);
    uint64_t before = opened_bytes_read();
    ck_assert(file_class_at(opened, 0, NODES / 2, &c));
    uint64_t taken = opened_bytes_read() - before, blocks = whole->classes[0].variant_count / 256;
    ck_assert_msg((double)taken < 0.6 * (double)st.st_size && blocks > 12, "%llu of %lld bytes, %llu blocks",
                  (unsigned long long)taken, (long long)st.st_size, (unsigned long long)blocks);
    job_destroy(whole);
    job_destroy(opened);
    unlink(opened_path);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(attributes_of_any_node_first),
        UNIT_TEST(attributes_beside_damage),
        UNIT_TEST(attributes_of_one_node_are_little),
    };
    return unit_run("file/open_attrs", tests, UNIT_COUNT(tests));
}
