/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing the reader of job files and the merge of parts. The input is a job file, or two, one after the other; since
 * random bytes never have the right checksums, each is also tried with checksums and sizes made right ("sealed").
 *
 * Whatever comes: no crash, memory in proportion to the input, an end; what is accepted passes job_check, survives
 * being packed again, and merges or is refused.
 *
 *   with --enable-fuzzing (clang)   a libFuzzer target: tests/fuzz/fuzz_job -timeout=5 -rss_limit_mb=1024 CORPUS
 *   always                          tests/fuzz/replay_job FILE…: the same on each file, which is how the kept corpus is
 *   tested
 *                                   tests/fuzz/replay_job --seed DIRECTORY: writes inputs to begin with
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "file/container.h"
#include "file/file.h"
#include "file/format.h"
#include "job/job.h"
#include "job/turns.h"
#include "merge/merge.h"
#include "oracle/oracle.h"
#include "pythia.h"
#include "tests/unit/simulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- Sealing --- */

/* Of a section in blocks: the bytes that its own checksum is of. */
static uint64_t seal_blocks(unsigned char *at, uint64_t stored)
{
    uint64_t head = file_blocks_head(at, stored), blocks = (head - 8) / 12, frame = head;
    if (head > stored)
        return stored;
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t size = file_get32(at + 8 + 4 * i);
        if (size > stored - frame)
            break;
        file_put64(at + 8 + 4 * blocks + 8 * i, XXH64(at + frame, size, 0));
        frame += size;
    }
    return head;
}

static void seal_section(unsigned char *data, size_t size, unsigned char *entry)
{
    uint64_t offset = file_get64(entry + ENTRY_OFFSET), stored = file_get64(entry + ENTRY_STORED);
    if (offset > size || stored > size - offset)
        return;
    if ((file_get32(entry + ENTRY_FLAGS) & ENTRY_BLOCKS) && stored >= 8)
        stored = seal_blocks(data + offset, stored);
    file_put64(entry + ENTRY_CHECKSUM, XXH64(data + offset, stored, 0));
}

static void seal(unsigned char *data, size_t size)
{
    if (size < FORMAT_HEADER)
        return;
    memcpy(data, FORMAT_MAGIC, 8);
    file_put32(data + HEADER_VERSION, FORMAT_VERSION);
    file_put64(data + HEADER_SIZE, size);
    file_put64(data + HEADER_CHECKSUM, 0);
    uint32_t sections = file_get32(data + HEADER_SECTIONS);
    size_t table = FORMAT_HEADER + (size_t)sections * FORMAT_ENTRY;
    if (sections > FORMAT_SECTIONS_MAX || table > size)
        return;
    for (uint32_t i = 0; i < sections; i++)
        seal_section(data, size, data + FORMAT_HEADER + (size_t)i * FORMAT_ENTRY);
    file_put64(data + HEADER_CHECKSUM, XXH64(data, table, 0));
}

/* --- What is accepted must hold --- */

static void must(int good, const char *what, const char *why)
{
    if (good)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, why);
    abort();
}

static void look_around(const struct job *j)
{
    for (uint32_t i = 0; i < j->class_count && i < 8; i++) {
        const struct job_class *c = &j->classes[i];
        struct grammar_cursor at;
        int64_t value;
        int steps = 0;
        struct grammar_flat *g = c->grammar->rule_count
                                     ? job_member_grammar(c, job_range_last(c->ranges), c->ranges->thread)
                                     : NULL;
        if (!g)
            continue;
        for (int more = grammar_cursor_open(&at, g); more && steps++ < 1000; more = grammar_cursor_next(&at))
            for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++)
                (void)job_attr_value(j, c, at.node, channel, c->ranges[0].first, c->ranges[0].thread, at.nth, &value);
        grammar_cursor_close(&at);
        job_member_free(g);
    }
    (void)job_ranks_run(j, 0, j->info.ranks, false);
    (void)job_ranks_run(j, 0, j->info.ranks, true);
    (void)job_find_stream(j, 1, 0);
}

static int has_all_bodies(const struct job *j)
{
    for (uint32_t i = 0; i < j->class_count; i++)
        if (!j->classes[i].grammar->rule_count)
            return 0;
    return 1;
}

