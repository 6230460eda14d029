/* SPDX-License-Identifier: MIT */
#include "file/blocks.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "file/format.h"
#include "file/lean.h"
#include "file/table.h"
#include "pythia.h"

enum { LEVEL = 3, HEAD = 8, ENTRY = 12 };

const struct file_record *file_blocks_lean(uint32_t section)
{
    return section == SECTION_RANGES ? &file_record_range : section == SECTION_VARIANTS ? &file_record_variant : NULL;
}

/* --- Reading --- */

/* Where each frame begins. They fill the section. */
static int read_directory(struct file_blocks *b, const unsigned char *sizes, uint64_t frames_size)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t stored = file_get32(sizes + 4 * (size_t)i);
        if (stored > frames_size - at)
            return PYTHIA_EFORMAT;
        b->at[i] = at;
        at += stored;
    }
    b->at[b->count] = at;
    return at == frames_size ? 0 : PYTHIA_EFORMAT;
}

uint64_t file_blocks_head(const unsigned char *stored, uint64_t there)
{
    return there < HEAD ? HEAD : HEAD + ENTRY * (uint64_t)file_get32(stored + 4);
}

int file_blocks_open(struct file_blocks *b, const unsigned char *stored, uint64_t stored_size, uint64_t records,
                      uint32_t size, const struct file_record *lean)
{
    uint64_t per = stored_size < HEAD ? 0 : file_get32(stored), count = per ? file_get32(stored + 4) : 0;
    int error = PYTHIA_ENOMEM;

    memset(b, 0, sizeof *b);
    if (per < BLOCKS_LEAST || per > BLOCKS_MOST || (per & (per - 1)) || size % 8 || size > 8 * BLOCKS_WORDS ||
        records > UINT32_MAX || count != (records + per - 1) / per || ENTRY * count > stored_size - HEAD ||
        records * size > stored_size * FORMAT_RATIO_MAX + FORMAT_RATIO_SLACK)
        return PYTHIA_EFORMAT;
    b->lean = lean;
    b->size = size;
    b->per = (uint32_t)per;
    b->count = (uint32_t)count;
    b->records = records;
    b->sums = stored + HEAD + 4 * count;
    b->frames = stored + HEAD + ENTRY * count;
    b->at = malloc((count + 1) * sizeof *b->at);
    b->scratch = malloc(file_blocks_room((size_t)(records < per ? records : per), size, lean) + 1);
    b->context = ZSTD_createDCtx();
    if (b->at && b->scratch && b->context)
        error = read_directory(b, stored + HEAD, stored_size - HEAD - ENTRY * count);
    if (error)
        file_blocks_close(b);
    return error;
}

void file_blocks_close(struct file_blocks *b)
{
    ZSTD_freeDCtx(b->context);
    free(b->at);
    free(b->scratch);
    memset(b, 0, sizeof *b);
}

/* The bytes of block `i`, in `scratch`: how many, 0: damaged. */
static size_t decompress(struct file_blocks *b, uint32_t i)
{
    size_t stored = (size_t)(b->at[i + 1] - b->at[i]);
    size_t room = file_blocks_room(file_blocks_length(b, i), b->size, b->lean);
    const unsigned char *frame = b->frames + b->at[i];

    if (XXH64(frame, stored, 0) != file_get64(b->sums + 8 * (size_t)i))
        return 0;
    size_t raw = ZSTD_decompressDCtx(b->context, b->scratch, room, frame, stored);
    return ZSTD_isError(raw) || (!b->lean && raw != room) ? 0 : raw;
}

const unsigned char *file_blocks_get(struct file_blocks *b, uint32_t i)
{
    return !b->lean && decompress(b, i) ? b->scratch : NULL;
}

/* The columns fill the block. */
static int read_lean(const struct file_blocks *b, const unsigned char *from, const unsigned char *end, uint32_t length,
                     unsigned char *to)
{
    for (const struct job_field *f = b->lean->field; f < b->lean->field + b->lean->fields; f++)
        for (uint32_t k = 0; k < f->count && from; k++, to += f->width)
            from = file_lean_get(from, end, to, (struct file_lean_column){ b->size, f->width, length });
    return from == end ? 0 : PYTHIA_EFORMAT;
}

