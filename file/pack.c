/* SPDX-License-Identifier: MIT */
/* A job as bytes (doc/FORMAT.md). Sections are built one by one, compressed where that pays, and put together. */
#include "file/pack.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "pythia.h"
#include "file/blocks.h"
#include "file/file.h"

/* Bytes of a section that are compressed: in a file nearly all; in a message only what takes longer to move than to
   compress (a GB/s against 0.2: ranks of one node copy it). */
enum { LEVEL = 3, SMALL_IN_FILE = 64, SMALL_IN_MESSAGE = 1 << 20 };

/* --- A section --- */

static void make_room(struct file_packer *p, struct file_buffer *b, size_t room)
{
    unsigned char *bigger = realloc(b->data, room);
    if (!bigger) {
        p->error = PYTHIA_ENOMEM;
        return;
    }
    b->data = bigger;
    b->room = room;
}

/* Statistics are most of a job; they need not be copied as they grow, for their number is known. */
static void reserve_stats(struct file_packer *p)
{
    size_t nodes = 0;
    for (uint32_t i = 0; i < p->job->class_count; i++)
        nodes += p->job->classes[i].grammar->node_count;
    if (nodes)
        make_room(p, &p->section[SECTION_STATS].raw, nodes * RECORD_STATS);
}

unsigned char *file_pack_grow(struct file_packer *p, enum file_section_type type, size_t size)
{
    struct file_buffer *b = &p->section[type].raw;
    if (!p->error && (!b->data || b->room - b->size < size))
        make_room(p, b, b->room * 2 > b->size + size ? b->room * 2 : b->size + size + 64);
    if (p->error)
        return NULL;
    unsigned char *at = b->data + b->size;
    memset(at, 0, size);
    b->size += size;
    return at;
}

/* --- The whole --- */

/* Optional sections are there when they have something to say. */
static int present(const struct file_packer *p, uint32_t type)
{
    return type < SECTION_ORACLE || p->section[type].count;
}

/* Sections of which a reader may want a part: records a block. */
static const struct { uint32_t record, block; } in_blocks[SECTION_TYPES] = {
    [SECTION_NODES] = { RECORD_NODE, BLOCK_NODES },
    [SECTION_STATS] = { RECORD_STATS, BLOCK_STATS },
    [SECTION_RANGES] = { RECORD_RANGE, BLOCK_RANGES },
    [SECTION_VARIANTS] = { RECORD_VARIANT, BLOCK_VARIANTS },
};

/* The rest of `packed`, which has room for the worst case, goes back. */
static void replace(struct file_packed *s, unsigned char *packed, size_t size, uint32_t flag)
{
    unsigned char *exact = realloc(packed, size);
    free(s->raw.data);
    s->raw.data = exact ? exact : packed;
    s->raw.size = size;
    s->flags = flag;
}

static void compress_blocks(struct file_packer *p, enum file_section_type type)
{
    struct file_packed *s = &p->section[type];
    unsigned char *packed;
    size_t size;
    int status = file_blocks_pack(p->zstd, s->raw.data, s->count, in_blocks[type].record, in_blocks[type].block,
                                  file_blocks_lean(type), &packed, &size);
    if (status < 0)
        p->error = status;
    else if (status == 0)
        replace(s, packed, size, ENTRY_BLOCKS);
}

/* Compresses a section where that saves an eighth. A reader refuses what grows beyond the ratio, so nothing does. */
static void compress_section(struct file_packer *p, enum file_section_type type)
{
    struct file_packed *s = &p->section[type];
    size_t bound = ZSTD_compressBound(s->raw.size);
    s->raw_size = s->raw.size;
    if (p->error || s->raw.size < (p->file ? SMALL_IN_FILE : SMALL_IN_MESSAGE))
        return;
    if (in_blocks[type].record) {
        compress_blocks(p, type);
        return;
    }
    unsigned char *packed = malloc(bound);
    if (!packed) {
        p->error = PYTHIA_ENOMEM;
        return;
    }
    size_t size = ZSTD_compressCCtx(p->zstd, packed, bound, s->raw.data, s->raw.size, LEVEL);
    if (ZSTD_isError(size) || size > s->raw.size - s->raw.size / 8 ||
        s->raw.size > size * (size_t)FORMAT_RATIO_MAX + FORMAT_RATIO_SLACK) {
        free(packed);
        return;
    }
    replace(s, packed, size, ENTRY_ZSTD);
}

