/* SPDX-License-Identifier: MIT */
#include "file/file.h"
#include "tests/unit/opened.h"

#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grammar/grammar.h"
#include "merge/merge.h"

char opened_path[] = "/tmp/pythia-open-XXXXXX";
static uint64_t state;

uint32_t opened_below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

/* --- A job whose ranks complete what they wait for in an order of their own: many rules, each in few places --- */

static void append(struct grammar *g, struct job_stream *s, uint32_t terminal, uint32_t rank)
{
    struct grammar_event e = {
        .terminal = terminal,
        .gap = opened_below(3000),
        .duration = opened_below(900),
        .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES,
        .value = { [GRAMMAR_PEER] = (rank + terminal) % OPENED_RANKS, [GRAMMAR_BYTES] = opened_below(3) }
    };
    s->wall_ns += e.gap + e.duration;
    grammar_append(g, &e);
}

static struct job *rank_job(uint32_t rank)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(64 << 20);
    struct job_stream s = { .rank = rank };
    uint32_t order[OPENED_CALLS];
    char name[16];
    j->info.ranks = OPENED_RANKS;
    state = rank / 2; /* two ranks do the same: one class */
    for (uint32_t i = 0; i < OPENED_CALLS; i++) {
        snprintf(name, sizeof name, "call %u", i);
        order[i] = job_terminal(j, &(struct job_terminal){ .kind = JOB_CALL,
                                                           .function = job_string(j, name),
                                                           .callsite = GRAMMAR_NONE,
                                                           .comm = job_comm(j, "world", OPENED_RANKS) });
    }
    for (uint32_t n = 0; n < OPENED_EVENTS; n += OPENED_CALLS)
        for (uint32_t i = 0; i < OPENED_CALLS; i++) {
            uint32_t k = i + opened_below(OPENED_CALLS - i), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
            append(g, &s, order[i], rank);
        }
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_freeze(g)), 0);
    grammar_destroy(g);
    return j;
}

void opened_write_job(struct job *j)
{
    char why[256] = "";
    strcpy(opened_path + strlen(opened_path) - 6, "XXXXXX");
    int fd = mkstemp(opened_path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_msg(file_write(j, opened_path, why, sizeof why) == 0, "%s", why);
    job_destroy(j);
}

void opened_write(void)
{
    struct job *j = job_create();
    for (uint32_t r = 0; r < OPENED_RANKS; r++) {
        struct job *one = rank_job(r);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    opened_write_job(j);
}

struct job *opened_file(void)
{
    struct job *j = NULL;
    char why[256] = "";
    ck_assert_msg(file_open(opened_path, &j, why, sizeof why) == 0, "%s", why);
    return j;
}

struct job *opened_whole(void)
{
    struct job *j = NULL;
    char why[256] = "";
    ck_assert_msg(file_read(opened_path, &j, why, sizeof why) == 0, "%s", why);
    return j;
}

struct opened opened_follow(struct job *j, uint32_t rank, size_t learn)
{
    struct opened f = { .job = j, .class_index = job_stream_class(j, rank, 0) };
    struct oracle_options how = { .learn = learn };
    char why[256] = "";
    ck_assert_uint_ne(f.class_index, GRAMMAR_NONE);
    ck_assert_msg(file_open_class(j, f.class_index, why, sizeof why) == 0, "%s", why);
    ck_assert_int_eq(file_open_class(j, f.class_index, why, sizeof why), 0); /* twice is once */
    f.index = oracle_index_create(j->classes[f.class_index].grammar);
    f.oracle = oracle_create(&f.index, NULL, 1, &how);
    ck_assert_ptr_nonnull(f.oracle);
    return f;
}

void opened_end(struct opened *f)
{
    oracle_destroy(f->oracle);
    oracle_index_destroy((struct oracle_index *)f->index);
    job_destroy(f->job);
}

uint32_t *opened_events(const struct job *j, uint32_t rank, uint32_t wrong, uint32_t *count)
{
    struct grammar_cursor c;
    uint32_t *list = calloc(OPENED_EVENTS + OPENED_CALLS, sizeof *list);
    *count = 0;
    state = 99;
    for (int more = grammar_cursor_open(&c, j->classes[job_stream_class(j, rank, 0)].grammar);
         more && *count < OPENED_ASKED; more = grammar_cursor_next(&c)) {
        if (opened_below(100) >= wrong)
            list[(*count)++] = c.terminal;
        else if (opened_below(2))
            list[(*count)++] = opened_below(OPENED_CALLS + 3);
    }
    grammar_cursor_close(&c);
    return list;
}

uint32_t opened_right(struct opened *f, const uint32_t *list, uint32_t count)
{
    struct oracle_answer a;
    uint32_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (oracle_predict(f->oracle, 1, &a) == 0) {
            hits += a.terminal == list[i];
            ck_assert(a.until >= 0 && a.duration >= 0);
        }
        oracle_follow(f->oracle, list[i], 1000, 100);
    }
    return hits;
}

uint64_t opened_bytes_read(void)
{
    char line[64];
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    ck_assert_int_eq(sscanf(line, "rchar: %llu", &n), 1);
    fclose(f);
    return n;
}

size_t opened_block(const unsigned char *data, size_t size, enum file_section_type type)
{
    struct file_container c;
    char why[200] = "";
    ck_assert_msg(file_container_open(&c, data, size, why, sizeof why) == 0, "%s", why);
    struct file_section s = c.section[type];
    ck_assert(s.in_blocks && s.blocks.count > 3);
    size_t at = (size_t)(s.blocks.frames - data) + s.blocks.at[2];
    file_container_close(&c);
    return at;
}