int file_blocks_read(struct file_blocks *b, uint32_t i, unsigned char *to)
{
    size_t raw = decompress(b, i), length = file_blocks_length(b, i), words = b->size / 8;

    if (!raw)
        return PYTHIA_EFORMAT;
    if (b->lean)
        return read_lean(b, b->scratch, b->scratch + raw, (uint32_t)length, to);
    for (size_t w = 0; w < words; w++)
        for (size_t k = 0; k < length; k++)
            memcpy(to + (k * words + w) * 8, b->scratch + (w * length + k) * 8, 8);
    return 0;
}

/* --- Columns --- */

size_t file_blocks_room(size_t length, uint32_t size, const struct file_record *lean)
{
    size_t columns = 0;

    for (uint32_t i = 0; lean && i < lean->fields; i++)
        columns += lean->field[i].count;
    return lean ? columns * (1 + length * FILE_LEAN_LONGEST) : length * size;
}

size_t file_blocks_columns(unsigned char *to, const unsigned char *records, size_t length, uint32_t size,
                           const struct file_record *lean)
{
    size_t words = size / 8, used = 0;

    for (uint32_t i = 0; lean && i < lean->fields; i++)
        for (uint32_t k = 0; k < lean->field[i].count; k++, records += lean->field[i].width)
            used += file_lean_put(to + used, records,
                                  (struct file_lean_column){ size, lean->field[i].width, (uint32_t)length });
    for (size_t k = 0; !lean && k < length; k++)
        for (size_t w = 0; w < words; w++)
            memcpy(to + (w * length + k) * 8, records + (k * words + w) * 8, 8);
    return lean ? used : length * size;
}

/* --- Writing --- */

/* One frame after the other behind the directory; the size of all, 0: it does not pay, or zstd failed. */
static size_t blocks_fill(ZSTD_CCtx *zstd, unsigned char *data, size_t room, const unsigned char *records,
                          uint64_t count, uint32_t size, uint32_t per, const struct file_record *lean,
                          unsigned char *columns)
{
    uint32_t blocks = (uint32_t)((count + per - 1) / per);
    size_t at = HEAD + ENTRY * (size_t)blocks;

    file_put32(data, per);
    file_put32(data + 4, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        size_t length = i + 1 < blocks ? per : (size_t)(count - (uint64_t)i * per);
        size_t raw = file_blocks_columns(columns, records + (size_t)i * per * size, length, size, lean);
        size_t stored = ZSTD_compressCCtx(zstd, data + at, room - at, columns, raw, LEVEL);
        if (ZSTD_isError(stored))
            return 0;
        file_put32(data + HEAD + 4 * (size_t)i, (uint32_t)stored);
        file_put64(data + HEAD + 4 * (size_t)blocks + 8 * (size_t)i, XXH64(data + at, stored, 0));
        at += stored;
    }
    return (size_t)count * size > at * FORMAT_RATIO_MAX + FORMAT_RATIO_SLACK ? 0 : at;
}

int file_blocks_pack(ZSTD_CCtx *zstd, const unsigned char *records, uint64_t count, uint32_t size, uint32_t per,
                     const struct file_record *lean, unsigned char **data, size_t *data_size)
{
    uint64_t blocks = (count + per - 1) / per;
    size_t raw = (size_t)count * size, most = file_blocks_room(per, size, lean),
           room = HEAD + (size_t)blocks * (ENTRY + ZSTD_compressBound(most));
    unsigned char *columns = malloc(most), *out = malloc(room);
    int status = PYTHIA_ENOMEM;

    if (columns && out) {
        *data_size = blocks_fill(zstd, out, room, records, count, size, per, lean, columns);
        status = *data_size == 0 || *data_size > raw - raw / 8;
    }
    if (status == 0)
        *data = out;
    else
        free(out);
    free(columns);
    return status;
}