static size_t aligned(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void put_entry(unsigned char *at, int type, const struct file_packed *s, size_t offset)
{
    bool optional = type >= SECTION_ORACLE && type != SECTION_TURNS && type != SECTION_COLUMNS;

    file_put32(at + ENTRY_TYPE, (uint32_t)type);
    file_put32(at + ENTRY_FLAGS, s->flags | (optional ? ENTRY_OPTIONAL : 0));
    file_put64(at + ENTRY_OFFSET, offset);
    file_put64(at + ENTRY_STORED, s->raw.size);
    file_put64(at + ENTRY_RAW, s->raw_size);
    size_t vouched = s->flags & ENTRY_BLOCKS ? (size_t)file_blocks_head(s->raw.data, s->raw.size) : s->raw.size;
    file_put64(at + ENTRY_CHECKSUM, XXH64(s->raw.data, vouched, 0));
    file_put64(at + ENTRY_COUNT, s->count);
}

static int assemble(struct file_packer *p, void **data, size_t *size)
{
    uint32_t sections = 0;
    size_t whole = 0;
    for (uint32_t type = 1; type < SECTION_TYPES; type++) {
        sections += present(p, type) ? 1 : 0;
        whole += present(p, type) ? aligned(p->section[type].raw.size) : 0;
    }
    size_t entry = FORMAT_HEADER, table = FORMAT_HEADER + (size_t)sections * FORMAT_ENTRY, offset = table;
    whole += table;
    unsigned char *bytes = calloc(1, whole);
    if (!bytes)
        return PYTHIA_ENOMEM;
    for (uint32_t type = 1; type < SECTION_TYPES; type++) {
        const struct file_packed *s = &p->section[type];
        if (!present(p, type))
            continue;
        put_entry(bytes + entry, (int)type, s, offset);
        entry += FORMAT_ENTRY;
        if (s->raw.size)
            memcpy(bytes + offset, s->raw.data, s->raw.size);
        offset += aligned(s->raw.size);
    }
    memcpy(bytes, FORMAT_MAGIC, 8);
    file_put32(bytes + HEADER_VERSION, FORMAT_VERSION);
    file_put32(bytes + HEADER_SECTIONS, sections);
    file_put64(bytes + HEADER_SIZE, whole);
    file_put64(bytes + HEADER_CHECKSUM, XXH64(bytes, table, 0)); /* computed while its own field is 0 */
    *data = bytes;
    *size = whole;
    return 0;
}

static int pack(const struct job *j, const uint8_t *known, bool file, void **data, size_t *size)
{
    struct file_packer p = { .job = j, .known = known, .file = file, .zstd = ZSTD_createCCtx() };
    if (!p.zstd)
        p.error = PYTHIA_ENOMEM;
    reserve_stats(&p);
    file_pack_parts(&p);
    for (uint32_t i = 0; i < j->class_count && !p.error; i++)
        file_pack_class(&p, i);
    for (int type = 1; type < SECTION_TYPES; type++)
        compress_section(&p, (enum file_section_type)type);
    int error = p.error ? p.error : assemble(&p, data, size);
    for (int type = 1; type < SECTION_TYPES; type++)
        free(p.section[type].raw.data);
    job_table_free(&p.store);
    ZSTD_freeCCtx(p.zstd);
    return error;
}

int file_pack(const struct job *j, const uint8_t *known, void **data, size_t *size)
{
    return pack(j, known, false, data, size);
}

int file_pack_for_file(const struct job *j, void **data, size_t *size)
{
    return pack(j, NULL, true, data, size);
}
