/* SPDX-License-Identifier: MIT */
/*
 * Sections in blocks: of many records only those that are wanted are decompressed.
 *
 *     u32 records a block (a power of two) | u32 blocks | u32 stored size of each | u64 checksum of each | frame |
 *     frame | ...
 *
 * Each block is one zstd frame of its records, word by word: the first u64 of every record, then the second … Times of
 * neighbours resemble each other more than the fields of one record do, so that blocks are smaller than the whole was.
 * Records of many small numbers stand field by field, as lean columns (lean.h).
 *
 * Hostile bytes: the directory is verified when it is opened (its sizes fill the section, all blocks together stay
 * within the ratio of container.h: thousands of blocks that each claim a little more would be a bomb), a frame's
 * checksum when it is decompressed; what it holds is bounded by its block and verified by whoever uses it.
 *
 * Private to file/.  Threads: owner.  Hook-safe: file_blocks_get is, but for its time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum { BLOCKS_LEAST = 16, BLOCKS_MOST = 65536, BLOCKS_WORDS = 22 /* of the longest record */ };

struct file_record;
/* The fields of the section's records, where these are lean columns; NULL: they stand word by word. */
const struct file_record *file_blocks_lean(uint32_t section);

struct file_blocks {
    const struct file_record *lean; /* the fields of a record; NULL: word by word */
    uint32_t size;              /* of a record, bytes: a multiple of 8 */
    uint32_t per, count;        /* records a block; blocks */
    uint64_t records;
    uint64_t *at;               /* of each block's frame in `frames`; one more, the end; owned */
    const unsigned char *sums, *frames;
    unsigned char *scratch;     /* a decompressed block; owned */
    void *context;              /* zstd's; owned */
};

/* Bytes before the first frame, of which only the first `there` are read: enough once they are 8. */
uint64_t file_blocks_head(const unsigned char *stored, uint64_t there);
/* 0 or a negative PYTHIA_E…; *b is then empty. Reads nothing behind the head. `records` of `size` bytes are what the
   section table says. */
int file_blocks_open(struct file_blocks *b, const unsigned char *stored, uint64_t stored_size, uint64_t records,
                      uint32_t size, const struct file_record *lean);
void file_blocks_close(struct file_blocks *b); /* of a zeroed one, too */

/* Records of block `i` < count. */
static inline uint32_t file_blocks_length(const struct file_blocks *b, uint32_t i)
{
    return i + 1 < b->count ? b->per : (uint32_t)(b->records - (uint64_t)i * b->per);
}

/* Of records that stand word by word: decompresses block `i`: word w of its record k is words[w * length + k], little
   endian. NULL: damaged. Valid until the next call. */
const unsigned char *file_blocks_get(struct file_blocks *b, uint32_t i);
/* The same as records, into to[length * size]. 0 or PYTHIA_EFORMAT. */
int file_blocks_read(struct file_blocks *b, uint32_t i, unsigned char *to);

/* Bytes that the columns of so many records take at most, and these columns: how many bytes they do. */
size_t file_blocks_room(size_t length, uint32_t size, const struct file_record *lean);
size_t file_blocks_columns(unsigned char *to, const unsigned char *records, size_t length, uint32_t size,
                           const struct file_record *lean);
/* `count` records as a section's bytes, malloc'ed. 0, PYTHIA_ENOMEM, or 1: that would save less than an eighth. */
int file_blocks_pack(ZSTD_CCtx *zstd, const unsigned char *records, uint64_t count, uint32_t size, uint32_t per,
                     const struct file_record *lean, unsigned char **data, size_t *data_size);
