/* SPDX-License-Identifier: MIT */
#include "file/container.h"
#include "job/check.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

#include "pythia.h"
#include "base/io.h"

static const char *const names[SECTION_TYPES] = {
    "header",     "info",      "strings", "modules",     "frames", "callsites", "communicators", "terminals", "rules",
    "rule nodes", "classes", "class rules", "statistics", "ranges",    "variants",      "streams",   "oracle",
    "sums",       "regions", "tasks", "machine",     "times",
    "groups", "messages", "starts", "series", "extremes", "own times", "clock", "exponents", "columns",
    "run delay",  "digrams", "block extremes", "threads", "learned regions", "learned tasks",
    "hops", "places", "left out", "ends", "took", "samples", "named",
    "bindings", "hardware", "hosts", "spots",
};

/* Bytes of a record, where all are alike. */
static const uint32_t record_size[SECTION_TYPES] = {
    [SECTION_RULES] = RECORD_RULE,
    [SECTION_NODES] = RECORD_NODE,
    [SECTION_CLASSES] = RECORD_CLASS,
    [SECTION_CLASS_RULES] = RECORD_CLASS_RULE,
    [SECTION_STATS] = RECORD_STATS,
    [SECTION_RANGES] = RECORD_RANGE,
    [SECTION_VARIANTS] = RECORD_VARIANT,
    [SECTION_STREAMS] = RECORD_STREAM,
    [SECTION_TURNS] = RECORD_TURN,
    [SECTION_COLUMNS] = 1,
    [SECTION_EXTENTS] = RECORD_EXTENTS,
};

const char *file_section_name(uint32_t type)
{
    return type < SECTION_TYPES ? names[type] : "unknown";
}

struct input {
    const unsigned char *data;
    uint64_t size;
    const struct file_source *source;
    char *why;
    size_t why_size;
};

#define REFUSE(in, ...) job_refuse((in)->why, (in)->why_size, __VA_ARGS__)

/* These bytes are there from here on. 0, or PYTHIA_EIO: the file is no longer what it was. errno is kept. */
static int source_fill(const struct file_source *s, uint64_t from, uint64_t size)
{
    int saved = errno;
    if (s->fd < 0 || size == 0)
        return 0;
    int error = base_io_read_at(s->fd, s->data + from, size, (off_t)from) == (ssize_t)size ? 0 : PYTHIA_EIO;
    errno = saved;
    return error;
}

static int container_fill(const struct input *in, uint64_t from, uint64_t size)
{
    if (source_fill(in->source, from, size) == 0)
        return 0;
    REFUSE(in, "it cannot be read");
    return PYTHIA_EIO;
}

static uint64_t header_checksum(const unsigned char *data, size_t table_end)
{
    static const unsigned char zero[8];
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, data, HEADER_CHECKSUM);
    XXH64_update(&state, zero, sizeof zero);
    XXH64_update(&state, data + HEADER_CHECKSUM + 8, table_end - HEADER_CHECKSUM - 8);
    return XXH64_digest(&state);
}

static int check_header(const struct input *in, uint32_t *sections)
{
    uint64_t head = FORMAT_HEADER + FORMAT_SECTIONS_MAX * FORMAT_ENTRY;
    if (container_fill(in, 0, in->size < head ? in->size : head))
        return PYTHIA_EIO;
    if (in->size < 8 || memcmp(in->data, FORMAT_MAGIC, 8))
        return REFUSE(in, "not a Pythia job file");
    if (in->size < FORMAT_HEADER)
        return REFUSE(in, "truncated: %llu bytes are less than a header", (unsigned long long)in->size);
    uint32_t version = file_get32(in->data + HEADER_VERSION);
    if (version != FORMAT_VERSION) {
        if (version < FORMAT_VERSION)
            REFUSE(in, "recorded by an older version (format %u, this one reads %d); record again", version,
                   FORMAT_VERSION);
        else
            REFUSE(in, "format version %u needs a newer Pythia; this one reads %d", version, FORMAT_VERSION);
        return PYTHIA_EVERSION;
    }
    uint64_t size = file_get64(in->data + HEADER_SIZE);
    if (size != in->size)
        return REFUSE(in, "%s: %llu bytes where the header says %llu",
                      in->size < size ? "truncated" : "bytes follow the end", (unsigned long long)in->size,
                      (unsigned long long)size);
    *sections = file_get32(in->data + HEADER_SECTIONS);
    if (*sections > FORMAT_SECTIONS_MAX || FORMAT_HEADER + (uint64_t)*sections * FORMAT_ENTRY > in->size)
        return REFUSE(in, "damaged: %u sections", *sections);
    if (header_checksum(in->data, FORMAT_HEADER + *sections * (size_t)FORMAT_ENTRY) !=
        file_get64(in->data + HEADER_CHECKSUM))
        return REFUSE(in, "damaged: the header's checksum is wrong");
    return 0;
}

static int all_zero(const unsigned char *from, const unsigned char *to)
{
    while (from < to)
        if (*from++)
            return 0;
    return 1;
}