static void pack_again(const struct job *j, const char *what)
{
    char why[200] = "";
    void *data;
    size_t size;
    struct job *again = NULL;
    must(!has_all_bodies(j) || job_check(j, why, sizeof why) == 0, what, why);
    if (file_pack(j, NULL, &data, &size))
        return; /* too large for the format */
    must(file_unpack(data, size, &again, why, sizeof why) == 0, what, why);
    job_destroy(again);
    free(data);
}

/* An oracle that is asked, follows and is lost: whatever the statistics say. */
static void follow_class(const struct job *j, uint32_t i, const struct grammar_flat *g)
{
    const struct oracle_index *x = oracle_index_create(g);
    struct oracle_options how = { .learn = 1 };
    struct oracle *o = x ? oracle_create(&x, NULL, 1, &how) : NULL;
    struct oracle_answer a;
    struct oracle_remaining left;
    int64_t value;
    for (uint32_t n = 0; o && n < 80; n++) {
        int known = oracle_predict(o, 1 + 6 * n * n, &a) == 0;
        if (known) {
            if (a.node != GRAMMAR_NONE)
                (void)job_attr_value(j, &j->classes[i], a.node, GRAMMAR_PEER, j->classes[i].ranges[0].first, 0, n,
                                     &value);
        }
        known = oracle_predict(o, 1, &a) == 0 && n % 16;
        oracle_follow(o, known ? a.terminal : n % 7, 100, 100);
        oracle_remaining(o, &left);
    }
    oracle_destroy(o);
    oracle_index_destroy((struct oracle_index *)x);
}

/* As a predicted run does: opened, then class by class, all that is asked for. What is accepted whole is accepted
   here. */
static void open_one(const unsigned char *data, size_t size, int good)
{
    char why[200] = "";
    struct job *j = NULL;
    unsigned char *copy = malloc(size + 1);
    if (!copy)
        return;
    memcpy(copy, data, size);
    int error = file_open_bytes(copy, size, &j, why, sizeof why);
    must(!error || (*why && !strchr(why, '\n')), "not opened without one line", why);
    must(!error || !good || !strcmp(why + strlen(why) - 8, "left out"), "not opened", why);
    if (error) {
        free(copy);
        return;
    }
    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct job_range *r = &j->classes[i].ranges[0];
        const struct grammar_flat *g;
        error = file_open_member(j, i, job_range_last(r), r->thread, &g, why, sizeof why);
        must(!error || !good, "a class is not opened", why);
        if (error)
            continue;
        follow_class(j, i, g);
    }
    job_destroy(j);
}

/* --- The same records in blocks --- */

enum { PER = 16 };

static const uint32_t blocked[SECTION_TYPES] = {
    [SECTION_NODES] = RECORD_NODE,
    [SECTION_STATS] = RECORD_STATS,
    [SECTION_RANGES] = RECORD_RANGE,
    [SECTION_VARIANTS] = RECORD_VARIANT,
};

static size_t put_block(unsigned char *to, size_t room, const unsigned char *from, size_t count, uint32_t record,
                        const struct file_record *lean)
{
    static ZSTD_CCtx *zstd; /* thousands of times a second */
    unsigned char column[2 * PER * RECORD_VARIANT];
    if (!zstd)
        zstd = ZSTD_createCCtx();
    return ZSTD_compressCCtx(zstd, to, room, column, file_blocks_columns(column, from, count, record, lean), 1);
}

static size_t put_blocks(unsigned char *to, const unsigned char *from, uint64_t count, uint32_t type)
{
    const struct file_record *lean = file_blocks_lean(type);
    uint32_t record = blocked[type];
    uint64_t blocks = (count + PER - 1) / PER;
    size_t at = 8 + 12 * blocks;
    file_put32(to, PER);
    file_put32(to + 4, (uint32_t)blocks);
    for (uint64_t i = 0; i < blocks; i++) {
        size_t stored = put_block(to + at, ZSTD_compressBound(2 * PER * record), from + i * PER * record,
                                  i + 1 < blocks ? PER : count - i * PER, record, lean);
        file_put32(to + 8 + 4 * i, (uint32_t)stored);
        at += stored;
    }
    return at;
}

