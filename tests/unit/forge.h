/* SPDX-License-Identifier: MIT */
/*
 * Forged job files: a job is taken apart into its sections (doc/FORMAT.md), these are changed at will, and put together
 * with checksums that are right. What is refused then is refused for what it says.
 *
 *     struct forgery f = forge_take_apart(j);
 *     forge_put(f.section[SUMS].data, 0xffffffff, 4);
 *     forge_refused(&f, "sum 0");
 *     forge_discard(&f);
 */
#pragma once

#include <stdint.h>

#include "file/format.h"
#include "tests/unit/bytes.h"

enum { SECTIONS = SECTION_TYPES - 1 };
enum { STRINGS = 2, RULES = 8, NODES, CLASSES, CLASS_RULES, STATS, RANGES, VARIANTS, STREAMS, SUMS = 17,
       COLUMNS = SECTION_COLUMNS };

struct forgery {
    struct bytes section[SECTIONS + 1]; /* of each type, from 1; owned: from malloc. No data: not in the file */
    uint64_t count[SECTIONS + 1];       /* records, as the table of sections says */
    uint64_t raw[SECTIONS + 1];         /* size in blocks decompressed; 0: not in blocks */
};

/* Numbers of 1 to 8 bytes, little endian. */
uint64_t forge_get(const unsigned char *at, int bytes);
void forge_put(unsigned char *at, uint64_t v, int bytes);

/* Without the times: they are of sections in blocks. */
struct forgery forge_take_apart(const struct job *j);
struct bytes forge_put_together(const struct forgery *f); /* the caller frees the data */
void forge_discard(struct forgery *f);

/* Zeros behind a section that is shorter than its records of so many bytes. */
void forge_pad(struct forgery *f, int type, uint32_t record);
/* Stores a section in blocks of `per` records of so many bytes, whether that saves space or not. */
void forge_in_blocks(struct forgery *f, int type, uint32_t record, uint32_t per);

/* Makes all checksums of a file right. */
void forge_seal(struct bytes b);

/* As bytes_unpack, of what is put together. */
int forge_unpack(const struct forgery *f, struct job **j, char why[200]);

/* It must be refused as damaged, for a reason that contains `expected`. */
void forge_refused(const struct forgery *f, const char *expected);