/* The bytes that a section's checksum is of: all, or in blocks the head. They are there from here on. */
static int verified(const struct input *in, const unsigned char *entry, uint64_t offset, uint64_t *size)
{
    uint64_t there = 0, stored = *size;
    int error = 0;
    if (file_get32(entry + ENTRY_FLAGS) & ENTRY_BLOCKS)
        do {
            *size = file_blocks_head(in->data + offset, there);
            error = *size > stored
                        ? REFUSE(in, "damaged: blocks of section %s", file_section_name(file_get32(entry + ENTRY_TYPE)))
                        : container_fill(in, offset + there, *size - there);
        } while (!error && there < *size && (there = *size) == 8);
    else
        error = container_fill(in, offset, stored);
    return error;
}

/* Communicators, messages, how time goes by, each rank's own times: many bytes, and nothing that is foretold. But what
   values name is, and how long calls take that wait for nobody. */
static bool passed_over(const struct input *in, const unsigned char *entry)
{
    uint32_t type = file_get32(entry + ENTRY_TYPE);
    return !in->source->whole && type != SECTION_STARTS && type != SECTION_EXTREMES &&
           ((type >= SECTION_GROUPS && type <= SECTION_OWN) || type >= SECTION_DIGRAMS);
}

/* Sections stand in the order of the table, each at the next multiple of 8 after the one before. */
static int check_place(const struct input *in, const unsigned char *entry, uint64_t *end)
{
    uint64_t offset = file_get64(entry + ENTRY_OFFSET), stored = file_get64(entry + ENTRY_STORED);
    const char *name = file_section_name(file_get32(entry + ENTRY_TYPE));
    if (offset != ((*end + 7) & ~(uint64_t)7) || offset > in->size || stored > in->size - offset)
        return REFUSE(in, "damaged: section %s is not where it should be", name);
    uint64_t checked = stored;
    int error = container_fill(in, *end, offset - *end);
    if (!error && !passed_over(in, entry))
        error = verified(in, entry, offset, &checked);
    if (error)
        return error;
    if (!all_zero(in->data + *end, in->data + offset))
        return REFUSE(in, "damaged: bytes between sections, before %s", name);
    if (!passed_over(in, entry) && XXH64(in->data + offset, checked, 0) != file_get64(entry + ENTRY_CHECKSUM))
        return REFUSE(in, "damaged: checksum of section %s is wrong", name);
    *end = offset + stored;
    return 0;
}

static int decompress(const struct input *in, struct file_section *s, const unsigned char *from, uint64_t stored,
                      const char *name)
{
    if (s->size > stored * FORMAT_RATIO_MAX + FORMAT_RATIO_SLACK || ZSTD_getFrameContentSize(from, stored) != s->size)
        return REFUSE(in, "damaged: section %s claims %llu bytes out of %llu", name, (unsigned long long)s->size,
                      (unsigned long long)stored);
    s->owned = malloc(s->size + 1);
    if (!s->owned) {
        REFUSE(in, "out of memory");
        return PYTHIA_ENOMEM;
    }
    if (ZSTD_decompress(s->owned, s->size, from, stored) != s->size)
        return REFUSE(in, "damaged: section %s does not decompress", name);
    s->data = s->owned;
    return 0;
}

/* Who opens a job asks for these by file_container_need, and reads all others as they stand. */
static bool may_be_in_blocks(uint32_t type)
{
    return type == SECTION_NODES || type == SECTION_STATS || type == SECTION_RANGES || type == SECTION_VARIANTS;
}

/* What the blocks hold gets its room, which costs nothing until it is filled. */
static int open_blocks(const struct input *in, struct file_section *s, const unsigned char *from, uint64_t stored,
                       uint32_t type)
{
    int error = may_be_in_blocks(type) && s->size / record_size[type] == s->count
                    ? file_blocks_open(&s->blocks, from, stored, s->count, record_size[type],
                                       file_blocks_lean(type))
                    : PYTHIA_EFORMAT;
    if (error == PYTHIA_EFORMAT)
        return REFUSE(in, "damaged: blocks of section %s", file_section_name(type));
    s->in_blocks = !error;
    s->owned = malloc(s->size + 1);
    s->ready = calloc((size_t)s->blocks.count + 1, 1);
    if (error || !s->owned || !s->ready) {
        REFUSE(in, "out of memory");
        return PYTHIA_ENOMEM;
    }
    s->data = s->owned;
    return 0;
}

