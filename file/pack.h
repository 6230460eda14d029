/* SPDX-License-Identifier: MIT */
/*
 * Writing a packed job: sections as they are built, one record after the other.
 *
 *   pack_parts.c   definitions, streams, and what is optional
 *   pack_class.c   rules of all classes in one store; statistics, ranges, variants
 *   pack.c         sections grow, are compressed and put together
 *
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_FILE_PACK_H
#define PYTHIA_FILE_PACK_H

#include <stdbool.h>

#include "file/format.h"
#include "job/intern.h"

struct merge_buffer {
    unsigned char *data;
    size_t size, room;
};

struct merge_packed {
    struct merge_buffer raw;
    uint64_t count;
    uint64_t raw_size; /* before it was compressed */
    uint32_t flags;    /* ENTRY_ZSTD or ENTRY_BLOCKS, where it is */
};

struct merge_packer {
    const struct job *job;
    const uint8_t *known;     /* of classes: the bodies that are left out; may be NULL */
    bool file;                /* not a message: times of blocks of ranks are rounded */
    bool timeless;            /* statistics of a strange file, of which no times can be told */
    struct merge_packed section[SECTION_TYPES];
    struct merge_table store; /* hash of a rule -> its place among SECTION_RULES */
    int error;                /* the first one; nothing is added after it */
};

/* `size` more bytes at the end of a section, zeroed; NULL (and the packer's error) when out of memory. Valid until the
   section's next. */
unsigned char *merge_pack_grow(struct merge_packer *p, enum format_section type, size_t size);

/* The next record of a section. */
static inline unsigned char *merge_pack_record(struct merge_packer *p, enum format_section type, size_t size)
{
    unsigned char *at = merge_pack_grow(p, type, size);
    if (at)
        p->section[type].count++;
    return at;
}

static inline void merge_put_double(unsigned char *at, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    format_put64(at, bits);
}

static inline void merge_put32s(unsigned char *at, const uint32_t *v, int n)
{
    for (int i = 0; i < n; i++)
        format_put32(at + 4 * i, v[i]);
}

void merge_pack_definitions(struct merge_packer *p);            /* strings to terminals */
void merge_pack_class(struct merge_packer *p, uint32_t number); /* classes in order */
void merge_pack_others(struct merge_packer *p);                 /* streams and all that is optional */

#endif
