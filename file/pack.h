/* SPDX-License-Identifier: MIT */
/*
 * Writing a packed job: sections as they are built, one record after the other.
 *
 *   pack_parts.c   strings, streams, and tables (table.h)
 *   pack_class.c   rules of all classes in one store; statistics, ranges, variants
 *   pack.c         sections grow, are compressed and put together
 *
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <zstd.h>

#include "file/format.h"
#include "job/intern.h"

struct file_buffer {
    unsigned char *data;
    size_t size, room;
};

struct file_packed {
    struct file_buffer raw;
    uint64_t count;
    uint64_t raw_size; /* before it was compressed */
    uint32_t flags;    /* ENTRY_ZSTD or ENTRY_BLOCKS, where it is */
};

struct file_packer {
    const struct job *job;
    const uint8_t *known;     /* of classes: the bodies that are left out; may be NULL */
    bool file;                /* not a message: some times are rounded */
    struct file_packed section[SECTION_TYPES];
    struct job_table store; /* hash of a rule -> its place among SECTION_RULES */
    ZSTD_CCtx *zstd;        /* one for all sections: its tables are a hundred pages */
    int error;                /* the first one; nothing is added after it */
};

/* `size` more bytes at the end of a section, zeroed; NULL (and the packer's error) when out of memory. Valid until the
   section's next. */
unsigned char *file_pack_grow(struct file_packer *p, enum file_section_type type, size_t size);

/* The next record of a section. */
static inline unsigned char *file_pack_record(struct file_packer *p, enum file_section_type type, size_t size)
{
    unsigned char *at = file_pack_grow(p, type, size);
    if (at)
        p->section[type].count++;
    return at;
}

static inline void file_put32s(unsigned char *at, const uint32_t *v, int n)
{
    for (int i = 0; i < n; i++)
        file_put32(at + 4 * i, v[i]);
}

void file_pack_parts(struct file_packer *p);                  /* all but the classes */
void file_pack_class(struct file_packer *p, uint32_t number); /* classes in order */