static int open_section(const struct input *in, struct file_container *c, const unsigned char *entry)
{
    uint32_t type = file_get32(entry + ENTRY_TYPE), flags = file_get32(entry + ENTRY_FLAGS);
    uint64_t stored = file_get64(entry + ENTRY_STORED);
    const unsigned char *at = in->data + file_get64(entry + ENTRY_OFFSET);
    if (!type || type >= SECTION_TYPES || (flags & ~(uint32_t)(ENTRY_ZSTD | ENTRY_OPTIONAL | ENTRY_BLOCKS))) {
        if (flags & ENTRY_OPTIONAL)
            return 0;
        REFUSE(in, "section %u (flags %#x) needs a newer Pythia", type, flags);
        return PYTHIA_EVERSION;
    }
    struct file_section *s = &c->section[type];
    if (s->data)
        return REFUSE(in, "damaged: section %s stands twice", file_section_name(type));
    if (passed_over(in, entry)) {
        s->unread_at = file_get64(entry + ENTRY_OFFSET);
        s->unread = stored;
        return 0;
    }
    s->size = file_get64(entry + ENTRY_RAW);
    s->count = file_get64(entry + ENTRY_COUNT);
    if (flags & ENTRY_BLOCKS) {
        int error = flags & ENTRY_ZSTD ? REFUSE(in, "damaged: section %s is compressed twice", file_section_name(type))
                                       : open_blocks(in, s, at, stored, type);
        if (error)
            return error;
    } else if (flags & ENTRY_ZSTD) {
        int error = decompress(in, s, at, stored, file_section_name(type));
        if (error)
            return error;
    } else if (s->size != stored) {
        return REFUSE(in, "damaged: section %s has two sizes", file_section_name(type));
    } else {
        s->data = at;
    }
    if (record_size[type] && (s->size % record_size[type] || s->count != s->size / record_size[type]))
        return REFUSE(in, "damaged: section %s has half a record", file_section_name(type));
    return 0;
}

int file_container_open(struct file_container *c, const void *data, size_t size, char *why, size_t why_size)
{
    const struct file_source whole = { (unsigned char *)data, size, -1, true };
    return file_container_open_source(c, &whole, why, why_size);
}

int file_container_open_source(struct file_container *c, const struct file_source *source, char *why, size_t why_size)
{
    struct input in = { source->data, source->size, source, why, why_size };
    uint64_t size = source->size;
    uint32_t sections = 0;
    memset(c, 0, sizeof *c);
    c->source = *source;
    int error = check_header(&in, &sections);
    if (error)
        return error;
    uint64_t end = FORMAT_HEADER + (uint64_t)sections * FORMAT_ENTRY;
    for (uint32_t i = 0; i < sections && !error; i++) {
        const unsigned char *entry = in.data + FORMAT_HEADER + (size_t)i * FORMAT_ENTRY;
        error = check_place(&in, entry, &end);
        error = error ?: open_section(&in, c, entry);
    }
    if (!error && end < size)
        error = container_fill(&in, end, size - end < 8 ? size - end : 8);
    if (!error && (((end + 7) & ~(uint64_t)7) != size || !all_zero(in.data + end, in.data + size)))
        error = REFUSE(&in, "damaged: bytes after the last section");
    for (uint32_t type = 1; type < SECTION_ORACLE && !error; type++)
        if (!c->section[type].data)
            error = REFUSE(&in, "damaged: section %s is missing", file_section_name(type));
    if (error)
        file_container_close(c);
    return error;
}

void file_container_close(struct file_container *c)
{
    for (int type = 0; type < SECTION_TYPES; type++) {
        file_blocks_close(&c->section[type].blocks);
        free(c->section[type].owned);
        free(c->section[type].ready);
    }
    memset(c, 0, sizeof *c);
}

static int fill_block(const struct file_container *c, const struct file_blocks *b, uint32_t i)
{
    uint64_t from = (uint64_t)(b->frames - c->source.data) + b->at[i];
    return source_fill(&c->source, from, b->at[i + 1] - b->at[i]);
}

int file_container_need(struct file_container *c, enum file_section_type type, uint64_t first, uint64_t count)
{
    struct file_section *s = &c->section[type];
    uint64_t block = (uint64_t)s->blocks.per * s->blocks.size;

    if (!s->in_blocks || count == 0)
        return 0;
    for (uint64_t i = first / s->blocks.per; i <= (first + count - 1) / s->blocks.per; i++)
        if (!s->ready[i]) {
            if (fill_block(c, &s->blocks, (uint32_t)i) ||
                file_blocks_read(&s->blocks, (uint32_t)i, s->owned + i * block))
                return PYTHIA_EFORMAT;
            s->ready[i] = 1;
        }
    return 0;
}

int file_container_fill(const struct file_container *c)
{
    int error = 0;
    for (uint32_t type = 1; type < SECTION_TYPES && !error; type++) {
        const struct file_section *s = &c->section[type];
        if (s->in_blocks)
            error = source_fill(&c->source, (uint64_t)(s->blocks.frames - c->source.data),
                                s->blocks.at[s->blocks.count]);
        else
            error = source_fill(&c->source, s->unread_at, s->unread);
    }
    return error;
}

const unsigned char *file_container_block(struct file_container *c, enum file_section_type type, uint32_t i)
{
    struct file_blocks *b = &c->section[type].blocks;
    return fill_block(c, b, i) ? NULL : file_blocks_get(b, i);
}

int file_container_need_all(struct file_container *c, char *why, size_t why_size)
{
    for (uint32_t type = 1; type < SECTION_TYPES; type++)
        if (file_container_need(c, type, 0, c->section[type].count))
            return job_refuse(why, why_size, "damaged: checksum of section %s is wrong", file_section_name(type));
    return 0;
}
