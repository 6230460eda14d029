/* SPDX-License-Identifier: MIT */
#include "merge/container.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

#include "pythia.h"

static const char *const names[SECTION_TYPES] = {
    "header",     "info",      "strings", "modules",     "frames", "callsites", "communicators", "terminals", "rules",
    "rule nodes", "classes", "class rules", "statistics", "ranges",    "variants",      "streams",   "oracle",
    "sums",       "regions", "tasks", "machine",
};

/* Bytes of a record, where all are alike. */
static const uint32_t record_size[SECTION_TYPES] = {
    [SECTION_INFO] = RECORD_INFO,
    [SECTION_MODULES] = RECORD_MODULE,
    [SECTION_FRAMES] = RECORD_FRAME,
    [SECTION_CALLSITES] = RECORD_CALLSITE,
    [SECTION_COMMS] = RECORD_COMM,
    [SECTION_TERMINALS] = RECORD_TERMINAL,
    [SECTION_RULES] = RECORD_RULE,
    [SECTION_NODES] = RECORD_NODE,
    [SECTION_CLASSES] = RECORD_CLASS,
    [SECTION_CLASS_RULES] = RECORD_CLASS_RULE,
    [SECTION_STATS] = RECORD_STATS,
    [SECTION_RANGES] = RECORD_RANGE,
    [SECTION_VARIANTS] = RECORD_VARIANT,
    [SECTION_STREAMS] = RECORD_STREAM,
    [SECTION_SUMS] = RECORD_SUM,
    [SECTION_REGIONS] = RECORD_REGION,
    [SECTION_TASKS] = RECORD_TASK,
    [SECTION_MACHINE] = RECORD_MACHINE,
};

const char *merge_section_name(uint32_t type)
{
    return type < SECTION_TYPES ? names[type] : "unknown";
}

int merge_refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return PYTHIA_EFORMAT;
}

struct input {
    const unsigned char *data;
    uint64_t size;
    char *why;
    size_t why_size;
};

#define REFUSE(in, ...) merge_refuse((in)->why, (in)->why_size, __VA_ARGS__)

static uint64_t header_checksum(const unsigned char *data, size_t table_end)
{
    static const unsigned char zero[8];
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return 0;
    XXH64_reset(state, 0);
    XXH64_update(state, data, HEADER_CHECKSUM);
    XXH64_update(state, zero, sizeof zero);
    XXH64_update(state, data + HEADER_CHECKSUM + 8, table_end - HEADER_CHECKSUM - 8);
    uint64_t checksum = XXH64_digest(state);
    XXH64_freeState(state);
    return checksum;
}

