/* SPDX-License-Identifier: MIT */
#include "tests/unit/forge.h"

#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "file/container.h"
#include "file/format.h"
#include "pythia.h"

uint64_t forge_get(const unsigned char *at, int bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | at[bytes];
    return v;
}

void forge_put(unsigned char *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

struct forgery forge_take_apart(const struct job *j)
{
    struct bytes b = bytes_pack(j);
    struct forgery f = { 0 };
    struct file_container c;
    char why[200];
    ck_assert_msg(file_container_open(&c, b.data, b.size, why, sizeof why) == 0 &&
                  file_container_need_all(&c, why, sizeof why) == 0, "%s", why);
    for (int type = 1; type <= SECTIONS; type++) {
        const struct file_section *s = &c.section[type];
        if (!s->data)
            continue;
        f.count[type] = s->count;
        f.section[type] = (struct bytes){ malloc(s->size + 1), s->size };
        memcpy(f.section[type].data, s->data, s->size);
    }
    file_container_close(&c);
    free(b.data);
    return f;
}

/* Makes the checksums of the blocks right; the bytes that the section's own is of. */
static uint64_t seal_blocks(unsigned char *at)
{
    uint64_t n = forge_get(at + 4, 4), frame = 8 + 12 * n;
    for (uint64_t i = 0; i < n; frame += forge_get(at + 8 + 4 * i, 4), i++)
        forge_put(at + 8 + 4 * n + 8 * i, XXH64(at + frame, forge_get(at + 8 + 4 * i, 4), 0), 8);
    return 8 + 12 * n;
}

void forge_seal(struct bytes b)
{
    uint64_t sections = forge_get(b.data + 12, 4);
    for (uint64_t i = 0; i < sections; i++) {
        unsigned char *e = b.data + 64 + 48 * i, *at = b.data + forge_get(e + 8, 8);
        forge_put(e + 32, XXH64(at, forge_get(e + 4, 4) & ENTRY_BLOCKS ? seal_blocks(at) : forge_get(e + 16, 8), 0), 8);
    }
    forge_put(b.data + 24, 0, 8);
    forge_put(b.data + 24, XXH64(b.data, 64 + 48 * sections, 0), 8);
}

struct bytes forge_put_together(const struct forgery *f)
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
    forge_put(b.data + 8, FORMAT_VERSION, 4);
    forge_put(b.data + 12, sections, 4);
    forge_put(b.data + 16, size, 8);
    for (int type = 1; type <= SECTIONS; type++) {
        const struct bytes *s = &f->section[type];
        if (!s->data)
            continue;
        forge_put(e, (uint64_t)type, 4);
        forge_put(e + 8, at, 8);
        forge_put(e + 4, f->raw[type] ? ENTRY_BLOCKS : 0, 4);
        forge_put(e + 16, s->size, 8);
        forge_put(e + 24, f->raw[type] ? f->raw[type] : s->size, 8);
        forge_put(e + 40, f->count[type], 8);
        memcpy(b.data + at, s->data, s->size);
        at += (s->size + 7) / 8 * 8;
        e += 48;
    }
    forge_seal(b);
    return b;
}

static size_t put_block(unsigned char *to, size_t room, const unsigned char *records, size_t count, uint32_t record,
                        int type)
{
    const struct file_record *lean = file_blocks_lean((uint32_t)type);
    unsigned char *columns = malloc(file_blocks_room(count, record, lean) + 1);
    size_t stored = ZSTD_compress(to, room, columns, file_blocks_columns(columns, records, count, record, lean), 1);
    free(columns);
    ck_assert(!ZSTD_isError(stored));
    return stored;
}

void forge_pad(struct forgery *f, int type, uint32_t record)
{
    struct bytes *s = &f->section[type];
    size_t size = (size_t)f->count[type] * record;
    if (s->size >= size)
        return;
    unsigned char *larger = calloc(1, size);
    memcpy(larger, s->data, s->size);
    free(s->data);
    *s = (struct bytes){ larger, size };
}

void forge_in_blocks(struct forgery *f, int type, uint32_t record, uint32_t per)
{
    struct bytes *s = &f->section[type];
    uint64_t count = f->count[type], blocks = (count + per - 1) / per;
    size_t most = ZSTD_compressBound(file_blocks_room(per, record, file_blocks_lean((uint32_t)type))),
           at = 8 + 12 * blocks;
    unsigned char *out = calloc(1, at + blocks * most + 1);
    forge_put(out, per, 4);
    forge_put(out + 4, blocks, 4);
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t here = i + 1 < blocks ? per : count - i * per;
        size_t stored = put_block(out + at, most, s->data + i * per * record, here, record, type);
        forge_put(out + 8 + 4 * i, stored, 4);
        at += stored;
    }
    f->raw[type] = s->size;
    free(s->data);
    *s = (struct bytes){ out, at };
}

void forge_discard(struct forgery *f)
{
    for (int type = 0; type <= SECTIONS; type++)
        free(f->section[type].data);
}

int forge_unpack(const struct forgery *f, struct job **j, char why[200])
{
    struct bytes b = forge_put_together(f);
    int error = bytes_unpack(b.data, b.size, j, why);
    free(b.data);
    return error;
}

void forge_refused(const struct forgery *f, const char *expected)
{
    struct job *j;
    char why[200];
    int error = forge_unpack(f, &j, why);
    ck_assert_msg(error == PYTHIA_EFORMAT && strstr(why, expected), "expected '%s': %d '%s'", expected, error, why);
}
