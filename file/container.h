/* SPDX-License-Identifier: MIT */
/*
 * The container of a packed job: header, section table, checksums, compression. Takes hostile bytes.
 *
 * Every byte is vouched for: header and table by one checksum, each section by its own, what is between them must be 0.
 * Lengths are compared with what is there before anything is allocated; a compressed section can't claim more than
 * FORMAT_RATIO_MAX times its stored size, so that memory is bounded by the size of the input.
 *
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "file/blocks.h"
#include "file/format.h"
#include "job/check.h"

struct file_section {
    const unsigned char *data; /* uncompressed; NULL: the section is absent. In blocks: what file_container_need asked
                                  for */
    uint64_t size, count;
    unsigned char *owned; /* what was decompressed */
    bool in_blocks;
    struct file_blocks blocks;
    unsigned char *ready; /* of the blocks: it is in `data` */
    uint64_t unread_at, unread; /* bytes of the source that were passed over */
};

/* The bytes, or a file of which they are read as they are needed. */
struct file_source {
    unsigned char *data; /* size bytes */
    uint64_t size;
    int fd;              /* -1: all of them are there */
    bool whole;          /* all sections are wanted */
};

struct file_container {
    struct file_source source; /* whoever opened it owns what it stands for */
    struct file_section section[SECTION_TYPES];
};

/* Reads and verifies all sections; they point into `data` where they are stored as they are, or in blocks, which are
   decompressed when they are needed. 0, PYTHIA_EFORMAT, PYTHIA_EVERSION or PYTHIA_ENOMEM with one line in `why`. */
int file_container_open(struct file_container *c, const void *data, size_t size, char *why, size_t why_size);
/* The same of a source, for who predicts: of a section in blocks the head is verified, the rest as it is needed; what
   only who reads the whole job needs is passed over, as if it were not there. */
int file_container_open_source(struct file_container *c, const struct file_source *s, char *why, size_t why_size);
void file_container_close(struct file_container *c);
/* From here on these records of a section, which has them, can be read. 0, or PYTHIA_EFORMAT: a block does not
   decompress. */
int file_container_need(struct file_container *c, enum file_section_type type, uint64_t first, uint64_t count);
/* A block of a section in blocks, as file_blocks_get. */
const unsigned char *file_container_block(struct file_container *c, enum file_section_type type, uint32_t i);
/* The same of whole sections, with a line in `why`. */
int file_container_need_all(struct file_container *c, char *why, size_t why_size);
/* All bytes of the source are there from here on. What was verified is not read again: the file may be another by now.
   0 or PYTHIA_EIO. */
int file_container_fill(const struct file_container *c);

const char *file_section_name(uint32_t type);