static int check_header(const struct input *in, uint32_t *sections)
{
    if (in->size < 8 || memcmp(in->data, FORMAT_MAGIC, 8))
        return REFUSE(in, "not a Pythia job file");
    if (in->size < FORMAT_HEADER)
        return REFUSE(in, "truncated: %llu bytes are less than a header", (unsigned long long)in->size);
    uint32_t version = format_get32(in->data + HEADER_VERSION);
    if (version != FORMAT_VERSION) {
        REFUSE(in, "format version %u; this Pythia reads version %d", version, FORMAT_VERSION);
        return PYTHIA_EVERSION;
    }
    uint64_t size = format_get64(in->data + HEADER_SIZE);
    if (size != in->size)
        return REFUSE(in, "%s: %llu bytes where the header says %llu", in->size < size ? "truncated" : "bytes follow the end",
                      (unsigned long long)in->size, (unsigned long long)size);
    *sections = format_get32(in->data + HEADER_SECTIONS);
    if (*sections > FORMAT_SECTIONS_MAX || FORMAT_HEADER + (uint64_t)*sections * FORMAT_ENTRY > in->size)
        return REFUSE(in, "damaged: %u sections", *sections);
    if (header_checksum(in->data, FORMAT_HEADER + *sections * (size_t)FORMAT_ENTRY) !=
        format_get64(in->data + HEADER_CHECKSUM))
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

/* Sections stand in the order of the table, each at the next multiple of 8 after the one before. */
static int check_place(const struct input *in, const unsigned char *entry, uint64_t *end)
{
    uint64_t offset = format_get64(entry + ENTRY_OFFSET), stored = format_get64(entry + ENTRY_STORED);
    const char *name = merge_section_name(format_get32(entry + ENTRY_TYPE));
    if (offset != ((*end + 7) & ~(uint64_t)7) || offset > in->size || stored > in->size - offset)
        return REFUSE(in, "damaged: section %s is not where it should be", name);
    if (!all_zero(in->data + *end, in->data + offset))
        return REFUSE(in, "damaged: bytes between sections, before %s", name);
    if (XXH64(in->data + offset, stored, 0) != format_get64(entry + ENTRY_CHECKSUM))
        return REFUSE(in, "damaged: checksum of section %s is wrong", name);
    *end = offset + stored;
    return 0;
}

static int decompress(const struct input *in, struct merge_section *s, const unsigned char *from, uint64_t stored,
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

static int open_section(const struct input *in, struct merge_container *c, const unsigned char *entry)
{
    uint32_t type = format_get32(entry + ENTRY_TYPE), flags = format_get32(entry + ENTRY_FLAGS);
    uint64_t stored = format_get64(entry + ENTRY_STORED);
    const unsigned char *at = in->data + format_get64(entry + ENTRY_OFFSET);
    if (!type || type >= SECTION_TYPES || (flags & ~(uint32_t)(ENTRY_ZSTD | ENTRY_OPTIONAL))) {
        if (flags & ENTRY_OPTIONAL)
            return 0;
        REFUSE(in, "section %u (flags %#x) needs a newer Pythia", type, flags);
        return PYTHIA_EVERSION;
    }
    struct merge_section *s = &c->section[type];
    if (s->data)
        return REFUSE(in, "damaged: section %s stands twice", merge_section_name(type));
    s->size = format_get64(entry + ENTRY_RAW);
    s->count = format_get64(entry + ENTRY_COUNT);
    if (flags & ENTRY_ZSTD) {
        int error = decompress(in, s, at, stored, merge_section_name(type));
        if (error)
            return error;
    } else if (s->size != stored) {
        return REFUSE(in, "damaged: section %s has two sizes", merge_section_name(type));
    } else {
        s->data = at;
    }
    if (record_size[type] && (s->size % record_size[type] || s->count != s->size / record_size[type]))
        return REFUSE(in, "damaged: section %s has half a record", merge_section_name(type));
    return 0;
}

int merge_container_open(struct merge_container *c, const void *data, size_t size, char *why, size_t why_size)
{
    struct input in = { data, size, why, why_size };
    uint32_t sections = 0;
    memset(c, 0, sizeof *c);
    int error = check_header(&in, &sections);
    if (error)
        return error;
    uint64_t end = FORMAT_HEADER + (uint64_t)sections * FORMAT_ENTRY;
    for (uint32_t i = 0; i < sections && !error; i++) {
        const unsigned char *entry = in.data + FORMAT_HEADER + (size_t)i * FORMAT_ENTRY;
        error = check_place(&in, entry, &end);
        if (!error)
            error = open_section(&in, c, entry);
    }
    if (!error && (((end + 7) & ~(uint64_t)7) != size || !all_zero(in.data + end, in.data + size)))
        error = REFUSE(&in, "damaged: bytes after the last section");
    for (uint32_t type = 1; type < SECTION_ORACLE && !error; type++)
        if (!c->section[type].data)
            error = REFUSE(&in, "damaged: section %s is missing", merge_section_name(type));
    if (error)
        merge_container_close(c);
    return error;
}

void merge_container_close(struct merge_container *c)
{
    for (int type = 0; type < SECTION_TYPES; type++)
        free(c->section[type].owned);
    memset(c, 0, sizeof *c);
}