static size_t most_of(const struct file_section *s, uint32_t type)
{
    uint64_t blocks = (s->count + PER - 1) / PER;
    return s->size + 64 + (blocked[type] ? 8 + blocks * (12 + ZSTD_compressBound(2 * PER * blocked[type])) : 0);
}

/* One section and its entry; returns where the next one begins. */
static size_t put_entry(unsigned char *data, unsigned char *entry, uint32_t type, const struct file_section *s,
                        size_t at)
{
    bool in_blocks = blocked[type] && s->count;
    size_t stored = s->size;
    if (in_blocks)
        stored = put_blocks(data + at, s->data, s->count, type);
    else if (s->size)
        memcpy(data + at, s->data, s->size);
    file_put32(entry + ENTRY_TYPE, type);
    file_put32(entry + ENTRY_FLAGS, (in_blocks ? ENTRY_BLOCKS : 0) | (type >= SECTION_ORACLE ? ENTRY_OPTIONAL : 0));
    file_put64(entry + ENTRY_OFFSET, at);
    file_put64(entry + ENTRY_STORED, stored);
    file_put64(entry + ENTRY_RAW, s->size);
    file_put64(entry + ENTRY_COUNT, s->count);
    return at + (stored + 7) / 8 * 8;
}

/* What a run reads block by block, of any content. */
static void open_in_blocks(const unsigned char *data, size_t size)
{
    struct file_container c;
    char why[200];
    size_t room = FORMAT_HEADER + SECTION_TYPES * FORMAT_ENTRY, at = room;
    if (file_container_open(&c, data, size, why, sizeof why))
        return;
    int bad = file_container_need_all(&c, why, sizeof why);
    unsigned char *out;
    for (uint32_t type = 1; type < SECTION_TYPES; type++)
        room += most_of(&c.section[type], type);
    if (!bad && (out = calloc(1, room))) {
        uint32_t sections = 0;
        for (uint32_t type = 1; type < SECTION_TYPES; type++)
            if (c.section[type].data)
                at = put_entry(out, out + FORMAT_HEADER + sections++ * (size_t)FORMAT_ENTRY, type, &c.section[type],
                               at);
        /* the table is shorter than its room: what is behind moves up */
        size_t table = FORMAT_HEADER + sections * (size_t)FORMAT_ENTRY,
               gap = FORMAT_HEADER + SECTION_TYPES * FORMAT_ENTRY - table;
        memmove(out + table, out + table + gap, at - table - gap);
        for (uint32_t i = 0; i < sections; i++) {
            unsigned char *offset = out + FORMAT_HEADER + i * (size_t)FORMAT_ENTRY + ENTRY_OFFSET;
            file_put64(offset, file_get64(offset) - gap);
        }
        file_put32(out + HEADER_SECTIONS, sections);
        seal(out, at - gap);
        open_one(out, at - gap, 0);
        free(out);
    }
    file_container_close(&c);
}

static struct job *read_one(const uint8_t *data, size_t size, int sealed)
{
    struct job *j = NULL;
    char why[200] = "";
    unsigned char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, data, size);
    if (sealed)
        seal(copy, size);
    int error = file_unpack(copy, size, &j, why, sizeof why);
    must(!error || (*why && !strchr(why, '\n')), "refused without one line", why);
    open_one(copy, size, !error);
    if (sealed)
        open_in_blocks(copy, size);
    free(copy);
    if (error)
        return NULL;
    look_around(j);
    pack_again(j, "accepted");
    return j;
}

static void join(struct job *into, const struct job *from)
{
    int error = merge_job(into, from);
    if (!error) {
        pack_again(into, "merged");
        look_around(into);
    }
}

/* Where a second job may begin: the size that the first one's header tells. */
static size_t first_size(const uint8_t *data, size_t size)
{
    uint64_t told = size >= FORMAT_HEADER ? file_get64(data + HEADER_SIZE) : size;
    return told >= FORMAT_HEADER && told < size ? told : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t first = first_size(data, size);
    job_destroy(read_one(data, size, 0));
    struct job *a = read_one(data, first, 1), *b = first < size ? read_one(data + first, size - first, 1) : NULL;
    if (a && b) {
        join(a, b);
    } else if (a) { /* with itself: refused, unless it has no streams */
        struct job *own = read_one(data, first, 1);
        if (own)
            join(a, own);
        job_destroy(own);
    }
    job_destroy(a);
    job_destroy(b);
    return 0;
}

