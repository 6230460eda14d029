/* SPDX-License-Identifier: MIT */
/* Attributes of a class that is opened are those of a job that is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void same_node(const struct job *whole, const struct job *opened, uint32_t node)
{
    const struct job_class *c = &whole->classes[0], *d = &opened->classes[0];
    const struct grammar_flat_node *n = &c->grammar->nodes[node], *m = &d->grammar->nodes[node];
    ck_assert_uint_eq(n->attr_count, m->attr_count);
    for (uint32_t k = 0; k < n->attr_count; k++)
        ck_assert(!memcmp(&c->grammar->attrs[n->attr + k], &d->grammar->attrs[m->attr + k],
                          sizeof(struct grammar_attr)));
    for (uint32_t rank = 0; rank < MANY + 2; rank++)
        for (enum grammar_channel k = 0; k < GRAMMAR_CHANNELS; k++) {
            int64_t v = 0, w = 0;
            ck_assert_int_eq(job_attr_value(whole, c, node, k, rank, 0, JOB_SOMEWHERE, &v),
                             job_attr_value(opened, d, node, k, rank, 0, JOB_SOMEWHERE, &w));
            ck_assert_int_eq(v, w);
            const struct job_variant *a = job_variant_most(c, node, k), *b = job_variant_most(d, node, k);
            ck_assert(!a == !b && (!a || (a->sample_rank == b->sample_rank && a->range_count == b->range_count)));
        }
}

START_TEST(attributes_of_a_class)
{
    char why[256];
    write_peers();
    struct job *whole = opened_whole(), *opened = opened_file();
    ck_assert_uint_eq(opened->classes[0].variant_count, 0);
    ck_assert_int_eq(file_open_class(opened, 0, why, sizeof why), 0);
    for (uint32_t i = 0; i < NODES; i++)
        same_node(whole, opened, i);
    job_destroy(whole);
    job_destroy(opened);
    unlink(opened_path);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(attributes_of_a_class),
    };
    return unit_run("file/open_attrs", tests, UNIT_COUNT(tests));
}