#ifdef FUZZ_REPLAY

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    if (!f || !data) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, 1 << 20, f);
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

/* --- Inputs to begin with: jobs of each shape with all their sections, not compressed, alone and in two parts --- */

#define IS_THERE(c, type) ((type) <= SECTION_STREAMS || (c).section[type].data)

static void put_section(const struct file_section *s, uint32_t type, unsigned char *data, unsigned char *entry,
                        size_t at)
{
    bool needed = type < SECTION_ORACLE || type == SECTION_TURNS || type == SECTION_COLUMNS;
    file_put32(entry + ENTRY_TYPE, type);
    file_put32(entry + ENTRY_FLAGS, needed ? 0 : ENTRY_OPTIONAL);
    file_put64(entry + ENTRY_OFFSET, at);
    file_put64(entry + ENTRY_STORED, s->size);
    file_put64(entry + ENTRY_RAW, s->size);
    file_put64(entry + ENTRY_COUNT, s->count);
    if (s->size)
        memcpy(data + at, s->data, s->size);
}

static size_t plain(const struct job *j, unsigned char *data)
{
    struct file_container c;
    char why[200];
    void *packed;
    uint32_t sections = 0;
    size_t size, at = FORMAT_HEADER;
    must(!file_pack(j, NULL, &packed, &size) && !file_container_open(&c, packed, size, why, sizeof why) &&
             !file_container_need_all(&c, why, sizeof why), "seed", "pack");
    for (uint32_t type = 1; type < SECTION_TYPES; type++)
        at += IS_THERE(c, type) ? FORMAT_ENTRY : 0;
    for (uint32_t type = 1; type < SECTION_TYPES; type++) {
        if (!IS_THERE(c, type))
            continue;
        put_section(&c.section[type], type, data, data + FORMAT_HEADER + sections++ * (size_t)FORMAT_ENTRY, at);
        at += (c.section[type].size + 7) / 8 * 8;
    }
    file_put32(data + HEADER_SECTIONS, sections);
    seal(data, at);
    file_container_close(&c);
    free(packed);
    return at;
}

static struct job *some_ranks(enum simulate_shape shape, uint32_t first, uint32_t count, uint32_t ranks)
{
    struct job *j = job_create();
    for (uint32_t i = 0; i < count; i++) {
        struct simulate_rank r;
        simulate_rank(&r, shape, first + i, ranks, 3);
        must(!merge_job(j, r.job), "seed", "merge");
        simulate_clear(&r);
    }
    return j;
}

static void write_seed(const char *directory, int shape, uint32_t first, uint32_t second, uint32_t ranks)
{
    char path[4096];
    unsigned char *data = calloc(1, 1 << 20);
    struct job *a = some_ranks((enum simulate_shape)shape, 0, first, ranks),
               *b = some_ranks((enum simulate_shape)shape, first, second, ranks);
    size_t size = plain(a, data);
    if (second)
        size += plain(b, data + size);
    snprintf(path, sizeof path, "%s/seed-%d-%u-%u-%u", directory, shape, first, second, ranks);
    FILE *f = fopen(path, "wb");
    must(f && fwrite(data, 1, size, f) == size && !fclose(f), "cannot write", path);
    job_destroy(a);
    job_destroy(b);
    free(data);
}

int main(int argc, char **argv)
{
    int bad = 0;
    if (argc == 3 && !strcmp(argv[1], "--seed")) {
        for (int shape = 0; shape < SIMULATE_SHAPES; shape++) {
            write_seed(argv[2], shape, 2, 0, 2);
            write_seed(argv[2], shape, 2, 2, 4);
            write_seed(argv[2], shape, 3, 2, 600);
        }
        return 0;
    }
    for (int i = 1; i < argc; i++)
        bad |= replay(argv[i]);
    printf("%d inputs\n", argc - 1);
    return bad;
}

#endif
